//! Whether a process that waits is still there. A pid alone is not enough: it is used again; the start time tells.

use std::os::fd::OwnedFd;

use placet_domain::Waiter;
use rustix::process::{Pid, PidfdFlags, pidfd_open};

/// Whether this very process still runs.
pub(crate) fn is_there(waiter: Waiter) -> bool {
    placet_ipc::is_alive(&waiter)
}

/// Returns once this very process is gone.
pub(crate) async fn gone(waiter: Waiter) {
    let Some(pidfd) = open(waiter) else { return };
    // The pid may have been used again between looking and opening.
    if !is_there(waiter) {
        return;
    }
    let Ok(pidfd) = crate::readable::register(pidfd) else { return };
    // A pidfd becomes readable when its process ends.
    let _ = pidfd.readable().await;
}

fn open(waiter: Waiter) -> Option<OwnedFd> {
    pidfd_open(Pid::from_raw(waiter.pid)?, PidfdFlags::empty()).ok()
}
