//! What time does by itself.

use crate::{
    ApprovalState, At, Fact, GrantState, State,
    decide::{Decided, Outcome},
    state::Due,
};

/// A wall clock this far behind the latest time seen is wild: everything open ends.
const WILD_CLOCK_MS: i64 = 24 * 60 * 60 * 1_000;

/// Everything whose time is over, earliest first.
pub(super) fn due(state: &State, now: At) -> Vec<Fact> {
    state
        .due
        .iter()
        .take_while(|(at, _)| *at <= now)
        .filter_map(|(_, due)| match due {
            Due::Approval(id) => match &state.approvals.get(id)?.state {
                ApprovalState::Pending => Some(Fact::ApprovalExpired { approval: *id }),
                ApprovalState::Approved { .. } => Some(Fact::ApprovalLapsed { approval: *id }),
                ApprovalState::Consumed { .. }
                | ApprovalState::Lapsed { .. }
                | ApprovalState::Void { .. }
                | ApprovalState::Denied { .. }
                | ApprovalState::Expired { .. }
                | ApprovalState::Cancelled { .. } => None,
            },
            Due::Grant(id) => Some(Fact::GrantEnded { grant: *id, how: GrantState::Expired }),
        })
        .collect()
}

/// The gate opens: first what is overdue ends, then anything else.
pub(super) fn start_app(state: &State, version: &str, host: &str, clock_behind_ms: i64, now: At) -> Decided {
    let mut facts = vec![Fact::AppStarted { version: version.to_owned(), host: host.to_owned() }];
    if clock_behind_ms > WILD_CLOCK_MS {
        facts.push(Fact::AlertRaised {
            alert: "clock_set_back".to_owned(),
            message: "The clock is more than a day behind the last time seen. Everything waiting and every grant has \
                      ended; the clock is taken as it is now."
                .to_owned(),
        });
        facts.extend(due(state, At(i64::MAX)));
    } else {
        facts.extend(due(state, now));
    }
    Decided { facts, outcome: Outcome::Done }
}
