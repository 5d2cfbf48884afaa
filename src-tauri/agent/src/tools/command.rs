//! `run_command` and `run_tests`: a shell command with a time limit, an output cap and a clean environment.

use std::{
    fmt::Write as _,
    os::{fd::AsRawFd, unix::process::ExitStatusExt},
    path::Path,
    process::Stdio,
    time::Duration,
};

use serde::Deserialize;
use tokio::io::{AsyncRead, AsyncReadExt};

use super::{
    Output,
    error::{ToolErrorCode, Trouble},
    files::{MAX_RESULT_BYTES, cut_before},
    workspace::Workspace,
};

/// How long a command may run when it does not say: 2 minutes.
const DEFAULT_TIMEOUT_MS: u64 = 120_000;
/// How long a command may run at most: 10 minutes.
const MAX_TIMEOUT_MS: u64 = 600_000;
const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RunCommand {
    command: String,
    #[serde(default)]
    timeout_ms: Option<u64>,
}

impl RunCommand {
    /// Runs in the folder `inner` of the workspace, entered through its handle. The environment holds PATH, HOME,
    /// LANG, TERM and nothing of the person's: no token, no key, no agent socket.
    pub(crate) async fn run(&self, workspace: &Workspace, inner: &Path) -> Result<Output, Trouble> {
        let folder = workspace.folder(inner)?;
        let limit = Duration::from_millis(self.timeout_ms.unwrap_or(DEFAULT_TIMEOUT_MS).min(MAX_TIMEOUT_MS));
        let mut command = tokio::process::Command::new(shell()?);
        command
            .args(["--noprofile", "--norc", "-c", &self.command])
            .current_dir(format!("/proc/self/fd/{}", folder.as_raw_fd()))
            .env_clear()
            .envs([("PATH", PATH), ("LANG", "C.UTF-8"), ("TERM", "dumb")])
            .env("HOME", workspace.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true);
        let mut child = command.spawn()?;
        let group = Group::of(&child);
        let (Some(stdout), Some(stderr)) = (child.stdout.take(), child.stderr.take()) else {
            return Err(ToolErrorCode::Failed.because("The command's output could not be read."));
        };
        let (mut out, mut err) = (Said::default(), Said::default());
        let ending = ended(child, group, drain(stdout, &mut out), drain(stderr, &mut err));
        let Ok(status) = tokio::time::timeout(limit, ending).await else {
            let until_then = joined(&out, &err);
            return Err(ToolErrorCode::TimedOut.because(format!(
                "The command was ended after {} s. Run less, or give a longer timeout_ms (at most {MAX_TIMEOUT_MS}). \
                 Until then it said: {}",
                limit.as_secs_f64(),
                if until_then.is_empty() { "nothing." } else { &until_then },
            )));
        };
        let status = status?;
        let mut text = joined(&out, &err);
        if !status.success() {
            let how = match (status.code(), status.signal()) {
                (Some(code), _) => format!("exit code {code}"),
                (None, Some(signal)) => format!("ended by signal {signal}"),
                (None, None) => "ended".to_owned(),
            };
            let _ = writeln!(text, "({how})");
        }
        Ok(Output { text, is_error: !status.success() })
    }
}

/// A command is judged as bash reads it, so bash it is that runs it.
fn shell() -> Result<&'static str, Trouble> {
    ["/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash"].into_iter().find(|path| Path::new(path).exists()).ok_or_else(
        || ToolErrorCode::Failed.because("There is no bash here, and commands are judged as bash reads them."),
    )
}

/// The command's process group. What is left of it when the call is over, however it ends, is ended.
#[derive(Debug)]
pub(crate) struct Group(Option<i32>);

impl Group {
    /// The group that a child leads which was started as a leader.
    pub(crate) fn of(child: &tokio::process::Child) -> Self {
        Self(child.id().and_then(|id| i32::try_from(id).ok()))
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if let Some(group) = self.0.and_then(rustix::process::Pid::from_raw) {
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
    }
}

/// Waits for the end of a command, reading what it says meanwhile. What it left behind would hold its output open; it
/// ends with the command.
async fn ended(
    mut child: tokio::process::Child,
    group: Group,
    out: impl Future<Output = ()>,
    err: impl Future<Output = ()>,
) -> std::io::Result<std::process::ExitStatus> {
    let ending = async {
        let status = child.wait().await;
        drop(group);
        status
    };
    tokio::join!(ending, out, err).0
}

/// What was kept of an output, and how many bytes were dropped from its middle.
type Said = (Vec<u8>, usize);

/// Reads to the end and keeps the first and the last half of the cap.
async fn drain(mut from: impl AsyncRead + Unpin, (kept, dropped): &mut Said) {
    let mut piece = vec![0_u8; 8192];
    while let Ok(count @ 1..) = from.read(&mut piece).await {
        kept.extend_from_slice(&piece[..count]);
        if kept.len() > 2 * MAX_RESULT_BYTES {
            let cut = kept.len() - MAX_RESULT_BYTES / 2;
            *dropped += cut - MAX_RESULT_BYTES / 2;
            kept.drain(MAX_RESULT_BYTES / 2..cut);
        }
    }
}

fn joined(out: &Said, err: &Said) -> String {
    let mut text = String::new();
    for (label, (bytes, dropped)) in [("", out), ("stderr:\n", err)] {
        if bytes.is_empty() {
            continue;
        }
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        text.push_str(label);
        let piece = String::from_utf8_lossy(bytes);
        if piece.len() > MAX_RESULT_BYTES {
            let head = cut_before(&piece, MAX_RESULT_BYTES / 2);
            let tail = cut_before(&piece, piece.len() - MAX_RESULT_BYTES / 2);
            let _ =
                write!(text, "{}\n… {} bytes left out …\n{}", &piece[..head], tail - head + dropped, &piece[tail..]);
        } else {
            text.push_str(&piece);
        }
    }
    text
}
