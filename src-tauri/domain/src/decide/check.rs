//! A call wants to run: attach again, refuse, let through, or ask.

use crate::{
    Answer, Approval, ApprovalState, At, Check, Fact, Refusal, RefusalCode, Ruling, State,
    command::Decision,
    decide::{Decided, Outcome, grants},
    definitions::flagged,
    fact::DeniedBy,
    grant::sentence::plain,
    judge,
    state::{SILENCED_MS, Settled},
};

pub(super) fn check(state: &State, check: &Check, now: At) -> Result<Decided, Refusal> {
    let session = state.sessions.get(&check.session).ok_or_else(|| {
        RefusalCode::NoSuchSession.because("This session is not known here: start it again before asking.")
    })?;
    let facts = &check.judged.facts;
    let attached = attach(state, check, now);
    // A yes that is not fetched yet is not handed over while everything is denied; who waits goes on waiting.
    if state.paused && attached.as_ref().is_none_or(|decided| matches!(decided.outcome, Outcome::Ready(_))) {
        return Ok(paused(state, check));
    }
    if let Some(decided) = attached {
        return Ok(decided);
    }
    if let Some(refused) = &facts.refused {
        return Ok(deny(state, check, DeniedBy::Refused { code: refused.code }, refused.reason.clone()));
    }
    if let Some((rule, reason)) = &check.refused_rewrite {
        return Ok(deny(state, check, DeniedBy::Policy { rule: rule.clone() }, reason.clone()));
    }
    let mut ends = grants::dead(state, &check.judged, check.session);
    let mut decided = match judge(state, &check.judged, session, now) {
        Ruling::Allow { rules, grants, reason } => {
            let answer = Answer {
                decision: Decision::Allow,
                reason,
                rule: rules.first().cloned(),
                grant: grants.first().copied(),
                approval: None,
                input: None,
                digest: facts.digest,
            };
            let used_up = grants::used_up(state, &grants);
            let allowed = Fact::CallAllowed {
                session: check.session,
                call: facts.clone(),
                rules,
                grants,
                policy: state.policy.digest(),
            };
            let facts = std::iter::once(allowed).chain(used_up).collect();
            Decided { facts, outcome: Outcome::Answered(answer) }
        }
        Ruling::Deny { by, reason } => deny(state, check, by, reason),
        Ruling::Ask { rule, reason, timeout_ms } => ask(state, check, rule, reason, timeout_ms, now),
    };
    let was_for_a_tool = |end: &Fact| {
        let Fact::GrantEnded { grant, .. } = end else { return false };
        state.grants.get(grant).is_some_and(|grant| grant.definition.is_some())
    };
    // A grant may be older than what is remembered of calls.
    let tool_changed = state.tool_changed(check.session, facts) || ends.iter().any(was_for_a_tool);
    if tool_changed {
        for fact in &mut decided.facts {
            if let Fact::ApprovalAsked { call, .. } = fact {
                *call = flagged(call);
            }
        }
    }
    ends.append(&mut decided.facts);
    Ok(Decided { facts: ends, ..decided })
}

fn paused(state: &State, check: &Check) -> Decided {
    let reason = "Placet is paused: every call is denied until the person lifts the pause. Wait, or ask them.";
    deny(state, check, DeniedBy::Pause, reason.to_owned())
}

/// Finds the approval that this asker was waiting for before: by its id, else by session and call id, else the oldest
/// unattended one of the same action in the session.
fn attach(state: &State, check: &Check, now: At) -> Option<Decided> {
    let facts = &check.judged.facts;
    // Who wants a person to look is not told an answer to a question that a grant could have answered.
    let same_action = |approval: &Approval| {
        let asked = &approval.judged.facts;
        asked.action_digest == facts.action_digest && (facts.doubt.is_none() || asked.doubt.is_some())
    };
    let alive = |approval: &&Approval| {
        approval.session == check.session && same_action(approval) && approval.due_at().is_some_and(|due| now < due)
    };
    let open = |approval: &&Approval| alive(approval) && !state.attended.contains(&approval.id);
    if let Some(again) = check.again {
        // A process that asks again has lost its old connection, even if that was not noticed yet.
        let own = |approval: &&Approval| check.waiter.is_some() && approval.waiter == check.waiter;
        if let Some(approval) = state.approvals.get(&again).filter(alive).filter(|a| open(a) || own(a)) {
            return Some(attached(check, approval));
        }
        if let Some(settled) = state.settled.get(&again).filter(|s| s.session == check.session) {
            return repeated(check, settled);
        }
    }
    if let Some(call_id) = &facts.call_id
        && let Some(approval) =
            state.approvals.values().filter(open).find(|a| a.judged.facts.call_id.as_ref() == Some(call_id))
    {
        return Some(attached(check, approval));
    }
    state.approvals.values().find(open).map(|approval| attached(check, approval))
}

fn attached(check: &Check, approval: &Approval) -> Decided {
    let mut facts = Vec::new();
    if approval.waiter != check.waiter {
        facts.push(Fact::ApprovalAttached { approval: approval.id, waiter: check.waiter });
    }
    let outcome = if approval.state == ApprovalState::Pending {
        if approval.judged.facts.digest != check.judged.facts.digest {
            facts.push(Fact::ApprovalRefreshed {
                approval: approval.id,
                call: check.judged.facts.clone(),
                card_sha256: check.card_sha256,
                changed: vec!["What would run changed while the asker was away.".to_owned()],
            });
        }
        Outcome::Waits(approval.id)
    } else {
        Outcome::Ready(approval.id)
    };
    Decided { facts, outcome }
}

/// Says once more how an approval ended, to an asker that did not hear it. A yes is never said twice.
fn repeated(check: &Check, settled: &Settled) -> Option<Decided> {
    let again = check.again?;
    if settled.action_digest != check.judged.facts.action_digest {
        return None;
    }
    let reason = spoken(&settled.state)?;
    Some(Decided::nothing(Outcome::Answered(Answer {
        decision: Decision::Deny,
        reason,
        rule: None,
        grant: None,
        approval: Some(again),
        input: None,
        digest: check.judged.facts.digest,
    })))
}

/// What the agent hears of an approval that ended without a yes.
pub fn spoken(state: &ApprovalState) -> Option<String> {
    let with = |start: &str, note: &Option<String>, end: &str| match note {
        Some(words) => format!("{start}: {words}"),
        None => format!("{start}. {end}"),
    };
    match state {
        ApprovalState::Pending | ApprovalState::Approved { .. } | ApprovalState::Consumed { .. } => None,
        ApprovalState::Denied { by, note, .. } => Some(match by {
            crate::By::User => with("Denied by the person", note, "Do not try this again; ask what to do instead."),
            crate::By::Supervisor => with("Denied by the supervisor", note, "Do not try this again."),
            crate::By::Grant { .. } => {
                with("Denied: the person said no to calls like this a moment ago", note, "Do not try this again.")
            }
            crate::By::Policy { rule } => with(
                &format!("Denied by the rule “{rule}”, which changed while this waited"),
                note,
                "Do something else.",
            ),
            crate::By::Command => {
                // Any program of this user may have written these words, another agent among them.
                let note = note.as_deref().map(harmless);
                with("Denied by a command on this machine, not in the window", &note, "Do not try this again.")
            }
        }),
        ApprovalState::Expired { .. } => Some(
            "Nobody answered in time, so this is denied. It is not a person's no: it may be asked again.".to_owned(),
        ),
        ApprovalState::Cancelled { reason, note, .. } => Some(match reason {
            crate::CancelReason::Batch | crate::CancelReason::User => {
                let note = note.as_deref().map(harmless);
                with("Cancelled by the person", &note, "Stop and ask what to do next.")
            }
            crate::CancelReason::AgentGone => "Cancelled: the program that asked was gone.".to_owned(),
            crate::CancelReason::Withdrawn => "Withdrawn by the program that asked.".to_owned(),
            crate::CancelReason::AnsweredElsewhere => "Answered in the agent's own prompt.".to_owned(),
        }),
        ApprovalState::Lapsed { .. } => {
            Some("The approval was not fetched within five minutes and lapsed. Ask again.".to_owned())
        }
        ApprovalState::Void { changed, .. } => Some(format!(
            "The approval is void, since what would run changed after it was given: {} Ask again.",
            changed.join(" ")
        )),
    }
}

/// Words in one line, without what cannot be seen.
fn harmless(words: &str) -> String {
    words.lines().map(plain).collect::<Vec<_>>().join(" ")
}

fn deny(state: &State, check: &Check, by: DeniedBy, reason: String) -> Decided {
    let (rule, grant) = match &by {
        DeniedBy::Policy { rule } => (Some(rule.clone()), None),
        DeniedBy::Grant { grant } => (None, Some(*grant)),
        DeniedBy::Default
        | DeniedBy::Pause
        | DeniedBy::Refused { .. }
        | DeniedBy::NobodyToAsk
        | DeniedBy::RepeatedDenial
        | DeniedBy::TooManyWaiting => (None, None),
    };
    let call = check.judged.facts.clone();
    let answer = Answer {
        decision: Decision::Deny,
        reason: reason.clone(),
        rule,
        grant,
        approval: None,
        input: None,
        digest: call.digest,
    };
    let denied = Fact::CallDenied { session: check.session, call, by, reason, policy: state.policy.digest() };
    Decided { facts: vec![denied], outcome: Outcome::Answered(answer) }
}

fn ask(state: &State, check: &Check, rule: Option<String>, reason: String, timeout_ms: i64, now: At) -> Decided {
    if !check.somebody_to_ask {
        let reason = "A person would have been asked, but nobody is there: Placet runs without a window. \
                      Start Placet's window, or allow this in the policy."
            .to_owned();
        return deny(state, check, DeniedBy::NobodyToAsk, reason);
    }
    let facts = &check.judged.facts;
    let silenced = state
        .denials
        .get(&(check.session, facts.action_digest))
        .is_some_and(|times| times.len() >= 3 && times.last().is_some_and(|last| now.ms_since(*last) < SILENCED_MS));
    if silenced {
        let reason = "The person denied exactly this three times in this session. It is denied without asking for \
                      five minutes; do something else."
            .to_owned();
        return deny(state, check, DeniedBy::RepeatedDenial, reason);
    }
    let waiting = state.approvals.values().filter(|a| a.state == ApprovalState::Pending);
    let (mine, all) = waiting.fold((0, 0), |(mine, all), a| (mine + usize::from(a.session == check.session), all + 1));
    let bounds = state.policy.bounds();
    if mine >= bounds.per_session || all >= bounds.in_all {
        let reason = if mine >= bounds.per_session {
            format!("{mine} calls of this session wait for the person already. Wait for an answer first.")
        } else {
            format!("{all} calls wait for the person already. Wait for an answer first.")
        };
        return deny(state, check, DeniedBy::TooManyWaiting, reason);
    }
    let time_left = check.deadline_ms.map_or(timeout_ms, |client| client.min(timeout_ms)).max(0);
    let number = state.sessions.get(&check.session).map_or(1, |s| s.calls.saturating_add(1));
    let asked = Fact::ApprovalAsked {
        approval: check.approval,
        session: check.session,
        call: facts.clone(),
        number,
        input_sha256: check.input_sha256,
        card_sha256: check.card_sha256,
        rule,
        reason,
        expires_at_ms: now.plus_ms(time_left),
        waiter: check.waiter,
        can_edit: check.can_edit,
        policy: state.policy.digest(),
    };
    Decided { facts: vec![asked], outcome: Outcome::Waits(check.approval) }
}
