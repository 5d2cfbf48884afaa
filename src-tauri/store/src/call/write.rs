//! Writing calls: a row when one comes, and what becomes of it.

use placet_domain::{
    Action, AgentName, ApprovalId, At, By, CallFacts, DeniedBy, Digest, Entry, Fact, GrantId, SessionId, Subject,
};
use rusqlite::{OptionalExtension as _, params};

use crate::{
    CallDecision, StoreError, chain, place, plain, session, stats,
    store::{Projecting, one},
    text,
};

/// Characters of a subject that a list shows.
const SUBJECT_AT_MOST: usize = 500;
/// How many of a session's latest calls are looked through for the one that a post hook speaks of.
const LOOK_BACK: u32 = 200;

/// What is known of a call when its row is made.
struct New<'a> {
    seq: u64,
    at_ms: At,
    session: SessionId,
    facts: &'a CallFacts,
    decision: CallDecision,
    by: Option<&'static str>,
    note: Option<&'a str>,
    rule: Option<&'a str>,
    grant: Option<GrantId>,
    approval: Option<(ApprovalId, u32)>,
}

/// A call was let through without asking.
pub(crate) fn allowed(p: &mut Projecting<'_>, entry: &Entry) -> Result<(), StoreError> {
    let Fact::CallAllowed { session, call, rules, grants, .. } = &entry.fact else { return Ok(()) };
    let decision = if grants.is_empty() { CallDecision::AllowedByRule } else { CallDecision::AllowedByGrant };
    write(
        p,
        &New {
            seq: entry.seq,
            at_ms: entry.at_ms,
            session: *session,
            facts: call,
            decision,
            by: Some(if grants.is_empty() { "policy" } else { "grant" }),
            note: None,
            rule: rules.first().map(String::as_str),
            grant: grants.first().copied(),
            approval: None,
        },
    )?;
    if call.brings_content_in() { session::tainted(p, *session) } else { Ok(()) }
}

/// A call was refused without asking.
pub(crate) fn denied(p: &mut Projecting<'_>, entry: &Entry) -> Result<(), StoreError> {
    let Fact::CallDenied { session, call, by, reason, .. } = &entry.fact else { return Ok(()) };
    let mut new = New {
        seq: entry.seq,
        at_ms: entry.at_ms,
        session: *session,
        facts: call,
        decision: CallDecision::Refused,
        by: None,
        note: Some(reason),
        rule: None,
        grant: None,
        approval: None,
    };
    (new.decision, new.by) = match by {
        DeniedBy::Policy { rule } => {
            new.rule = Some(rule);
            (CallDecision::DeniedByRule, Some("policy"))
        }
        DeniedBy::Default => (CallDecision::DeniedByDefault, Some("policy")),
        DeniedBy::Grant { grant } => {
            new.grant = Some(*grant);
            (CallDecision::DeniedByGrant, Some("grant"))
        }
        DeniedBy::Pause => (CallDecision::DeniedByPause, None),
        DeniedBy::Refused { .. } => (CallDecision::Refused, None),
        DeniedBy::NobodyToAsk => (CallDecision::NobodyToAsk, None),
        DeniedBy::RepeatedDenial => (CallDecision::RepeatedDenial, None),
        DeniedBy::TooManyWaiting => (CallDecision::TooManyWaiting, None),
    };
    write(p, &new)
}

/// A call was put to the person.
pub(crate) fn asked(p: &mut Projecting<'_>, entry: &Entry) -> Result<(), StoreError> {
    let Fact::ApprovalAsked { approval, session, call, number, rule, .. } = &entry.fact else { return Ok(()) };
    write(
        p,
        &New {
            seq: entry.seq,
            at_ms: entry.at_ms,
            session: *session,
            facts: call,
            decision: CallDecision::Pending,
            by: None,
            note: None,
            rule: rule.as_deref(),
            grant: None,
            approval: Some((*approval, *number)),
        },
    )
}

/// What would run changed: the row shows the call as it is now; it stays found by what it was as well.
pub(crate) fn refreshed(
    p: &mut Projecting<'_>,
    approval: ApprovalId,
    facts: &CallFacts,
    entry: &Entry,
) -> Result<(), StoreError> {
    let seq = chain::row_id(asked_seq(p, approval, entry.seq)?);
    p.conn
        .prepare_cached(
            "UPDATE calls SET action = ?2, subject = ?3, digest = ?4, digest_key = ?5, action_digest = ?6,
                 action_key = ?7, flags = ?8
             WHERE seq = ?1",
        )?
        .execute(params![
            seq,
            facts.action.word(),
            subject_text(facts),
            facts.digest.bytes(),
            key(&facts.digest),
            facts.action_digest.bytes(),
            key(&facts.action_digest),
            flags(facts),
        ])?;
    let call = chain::seq_of(seq);
    place::write(p, call, facts)?;
    // The agent's name stands in the text already.
    let session: Option<String> = p
        .conn
        .prepare_cached("SELECT agent FROM calls WHERE seq = ?1")?
        .query_row([seq], |row| row.get(0))
        .optional()?;
    let agent = AgentName::try_from(session.unwrap_or_default()).map_err(|e| StoreError::corrupt("calls", seq, e))?;
    text::extend(p, call, &text::of_call(&agent, facts, &[]))
}

/// Something happened to the approval of a call: the call's row follows.
pub(crate) fn moved(p: &mut Projecting<'_>, approval: ApprovalId, entry: &Entry) -> Result<(), StoreError> {
    let call = asked_seq(p, approval, entry.seq)?;
    let step = match &entry.fact {
        Fact::ApprovalApproved { by, note, grant, .. } => {
            Step { note: note.as_deref(), given: *grant, ..Step::answered(CallDecision::Approved, Some(by)) }
        }
        Fact::ApprovalDenied { by, note, .. } => {
            Step { note: note.as_deref(), ..Step::answered(CallDecision::Denied, Some(by)) }
        }
        Fact::ApprovalExpired { .. } => Step::answered(CallDecision::Expired, None),
        Fact::ApprovalCancelled { by, note, .. } => {
            Step { note: note.as_deref(), ..Step::answered(CallDecision::Cancelled, by.as_ref()) }
        }
        Fact::ApprovalConsumed { .. } => Step::after(CallDecision::Consumed),
        Fact::ApprovalLapsed { .. } => Step::after(CallDecision::Lapsed),
        Fact::ApprovalVoided { .. } => Step::after(CallDecision::Void),
        Fact::AppStarted { .. }
        | Fact::AppStopped {}
        | Fact::SessionStarted { .. }
        | Fact::SessionResumed { .. }
        | Fact::SessionStopped { .. }
        | Fact::CallAllowed { .. }
        | Fact::CallDenied { .. }
        | Fact::CallRan { .. }
        | Fact::ApprovalAsked { .. }
        | Fact::ApprovalAttached { .. }
        | Fact::ApprovalRefreshed { .. }
        | Fact::GrantIssued { .. }
        | Fact::GrantEnded { .. }
        | Fact::GrantRevoked { .. }
        | Fact::GrantShortened { .. }
        | Fact::PolicyLoaded { .. }
        | Fact::PolicyRefused { .. }
        | Fact::HookFailed { .. }
        | Fact::Paused { .. }
        | Fact::Resumed { .. }
        | Fact::AlertRaised { .. } => return Ok(()),
    };
    step.write(p, call, entry.at_ms)
}

/// What becomes of a call that was asked.
struct Step<'a> {
    from: CallDecision,
    to: CallDecision,
    by: Option<&'a By>,
    note: Option<&'a str>,
    given: Option<GrantId>,
}

impl<'a> Step<'a> {
    fn answered(to: CallDecision, by: Option<&'a By>) -> Self {
        Self { from: CallDecision::Pending, to, by, note: None, given: None }
    }

    fn after(to: CallDecision) -> Self {
        Self { from: CallDecision::Approved, to, by: None, note: None, given: None }
    }

    fn write(&self, p: &mut Projecting<'_>, call: u64, at_ms: At) -> Result<(), StoreError> {
        let (rule, grant) = match self.by {
            Some(By::Grant { grant }) => (None, Some(*grant)),
            Some(By::Policy { rule }) => (Some(rule.as_str()), None),
            Some(By::User | By::Supervisor | By::Command) | None => (None, None),
        };
        let waited = (self.from == CallDecision::Pending).then_some(at_ms.0);
        let (hour, agent, tool): (i64, String, String) = p
            .conn
            .prepare_cached(
                "UPDATE calls SET decision = ?3, decided_by = coalesce(?4, decided_by), note = coalesce(?5, note),
                     rule = coalesce(?6, rule), grant_id = coalesce(?7, grant_id),
                     waited_ms = coalesce(max(?8 - at_ms, 0), waited_ms)
                 WHERE seq = ?1 AND decision = ?2 RETURNING at_ms, agent, tool",
            )?
            .query_row(
                params![
                    chain::row_id(call),
                    self.from.word(),
                    self.to.word(),
                    self.by.map(By::word),
                    self.note,
                    rule,
                    grant.or(self.given).map(|g| g.to_string()),
                    waited,
                ],
                |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
            )
            .optional()?
            .ok_or_else(|| StoreError::Conflict { table: "calls", id: call.to_string(), expected: self.from.word() })?;
        stats::count(p.conn, At(hour), &agent, &tool, (Some(self.from), self.to))?;
        match self.note.or(rule) {
            Some(words) => text::extend(p, call, words),
            None => Ok(()),
        }
    }
}

/// The post hook told what became of a call. It names the approval, or else it is the latest call of the session with
/// that id, or with that action, that nothing was told of yet. Where there is none, nobody had asked: a row of its own.
pub(crate) fn ran(p: &mut Projecting<'_>, entry: &Entry) -> Result<(), StoreError> {
    let Fact::CallRan { session, call_id, tool, outcome, duration_ms, action_digest, approval, .. } = &entry.fact
    else {
        return Ok(());
    };
    let found: Option<i64> = match approval {
        Some(approval) => p
            .conn
            .prepare_cached("SELECT seq FROM calls WHERE approval = ?1")?
            .query_row([approval.to_string()], |row| row.get(0))
            .optional()?,
        None => p
            .conn
            .prepare_cached(
                "SELECT seq FROM (
                     SELECT seq, call_id, action_digest, ran_seq FROM calls WHERE session = ?1 ORDER BY seq DESC LIMIT ?2
                 ) WHERE ran_seq IS NULL AND ((?3 IS NOT NULL AND call_id = ?3) OR action_digest = ?4)
                 ORDER BY (?3 IS NOT NULL AND coalesce(call_id = ?3, 0)) DESC, seq DESC LIMIT 1",
            )?
            .query_row(params![session.to_string(), LOOK_BACK, call_id, action_digest.bytes()], |row| row.get(0))
            .optional()?,
    };
    let seq = match found {
        Some(seq) => {
            belongs(p, chain::seq_of(seq), entry.seq)?;
            seq
        }
        None => unasked(p, entry, *session, tool, call_id.as_deref(), action_digest)?,
    };
    p.conn
        .prepare_cached(
            "UPDATE calls SET ran_seq = ?2, outcome = ?3, duration_ms = ?4 WHERE seq = ?1 AND ran_seq IS NULL",
        )?
        .execute(params![seq, chain::row_id(entry.seq), outcome, chain::row_id(*duration_ms)])?;
    Ok(())
}

fn unasked(
    p: &mut Projecting<'_>,
    entry: &Entry,
    session: SessionId,
    tool: &str,
    call_id: Option<&str>,
    action_digest: &Digest,
) -> Result<i64, StoreError> {
    let agent = session::agent_of(p.conn, p.known, session)?;
    let seq = chain::row_id(entry.seq);
    p.conn
        .prepare_cached(
            "INSERT INTO calls (seq, at_ms, session, agent, tool, call_id, action, subject, cwd, decision,
                 action_digest, action_key, flags)
             SELECT ?1, ?2, id, agent, ?4, ?5, ?6, '', workspace, 'unasked', ?7, ?8, '' FROM sessions WHERE id = ?3",
        )?
        .execute(params![
            seq,
            entry.at_ms.0,
            session.to_string(),
            tool,
            call_id,
            Action::Other.word(),
            action_digest.bytes(),
            key(action_digest),
        ])?;
    stats::opened(p.conn, entry.at_ms, entry.seq)?;
    stats::count(p.conn, entry.at_ms, agent.as_str(), tool, (None, CallDecision::Unasked))?;
    text::write(p, entry.seq, &format!("{agent}\n{tool}"))?;
    Ok(seq)
}

fn write(p: &mut Projecting<'_>, new: &New<'_>) -> Result<(), StoreError> {
    let agent = session::called(p, new.session)?;
    let facts = new.facts;
    p.conn
        .prepare_cached(
            "INSERT INTO calls (seq, at_ms, session, agent, tool, call_id, action, subject, cwd, decision, decided_by,
                 note, rule, grant_id, approval, number, digest, digest_key, action_digest, action_key, flags)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21)",
        )?
        .execute(params![
            chain::row_id(new.seq),
            new.at_ms.0,
            new.session.to_string(),
            agent.as_str(),
            facts.tool,
            facts.call_id,
            facts.action.word(),
            subject_text(facts),
            facts.cwd.bytes(),
            new.decision.word(),
            new.by,
            new.note,
            new.rule,
            new.grant.map(|g| g.to_string()),
            new.approval.map(|(id, _)| id.to_string()),
            new.approval.map(|(_, number)| number),
            facts.digest.bytes(),
            key(&facts.digest),
            facts.action_digest.bytes(),
            key(&facts.action_digest),
            flags(facts),
        ])?;
    stats::opened(p.conn, new.at_ms, new.seq)?;
    stats::count(p.conn, new.at_ms, agent.as_str(), &facts.tool, (None, new.decision))?;
    place::write(p, new.seq, facts)?;
    let words = [new.rule.unwrap_or_default(), new.note.unwrap_or_default()];
    text::write(p, new.seq, &text::of_call(&agent, facts, &words))
}

/// The call that an approval is about; the fact `seq` is noted as one of its life.
fn asked_seq(p: &Projecting<'_>, approval: ApprovalId, seq: u64) -> Result<u64, StoreError> {
    let call: Option<i64> = p
        .conn
        .prepare_cached("SELECT seq FROM calls WHERE approval = ?1")?
        .query_row([approval.to_string()], |row| row.get(0))
        .optional()?;
    let expected = "asked before";
    let call = call.ok_or_else(|| StoreError::Conflict { table: "calls", id: approval.to_string(), expected })?;
    belongs(p, chain::seq_of(call), seq)?;
    Ok(chain::seq_of(call))
}

fn belongs(p: &Projecting<'_>, call: u64, seq: u64) -> Result<(), StoreError> {
    let written = p
        .conn
        .prepare_cached("INSERT INTO call_facts (seq, call) VALUES (?1, ?2)")?
        .execute([chain::row_id(seq), chain::row_id(call)])?;
    one(written, "call_facts", seq, "new")
}

/// The first subject as one visible line.
fn subject_text(facts: &CallFacts) -> String {
    let text = match facts.subjects.first() {
        Some(Subject::Path(path)) => path.resolved.lossy(),
        Some(Subject::Url(url)) => url.normalized.clone(),
        Some(Subject::Command(command)) => command.asked.clone(),
        Some(Subject::Mcp(mcp)) => format!("{}/{}", mcp.server, mcp.tool),
        Some(Subject::Tool(tool)) => tool.tool.clone(),
        None => String::new(),
    };
    plain::plain(&text, SUBJECT_AT_MOST)
}

fn flags(facts: &CallFacts) -> String {
    facts.flags.iter().map(|flag| flag.word()).collect::<Vec<_>>().join(" ")
}

/// The first 63 bits of a digest: in the order of the digests, and never negative.
pub(crate) fn key(digest: &Digest) -> i64 {
    let bytes = digest.bytes().iter().take(8).fold(0_u64, |n, byte| n << 8 | u64::from(*byte));
    (bytes >> 1).cast_signed()
}
