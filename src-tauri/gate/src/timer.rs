//! Wakes the writer when something is due. It sleeps on a clock that counts suspend, and never polls.

use std::os::fd::OwnedFd;

use placet_domain::Command;
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create, timerfd_settime,
};
use tokio::io::unix::AsyncFd;

use crate::writer::Writer;

/// Runs until the writer is gone.
pub(crate) async fn run(writer: Writer) {
    let timer = match new() {
        Ok(timer) => timer,
        Err(error) => {
            tracing::error!(%error, "no timer: deadlines are still kept by every decision, but nothing expires by itself");
            return;
        }
    };
    let mut next = writer.next_due.clone();
    loop {
        let due = *next.borrow_and_update();
        if let Some(due) = due {
            let ms = due.ms_since(writer.clock.now());
            if ms <= 0 {
                if writer.decide(Command::Tick).await.is_err() {
                    return;
                }
                // The decision moves what is due next; wait for that.
                if *next.borrow() == Some(due) && next.changed().await.is_err() {
                    return;
                }
                continue;
            }
            set(&timer, ms);
        }
        tokio::select! {
            changed = next.changed() => if changed.is_err() { return },
            () = rung(&timer), if due.is_some() => {}
        }
    }
}

fn new() -> std::io::Result<AsyncFd<OwnedFd>> {
    let timer = timerfd_create(TimerfdClockId::Boottime, TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC)?;
    crate::readable::register(timer)
}

fn set(timer: &AsyncFd<OwnedFd>, ms: i64) {
    let value = Timespec { tv_sec: ms / 1_000, tv_nsec: (ms % 1_000) * 1_000_000 };
    let spec = Itimerspec { it_interval: Timespec { tv_sec: 0, tv_nsec: 0 }, it_value: value };
    if let Err(error) = timerfd_settime(timer.get_ref(), TimerfdTimerFlags::empty(), &spec) {
        tracing::error!(%error, "the timer could not be set");
    }
}

async fn rung(timer: &AsyncFd<OwnedFd>) {
    loop {
        let Ok(mut ready) = timer.readable().await else { return };
        let mut count = [0; 8];
        match rustix::io::read(timer.get_ref(), &mut count) {
            Ok(_) => return,
            Err(_) => ready.clear_ready(),
        }
    }
}
