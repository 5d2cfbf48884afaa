# Runs the texts of `../texts`, one after the other, with stand-ins for the programs named in $STAND_INS.
#
# A stand-in notes its words and what it is given to read. A note is one line, so that it goes out in one write, since
# the programs of a pipe run at the same time; texts that are understood have no control characters of their own. The
# descriptor is one that no such text can name.
exec 63>>../notes
note() {
    local input= line=
    IFS= read -r -d '' input
    printf -v line '%s\5' "$@"
    line+=$'\2'$input
    printf '%s\n' "${line//$'\n'/$'\4'}" >&63
}
for name in $STAND_INS; do
    eval "$name() { note $name \"\$@\"; }"
done
mapfile -d '' -t texts < ../texts
for text in "${texts[@]}"; do
    ( eval "$text" ) < /dev/null > /dev/null 2>&1
    printf '\3\n' >&63
done
