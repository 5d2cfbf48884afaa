//! Sessions, and what their post hooks tell.

use crate::{
    AgentName, ApprovalState, CallFacts, CancelReason, Digest, Fact, PathText, Refusal, RefusalCode, SessionId, State,
    decide::{Decided, Outcome},
};

/// The same agent and client session give the same session, whose first values stand.
pub(super) fn start(
    state: &State,
    id: SessionId,
    agent: &AgentName,
    client_session: Option<&str>,
    workspace: &PathText,
    parent: Option<SessionId>,
) -> Decided {
    let known = client_session
        .and_then(|client| state.by_client.get(&(agent.clone(), client.to_owned())))
        .and_then(|known| state.sessions.get(known));
    if let Some(known) = known {
        let facts = match known.stopped_at_ms {
            Some(_) => vec![Fact::SessionResumed { session: known.id }],
            None => Vec::new(),
        };
        return Decided { facts, outcome: Outcome::Session(known.id) };
    }
    let started = Fact::SessionStarted {
        session: id,
        agent: agent.clone(),
        client_session: client_session.map(str::to_owned),
        workspace: workspace.clone(),
        parent: parent.filter(|p| state.sessions.contains_key(p)),
        context: state.policy.context_for(agent),
    };
    Decided { facts: vec![started], outcome: Outcome::Session(id) }
}

pub(super) fn stop(state: &State, id: SessionId, summary: Option<&str>) -> Result<Decided, Refusal> {
    let session = state.sessions.get(&id).ok_or_else(unknown)?;
    if session.stopped_at_ms.is_some() {
        return Ok(Decided::nothing(Outcome::Done));
    }
    let mut facts: Vec<Fact> = state
        .approvals
        .values()
        .filter(|a| a.session == id && a.state == ApprovalState::Pending)
        .map(|a| Fact::ApprovalCancelled { approval: a.id, reason: CancelReason::AgentGone, by: None, note: None })
        .collect();
    facts.extend(super::grants::end_with_session(state, id));
    facts.push(Fact::SessionStopped { session: id, summary: summary.map(str::to_owned) });
    Ok(Decided::done(facts))
}

/// What the post hook tells is compared with what was approved. A call that ran while it was still pending was
/// answered in the client's own prompt.
pub(super) fn report(
    state: &State,
    id: SessionId,
    call: &CallFacts,
    outcome: &str,
    duration_ms: u64,
    output_sha256: Option<Digest>,
) -> Result<Decided, Refusal> {
    if !state.sessions.contains_key(&id) {
        return Err(unknown());
    }
    let mut facts = Vec::new();
    let same_call = |call_id: &Option<String>| call_id.is_some() && *call_id == call.call_id;
    let open = state.approvals.values().rev().find(|a| a.session == id && same_call(&a.judged.facts.call_id));
    let settled =
        state.settled.iter().filter(|(_, s)| s.session == id && same_call(&s.call_id)).max_by_key(|(id, _)| **id);
    let approval = open.map(|a| a.id).or(settled.map(|(id, _)| *id));
    if let Some(open) = open.filter(|a| a.state == ApprovalState::Pending) {
        facts.push(Fact::ApprovalCancelled {
            approval: open.id,
            reason: CancelReason::AnsweredElsewhere,
            by: None,
            note: None,
        });
    }
    facts.push(Fact::CallRan {
        session: id,
        call_id: call.call_id.clone(),
        tool: call.tool.clone(),
        outcome: outcome.to_owned(),
        duration_ms,
        output_sha256,
        action_digest: call.action_digest,
        approval,
    });
    if let Some((_, settled)) = settled {
        let consumed = matches!(settled.state, ApprovalState::Consumed { .. });
        // The bytes are compared first: judging again after the call ran may find another disk.
        if consumed && settled.raw_sha256 != call.raw_sha256 && settled.action_digest != call.action_digest {
            facts.push(Fact::AlertRaised {
                alert: "ran_differently".to_owned(),
                message: format!("{} ran with another input than the one that was approved.", call.tool),
            });
        } else if !consumed {
            facts.push(Fact::AlertRaised {
                alert: "ran_unapproved".to_owned(),
                message: format!("{} ran although its approval was {}.", call.tool, settled.state.word()),
            });
        }
    }
    Ok(Decided::done(facts))
}

fn unknown() -> Refusal {
    RefusalCode::NoSuchSession.because("This session is not known here.")
}
