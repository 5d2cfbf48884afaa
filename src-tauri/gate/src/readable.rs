//! Descriptors of the kernel that tokio has no type for: timers and process handles, waited for without a thread each.

use std::{io, os::fd::OwnedFd};

use tokio::io::{Interest, unix::AsyncFd};

/// Registers a descriptor with the runtime, to wait until it is readable.
#[expect(
    deprecated,
    reason = "the new name is unsafe for types that may give up their descriptor; an OwnedFd keeps its own while registered"
)]
pub(crate) fn register(descriptor: OwnedFd) -> io::Result<AsyncFd<OwnedFd>> {
    AsyncFd::with_interest(descriptor, Interest::READABLE)
}
