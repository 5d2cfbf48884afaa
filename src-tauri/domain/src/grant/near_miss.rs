//! Why a call is asked although a grant seemed to cover it.

use super::{Covers, Effect, allows};
use crate::{At, GrantState, Judged, Session, State};

/// How many candidates are looked at: this is an explanation, not a decision.
const MOST: usize = 64;

/// One sentence on the grant that nearly covered a call, or that did until a moment ago.
pub(crate) fn near_miss(state: &State, judged: &Judged, session: &Session, now: At) -> Option<String> {
    let call = &judged.facts;
    for subject in &call.subjects {
        for id in state.index.near(Effect::Allow, session, call, subject).into_iter().take(MOST) {
            let Some(grant) = state.grants.get(&id) else { continue };
            if let Covers::Nearly(why) = allows(grant, state, call, subject, session, now) {
                return Some(format!("Granted but did not match: “{}” (here {why}).", grant.sentence));
            }
        }
    }
    state.ended.iter().rev().find_map(|ended| {
        let mut as_it_was = ended.clone();
        let how = match ended.state {
            GrantState::Active => return None,
            GrantState::Expired => "its time is over",
            GrantState::Exhausted => "its uses are used up",
            GrantState::Revoked => "it was taken back",
            GrantState::Dead => "what it was given for has changed",
        };
        as_it_was.state = GrantState::Active;
        as_it_was.uses_left = None;
        as_it_was.expires_at_ms = now.plus_ms(1);
        as_it_was.root = None;
        let covered = call.subjects.iter().any(|s| allows(&as_it_was, state, call, s, session, now) == Covers::Yes);
        covered.then(|| format!("Granted but did not match: “{}” ({how}).", ended.sentence))
    })
}
