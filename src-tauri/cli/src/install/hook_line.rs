//! The command line of a hook as it stands in a client's settings, read without a shell.
//!
//! Settings are written by people, by agents and by whoever a project was cloned from. What counts as ours is only a
//! line that says nothing but `PLACET hook CLIENT` and that hook's own flags; one that says more is somebody's own.

use std::{ffi::OsString, path::PathBuf, time::Duration};

use placet_ipc::Flags;

use crate::hook::{Arguments, Client};

/// A line that runs `placet hook CLIENT` and nothing besides.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct HookLine {
    /// Which `placet`.
    pub(crate) program: PathBuf,
    /// Everything behind the program.
    pub(crate) arguments: Vec<String>,
    /// How long it says that the client waits.
    pub(crate) patience: Option<Duration>,
    /// Where it says that the gate is.
    pub(crate) places: Flags,
}

/// The line, if it is ours and nothing else.
pub(crate) fn read(line: &str, client: Client) -> Option<HookLine> {
    let mut words = words(line)?.into_iter();
    let program = PathBuf::from(words.next()?);
    let arguments: Vec<String> = words.collect();
    // A relative path would be another program in every folder, and `A=/x/placet` is no program at all.
    let placed = program.is_absolute() || program.as_os_str() == "placet";
    let named = placed && program.file_name().is_some_and(|name| name == "placet");
    let [verb, rest @ ..] = arguments.as_slice() else { return None };
    let said = Arguments::read(rest.iter().map(OsString::from), Flags::default());
    let ours = named && verb == "hook" && said.wrong.is_none() && said.client.as_deref() == Some(client.name());
    ours.then_some(HookLine { program, patience: said.client_timeout, places: said.places, arguments })
}

/// Whether a line that is not ours seems to run our hook for a client among other things.
pub(crate) fn mentions(line: &str, client: Client) -> bool {
    let words: Vec<&str> = line.split(|c: char| c.is_whitespace() || "\"';&|()".contains(c)).collect();
    let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
    words
        .windows(3)
        .any(|three| three[0].rsplit('/').next() == Some("placet") && three[1] == "hook" && three[2] == client.name())
}

/// The words of a line that a POSIX shell would take as they stand: plain characters and quotes. None where the shell
/// would do anything else with it.
fn words(line: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut rest = line.chars();
    while let Some(c) = rest.next() {
        match c {
            ' ' | '\t' => words.extend(word.take()),
            '\'' => {
                let word = word.get_or_insert_default();
                loop {
                    match rest.next()? {
                        '\'' => break,
                        inside => word.push(inside),
                    }
                }
            }
            '"' => {
                let word = word.get_or_insert_default();
                loop {
                    match rest.next()? {
                        '"' => break,
                        '$' | '`' | '\\' | '!' => return None,
                        inside => word.push(inside),
                    }
                }
            }
            '\\' => match rest.next()? {
                quote @ ('\'' | '"' | '\\' | ' ') => word.get_or_insert_default().push(quote),
                _ => return None,
            },
            c if c.is_ascii_alphanumeric() || "/._-+:@%,=".contains(c) => word.get_or_insert_default().push(c),
            _ => return None,
        }
    }
    words.extend(word);
    (!words.is_empty()).then_some(words)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use serde::Deserialize;

    use super::*;

    #[derive(Deserialize)]
    struct Case {
        line: String,
        ours: bool,
        #[serde(default)]
        mentions: bool,
        why: String,
    }

    #[test]
    fn only_a_line_that_says_nothing_else_is_ours() {
        let cases: Vec<Case> = include_str!("../../tests/data/hook_lines.jsonl")
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        assert!(cases.len() > 40);
        for Case { line, ours, mentions: named, why } in cases {
            let read = read(&line, Client::ClaudeCode);
            assert_eq!(read.is_some(), ours, "{why}: {line:?} {read:?}");
            assert!(
                !ours || mentions(&line, Client::ClaudeCode) || line.contains('\\') || line.contains('\''),
                "{line:?}"
            );
            assert!(!named || mentions(&line, Client::ClaudeCode), "{why}: {line:?}");
        }
    }

    #[test]
    fn what_is_read_is_what_a_shell_would_give_the_program() {
        for line in ["/a/placet hook claude-code", "'/a b/it'\\''s/placet' hook claude-code", "\"/a b\"/placet hook x"]
        {
            let script = format!("for w in {line}; do printf '%s\\n' \"$w\"; done");
            let said = std::process::Command::new("/bin/sh").args(["-c", &script]).output().unwrap();
            let said = String::from_utf8(said.stdout).unwrap();
            assert_eq!(words(line).unwrap(), said.lines().collect::<Vec<_>>());
        }
    }
}
