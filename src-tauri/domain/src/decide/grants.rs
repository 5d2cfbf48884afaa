//! Grants: given, used up, taken back; and a new policy, which answers what waits just as a new grant does.

use std::{collections::BTreeSet, sync::Arc};

use crate::{
    Approval, ApprovalId, ApprovalState, At, By, Fact, Grant, GrantId, GrantState, Judged, Policy, Refusal,
    RefusalCode, Ruling, Scope, SessionId, State, Subject,
    decide::{Changed, Decided, Outcome},
    fact::DeniedBy,
    grant::{Covers, Effect, GrantWho, allows, grant_of, scope::Given},
    judge::{Bench, Spent, judge_again, judge_with},
};

/// Makes the grant that an answer carries: a yes with a yes, a no with a no.
pub(super) fn issue(
    state: &State,
    approval: &Approval,
    judged: &Judged,
    grant: &(GrantId, Scope),
    effect: Effect,
    by: &By,
    now: At,
) -> Result<Grant, Refusal> {
    let session = state
        .sessions
        .get(&approval.session)
        .ok_or_else(|| RefusalCode::NotGrantable.because("The session it is for is not known any more."))?;
    let (id, scope) = grant;
    if state.grants.contains_key(id) {
        return Err(RefusalCode::NotGrantable.because("There is a grant of this id already."));
    }
    grant_of(&Given { state, session, approval, call: &judged.facts, id: *id, scope, effect, by, now })
}

/// What a new grant answers at once, oldest first, counting its uses; and its end, where these use it up.
pub(super) fn answer_waiting(state: &State, grant: &Grant, except: Option<ApprovalId>, now: At) -> Vec<Fact> {
    let (answered, spent) = answered(state, grant, except, now);
    let mut facts: Vec<Fact> = answered
        .into_iter()
        .map(|(approval, also)| match grant.effect {
            Effect::Allow => Fact::ApprovalApproved {
                approval: approval.id,
                by: By::Grant { grant: grant.id },
                digest: approval.judged.facts.digest,
                note: None,
                grant: None,
                also,
            },
            Effect::Deny => {
                Fact::ApprovalDenied { approval: approval.id, by: By::Grant { grant: grant.id }, note: None }
            }
        })
        .collect();
    let uses_left = |id: &GrantId| if *id == grant.id { Some(grant) } else { state.grants.get(id) }?.uses_left;
    let used_up = spent.into_iter().filter(|(id, uses)| uses_left(id).is_some_and(|left| *uses >= left));
    facts.extend(used_up.map(|(grant, _)| Fact::GrantEnded { grant, how: GrantState::Exhausted }));
    if grant.effect == Effect::Deny {
        facts.extend(voided(state, now, |approval| {
            let session = state.sessions.get(&approval.session)?;
            let call = &approval.judged.facts;
            let denied = call.subjects.iter().any(|s| crate::grant::denies(grant, call, s, session, now));
            denied.then(|| "The person has said no to calls like this since.".to_owned())
        }));
    }
    facts
}

/// Which waiting approvals a grant would answer.
pub(crate) fn would_answer(state: &State, grant: &Grant, except: Option<ApprovalId>, now: At) -> Vec<ApprovalId> {
    answered(state, grant, except, now).0.into_iter().map(|(approval, _)| approval.id).collect()
}

/// Each with the other grants that it needs; and how often each grant is used by all of them.
fn answered<'s>(
    state: &'s State,
    grant: &Grant,
    except: Option<ApprovalId>,
    now: At,
) -> (Vec<(&'s Approval, Vec<GrantId>)>, Spent) {
    let mut spent = Spent::new();
    let mut answered = Vec::new();
    for approval in waiting(state, now).filter(|a| Some(a.id) != except) {
        let Some(session) = state.sessions.get(&approval.session) else { continue };
        if state.paused && grant.effect == Effect::Allow {
            break;
        }
        let bench = Bench { policy: &state.policy, state, extra: Some(grant), spent: &spent, counted: true };
        match judge_with(&bench, &approval.judged, session, now) {
            Ruling::Deny { by: DeniedBy::Grant { grant: by }, .. } if by == grant.id => {
                answered.push((approval, Vec::new()));
            }
            Ruling::Allow { grants, .. } if grants.contains(&grant.id) => {
                for id in &grants {
                    *spent.entry(*id).or_default() += 1;
                }
                let others = grants.into_iter().filter(|id| *id != grant.id).collect();
                answered.push((approval, others));
            }
            Ruling::Allow { .. } | Ruling::Deny { .. } | Ruling::Ask { .. } => {}
        }
    }
    (answered, spent)
}

fn waiting(state: &State, now: At) -> impl Iterator<Item = &Approval> {
    state.approvals.values().filter(move |a| a.state == ApprovalState::Pending && now < a.expires_at_ms)
}

/// Approvals that are given but not fetched yet, and may not be any more.
fn voided(state: &State, now: At, why: impl Fn(&Approval) -> Option<String>) -> Vec<Fact> {
    let unfetched =
        |a: &&Approval| matches!(a.state, ApprovalState::Approved { .. }) && a.due_at().is_some_and(|due| now < due);
    let state = state.approvals.values().filter(unfetched);
    state.filter_map(|a| why(a).map(|why| Fact::ApprovalVoided { approval: a.id, changed: vec![why] })).collect()
}

/// What a call's use of these grants ends.
pub(super) fn used_up(state: &State, grants: &[GrantId]) -> Vec<Fact> {
    let last = |id: &&GrantId| state.grants.get(id).is_some_and(|grant| grant.uses_left.is_some_and(|left| left <= 1));
    let ended = |id: &GrantId| Fact::GrantEnded { grant: *id, how: GrantState::Exhausted };
    grants.iter().filter(last).map(ended).collect()
}

/// Grants that a call leads to and whose ground is gone: their folder was replaced, their tool is another.
pub(super) fn dead(state: &State, judged: &Judged, session: SessionId) -> Vec<Fact> {
    let Some(session) = state.sessions.get(&session) else { return Vec::new() };
    let mut ids = BTreeSet::new();
    for subject in &judged.facts.subjects {
        for id in state.index.near(Effect::Allow, session, &judged.facts, subject) {
            if state.grants.get(&id).is_some_and(|grant| state.is_dead(grant, subject)) {
                ids.insert(id);
            }
        }
    }
    ids.into_iter().map(|grant| Fact::GrantEnded { grant, how: GrantState::Dead }).collect()
}

/// The gate found that what these grants were given for is not there any more.
pub(super) fn bury(state: &State, ids: &[GrantId]) -> Decided {
    let mut seen = BTreeSet::new();
    let facts = ids
        .iter()
        .filter(|id| state.grants.contains_key(id) && seen.insert(**id))
        .map(|id| Fact::GrantEnded { grant: *id, how: GrantState::Dead })
        .collect();
    Decided::done(facts)
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

/// Once it is written, nothing is let through by these grants: what they approved and nobody fetched yet is void.
pub(super) fn revoke(state: &State, ids: &[GrantId], by: &By, note: Option<&str>, now: At) -> Decided {
    let mut facts = Vec::new();
    let mut outcomes = Vec::with_capacity(ids.len());
    let mut taken = BTreeSet::new();
    for id in ids {
        let active = state.grants.contains_key(id);
        let first_time = active && taken.insert(*id);
        if first_time {
            facts.push(Fact::GrantRevoked { grant: *id, by: by.clone(), note: note.map(str::to_owned) });
        }
        outcomes.push(Changed { id: id.to_string(), state: active.then_some("revoked"), changed: first_time });
    }
    facts.extend(voided(state, now, |approval| rests_on(state, approval, &taken, now)));
    Decided { facts, outcome: Outcome::Each(outcomes) }
}

/// Whether a yes that a grant gave rests on one of those that are taken back: that very one, or one that covers what
/// that one does not.
fn rests_on(state: &State, approval: &Approval, taken: &BTreeSet<GrantId>, now: At) -> Option<String> {
    let Some(By::Grant { grant }) = approval.state.by() else { return None };
    let session = state.sessions.get(&approval.session)?;
    let call = &approval.judged.facts;
    // How it stands now, and whether its folder was replaced since, does not matter: it was enough when it answered.
    let covers = |grant: &Grant, subject: &Subject| {
        let then = Grant {
            root: None,
            state: GrantState::Active,
            uses_left: None,
            expires_at_ms: At(i64::MAX),
            ..grant.clone()
        };
        allows(&then, state, call, subject, session, now) == Covers::Yes
    };
    let answered = state.grants.get(grant).or_else(|| state.ended.iter().find(|ended| ended.id == *grant));
    let beside = |subject: &&Subject| call.subjects.len() > 1 && answered.is_none_or(|grant| !covers(grant, subject));
    let taken_back = || taken.iter().filter_map(|id| state.grants.get(id));
    let rests = taken.contains(grant)
        || call.subjects.iter().filter(beside).any(|subject| taken_back().any(|grant| covers(grant, subject)));
    rests.then(|| "The grant was taken back.".to_owned())
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

/// A new policy comes into force, and what waits is judged by it; so is what is approved and not fetched yet.
pub(super) fn load_policy(state: &State, policy: &Arc<Policy>, now: At) -> Decided {
    let mut facts = vec![Fact::PolicyLoaded { policy: policy.digest() }];
    for approval in waiting(state, now) {
        let Some(session) = state.sessions.get(&approval.session) else { continue };
        match judge_again(policy, state, &approval.judged, session, now) {
            Ruling::Allow { rules, grants, .. } if grants.is_empty() && !state.paused => {
                facts.push(Fact::ApprovalApproved {
                    approval: approval.id,
                    by: By::Policy { rule: rules.first().cloned().unwrap_or_default() },
                    digest: approval.judged.facts.digest,
                    note: None,
                    grant: None,
                    also: Vec::new(),
                });
            }
            // What now needs grants as well was not answered by a rule; the person still may.
            Ruling::Allow { .. } | Ruling::Ask { .. } => {}
            Ruling::Deny { by, reason } => {
                let Some(rule) = rule_of(by) else { continue };
                facts.push(Fact::ApprovalDenied { approval: approval.id, by: By::Policy { rule }, note: Some(reason) });
            }
        }
    }
    facts.extend(voided(state, now, |approval| {
        let session = state.sessions.get(&approval.session)?;
        match judge_again(policy, state, &approval.judged, session, now) {
            Ruling::Deny { reason, .. } => Some(reason),
            Ruling::Allow { .. } | Ruling::Ask { .. } => None,
        }
    }));
    Decided { facts, outcome: Outcome::Done }
}

fn rule_of(by: DeniedBy) -> Option<String> {
    match by {
        DeniedBy::Policy { rule } => Some(rule),
        DeniedBy::Default => Some("default".to_owned()),
        DeniedBy::Grant { .. }
        | DeniedBy::Pause
        | DeniedBy::Refused { .. }
        | DeniedBy::NobodyToAsk
        | DeniedBy::RepeatedDenial
        | DeniedBy::TooManyWaiting => None,
    }
}
