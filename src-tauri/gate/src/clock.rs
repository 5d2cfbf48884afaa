//! The one clock. Within one boot it counts by the clock that also counts sleep; across boots by the wall clock. It
//! never runs backwards, so a clock set back revives nothing.

use std::{
    sync::atomic::{AtomicI64, Ordering},
    time::{SystemTime, UNIX_EPOCH},
};

use placet_domain::At;
use rustix::time::{ClockId, clock_gettime};

/// A wall clock this far behind the latest time seen is wild; it is taken as it is, and everything open ends.
const WILD_MS: i64 = 24 * 60 * 60 * 1_000;

/// Counts from a base taken once, at start.
#[derive(Debug)]
#[expect(clippy::struct_field_names, reason = "the unit stands last in every name")]
pub(crate) struct Clock {
    base_ms: i64,
    boot_at_base_ms: i64,
    latest_ms: AtomicI64,
}

impl Clock {
    /// Starts at the later of the wall clock and the latest time seen; or at the wall clock, if that is more than a
    /// day behind. Gives with it how far behind the wall clock is, in milliseconds (negative if ahead).
    pub(crate) fn start(latest_seen: Option<At>) -> (Self, i64) {
        Self::starting_at(wall_ms(), boot_ms(), latest_seen)
    }

    fn starting_at(wall_ms: i64, boot_ms: i64, latest_seen: Option<At>) -> (Self, i64) {
        let behind_ms = latest_seen.map_or(0, |latest| latest.0 - wall_ms);
        let base_ms = if behind_ms > WILD_MS { wall_ms } else { wall_ms.saturating_add(behind_ms.max(0)) };
        (Self { base_ms, boot_at_base_ms: boot_ms, latest_ms: AtomicI64::new(base_ms) }, behind_ms)
    }

    /// Now.
    pub(crate) fn now(&self) -> At {
        let now = self.base_ms.saturating_add(boot_ms().saturating_sub(self.boot_at_base_ms));
        At(self.latest_ms.fetch_max(now, Ordering::Relaxed).max(now))
    }
}

/// Milliseconds since boot, sleep included.
pub(crate) fn boot_ms() -> i64 {
    let time = clock_gettime(ClockId::Boottime);
    time.tv_sec.saturating_mul(1_000).saturating_add(time.tv_nsec / 1_000_000)
}

/// Milliseconds since 1970 by the wall clock.
#[expect(clippy::disallowed_methods, reason = "this is the clock")]
pub(crate) fn wall_ms() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| i64::try_from(d.as_millis()).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_set_back_an_hour_starts_where_time_was_last_seen() {
        let (clock, behind) = Clock::starting_at(1_000_000_000, 5, Some(At(1_003_600_000)));
        assert_eq!((clock.base_ms, behind), (1_003_600_000, 3_600_000));
    }

    #[test]
    fn a_clock_a_month_behind_is_taken_as_it_is_and_said_so() {
        let month = 30 * 24 * 3_600_000;
        let (clock, behind) = Clock::starting_at(1_000_000_000, 5, Some(At(1_000_000_000 + month)));
        assert_eq!((clock.base_ms, behind), (1_000_000_000, month));
    }

    #[test]
    fn a_machine_that_was_off_is_no_such_case() {
        let (clock, behind) = Clock::starting_at(9_000_000_000, 5, Some(At(1_000_000_000)));
        assert_eq!(clock.base_ms, 9_000_000_000);
        assert!(behind < 0);
    }

    #[test]
    fn now_never_runs_backwards() {
        let (clock, _) = Clock::start(None);
        let times: Vec<At> = (0..1_000).map(|_| clock.now()).collect();
        assert!(times.is_sorted());
    }
}
