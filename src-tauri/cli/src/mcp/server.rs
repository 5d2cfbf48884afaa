//! The server: a program of the client's choice, on pipes.

use std::{
    ffi::OsString,
    io::Write as _,
    process::{Child, ChildStdin, ChildStdout, Command, ExitCode, Stdio},
    sync::Mutex,
    time::Duration,
};

use placet_ipc::Moment;
use rustix::process::{Pid, Signal, kill_process};

use super::hall::lock;

/// How long it may take to end by itself, and then to end when told to.
const GRACE: Duration = Duration::from_secs(2);

/// What is written to it.
#[derive(Debug)]
pub(crate) struct Server {
    stdin: Mutex<Option<ChildStdin>>,
}

impl Server {
    /// Starts it. Its stderr is ours, so that its client reads there what it always did.
    ///
    /// # Errors
    /// What the system says.
    pub(crate) fn start(command: &[OsString]) -> std::io::Result<(Self, Child, ChildStdout)> {
        let [program, arguments @ ..] = command else {
            return Err(std::io::Error::other("no command is given"));
        };
        let mut child = Command::new(program).args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
        let stdout = stdout.ok_or_else(|| std::io::Error::other("it has no stdout"))?;
        Ok((Self { stdin: Mutex::new(stdin) }, child, stdout))
    }

    /// Hands it a line. A server that takes nothing any more is noticed where it is read from.
    pub(crate) fn tell(&self, line: &[u8]) {
        let mut stdin = lock(&self.stdin);
        let Some(pipe) = stdin.as_mut() else { return };
        let ended = line.ends_with(b"\n");
        let written = pipe.write_all(line).and_then(|()| if ended { Ok(()) } else { pipe.write_all(b"\n") });
        if written.and_then(|()| pipe.flush()).is_err() {
            *stdin = None;
        }
    }

    /// Closes its stdin, which asks it to end.
    pub(crate) fn hang_up(&self) {
        *lock(&self.stdin) = None;
    }
}

/// Waits for it to end, tells it to, makes it; its exit code is ours.
pub(crate) fn end(child: &mut Child) -> ExitCode {
    for signal in [None, Some(Signal::TERM), Some(Signal::KILL)] {
        if let Some(signal) = signal {
            let _ = kill_process(Pid::from_child(child), signal);
        }
        let until = Moment::in_(GRACE);
        while !until.left().is_zero() {
            match child.try_wait() {
                Ok(Some(status)) => {
                    let code = status.code().and_then(|code| u8::try_from(code).ok());
                    return code.map_or(ExitCode::FAILURE, ExitCode::from);
                }
                Ok(None) => std::thread::sleep(Duration::from_millis(20)),
                Err(_) => return ExitCode::FAILURE,
            }
        }
    }
    ExitCode::FAILURE
}
