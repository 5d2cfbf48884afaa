//! What ends a wait from outside: a signal from the client, the client's end, nobody left to read the answer.

use std::os::{
    fd::{AsFd as _, OwnedFd},
    unix::net::UnixStream,
};

use placet_ipc::{Moment, Waker, wait_for};
use rustix::process::{PidfdFlags, getppid, pidfd_open};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use crate::ask::{Rung, Watch};

/// Rings when waiting has no sense any more.
#[derive(Debug)]
pub(crate) struct Bell {
    signalled: UnixStream,
    parent: Option<OwnedFd>,
    stdout: std::io::Stdout,
}

impl Bell {
    /// Takes the signals, the parent and the other end of stdout in view.
    pub(crate) fn hang() -> std::io::Result<Self> {
        let (signalled, sender) = UnixStream::pair()?;
        for signal in [SIGTERM, SIGINT, SIGHUP] {
            signal_hook::low_level::pipe::register(signal, sender.try_clone()?)?;
        }
        // The handle is taken and only then is it asked whose it is: a parent that ends in between leaves us with
        // another one, and then there is nobody to wait for.
        let before = getppid();
        let parent = before.and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok());
        let parent = if before == getppid() { parent } else { None };
        Ok(Self { signalled, parent, stdout: std::io::stdout() })
    }

    /// Reads the whole of stdin, at most `most` bytes of it, as long as nothing rings and the time is not over.
    ///
    /// # Errors
    /// Why there is no payload.
    pub(crate) fn read_stdin(&self, most: usize, until: Moment) -> Result<Vec<u8>, NoPayload> {
        let stdin = std::io::stdin();
        let mut wakers = vec![Waker::readable(stdin.as_fd())];
        wakers.extend(self.wakers());
        let mut payload = Vec::new();
        // Calls are small: what is not touched costs nothing, and what is touched is paid for by every call.
        let mut chunk = vec![0; 4 * 1024];
        loop {
            match wait_for(&wakers, until) {
                None => return Err(NoPayload::Late),
                Some(0) => {}
                Some(place) => return Err(NoPayload::Rung(self.rung(place - 1))),
            }
            // Below the buffer of std, which would hide from the poll what it has read ahead.
            let count = match rustix::io::read(&stdin, &mut chunk) {
                Ok(0) => return Ok(payload),
                Ok(count) => count,
                Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => continue,
                Err(errno) => return Err(NoPayload::Unreadable(errno.to_string())),
            };
            if payload.len() + count > most {
                return Err(NoPayload::TooLarge);
            }
            payload.extend_from_slice(&chunk[..count]);
            if count == chunk.len() {
                chunk.resize(64 * 1024, 0);
            }
        }
    }
}

impl Watch for Bell {
    fn wakers(&self) -> Vec<Waker<'_>> {
        let mut wakers = vec![Waker::readable(self.signalled.as_fd()), Waker::hung_up(self.stdout.as_fd())];
        wakers.extend(self.parent.as_ref().map(|parent| Waker::readable(parent.as_fd())));
        wakers
    }

    fn rung(&self, place: usize) -> Rung {
        match place {
            0 => Rung::Signal,
            _ => Rung::ClientGone,
        }
    }
}

/// Why there is no payload.
#[derive(Debug)]
pub(crate) enum NoPayload {
    /// The client did not finish it in time.
    Late,
    /// Something rang.
    Rung(Rung),
    /// It is larger than can be judged.
    TooLarge,
    /// The system says no.
    Unreadable(String),
}
