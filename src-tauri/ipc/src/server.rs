//! The side that opens: the socket and the lines that come over it. Who calls is known by the kernel's word.

use std::{
    fs::Permissions,
    os::{fd::OwnedFd, unix::fs::PermissionsExt as _},
    path::PathBuf,
    sync::Arc,
    time::Duration,
};

use placet_domain::Waiter;
use serde::Serialize;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader},
    net::{
        UnixListener,
        unix::{OwnedReadHalf, OwnedWriteHalf},
    },
    sync::{OwnedSemaphorePermit, Semaphore},
};

use crate::{
    GateLock, MAX_LINE_BYTES, PlaceError, Places,
    lock::remove_stale_socket,
    message,
    places::{checked, through},
    start_of,
};

/// How many connections may be open at once; more are closed as they come.
const MAX_CONNECTIONS: usize = 4_096;
/// A line that has begun must end within this time: who sends half a message holds a place that others need.
const LINE_PATIENCE: Duration = Duration::from_secs(30);
/// A caller that does not read what it is told for this long is given up.
const WRITE_PATIENCE: Duration = Duration::from_secs(30);

/// The open door. Drop it before the lock: a socket that is removed later may be the next gate's.
#[derive(Debug)]
pub struct Listener {
    inner: UnixListener,
    socket: PathBuf,
    /// The folder's handle keeps `/proc/self/fd/N/…` good for removing the socket from that very folder.
    _dir: OwnedFd,
    places: Arc<Semaphore>,
}

/// Who calls. The pid is 0 where the caller lives in a pid namespace that cannot be seen from here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peer {
    /// Always our own.
    pub uid: u32,
    /// Its process.
    pub pid: i32,
    /// When that process started: clock ticks since boot; none if it cannot be seen from here.
    pub start: Option<u64>,
}

impl Peer {
    /// The process as one that waits; none if it cannot be told apart from others.
    pub fn waiter(&self) -> Option<Waiter> {
        self.start.filter(|_| self.pid > 0).map(|start| Waiter { pid: self.pid, start })
    }
}

/// Both directions of a connection.
#[derive(Debug)]
pub struct Lines {
    /// What comes.
    pub reader: LineReader,
    /// What goes.
    pub writer: LineWriter,
}

/// Reads lines.
#[derive(Debug)]
pub struct LineReader {
    inner: BufReader<OwnedReadHalf>,
    line: Vec<u8>,
    _place: OwnedSemaphorePermit,
}

/// Writes lines.
#[derive(Debug)]
pub struct LineWriter {
    inner: OwnedWriteHalf,
}

/// Why the door cannot be opened, or a line not be passed through it.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// The folder of the socket.
    #[error(transparent)]
    Place(#[from] PlaceError),
    /// The socket or the connection.
    #[error("the gate's socket: {0}")]
    Io(#[from] std::io::Error),
    /// Another user.
    #[error("user {0} knocked and was not let in")]
    ForeignUser(u32),
    /// A process that has ended by now: nobody could be told an answer, and nobody would notice it gone.
    #[error("process {0} knocked and has ended since")]
    Gone(i32),
    /// No room.
    #[error("{MAX_CONNECTIONS} connections are open; one more was closed")]
    TooMany,
    /// A line without an end.
    #[error("a line of more than {MAX_LINE_BYTES} bytes")]
    LineTooLong,
    /// Half a line, or none where one was due.
    #[error("the caller did not finish its line in time")]
    TooSlow,
    /// No JSON.
    #[error("a message that cannot be written: {0}")]
    Unwritable(#[from] serde_json::Error),
}

impl Listener {
    /// Opens the socket: the folder must be ours and closed to others, what a dead gate left there is removed, and
    /// the socket gets mode 0600 before anybody is listened to.
    pub fn bind(places: &Places, lock: &GateLock) -> Result<Self, ServerError> {
        let dir = checked(places.socket_dir())?;
        let name = places.socket.file_name().ok_or_else(|| PlaceError::NotAFolder { path: "/".to_owned() })?;
        let path = through(&dir, name);
        remove_stale_socket(lock, &path)?;
        let inner = UnixListener::bind(&path)?;
        std::fs::set_permissions(&path, Permissions::from_mode(0o600))?;
        let places = Arc::new(Semaphore::new(MAX_CONNECTIONS));
        Ok(Self { inner, socket: path, _dir: dir, places })
    }

    /// The next caller. Safe to cancel.
    ///
    /// # Errors
    /// `ForeignUser`, `Gone` and `TooMany` are about one caller who was turned away, `Io` may be (a process that has no more
    /// descriptors): go on after a moment.
    pub async fn accept(&self) -> Result<(Peer, Lines), ServerError> {
        let (stream, _) = self.inner.accept().await?;
        let cred = stream.peer_cred()?;
        if cred.uid() != rustix::process::geteuid().as_raw() {
            return Err(ServerError::ForeignUser(cred.uid()));
        }
        let pid = cred.pid().unwrap_or(0);
        let peer = Peer { uid: cred.uid(), pid, start: start_of(pid) };
        if pid > 0 && peer.start.is_none() {
            return Err(ServerError::Gone(pid));
        }
        let place = Arc::clone(&self.places).try_acquire_owned().map_err(|_| ServerError::TooMany)?;
        let (read, write) = stream.into_split();
        let reader = LineReader { inner: BufReader::new(read), line: Vec::new(), _place: place };
        Ok((peer, Lines { reader, writer: LineWriter { inner: write } }))
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.socket);
    }
}

impl LineReader {
    /// The next line without its end; none when the caller has gone. Waits for it to begin as long as it takes.
    /// Safe to cancel: what was read of a line is kept.
    pub async fn next(&mut self) -> Result<Option<Vec<u8>>, ServerError> {
        if self.line.is_empty() && self.inner.fill_buf().await?.is_empty() {
            return Ok(None);
        }
        tokio::time::timeout(LINE_PATIENCE, self.finish()).await.unwrap_or(Err(ServerError::TooSlow))
    }

    /// The next line, which must come whole within `patience`: for the first one, when nobody is known yet.
    pub async fn next_within(&mut self, patience: Duration) -> Result<Option<Vec<u8>>, ServerError> {
        tokio::time::timeout(patience, self.next()).await.unwrap_or(Err(ServerError::TooSlow))
    }

    async fn finish(&mut self) -> Result<Option<Vec<u8>>, ServerError> {
        loop {
            let available = self.inner.fill_buf().await?;
            if available.is_empty() {
                return Ok(None);
            }
            let end = available.iter().position(|byte| *byte == b'\n');
            let taken = end.map_or(available.len(), |end| end + 1);
            if self.line.len() + taken > MAX_LINE_BYTES {
                return Err(ServerError::LineTooLong);
            }
            self.line.extend_from_slice(&available[..end.unwrap_or(taken)]);
            self.inner.consume(taken);
            if end.is_some() {
                return Ok(Some(std::mem::take(&mut self.line)));
            }
        }
    }
}

impl LineWriter {
    /// Writes a message as a line; done when the kernel has all of it. Not safe to cancel: half a line may be gone.
    pub async fn write<T: Serialize>(&mut self, message: &T) -> Result<(), ServerError> {
        let line = message::line(message)?;
        let written = tokio::time::timeout(WRITE_PATIENCE, self.inner.write_all(&line)).await;
        written.unwrap_or(Err(std::io::ErrorKind::TimedOut.into())).map_err(ServerError::Io)
    }
}
