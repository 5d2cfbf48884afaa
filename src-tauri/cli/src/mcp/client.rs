//! The client's side: its lines, until it ends or somebody has to stop listening.

use std::os::fd::{AsFd as _, BorrowedFd};

use placet_ipc::{Moment, Waker, wait_for};

use crate::{ask::Watch as _, hook::Bell};

/// The longest line that is taken.
const MOST: usize = placet_ipc::MAX_LINE_BYTES;

/// What came.
#[derive(Debug)]
pub(crate) enum Came {
    /// A line without its end.
    Line(Vec<u8>),
    /// A line that is longer than can be judged; it was thrown away.
    TooLong,
    /// The client closed its end.
    End,
    /// The client has gone, or somebody told this program to end.
    Stop,
    /// The other thing that was to be looked at.
    Other,
}

/// Lines of the client on stdin.
#[derive(Debug)]
pub(crate) struct Lines<'a> {
    bell: &'a Bell,
    /// What to look at beside stdin.
    other: Option<BorrowedFd<'a>>,
    received: Vec<u8>,
    /// How many bytes at the front of `received` hold no line end.
    scanned: usize,
    /// Within a line that is too long.
    skipping: bool,
    ended: bool,
}

impl<'a> Lines<'a> {
    pub(crate) fn new(bell: &'a Bell, other: Option<BorrowedFd<'a>>) -> Self {
        Self { bell, other, received: Vec::new(), scanned: 0, skipping: false, ended: false }
    }

    /// The next thing that comes.
    pub(crate) fn next(&mut self) -> Came {
        loop {
            if let Some(line) = self.line() {
                return line;
            }
            if self.ended {
                return Came::End;
            }
            let stdin = std::io::stdin();
            let mut wakers = vec![Waker::readable(stdin.as_fd())];
            wakers.extend(self.other.map(Waker::readable));
            let own = wakers.len();
            wakers.extend(self.bell.wakers());
            // The moment is only there because one is needed.
            match wait_for(&wakers, Moment::in_(std::time::Duration::from_secs(3_600))) {
                None => continue,
                Some(0) => {}
                Some(place) if place < own => return Came::Other,
                Some(_) => return Came::Stop,
            }
            let mut chunk = [0; 8 * 1024];
            match rustix::io::read(&stdin, &mut chunk) {
                Ok(0) => self.ended = true,
                Ok(count) => self.received.extend_from_slice(&chunk[..count]),
                Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => {}
                Err(_) => return Came::Stop,
            }
        }
    }

    /// A line out of what was received. What stands after the last line end is a line once the client has ended.
    fn line(&mut self) -> Option<Came> {
        loop {
            let end = self.received[self.scanned..].iter().position(|byte| *byte == b'\n');
            let Some(end) = end else {
                if self.received.len() > MOST {
                    self.received.clear();
                    self.skipping = true;
                }
                self.scanned = self.received.len();
                if !self.ended || self.received.is_empty() {
                    return None;
                }
                self.received.push(b'\n');
                continue;
            };
            let rest = self.received.split_off(self.scanned + end + 1);
            let mut line = std::mem::replace(&mut self.received, rest);
            self.scanned = 0;
            line.pop();
            if std::mem::take(&mut self.skipping) || line.len() > MOST {
                return Some(Came::TooLong);
            }
            if !line.trim_ascii().is_empty() {
                return Some(Came::Line(line));
            }
        }
    }
}
