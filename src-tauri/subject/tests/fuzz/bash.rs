//! What bash makes of a text: whether it takes it, and which words its programs get.

use std::process::{Command, Stdio};

/// Programs that note what they get instead of doing anything.
pub(crate) const STAND_INS: &[&str] = &["a", "b", "cmd", "cat", "git", "grep", "ls", "rm", "wc"];

/// One program as it ran.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Ran {
    pub(crate) argv: Vec<String>,
    /// What it was given to read.
    pub(crate) input: String,
}

/// Whether `bash -n` takes the text.
pub(crate) fn takes(text: &str) -> bool {
    let status = bash().args(["-n", "-c", text]).stderr(Stdio::null()).status().unwrap();
    status.success()
}

/// What ran for each text. They are run one after the other by one bash, in a folder of its own where no other
/// programs are to be found.
pub(crate) fn run(texts: &[&str]) -> Vec<Vec<Ran>> {
    let folder = tempfile::tempdir().unwrap();
    let work = folder.path().join("work");
    std::fs::create_dir(&work).unwrap();
    std::fs::write(folder.path().join("texts"), texts.join("\0") + "\0").unwrap();
    let mut bash = bash();
    bash.args(["-c", include_str!("notes.bash")]).env("STAND_INS", STAND_INS.join(" "));
    let status = bash.current_dir(&work).stdin(Stdio::null()).status().unwrap();
    assert!(status.success(), "{status}");
    let notes = std::fs::read(folder.path().join("notes")).unwrap();
    let notes = String::from_utf8(notes).unwrap();
    let (mut all, mut ran) = (Vec::new(), Vec::new());
    for note in notes.lines().map(|line| line.replace('\u{4}', "\n")) {
        if note == "\u{3}" {
            all.push(std::mem::take(&mut ran));
        } else {
            let (argv, input) = note.split_once('\u{2}').unwrap();
            let argv = argv.split_terminator('\u{5}').map(str::to_owned).collect();
            ran.push(Ran { argv, input: input.to_owned() });
        }
    }
    assert_eq!(all.len(), texts.len());
    all
}

fn bash() -> Command {
    let mut command = Command::new("/bin/bash");
    command.args(["--noprofile", "--norc"]).env_clear().env("PATH", "/nowhere");
    command
}
