//! What policy and grants together say of a call.

use crate::{At, GrantId, Judged, Session, State, fact::DeniedBy};

/// The verdict of the rules before anybody is asked.
#[derive(Clone, Debug, PartialEq)]
pub enum Ruling {
    /// Every pair of subject and action is covered.
    Allow {
        /// By these rules.
        rules: Vec<String>,
        /// And these grants, each used once by it.
        grants: Vec<GrantId>,
        /// In the words the agent is told.
        reason: String,
    },
    /// Some pair is forbidden.
    Deny {
        /// By what.
        by: DeniedBy,
        /// In the words the agent is told.
        reason: String,
    },
    /// A person must say.
    Ask {
        /// The rule that says so; none where no rule matched.
        rule: Option<String>,
        /// Why, in a sentence.
        reason: String,
        /// How long the person has.
        timeout_ms: i64,
    },
}

/// Judges a call by the policy in force and the active grants. Any deny wins; then any ask; silence is the default.
/// The pause switch and what is refused before any rule are `decide`'s matter.
pub fn judge(state: &State, judged: &Judged, session: &Session, now: At) -> Ruling {
    let _ = (state, judged, session, now);
    Ruling::Ask { rule: None, reason: String::new(), timeout_ms: crate::time::DEFAULT_TIMEOUT_MS }
}
