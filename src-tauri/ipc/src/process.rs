//! Telling processes apart: a pid alone may have been given to another program meanwhile, a pid with its start time
//! not.

use std::fs;

use placet_domain::Waiter;

/// When a process started: field 22 of `/proc/PID/stat`, in clock ticks since boot. None if there is no such process
/// (any more), or it has ended and only waits to be collected.
pub fn start_of(pid: i32) -> Option<u64> {
    start_in(&fs::read(format!("/proc/{pid}/stat")).ok()?)
}

/// Whether this very process still runs.
pub fn is_alive(waiter: &Waiter) -> bool {
    start_of(waiter.pid) == Some(waiter.start)
}

/// This process itself.
pub fn this_process() -> Waiter {
    let pid = rustix::process::getpid().as_raw_nonzero().get();
    Waiter { pid, start: start_of(pid).unwrap_or(0) }
}

/// The name in field 2 is the program's own choice and may hold spaces and brackets: counting begins after the last
/// closing one.
fn start_in(stat: &[u8]) -> Option<u64> {
    let after_name = stat.iter().rposition(|byte| *byte == b')')?;
    let text = std::str::from_utf8(&stat[after_name + 1..]).ok()?;
    let mut fields = text.split_ascii_whitespace();
    let state = fields.next()?;
    let ticks = fields.nth(18)?.parse().ok()?;
    (!matches!(state, "Z" | "X")).then_some(ticks)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_name_with_brackets_does_not_mislead() {
        let stat = b"7 (a) R 1 (b) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4711 20 21\n";
        assert_eq!(start_in(stat), Some(4711));
    }

    #[test]
    fn a_process_lives_until_it_has_ended() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let pid = i32::try_from(child.id()).unwrap();
        let waiter = Waiter { pid, start: start_of(pid).unwrap() };
        assert!(is_alive(&waiter));
        assert!(!is_alive(&Waiter { start: waiter.start + 1, ..waiter }));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!is_alive(&waiter));
    }

    #[test]
    fn one_knows_oneself() {
        assert!(is_alive(&this_process()));
    }
}
