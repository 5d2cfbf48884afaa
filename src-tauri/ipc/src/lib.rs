//! How others knock: where things lie, what is said, and over which socket.
//!
//! Messages, the socket with its checks on both sides, the lock that lets one gate run for each data directory. No
//! decision is made here and no method decides for a person: this is the agents' side, which may ask, withdraw,
//! report and take away.

mod client;
mod lock;
pub mod message;
mod places;
mod process;
mod server;

pub use client::{Client, ClientError, Moment, Waited, Waker, result, wait_for};
pub use lock::{GateLock, Holder, HostKind, LockError, TryLock};
pub use message::{ErrorBody, Id, Incoming, MAX_LINE_BYTES, Notification, PROTOCOL, Request, Response};
pub use places::{Flags, PlaceError, Places, home};
pub use process::{is_alive, start_of, this_process};
pub use server::{LineReader, LineWriter, Lines, Listener, Peer, ServerError};
