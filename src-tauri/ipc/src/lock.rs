//! One gate for each data directory.

use std::{
    fs::{self, File, OpenOptions},
    io::{Read as _, Seek as _, Write as _},
    os::unix::fs::OpenOptionsExt as _,
    path::PathBuf,
    time::Duration,
};

use placet_domain::Waiter;
use rustix::{
    fs::{FlockOperation, flock},
    io::Errno,
    process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal},
};
use serde::{Deserialize, Serialize};

use crate::{PlaceError, Places, is_alive, process::this_process};

/// What hosts a gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HostKind {
    /// The desktop app.
    Window,
    /// `placet serve`.
    Serve,
    /// `placet serve --supervise`.
    Supervised,
}

impl HostKind {
    /// The word in the lock file and in the history.
    pub fn word(self) -> &'static str {
        match self {
            Self::Window => "window",
            Self::Serve => "serve",
            Self::Supervised => "supervised",
        }
    }
}

/// Who holds the lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    /// What kind of host.
    pub kind: HostKind,
    /// Its process id.
    pub pid: i32,
    /// When it started: clock ticks since boot.
    pub start: u64,
}

/// The lock, held until this is dropped or the process ends, however it ends.
#[derive(Debug)]
pub struct GateLock {
    file: File,
}

/// What came of trying.
#[derive(Debug)]
pub enum TryLock {
    /// It is ours.
    Held(GateLock),
    /// Another gate runs; who it is, where it has said so.
    Taken(Option<Holder>),
}

/// The lock could not be looked at, or its holder not be told.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// The folder.
    #[error(transparent)]
    Place(#[from] PlaceError),
    /// The file or the process.
    #[error("the gate's lock {path}: {source}")]
    Io {
        /// Which file.
        path: String,
        /// What the system says.
        source: std::io::Error,
    },
    /// The holder is another process than the file says.
    #[error("the gate's process {pid} is gone")]
    HolderGone {
        /// Which.
        pid: i32,
    },
}

impl GateLock {
    /// Takes the lock if nobody has it. The places must have been prepared.
    pub fn try_lock(places: &Places, kind: HostKind) -> Result<TryLock, LockError> {
        let path = path(places);
        let io = |source: std::io::Error| LockError::Io { path: path.display().to_string(), source };
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .custom_flags(i32::try_from(rustix::fs::OFlags::NOFOLLOW.bits()).unwrap_or(0))
            .open(&path)
            .map_err(io)?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {}
            Err(Errno::WOULDBLOCK) => return Ok(TryLock::Taken(read(&mut file))),
            Err(errno) => return Err(io(errno.into())),
        }
        let Waiter { pid, start } = this_process();
        let line = serde_json::to_vec(&Holder { kind, pid, start }).map_err(|e| io(e.into()))?;
        file.set_len(0).and_then(|()| file.rewind()).and_then(|()| file.write_all(&line)).map_err(io)?;
        Ok(TryLock::Held(Self { file }))
    }

    /// Tries until it is ours or the time is over.
    pub fn lock_within(places: &Places, kind: HostKind, patience: Duration) -> Result<TryLock, LockError> {
        const STEP: Duration = Duration::from_millis(50);
        let mut waited = Duration::ZERO;
        loop {
            match Self::try_lock(places, kind)? {
                TryLock::Taken(_) if waited < patience => std::thread::sleep(STEP),
                outcome @ (TryLock::Held(_) | TryLock::Taken(_)) => return Ok(outcome),
            }
            waited += STEP;
        }
    }
}

impl Drop for GateLock {
    fn drop(&mut self) {
        // The file stays: removing it would let two gates lock two files of one name.
        let _ = self.file.set_len(0);
    }
}

impl Holder {
    /// Who holds the lock now; none if nobody does, or nobody who has said who they are.
    pub fn of(places: &Places) -> Option<Self> {
        let mut file = File::open(path(places)).ok()?;
        match flock(&file, FlockOperation::NonBlockingLockShared) {
            Err(Errno::WOULDBLOCK) => read(&mut file),
            Ok(()) | Err(_) => None,
        }
    }

    /// Asks it to end in order (SIGTERM).
    pub fn terminate(&self) -> Result<(), LockError> {
        self.signal(Signal::TERM)
    }

    /// Asks a window to show itself (SIGUSR1).
    pub fn show(&self) -> Result<(), LockError> {
        self.signal(Signal::USR1)
    }

    /// The process is held by its handle before its start is compared, so the signal cannot reach a later one with
    /// the same pid.
    fn signal(&self, signal: Signal) -> Result<(), LockError> {
        let gone = || LockError::HolderGone { pid: self.pid };
        let pid = Pid::from_raw(self.pid).ok_or_else(gone)?;
        let handle = pidfd_open(pid, PidfdFlags::empty()).map_err(|_| gone())?;
        if !is_alive(&Waiter { pid: self.pid, start: self.start }) {
            return Err(gone());
        }
        pidfd_send_signal(&handle, signal).map_err(|_| gone())
    }
}

fn path(places: &Places) -> PathBuf {
    places.run().join("gate.lock")
}

/// A holder writes its line right after it has locked: a reader that comes between sees an empty file, and waits a
/// moment.
fn read(file: &mut File) -> Option<Holder> {
    for _ in 0..20 {
        let mut text = String::new();
        file.rewind().and_then(|()| file.read_to_string(&mut text)).ok()?;
        if let Ok(holder) = serde_json::from_str(&text) {
            return Some(holder);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    None
}

/// Removes what a dead gate left at the socket's place. Only who holds the lock may.
pub(crate) fn remove_stale_socket(_held: &GateLock, socket: &std::path::Path) -> std::io::Result<()> {
    match fs::remove_file(socket) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::Flags;

    fn places() -> (tempfile::TempDir, Places) {
        let dir = tempfile::tempdir().unwrap();
        let flags = Flags {
            data_dir: Some(dir.path().join("data")),
            config_dir: Some(dir.path().join("config")),
            socket: None,
        };
        let places = Places::new(&flags).unwrap();
        places.prepare().unwrap();
        (dir, places)
    }

    #[test]
    fn the_second_is_told_who_is_the_first() {
        let (_dir, places) = places();
        assert_eq!(Holder::of(&places), None);
        let TryLock::Held(held) = GateLock::try_lock(&places, HostKind::Serve).unwrap() else { panic!("taken") };
        let TryLock::Taken(Some(holder)) = GateLock::try_lock(&places, HostKind::Window).unwrap() else {
            panic!("held twice")
        };
        assert_eq!(holder.kind, HostKind::Serve);
        assert_eq!(holder.pid, this_process().pid);
        assert_eq!(Holder::of(&places), Some(holder));
        drop(held);
        assert_eq!(Holder::of(&places), None);
        assert!(matches!(GateLock::try_lock(&places, HostKind::Window).unwrap(), TryLock::Held(_)));
    }

    #[test]
    fn only_the_very_process_is_signalled() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let pid = i32::try_from(child.id()).unwrap();
        let start = crate::start_of(pid).unwrap();
        let another = Holder { kind: HostKind::Serve, pid, start: start + 1 };
        assert!(matches!(another.terminate(), Err(LockError::HolderGone { .. })));
        Holder { start, ..another }.terminate().unwrap();
        assert!(!child.wait().unwrap().success());
    }
}
