//! What a grant would have answered, shown before it is given.

use super::{Covers, Effect, Scope, allows, scope::Given};
use crate::{ApprovalId, ApprovalState, At, By, CallFacts, GrantId, Refusal, RefusalCode, SessionId, State};

/// A call of the past: one row of the history.
#[derive(Clone, Debug, PartialEq)]
pub struct Past {
    /// When.
    pub at_ms: At,
    /// Whose.
    pub session: SessionId,
    /// What.
    pub call: CallFacts,
}

/// What a grant would say and answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Preview {
    /// The sentence of the very row that would be stored.
    pub sentence: String,
    /// How many of the past calls it would have let through by itself or helped to.
    pub matched: usize,
    /// The newest of them, at most five.
    pub examples: Vec<Past>,
    /// What else waits now and would be answered by it.
    pub also_pending: Vec<ApprovalId>,
}

/// Previews a grant on `past`, the calls of the last 7 days, oldest first.
///
/// # Errors
/// `no_such_approval`, or what giving it would be refused for.
pub fn preview(state: &State, approval: ApprovalId, scope: &Scope, past: &[Past], now: At) -> Result<Preview, Refusal> {
    let gone = || RefusalCode::NoSuchApproval.because("There is no approval of this id.");
    let approval = state.approvals.get(&approval).filter(|a| a.state == ApprovalState::Pending).ok_or_else(gone)?;
    let session = state.sessions.get(&approval.session).ok_or_else(gone)?;
    let given = Given {
        state,
        session,
        approval,
        call: &approval.judged.facts,
        // The id it would get is not known yet; nothing here shows one.
        id: GrantId::new(uuid::Uuid::nil()),
        scope,
        effect: Effect::Allow,
        by: &By::User,
        now,
    };
    let grant = super::grant_of(&given)?;
    let unlimited = super::Grant { uses_left: None, ..grant.clone() };
    let would = |past: &&Past| {
        state.sessions.get(&past.session).is_some_and(|session| {
            past.call
                .subjects
                .iter()
                .any(|subject| allows(&unlimited, state, &past.call, subject, session, now) == Covers::Yes)
        })
    };
    let matched: Vec<&Past> = past.iter().filter(would).collect();
    Ok(Preview {
        matched: matched.len(),
        examples: matched.iter().rev().take(5).map(|past| (*past).clone()).collect(),
        also_pending: crate::decide::would_answer(state, &grant, Some(approval.id), now),
        sentence: grant.sentence,
    })
}
