//! Answers to what waits: yes, no, taken back; and what happens to a yes afterwards.

use crate::{
    Approval, ApprovalId, ApprovalState, At, By, CancelReason, Digest, Fact, GrantId, Judged, Refusal, RefusalCode,
    Ruling, Scope, Selection, State,
    decide::{Changed, Decided, Outcome, grants},
    fact::DeniedBy,
    grant::Effect,
    judge::judge_again,
};

/// A yes with everything that came with it.
pub(super) struct Yes<'a> {
    pub(super) approval: ApprovalId,
    pub(super) digest: Digest,
    pub(super) by: &'a By,
    pub(super) note: Option<&'a str>,
    pub(super) grant: Option<&'a (GrantId, Scope)>,
    pub(super) edited: Option<(&'a Judged, Digest)>,
}

pub(super) fn approve(state: &State, yes: &Yes, now: At) -> Result<Decided, Refusal> {
    let approval = match pending(state, yes.approval, now)? {
        Pending::Yes(approval) => approval,
        Pending::TooLate(decided) => return Ok(decided),
    };
    let judged = yes.edited.map_or(&approval.judged, |(judged, _)| judged);
    if yes.edited.is_some() && !approval.can_edit {
        return Err(RefusalCode::NotEditable.because("This agent takes no changed input: deny and tell it instead."));
    }
    if judged.facts.digest != yes.digest {
        return Err(RefusalCode::StaleDigest { digest: judged.facts.digest }
            .because("What would run has changed since it was shown. Look at it again."));
    }
    if let Some(refused) = &judged.facts.refused {
        return Err(RefusalCode::DeniedByPolicy { rule: "refused".to_owned() }.because(refused.reason.clone()));
    }
    if state.paused {
        return Err(RefusalCode::Paused.because("Placet is paused. Lift the pause first."));
    }
    if let Some(session) = state.sessions.get(&approval.session)
        && let Ruling::Deny { by, reason } = judge_again(&state.policy, state, judged, session, now)
    {
        let rule = match by {
            DeniedBy::Policy { rule } => rule,
            DeniedBy::Grant { grant } => grant.to_string(),
            DeniedBy::Default => "default".to_owned(),
            DeniedBy::Pause
            | DeniedBy::Refused { .. }
            | DeniedBy::NobodyToAsk
            | DeniedBy::RepeatedDenial
            | DeniedBy::TooManyWaiting => "refused".to_owned(),
        };
        return Err(RefusalCode::DeniedByPolicy { rule }.because(reason));
    }
    let issued =
        yes.grant.map(|grant| grants::issue(state, approval, judged, grant, Effect::Allow, yes.by, now)).transpose()?;
    let mut facts = Vec::new();
    if let Some((edited, card_sha256)) = yes.edited {
        facts.push(Fact::ApprovalRefreshed {
            approval: approval.id,
            call: edited.facts.clone(),
            card_sha256,
            changed: vec!["The person edited the input.".to_owned()],
        });
    }
    facts.push(Fact::ApprovalApproved {
        approval: approval.id,
        by: yes.by.clone(),
        digest: yes.digest,
        note: yes.note.map(str::to_owned),
        grant: issued.as_ref().map(|g| g.id),
        also: Vec::new(),
    });
    let grant = issued.as_ref().map(|g| g.id);
    if let Some(issued) = issued {
        let also = grants::answer_waiting(state, &issued, Some(approval.id), now);
        facts.push(Fact::GrantIssued { grant: issued });
        facts.extend(also);
    }
    Ok(Decided { facts, outcome: Outcome::Settled { approval: approval.id, grant } })
}

pub(super) fn deny(
    state: &State,
    id: ApprovalId,
    by: &By,
    note: Option<&str>,
    grant: Option<&(GrantId, Scope)>,
    now: At,
) -> Result<Decided, Refusal> {
    let approval = match pending(state, id, now)? {
        Pending::Yes(approval) => approval,
        Pending::TooLate(decided) => return Ok(decided),
    };
    let issued = grant
        .map(|grant| grants::issue(state, approval, &approval.judged, grant, Effect::Deny, by, now))
        .transpose()?;
    let mut facts = vec![Fact::ApprovalDenied { approval: id, by: by.clone(), note: note.map(str::to_owned) }];
    let grant = issued.as_ref().map(|g| g.id);
    if let Some(issued) = issued {
        let also = grants::answer_waiting(state, &issued, Some(id), now);
        facts.push(Fact::GrantIssued { grant: issued });
        facts.extend(also);
    }
    Ok(Decided { facts, outcome: Outcome::Settled { approval: id, grant } })
}

/// One transaction, one outcome for each: what is pending is cancelled, what is past its deadline expires, the rest
/// stays as it is.
pub(super) fn cancel(
    state: &State,
    selection: &Selection,
    reason: CancelReason,
    by: Option<&By>,
    note: Option<&str>,
    now: At,
) -> Decided {
    let of = |keep: &dyn Fn(&Approval) -> bool| -> Vec<ApprovalId> {
        state.approvals.values().filter(|a| a.state == ApprovalState::Pending && keep(a)).map(|a| a.id).collect()
    };
    let ids = match selection {
        Selection::Ids(ids) => ids.clone(),
        Selection::Session(session) => of(&|a| a.session == *session),
        Selection::Agent(agent) => of(&|a| state.sessions.get(&a.session).is_some_and(|s| s.agent == *agent)),
        Selection::All => of(&|_| true),
    };
    let mut facts = Vec::new();
    let mut outcomes = Vec::with_capacity(ids.len());
    let mut seen = std::collections::HashSet::new();
    for id in ids {
        let first_time = seen.insert(id);
        let (state_now, changed) = match state.approvals.get(&id) {
            Some(a) if a.state == ApprovalState::Pending && now >= a.expires_at_ms => {
                if first_time {
                    facts.push(Fact::ApprovalExpired { approval: id });
                }
                (Some("expired"), false)
            }
            Some(a) if a.state == ApprovalState::Pending => {
                if first_time {
                    facts.push(Fact::ApprovalCancelled {
                        approval: id,
                        reason,
                        by: by.cloned(),
                        note: note.map(str::to_owned),
                    });
                }
                (Some("cancelled"), first_time)
            }
            Some(a) => (Some(a.state.word()), false),
            None => (state.settled.get(&id).map(|s| s.state.word()), false),
        };
        outcomes.push(Changed { id: id.to_string(), state: state_now, changed });
    }
    Decided { facts, outcome: Outcome::Each(outcomes) }
}

pub(super) fn refresh(
    state: &State,
    id: ApprovalId,
    judged: &Judged,
    card_sha256: Digest,
    changed: &[String],
) -> Result<Decided, Refusal> {
    match state.approvals.get(&id) {
        Some(a) if a.state == ApprovalState::Pending && a.judged.facts.digest != judged.facts.digest => {
            Ok(Decided::done(vec![Fact::ApprovalRefreshed {
                approval: id,
                call: judged.facts.clone(),
                card_sha256,
                changed: changed.to_vec(),
            }]))
        }
        Some(_) => Ok(Decided::nothing(Outcome::Done)),
        None => Err(gone(state, id)),
    }
}

/// The deadline, the pause and the rules are looked at here too: a yes that lies too long is none.
pub(super) fn consume(state: &State, id: ApprovalId, now: At) -> Result<Decided, Refusal> {
    let approval = state.approvals.get(&id);
    match approval.map(|a| &a.state) {
        Some(ApprovalState::Approved { .. }) if state.paused => {
            Err(RefusalCode::Paused.because("Placet is paused: nothing is let through."))
        }
        Some(ApprovalState::Approved { by, .. })
            if approval.and_then(Approval::due_at).is_some_and(|due| now >= due) =>
        {
            Ok(Decided {
                facts: vec![Fact::ApprovalLapsed { approval: id }],
                outcome: Outcome::Refused(already(&ApprovalState::Lapsed { at_ms: now, by: by.clone() })),
            })
        }
        Some(ApprovalState::Approved { by, .. }) => Ok(match approval.and_then(|a| denied_since(state, a, now)) {
            Some(reason) => {
                let changed = vec![reason];
                Decided {
                    facts: vec![Fact::ApprovalVoided { approval: id, changed: changed.clone() }],
                    outcome: Outcome::Refused(already(&ApprovalState::Void { at_ms: now, by: by.clone(), changed })),
                }
            }
            None => Decided::done(vec![Fact::ApprovalConsumed { approval: id }]),
        }),
        Some(_) => Err(RefusalCode::NoSuchApproval.because("This approval is not approved.")),
        None => Err(gone(state, id)),
    }
}

/// A rule's hours may have begun after the yes; a denial wins to the last.
fn denied_since(state: &State, approval: &Approval, now: At) -> Option<String> {
    let session = state.sessions.get(&approval.session)?;
    match judge_again(&state.policy, state, &approval.judged, session, now) {
        Ruling::Deny { reason, .. } => Some(reason),
        Ruling::Allow { .. } | Ruling::Ask { .. } => None,
    }
}

/// The asker's process may end now without taking the question with it.
pub(super) fn leave(state: &State, id: ApprovalId) -> Result<Decided, Refusal> {
    let approval = state.approvals.get(&id).ok_or_else(|| gone(state, id))?;
    if approval.waiter.is_none() {
        return Ok(Decided::nothing(Outcome::Done));
    }
    Ok(Decided::done(vec![Fact::ApprovalAttached { approval: id, waiter: None }]))
}

pub(super) fn void(state: &State, id: ApprovalId, changed: &[String]) -> Result<Decided, Refusal> {
    match state.approvals.get(&id).map(|a| &a.state) {
        Some(ApprovalState::Approved { .. }) => {
            Ok(Decided::done(vec![Fact::ApprovalVoided { approval: id, changed: changed.to_vec() }]))
        }
        Some(_) => Err(RefusalCode::NoSuchApproval.because("This approval is not approved.")),
        None => Err(gone(state, id)),
    }
}

enum Pending<'a> {
    Yes(&'a Approval),
    TooLate(Decided),
}

/// The approval, if it can still be answered. The deadline is looked at here, whatever the timer says.
fn pending(state: &State, id: ApprovalId, now: At) -> Result<Pending<'_>, Refusal> {
    let approval = state.approvals.get(&id).ok_or_else(|| gone(state, id))?;
    if approval.state != ApprovalState::Pending {
        return Err(already(&approval.state));
    }
    if now >= approval.expires_at_ms {
        return Ok(Pending::TooLate(Decided {
            facts: vec![Fact::ApprovalExpired { approval: id }],
            outcome: Outcome::Refused(already(&ApprovalState::Expired { at_ms: now })),
        }));
    }
    Ok(Pending::Yes(approval))
}

fn gone(state: &State, id: ApprovalId) -> Refusal {
    match state.settled.get(&id) {
        Some(settled) => already(&settled.state),
        None => RefusalCode::NoSuchApproval.because("There is no approval of this id."),
    }
}

/// Tells the loser of a race which state won, when and by whom.
pub fn already(state: &ApprovalState) -> Refusal {
    let at_ms = state.at().unwrap_or_default();
    let by = state.by().map(|by| by.word().to_owned());
    let message = match &by {
        Some(by) => format!("It is {} already, by {by}.", state.word()),
        None => format!("It is {} already.", state.word()),
    };
    RefusalCode::AlreadySettled { state: state.word().to_owned(), reason: state.reason().map(str::to_owned), at_ms, by }
        .because(message)
}
