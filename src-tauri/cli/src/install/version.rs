//! Which client is there, and in which version: asked of the client itself, by the person's own search path.

use std::{
    io::Read as _,
    os::unix::process::CommandExt as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Duration,
};

use placet_ipc::Moment;

use crate::hook::Client;

/// Some clients load a whole runtime before they say who they are.
const LIMIT: Duration = Duration::from_secs(10);
/// A version is a line; what says more is cut.
const LONGEST: usize = 80;

/// A client as it is installed here.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Installed {
    /// Where.
    pub(crate) program: PathBuf,
    /// The first line of what it says to `--version`.
    pub(crate) version: Option<String>,
}

/// The client on the search path; none where there is none.
pub(crate) fn installed(client: Client) -> Option<Installed> {
    let program = on_path(Path::new(command(client)))?;
    let version = asked(&program);
    Some(Installed { program, version })
}

/// Where a program lies that is named as a command line names it: a path as it is, a bare name by the search path.
pub(crate) fn on_path(name: &Path) -> Option<PathBuf> {
    if name.is_absolute() {
        return Some(name.to_owned());
    }
    let path = std::env::var_os("PATH")?;
    // A relative folder of the path is another one wherever one stands.
    let dirs = std::env::split_paths(&path).filter(|dir| dir.is_absolute());
    dirs.map(|dir| dir.join(name)).find(|program| program.is_file())
}

fn command(client: Client) -> &'static str {
    match client {
        Client::ClaudeCode => "claude",
        Client::Codex => "codex",
        Client::GeminiCli => "gemini",
        Client::QwenCode => "qwen",
        Client::Copilot => "copilot",
        Client::Cursor => "cursor-agent",
        Client::Opencode => "opencode",
        Client::Openhands => "openhands",
    }
}

fn asked(program: &Path) -> Option<String> {
    let mut child = Command::new(program)
        .arg("--version")
        .current_dir("/")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()
        .ok()?;
    let deadline = Moment::in_(LIMIT);
    while matches!(child.try_wait(), Ok(None)) {
        if deadline.left().is_zero() {
            let _ = child.kill();
            let _ = child.wait();
            return None;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    // What it started may hold on to its output.
    let (sender, heard) = std::sync::mpsc::channel();
    let out = child.stdout.take()?;
    std::thread::spawn(move || {
        let mut said = Vec::new();
        let _ = out.take(4096).read_to_end(&mut said);
        sender.send(said)
    });
    let said = heard.recv_timeout(Duration::from_secs(1)).ok()?;
    let said = String::from_utf8_lossy(&said);
    let line = said.lines().map(str::trim).find(|line| !line.is_empty())?;
    Some(line.chars().take(LONGEST).collect())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_program_is_asked_who_it_is() {
        let said = asked(Path::new("/bin/bash")).unwrap();
        assert!(said.starts_with("GNU bash"), "{said}");
        assert_eq!(asked(Path::new("/nowhere/claude")), None);
        assert_eq!(asked(Path::new("/etc/passwd")), None);
    }
}
