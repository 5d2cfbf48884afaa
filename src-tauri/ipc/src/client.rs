//! The side that knocks, without a runtime: a hook is started for every call, so it must be small and quick.
//!
//! A client does not believe any socket that it finds: the folder must be ours and closed to others, and so must the
//! socket and the process behind it be ours; then the version is agreed on.

use std::{
    collections::VecDeque,
    os::{
        fd::{AsFd, BorrowedFd, OwnedFd},
        unix::net::UnixStream,
    },
    time::Duration,
};

use rustix::{
    buffer::spare_capacity,
    event::{PollFd, PollFlags, Timespec, poll},
    fs::{AtFlags, FileType},
    io::Errno,
    net::{AddressFamily, RecvFlags, SendFlags, SocketAddrUnix, SocketFlags, SocketType, sockopt},
    time::{ClockId, clock_gettime},
};
use serde::{Serialize, de::DeserializeOwned};

use crate::{
    ErrorBody, Id, Incoming, MAX_LINE_BYTES, Notification, PROTOCOL, PlaceError, Places, Request, Response,
    message::{self, Hello, HelloBack, JsonRpc, method},
    places::{checked, through},
};

/// A moment on the clock that counts while the machine is awake: the one that programs' own time-outs run on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment(Duration);

impl Moment {
    /// This moment.
    pub fn now() -> Self {
        let now = clock_gettime(ClockId::Monotonic);
        let whole = Duration::from_secs(u64::try_from(now.tv_sec).unwrap_or(0));
        Self(whole + Duration::from_nanos(u64::try_from(now.tv_nsec).unwrap_or(0)))
    }

    /// `after` from now.
    pub fn in_(after: Duration) -> Self {
        Self::now() + after
    }

    /// How long ago it was; nothing if it is yet to come.
    pub fn passed(self) -> Duration {
        Self::now().0.saturating_sub(self.0)
    }

    /// How long it is until then; nothing if it is past.
    pub fn left(self) -> Duration {
        self.0.saturating_sub(Self::now().0)
    }
}

impl std::ops::Add<Duration> for Moment {
    type Output = Self;
    fn add(self, after: Duration) -> Self {
        Self(self.0.saturating_add(after))
    }
}

/// A connection to the gate.
#[derive(Debug)]
pub struct Client {
    socket: UnixStream,
    received: Vec<u8>,
    /// How many bytes at the front of `received` hold no line end.
    scanned: usize,
    lines: VecDeque<Vec<u8>>,
    last_id: i64,
    /// What is to go out with the next write.
    unsent: Vec<u8>,
    /// The request whose answer agrees on the version, until it has come.
    greeting: Option<Id>,
}

/// Something else to wake up for while an answer is awaited.
#[derive(Clone, Copy, Debug)]
pub struct Waker<'a> {
    fd: BorrowedFd<'a>,
    events: PollFlags,
}

impl<'a> Waker<'a> {
    /// When there is something to read: a pipe that signals write to, the handle of a process that ends.
    pub fn readable(fd: BorrowedFd<'a>) -> Self {
        Self { fd, events: PollFlags::IN }
    }

    /// When the other end is closed.
    pub fn hung_up(fd: BorrowedFd<'a>) -> Self {
        Self { fd, events: PollFlags::empty() }
    }
}

/// Why waiting ended.
#[derive(Debug)]
pub enum Waited {
    /// An answer came.
    Response(Response),
    /// Something was told.
    Notification(Notification),
    /// The waker at this place.
    Woken(usize),
    /// The time is over.
    Deadline,
}

/// Why the gate could not be asked.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The folder of the socket is not to be trusted, or not there.
    #[error("{0}")]
    Place(#[from] PlaceError),
    /// Nobody listens.
    #[error("no gate listens at {path}: {source}")]
    Unreachable {
        /// Where.
        path: String,
        /// What the system says.
        source: std::io::Error,
    },
    /// What is at the socket's place is not ours.
    #[error("{path} is not this user's gate: {why}")]
    FalseGate {
        /// Where.
        path: String,
        /// What is wrong.
        why: String,
    },
    /// The other side speaks another version.
    #[error("the gate does not speak protocol {PROTOCOL}: {0}")]
    Version(String),
    /// The connection ended.
    #[error("the gate closed the connection")]
    Closed,
    /// The connection failed.
    #[error("the connection to the gate failed: {0}")]
    Io(std::io::Error),
    /// No answer in time.
    #[error("the gate did not answer in time")]
    TimedOut,
    /// No message that could be understood.
    #[error("the gate's answer cannot be understood: {0}")]
    Malformed(String),
    /// The gate says no to the message itself.
    #[error("{0}")]
    Refused(ErrorBody),
}

impl ClientError {
    /// Whether trying again may help: the gate may be about to start, or to come back.
    pub fn may_pass(&self) -> bool {
        match self {
            Self::Unreachable { .. } | Self::Closed | Self::Io(_) | Self::TimedOut => true,
            Self::Place(error) => matches!(error, PlaceError::Io { .. }),
            Self::Refused(body) => body.word() == "closing",
            Self::FalseGate { .. } | Self::Version(_) | Self::Malformed(_) => false,
        }
    }
}

impl Client {
    /// Connects, checks who is there, and agrees on the version; all of it within `patience`.
    pub fn connect(places: &Places, client: &str, version: &str, patience: Duration) -> Result<Self, ClientError> {
        let deadline = Moment::in_(patience);
        let mut this = Self::knock(places, client, version, deadline)?;
        this.agree(deadline)?;
        Ok(this)
    }

    /// Connects and checks who is there. The greeting goes out with what is sent first, so that who has but one thing
    /// to ask waits once; [`Self::agree`] must come before any answer is taken.
    pub fn knock(places: &Places, client: &str, version: &str, deadline: Moment) -> Result<Self, ClientError> {
        let mut this = Self {
            socket: reach(places, deadline)?.into(),
            received: Vec::new(),
            scanned: 0,
            lines: VecDeque::new(),
            last_id: 0,
            unsent: Vec::new(),
            greeting: None,
        };
        let hello = Hello { protocol: PROTOCOL, client: client.to_owned(), version: version.to_owned() };
        this.greeting = Some(this.queue(method::HELLO, &hello)?);
        Ok(this)
    }

    /// Waits for the answer to the greeting, which is the first thing that a gate says. Writes what is not sent yet.
    pub fn agree(&mut self, deadline: Moment) -> Result<(), ClientError> {
        self.flush(deadline)?;
        let Some(id) = self.greeting.take() else { return Ok(()) };
        let back: HelloBack = match self.answer_to(&id, deadline) {
            Err(ClientError::Refused(body)) if body.word() == "protocol_mismatch" => {
                return Err(ClientError::Version(body.sentence().to_owned()));
            }
            other => other?,
        };
        if back.protocol != PROTOCOL {
            return Err(ClientError::Version(format!("it speaks {}", back.protocol)));
        }
        Ok(())
    }

    /// Asks and takes the answer.
    pub fn call<P: Serialize, R: DeserializeOwned>(
        &mut self,
        method: &str,
        params: &P,
        patience: Duration,
    ) -> Result<R, ClientError> {
        self.call_until(method, params, Moment::in_(patience))
    }

    /// The same, until a moment.
    pub fn call_until<P: Serialize, R: DeserializeOwned>(
        &mut self,
        method: &str,
        params: &P,
        deadline: Moment,
    ) -> Result<R, ClientError> {
        let id = self.send(method, params, deadline)?;
        self.answer_to(&id, deadline)
    }

    /// Waits for the answer to a request; what else comes until then is left out.
    pub fn answer_to<R: DeserializeOwned>(&mut self, id: &Id, deadline: Moment) -> Result<R, ClientError> {
        loop {
            match self.wait(&[], deadline)? {
                Waited::Response(response) if response.id.as_ref() == Some(id) => return result(response),
                Waited::Response(_) | Waited::Notification(_) | Waited::Woken(_) => {}
                Waited::Deadline => return Err(ClientError::TimedOut),
            }
        }
    }

    /// Asks without waiting; [`Self::wait`] gives the answer, known by this id.
    pub fn send<P: Serialize>(&mut self, method: &str, params: &P, deadline: Moment) -> Result<Id, ClientError> {
        let id = self.queue(method, params)?;
        self.flush(deadline)?;
        Ok(id)
    }

    /// The same, without writing it yet: it goes out with what is sent next.
    pub fn queue<P: Serialize>(&mut self, method: &str, params: &P) -> Result<Id, ClientError> {
        self.last_id += 1;
        let id = Id::Number(self.last_id);
        let no_json = |e: serde_json::Error| ClientError::Malformed(e.to_string());
        let params = serde_json::value::to_raw_value(params).map_err(no_json)?;
        let request =
            Request { jsonrpc: JsonRpc::V2, id: Some(id.clone()), method: method.to_owned(), params: Some(params) };
        let line = message::line(&request).map_err(no_json)?;
        if line.len() > MAX_LINE_BYTES {
            return Err(ClientError::Malformed(format!(
                "a message of {} bytes is larger than the {MAX_LINE_BYTES} that may be sent",
                line.len()
            )));
        }
        if self.unsent.is_empty() {
            self.unsent = line;
        } else {
            self.unsent.extend_from_slice(&line);
        }
        Ok(id)
    }

    fn flush(&mut self, deadline: Moment) -> Result<(), ClientError> {
        let unsent = std::mem::take(&mut self.unsent);
        self.write(&unsent, deadline)
    }

    /// Waits for the next message, for one of the wakers, or until the deadline. A message that has come is given
    /// before a waker.
    pub fn wait(&mut self, wakers: &[Waker<'_>], deadline: Moment) -> Result<Waited, ClientError> {
        loop {
            if let Some(line) = self.lines.pop_front() {
                return match Incoming::parse(&line) {
                    Ok(Incoming::Response(response)) => Ok(Waited::Response(response)),
                    Ok(Incoming::Notification(told)) => Ok(Waited::Notification(told)),
                    Err(error) => Err(ClientError::Malformed(error.to_string())),
                };
            }
            match poll_on(&self.socket, PollFlags::IN, wakers, deadline)? {
                Polled::Ready => self.receive()?,
                Polled::Woken(place) => return Ok(Waited::Woken(place)),
                Polled::Deadline => return Ok(Waited::Deadline),
            }
        }
    }

    fn write(&mut self, mut rest: &[u8], deadline: Moment) -> Result<(), ClientError> {
        while !rest.is_empty() {
            // A gate that has gone away is an error here, not a signal that ends this program.
            match rustix::net::send(&self.socket, rest, SendFlags::NOSIGNAL) {
                Ok(written) => rest = &rest[written..],
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => match poll_on(&self.socket, PollFlags::OUT, &[], deadline)? {
                    Polled::Deadline => return Err(ClientError::TimedOut),
                    Polled::Ready | Polled::Woken(_) => {}
                },
                Err(Errno::PIPE | Errno::CONNRESET) => return Err(ClientError::Closed),
                Err(errno) => return Err(ClientError::Io(errno.into())),
            }
        }
        Ok(())
    }

    fn receive(&mut self) -> Result<(), ClientError> {
        // Answers are small: a page that is not touched costs nothing, and what is long doubles its room as it grows.
        self.received.reserve(1_024);
        match rustix::net::recv(&self.socket, spare_capacity(&mut self.received), RecvFlags::empty()) {
            Ok((_, 0)) | Err(Errno::CONNRESET | Errno::PIPE) => return Err(ClientError::Closed),
            Ok(_) => {}
            Err(Errno::INTR | Errno::AGAIN) => return Ok(()),
            Err(errno) => return Err(ClientError::Io(errno.into())),
        }
        while let Some(end) = self.received[self.scanned..].iter().position(|byte| *byte == b'\n') {
            let rest = self.received.split_off(self.scanned + end + 1);
            self.lines.push_back(std::mem::replace(&mut self.received, rest));
            self.scanned = 0;
        }
        self.scanned = self.received.len();
        if self.scanned > MAX_LINE_BYTES {
            return Err(ClientError::Malformed(format!("a line of more than {MAX_LINE_BYTES} bytes")));
        }
        Ok(())
    }
}

/// What an answer holds.
pub fn result<R: DeserializeOwned>(response: Response) -> Result<R, ClientError> {
    match (response.result, response.error) {
        (Some(result), None) => serde_json::from_str(result.get()).map_err(|e| ClientError::Malformed(e.to_string())),
        (None, Some(error)) => Err(ClientError::Refused(error)),
        (None, None) | (Some(_), Some(_)) => {
            Err(ClientError::Malformed("an answer holds either a result or an error".to_owned()))
        }
    }
}

/// Waits for one of the wakers, and gives its place; none when the moment has come.
pub fn wait_for(wakers: &[Waker<'_>], until: Moment) -> Option<usize> {
    loop {
        let mut watched: Vec<_> = wakers.iter().map(|waker| PollFd::from_borrowed_fd(waker.fd, waker.events)).collect();
        match poll(&mut watched, Some(&timespec(until.left()))) {
            Ok(0) => return None,
            Ok(_) => {
                if let Some(place) = watched.iter().position(|fd| !fd.revents().is_empty()) {
                    return Some(place);
                }
            }
            Err(Errno::INTR) => {}
            Err(_) => return None,
        }
    }
}

/// Opens the socket and looks at everything that can be known about it from outside.
fn reach(places: &Places, deadline: Moment) -> Result<OwnedFd, ClientError> {
    let path = || places.socket.display().to_string();
    let unreachable =
        |source: std::io::Error| ClientError::Unreachable { path: places.socket.display().to_string(), source };
    let not_ours = |why: String| ClientError::FalseGate { path: places.socket.display().to_string(), why };
    let uid = rustix::process::geteuid().as_raw();

    let dir = checked(places.socket_dir())?;
    let Some(name) = places.socket.file_name() else {
        return Err(not_ours("the path names no socket".to_owned()));
    };
    let stat = rustix::fs::statat(&dir, name, AtFlags::SYMLINK_NOFOLLOW).map_err(|e| unreachable(e.into()))?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::Socket {
        return Err(not_ours("it is no socket".to_owned()));
    }
    if stat.st_uid != uid || stat.st_mode & 0o077 != 0 {
        return Err(not_ours(format!("owner {}, mode {:04o}", stat.st_uid, stat.st_mode & 0o7777)));
    }

    let address = SocketAddrUnix::new(through(&dir, name)).map_err(|e| unreachable(e.into()))?;
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = rustix::net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)
        .map_err(|e| unreachable(e.into()))?;
    loop {
        match rustix::net::connect(&socket, &address) {
            Ok(()) => break,
            Err(Errno::INTR) => {}
            // The gate has more callers than it can take at this moment.
            Err(Errno::AGAIN) if !deadline.left().is_zero() => {
                std::thread::sleep(deadline.left().min(Duration::from_millis(5)));
            }
            Err(errno) => return Err(unreachable(errno.into())),
        }
    }
    let peer = sockopt::socket_peercred(&socket).map_err(|e| unreachable(e.into()))?;
    if peer.uid.as_raw() != uid {
        return Err(ClientError::FalseGate { path: path(), why: format!("user {} answers there", peer.uid.as_raw()) });
    }
    Ok(socket)
}

enum Polled {
    Ready,
    Woken(usize),
    Deadline,
}

fn poll_on(
    socket: &UnixStream,
    events: PollFlags,
    wakers: &[Waker<'_>],
    deadline: Moment,
) -> Result<Polled, ClientError> {
    let mut watched = Vec::with_capacity(1 + wakers.len());
    watched.push(PollFd::from_borrowed_fd(socket.as_fd(), events));
    watched.extend(wakers.iter().map(|waker| PollFd::from_borrowed_fd(waker.fd, waker.events)));
    let left = deadline.left();
    let timeout =
        Timespec { tv_sec: i64::try_from(left.as_secs()).unwrap_or(i64::MAX), tv_nsec: i64::from(left.subsec_nanos()) };
    match poll(&mut watched, Some(&timeout)) {
        Ok(0) => Ok(Polled::Deadline),
        Ok(_) if !watched[0].revents().is_empty() => Ok(Polled::Ready),
        Ok(_) => {
            let place = watched.iter().skip(1).position(|fd| !fd.revents().is_empty());
            Ok(place.map_or(Polled::Ready, Polled::Woken))
        }
        Err(Errno::INTR) => Ok(Polled::Ready),
        Err(errno) => Err(ClientError::Io(errno.into())),
    }
}

fn timespec(duration: Duration) -> Timespec {
    Timespec {
        tv_sec: i64::try_from(duration.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: i64::from(duration.subsec_nanos()),
    }
}
