//! What single rooms cost, measured by the gate's example `measure`, and the writer that commits every call by itself.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use super::row::{Bar, Row, time};

/// Decisions, digests, and a history of so many calls.
pub(super) fn measure(program: &Path, folder: &Path, calls: u64) -> Result<Vec<Row>, String> {
    let history = folder.join("history");
    std::fs::create_dir_all(&history).map_err(|error| format!("{}: {error}", history.display()))?;
    let mut rows = rows_of(program, &["alone"])?;
    rows.extend(rows_of(program, &["history", &history.to_string_lossy(), &calls.to_string()])?);
    Ok(rows)
}

fn rows_of(program: &Path, words: &[&str]) -> Result<Vec<Row>, String> {
    let output = Command::new(program).args(words).stderr(Stdio::inherit()).output();
    let output = output.map_err(|error| format!("{}: {error}", program.display()))?;
    if !output.status.success() {
        return Err(format!("measure {} ended with {}", words.join(" "), output.status));
    }
    String::from_utf8_lossy(&output.stdout).lines().map(row).collect()
}

fn row(line: &str) -> Result<Row, String> {
    let said: Value = serde_json::from_str(line).map_err(|error| format!("{line}: {error}"))?;
    let number = |name: &str| said[name].as_f64().ok_or_else(|| format!("no {name} in {line}"));
    let text = |name: &str| said[name].as_str().unwrap_or_default().to_owned();
    let (ours, theirs) = (number("ours")?, number("theirs")?);
    let bar = said["at_most"].as_f64().map_or(Bar::None, Bar::AtMost);
    let (what, against) = (text("what"), text("against"));
    Ok(Row { what, ours: time(ours), against, theirs: time(theirs), ratio: ours / theirs, bar })
}

/// Threads that each write a call in a commit of its own, in turn, into a history like ours.
pub(super) struct Commits {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
}

impl Commits {
    pub(super) fn start(program: &Path, folder: &Path) -> Result<Self, String> {
        let problem = |error: std::io::Error| format!("measure commits: {error}");
        let mut command = Command::new(program);
        command.arg("commits").arg(folder).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().map_err(problem)?;
        let stdin = child.stdin.take().ok_or("no stdin")?;
        let stdout = BufReader::new(child.stdout.take().ok_or("no stdout")?);
        let mut commits = Self { child, stdin, stdout };
        commits.line()?;
        Ok(commits)
    }

    /// Calls a second that so many threads got written within so long.
    pub(super) fn rate(&mut self, threads: usize, length: Duration) -> Result<f64, String> {
        writeln!(self.stdin, "{threads} {}", length.as_millis())
            .map_err(|error| format!("measure commits: {error}"))?;
        let line = self.line()?;
        line.trim().parse().map_err(|error| format!("measure commits said {line:?}: {error}"))
    }

    fn line(&mut self) -> Result<String, String> {
        let mut line = String::new();
        self.stdout.read_line(&mut line).map_err(|error| format!("measure commits: {error}"))?;
        Ok(line)
    }
}

impl Drop for Commits {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
