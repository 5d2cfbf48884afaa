//! Grants: given, used up, taken back; and a new policy, which answers what waits just as a new grant does.

use std::sync::Arc;

use crate::{
    Approval, ApprovalId, ApprovalState, At, By, Fact, Grant, GrantId, GrantState, Policy, Refusal, RefusalCode,
    Ruling, Scope, SessionId, State,
    decide::{Changed, Decided, Outcome},
    fact::DeniedBy,
    grant::GrantWho,
    judge_by,
};

/// Makes the grant that a yes carries.
pub(super) fn issue(
    state: &State,
    approval: &Approval,
    id: GrantId,
    scope: &Scope,
    by: &By,
    now: At,
) -> Result<Grant, Refusal> {
    let _ = (state, approval, id, scope, by, now);
    Err(RefusalCode::NotGrantable.because("Grants cannot be given yet; approve once."))
}

/// Makes the grant that a no carries.
pub(super) fn issue_denial(
    state: &State,
    approval: &Approval,
    id: GrantId,
    scope: &Scope,
    by: &By,
    now: At,
) -> Result<Grant, Refusal> {
    let _ = (state, approval, id, scope, by, now);
    Err(RefusalCode::NotGrantable.because("Grants cannot be given yet; deny once."))
}

/// What a new grant answers at once, oldest first, counting its uses.
pub(super) fn answer_waiting(state: &State, grant: &Grant, except: Option<ApprovalId>, now: At) -> Vec<Fact> {
    let _ = (state, grant, except, now);
    Vec::new()
}

/// Grants of a session end with it.
pub(super) fn end_with_session(state: &State, session: SessionId) -> Vec<Fact> {
    state
        .grants
        .values()
        .filter(|g| g.who == GrantWho::Session { session })
        .map(|g| Fact::GrantEnded { grant: g.id, how: GrantState::Expired })
        .collect()
}

pub(super) fn revoke(state: &State, ids: &[GrantId], by: &By, note: Option<&str>) -> Decided {
    let mut facts = Vec::new();
    let mut outcomes = Vec::with_capacity(ids.len());
    let mut seen = std::collections::HashSet::new();
    for id in ids {
        let active = state.grants.contains_key(id);
        if active && seen.insert(*id) {
            facts.push(Fact::GrantRevoked { grant: *id, by: by.clone(), note: note.map(str::to_owned) });
        }
        outcomes.push(Changed { id: id.to_string(), state: active.then_some("revoked"), changed: active });
    }
    Decided { facts, outcome: Outcome::Each(outcomes) }
}

pub(super) fn shorten(state: &State, id: GrantId, expires_at_ms: At, now: At) -> Result<Decided, Refusal> {
    let grant = state
        .grants
        .get(&id)
        .ok_or_else(|| RefusalCode::NoSuchGrant.because("There is no active grant of this id."))?;
    if expires_at_ms <= now || expires_at_ms >= grant.expires_at_ms {
        return Err(RefusalCode::BadExpiry.because("A grant can only be made to end earlier, and not in the past."));
    }
    Ok(Decided::done(vec![Fact::GrantShortened { grant: id, expires_at_ms }]))
}

/// A new policy comes into force, and what waits is judged by it.
pub(super) fn load_policy(state: &State, policy: &Arc<Policy>, now: At) -> Decided {
    let mut facts = vec![Fact::PolicyLoaded { policy: policy.digest() }];
    for approval in state.approvals.values().filter(|a| a.state == ApprovalState::Pending && now < a.expires_at_ms) {
        let Some(session) = state.sessions.get(&approval.session) else { continue };
        match judge_by(policy, state, &approval.judged, session, now) {
            Ruling::Ask { .. } => {}
            Ruling::Allow { rules, .. } => facts.push(Fact::ApprovalApproved {
                approval: approval.id,
                by: By::Policy { rule: rules.first().cloned().unwrap_or_default() },
                digest: approval.judged.facts.digest,
                note: None,
                grant: None,
            }),
            Ruling::Deny { by, reason } => {
                let rule = match by {
                    DeniedBy::Policy { rule } => rule,
                    DeniedBy::Default => "default".to_owned(),
                    DeniedBy::Grant { .. }
                    | DeniedBy::Pause
                    | DeniedBy::Refused { .. }
                    | DeniedBy::NobodyToAsk
                    | DeniedBy::RepeatedDenial
                    | DeniedBy::TooManyWaiting => continue,
                };
                facts.push(Fact::ApprovalDenied { approval: approval.id, by: By::Policy { rule }, note: Some(reason) });
            }
        }
    }
    Decided { facts, outcome: Outcome::Done }
}
