//! Starting other programs.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::house;

/// A program with its arguments, to be run from the repository's root unless said otherwise.
pub(crate) struct Program {
    command: Command,
    shown: String,
}

impl Program {
    /// From words: the first is the program.
    pub(crate) fn new(words: &[&str]) -> Self {
        let mut command = Command::new(words.first().copied().unwrap_or("true"));
        command.args(words.get(1..).unwrap_or_default()).current_dir(house::root()).stdin(Stdio::null());
        forget_own_package(&mut command);
        Self { command, shown: words.join(" ") }
    }

    /// The cargo that runs this program, with these arguments.
    pub(crate) fn cargo(words: &[&str]) -> Self {
        let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
        let mut all = vec![cargo.as_str()];
        all.extend(words);
        let mut program = Self::new(&all);
        program.shown = format!("cargo {}", words.join(" "));
        program
    }

    /// npm in the front end's folder.
    pub(crate) fn npm(words: &[&str]) -> Self {
        let mut all = vec!["npm"];
        all.extend(words);
        let mut program = Self::new(&all);
        program.command.current_dir(house::ui());
        program.shown = format!("npm {} (in ui)", words.join(" "));
        program
    }

    /// Adds one environment variable.
    pub(crate) fn with(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    /// Gives it the caller's standard input: for `sudo`, and for the window.
    pub(crate) fn with_terminal(mut self) -> Self {
        self.command.stdin(Stdio::inherit());
        self
    }

    /// Runs it with the caller's output.
    pub(crate) fn run(mut self) -> Result<(), String> {
        println!("$ {}", self.shown);
        let status = self.command.status().map_err(|error| format!("cannot start `{}`: {error}", self.shown))?;
        if status.success() { Ok(()) } else { Err(format!("`{}` ended with {status}", self.shown)) }
    }

    /// Runs it, shows what it prints as it comes, keeps it in `log`, and gives it back.
    pub(crate) fn run_and_keep(mut self, log: &Path) -> Result<Kept, String> {
        println!("$ {}", self.shown);
        let problem = |error: std::io::Error| format!("cannot run `{}`: {error}", self.shown);
        let mut file = File::options().create(true).append(true).open(log).map_err(problem)?;
        let (reader, writer) = std::io::pipe().map_err(problem)?;
        self.command.stdout(writer.try_clone().map_err(problem)?).stderr(writer);
        let mut child = self.command.spawn().map_err(problem)?;
        // The pipe ends only when nobody holds its other end, and `command` still does.
        self.command.stdout(Stdio::null()).stderr(Stdio::null());
        let mut text = String::new();
        for line in BufReader::new(reader).split(b'\n') {
            let line = String::from_utf8_lossy(&line.map_err(problem)?).into_owned();
            println!("{line}");
            writeln!(file, "{line}").map_err(problem)?;
            text.push_str(&line);
            text.push('\n');
        }
        let status = child.wait().map_err(problem)?;
        Ok(Kept { text, failed: (!status.success()).then(|| format!("`{}` ended with {status}", self.shown)) })
    }

    /// Runs it silently and gives its standard output, or nothing if it failed.
    pub(crate) fn output(mut self) -> Option<String> {
        let output = self.command.stderr(Stdio::null()).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
    }
}

/// What a program printed, and why it failed if it did.
pub(crate) struct Kept {
    pub(crate) text: String,
    pub(crate) failed: Option<String>,
}

/// Where a program is on PATH.
pub(crate) fn find(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|candidate| candidate.is_file())
}

/// `cargo run` tells us about our own package by environment; a cargo below us must not take that for its own.
fn forget_own_package(command: &mut Command) {
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if ["CARGO_PKG_", "CARGO_MANIFEST_", "CARGO_BIN_", "CARGO_CRATE_"].iter().any(|own| text.starts_with(own)) {
            command.env_remove(&name);
        }
    }
}
