//! The splitter against the real shell: what it accepts as inspectable, bash runs with the very same words.

use std::process::Command;

use proptest::prelude::*;

use super::*;

/// A folder with programs that write down their words instead of doing anything.
struct Traced {
    folder: tempfile::TempDir,
}

const TRACED: &[&str] = &["ls", "cat", "git", "grep", "find", "rm", "a", "b", "cmd"];

thread_local! {
    /// One for all cases of a test.
    static TRACES: Traced = Traced::new();
}

impl Traced {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("stand-in"), include_str!("stand-in.bash")).unwrap();
        // Another process writes what is to be run. Were it open for writing here, a child of another test could
        // inherit that, and the system would not run a file that somebody may still write.
        let script = "mkdir bin work; chmod 755 stand-in; for name in $NAMES; do cp stand-in bin/$name; done";
        let status = Command::new("/bin/sh")
            .args(["-e", "-c", script])
            .current_dir(folder.path())
            .env("NAMES", TRACED.join(" "))
            .status()
            .unwrap();
        assert!(status.success(), "{status}");
        Self { folder }
    }

    /// The words of every command that bash runs for `text`.
    fn run(&self, text: &str) -> Vec<Vec<String>> {
        self.run_by(&["/bin/bash", "--noprofile", "--norc"], text)
    }

    fn run_by(&self, shell: &[&str], text: &str) -> Vec<Vec<String>> {
        let log = self.folder.path().join("log");
        let _ = std::fs::remove_file(&log);
        let output = Command::new(shell[0])
            .args(&shell[1..])
            .args(["-c", text])
            .current_dir(self.folder.path().join("work"))
            .env_clear()
            .env("PATH", self.folder.path().join("bin"))
            .stdin(std::process::Stdio::null())
            .output()
            .unwrap();
        let _ = output;
        let traced = std::fs::read_to_string(&log).unwrap_or_default();
        let mut commands = Vec::new();
        let mut words = Vec::new();
        for word in traced.split_terminator('\0') {
            if word == "\u{1}" {
                commands.push(std::mem::take(&mut words));
            } else {
                words.push(word.to_owned());
            }
        }
        commands
    }
}

/// A shell that is there, with what makes it read no start-up files; a line says so where it is not.
fn real_shell(words: &'static [&'static str]) -> Option<&'static [&'static str]> {
    let there = std::path::Path::new(words[0]).exists();
    if !there {
        eprintln!("skipped, since there is no {}", words[0]);
    }
    there.then_some(words)
}

/// As it comes, and with the settings that people most often have.
const ZSH: &[&[&str]] = &[&["/bin/zsh", "-f"], &["/bin/zsh", "-f", "-o", "extendedglob", "-o", "magicequalsubst"]];

fn words_of(understood: &Understood) -> Vec<Vec<String>> {
    understood.commands.iter().map(|part| part.argv.clone()).collect()
}

/// Texts of every kind that is understood.
const READ: &[&str] = &[
    "ls -la",
    "ls 'a b' \"c d\" e\\ f",
    "ls \\-la",
    "'l's \"x\"'y'z",
    "ls a\\\nb",
    "ls \\\n  -la \\\n  x",
    "ls; a\nb",
    "ls && a && b",
    "ls # comment ; rm x\na",
    "ls a#b",
    "ls \"a\\$b\\`c\\\"d\\\\e\\f\"",
    "ls ''",
    "ls \"\"x",
    "ls a=b =c",
    "ls HEAD~1 HEAD^ x@{1} {} a,b %x +y @z",
    "cat <<'EOF'\n$x `y` \\z\nEOF\na",
    "cat <<'EOF' && a\ntext ; rm x\nEOF\nb",
    "cat <<EOF\nplain 'text' \"quoted\"\nEOF",
    "git commit -m \"$(cmd x)\"",
    "ls \"foo$\" \"$|x\"",
    "ls ä 文件 \"ö\"",
    "a 2>&1 | b",
    "ls ! x",
    "ls \"a\nb\" 'c\nd'",
    "ls\ta\t b",
    "ls a\\'b \"it's\"",
    "ls -- -x",
    "a;b;",
    "\n\nls\n\n",
    "ls a\\\\b",
];

#[test]
fn bash_runs_the_words_that_were_read() {
    runs_as_read("bash", &["/bin/bash", "--noprofile", "--norc"]);
}

#[test]
fn zsh_runs_the_words_that_were_read() {
    for zsh in ZSH.iter().filter_map(|zsh| real_shell(zsh)) {
        runs_as_read("zsh", zsh);
    }
}

fn runs_as_read(name: &str, shell_words: &[&str]) {
    let traced = Traced::new();
    for text in READ {
        let understood = understand(text, &Shell { name: name.to_owned(), ..shell() }, programs());
        if understood.inspectable {
            let mut ran = traced.run_by(shell_words, text);
            let mut read = words_of(&understood);
            if text.contains('|') {
                ran.sort();
                read.sort();
            }
            assert_eq!(ran, read, "{text:?}");
        }
    }
}

#[test]
fn a_quoted_here_document_inside_a_substitution_is_what_bash_makes_of_it() {
    let traced = Traced::new();
    std::os::unix::fs::symlink("/bin/cat", traced.folder.path().join("bin").join("realcat")).unwrap();
    let text = "git commit -m \"$(cat <<'EOF'\nOne\n\nIt's $x `y` \"z\" \\n done\n\nEOF\n)\"";
    let understood = read(text);
    assert!(understood.inspectable, "{:?}", understood.why_not);
    // The traced `cat` gives nothing back, so the real one takes its name here.
    std::fs::remove_file(traced.folder.path().join("bin").join("cat")).unwrap();
    std::os::unix::fs::symlink("/bin/cat", traced.folder.path().join("bin").join("cat")).unwrap();
    assert_eq!(traced.run(text), words_of(&understood));
}

fn quoted_word() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "[a-z0-9./_,:+%@-]{1,4}",
        "'[ -&(-~]{0,5}'",
        "\"[ !#%-.0-9a-z;|&<>()*?'~{}=-]{0,5}\"",
        "\\\\[ -~]",
        "\"\\\\[$`\"\\\\a-z]\"",
    ];
    prop::collection::vec(piece, 1..4).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn quote_removal_agrees_with_bash(words in prop::collection::vec(quoted_word(), 1..5)) {
        let text = format!("cmd {}", words.join(" "));
        let understood = read(&text);
        if understood.inspectable {
            prop_assert_eq!(TRACES.with(|traced| traced.run(&text)), words_of(&understood), "{:?}", text);
        }
    }
}

/// Shell-like noise.
fn noise() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("ls"),
        Just("cat"),
        Just(" "),
        Just(" "),
        Just("\n"),
        Just(";"),
        Just("&&"),
        Just("||"),
        Just("|"),
        Just("&"),
        Just("'"),
        Just("\""),
        Just("\\"),
        Just("$"),
        Just("`"),
        Just("$("),
        Just(")"),
        Just("("),
        Just("{"),
        Just("}"),
        Just("<<EOF"),
        Just("<<'EOF'"),
        Just("EOF"),
        Just(">"),
        Just(">>"),
        Just("2>&1"),
        Just("<"),
        Just("#"),
        Just("*"),
        Just("~"),
        Just("="),
        Just("!"),
        Just("a"),
        Just("x=1"),
        Just("-c"),
        Just("bash"),
        Just("ä"),
        Just("\u{a0}"),
        Just("\r"),
        Just("\u{202e}"),
        Just("find"),
        Just("-exec"),
        Just("{}"),
        Just("xargs"),
        Just("sed"),
        Just("awk"),
        Just("cd"),
        Just("env"),
        Just("tar"),
        Just("xf"),
        Just("git"),
        Just("branch"),
        Just("[["),
        Just("if"),
        Just("\0"),
    ];
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_panics(text in prop_oneof![noise(), any::<String>()]) {
        let understood = read(&text);
        let whole = understood.subject(&text, &shell());
        prop_assert_eq!(whole.inspectable, understood.why_not.is_none());
        for part in understood.all_parts() {
            prop_assert!(text.get(part.source.clone()).is_some(), "{:?} {:?}", text, part.source);
        }
        if let Some(why_not) = &understood.why_not {
            prop_assert!(text.get(why_not.range.clone()).is_some(), "{:?} {:?}", text, why_not);
            prop_assert!(whole.action.strength() >= Action::Execute.strength());
        }
    }

    #[test]
    fn scripts_of_sed_and_awk_never_panic(text in any::<String>()) {
        let _ = (script::sed(&text), script::awk(&text), script::jq(&text));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    /// What is accepted for `sh`, a shell that has only what POSIX has runs as the same words.
    #[test]
    fn what_is_accepted_for_sh_runs_as_read_by_dash(pieces in prop::collection::vec(prop::sample::select(vec![
        "a", "b", " ", " ", " ", "\n", ";", " && ", "'", "\"", "\\", "#", "x", "=", "\\\n", "^", "!", "{}", ">f", ">>f ", "2>f", "1",
        "12>f", "&>f", ">&2 ", "2>&1 ", ">|f", "<<'E'\nx\nE\n", "<<E\ny\nE\n", "<<\\E ", "\nE\n", "'a b'", "\"c\\\\d\"",
    ]), 1..10)) {
        let text = format!("cmd {}", pieces.concat());
        let understood = understand(&text, &Shell { name: "sh".to_owned(), ..shell() }, programs());
        let known = understood.commands.iter().all(|part| part.argv.first().is_some_and(|p| TRACED.contains(&p.as_str())));
        // Who reads a file that is not there does not run.
        let known = known && understood.commands.iter().all(|part| part.reads.is_empty());
        if understood.inspectable && known && let Some(dash) = real_shell(&["/bin/dash"]) {
            prop_assert_eq!(TRACES.with(|traced| traced.run_by(dash, &text)), words_of(&understood), "{:?}", text);
        }
    }

    /// What is accepted for zsh, zsh runs as the same words, with its own patterns, redirections and words about.
    #[test]
    fn what_is_accepted_for_zsh_runs_as_read_by_zsh(pieces in prop::collection::vec(prop::sample::select(vec![
        "a", "b", " ", " ", " ", "\n", ";", " && ", "'", "\"", "\\", "#", "x", "=", " =ls", "\\\n", "^", "!", "{}", "{a}", "~", "@", "[", "]",
        "(", ")", "*", "?", "%", "+", ":", ",", ">f", ">>f ", "2>f", ">!f", ">&2 ", "2>&1 ", ">|f", "<1-2>", "&>f", "&>>f ", "$", "`",
        "<<'E'\nx\nE\n", "<<E\ny\nE\n", "'a b'", "\"c\\\\d\"", "\"!\"", " - ", " noglob ", " nocorrect ", " repeat 2 ", " command ", "a#b", "x^y", "n~m", "''",
        "!!", "\"a\\!b\"", "1", "-n",
    ]), 1..10)) {
        let text = format!("cmd {}", pieces.concat());
        let understood = understand(&text, &Shell { name: "zsh".to_owned(), ..shell() }, programs());
        let known = understood.commands.iter().all(|part| part.argv.first().is_some_and(|p| TRACED.contains(&p.as_str())));
        if understood.inspectable && known {
            for zsh in ZSH.iter().filter_map(|zsh| real_shell(zsh)) {
                prop_assert_eq!(TRACES.with(|traced| traced.run_by(zsh, &text)), words_of(&understood), "{:?} by {:?}", text, zsh);
            }
        }
    }

    /// Whatever is accepted, bash runs as the same words (for lists that run through).
    #[test]
    fn accepted_noise_runs_as_read(pieces in prop::collection::vec(prop_oneof![
        Just("a"), Just("b"), Just(" "), Just(" "), Just("\n"), Just(";"), Just("&&"), Just("'"), Just("\""), Just("\\"),
        Just("#"), Just("x"), Just("-c"), Just("ä"), Just("\t"), Just("="), Just("\\\n"), Just("@"), Just("^"), Just("!"),
    ], 1..14)) {
        let text = format!("cmd {}", pieces.concat());
        let understood = read(&text);
        let known = understood.commands.iter().all(|part| part.argv.first().is_some_and(|p| TRACED.contains(&p.as_str())));
        if understood.inspectable && known {
            prop_assert_eq!(TRACES.with(|traced| traced.run(&text)), words_of(&understood), "{:?}", text);
        }
    }
}
