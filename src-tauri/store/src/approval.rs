//! Approvals: every step a compare-and-set, so that the table itself refuses a second or a late answer.

use std::{fmt::Write as _, sync::Arc};

use placet_domain::{
    AgentName, Approval, ApprovalId, ApprovalState, At, By, CallFacts, CancelReason, Digest, Entry, Fact, Judged,
    Masked, Waiter, state::empty_card,
};
use rusqlite::{Connection, OptionalExtension as _, Row, params};
use serde_json::Value;

use crate::{
    ApprovalFilter, Page, Reader, StoreError, body, chain,
    filter::{page_size, rows_for},
    reader::id,
    session,
    store::{Projecting, one},
};

/// It was asked. The call's row is there already.
pub(crate) fn asked(p: &mut Projecting<'_>, entry: &Entry) -> Result<(), StoreError> {
    let Fact::ApprovalAsked {
        approval,
        session,
        number,
        input_sha256,
        card_sha256,
        rule,
        reason,
        expires_at_ms,
        waiter,
        can_edit,
        ..
    } = &entry.fact
    else {
        return Ok(());
    };
    let agent = session::agent_of(p.conn, p.known, *session)?;
    p.conn
        .prepare_cached(
            "INSERT INTO approvals (id, session, agent, asked_seq, call_seq, number, rule, reason, asked_at_ms,
                 expires_at_ms, waiter_pid, waiter_start, can_edit, input_sha256, card_sha256, state)
             VALUES (?1, ?2, ?3, ?4, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, 'pending')",
        )?
        .execute(params![
            approval.to_string(),
            session.to_string(),
            agent.as_str(),
            chain::row_id(entry.seq),
            number,
            rule,
            reason,
            entry.at_ms.0,
            expires_at_ms.0,
            waiter.map(|w| w.pid),
            waiter.map(|w| w.start.cast_signed()),
            can_edit,
            input_sha256.bytes(),
            card_sha256.bytes(),
        ])?;
    Ok(())
}

/// The fact that asked it.
pub(crate) fn asked_seq(conn: &Connection, id: ApprovalId) -> Result<u64, StoreError> {
    let seq: Option<i64> = conn
        .prepare_cached("SELECT asked_seq FROM approvals WHERE id = ?1")?
        .query_row([id.to_string()], |row| row.get(0))
        .optional()?;
    let expected = "asked before";
    seq.map(chain::seq_of).ok_or_else(|| StoreError::Conflict { table: "approvals", id: id.to_string(), expected })
}

/// Another process waits for it now.
pub(crate) fn attached(p: &Projecting<'_>, id: ApprovalId, waiter: Option<Waiter>) -> Result<(), StoreError> {
    let changed = p
        .conn
        .prepare_cached(
            "UPDATE approvals SET waiter_pid = ?2, waiter_start = ?3 WHERE id = ?1 AND state IN ('pending', 'approved')",
        )?
        .execute(params![id.to_string(), waiter.map(|w| w.pid), waiter.map(|w| w.start.cast_signed())])?;
    one(changed, "approvals", id, "open")
}

/// What would run changed while it was pending.
pub(crate) fn refreshed(
    p: &Projecting<'_>,
    id: ApprovalId,
    card_sha256: Digest,
    entry: &Entry,
) -> Result<(), StoreError> {
    let changed = p
        .conn
        .prepare_cached("UPDATE approvals SET call_seq = ?2, card_sha256 = ?3 WHERE id = ?1 AND state = 'pending'")?
        .execute(params![id.to_string(), chain::row_id(entry.seq), card_sha256.bytes()])?;
    one(changed, "approvals", id, "pending")
}

/// It was answered, ended, or its yes was handed over or fell.
pub(crate) fn settled(p: &mut Projecting<'_>, id: ApprovalId, entry: &Entry) -> Result<(), StoreError> {
    let (at, seq) = (entry.at_ms.0, chain::row_id(entry.seq));
    let text = id.to_string();
    let by_json = |by: &By| serde_json::to_string(by);
    let (changed, expected) = match &entry.fact {
        Fact::ApprovalApproved { by, digest, note, .. } => {
            let sql = "UPDATE approvals SET state = 'approved', state_at_ms = ?2, approved_seq = ?3,
                           approved_digest = ?4, decided_by = ?5, note = ?6
                       WHERE id = ?1 AND state = 'pending' AND expires_at_ms > ?2";
            let values = params![text, at, seq, digest.bytes(), by_json(by)?, note];
            (p.conn.prepare_cached(sql)?.execute(values)?, "pending and in time")
        }
        Fact::ApprovalDenied { by, note, .. } => {
            let sql = "UPDATE approvals SET state = 'denied', state_at_ms = ?2, settled_seq = ?3, decided_by = ?4,
                           note = ?5
                       WHERE id = ?1 AND state = 'pending' AND expires_at_ms > ?2";
            (p.conn.prepare_cached(sql)?.execute(params![text, at, seq, by_json(by)?, note])?, "pending and in time")
        }
        Fact::ApprovalExpired { .. } => {
            let sql = "UPDATE approvals SET state = 'expired', state_at_ms = ?2, settled_seq = ?3
                       WHERE id = ?1 AND state = 'pending'";
            (p.conn.prepare_cached(sql)?.execute(params![text, at, seq])?, "pending")
        }
        Fact::ApprovalCancelled { reason, note, .. } => {
            let sql = "UPDATE approvals SET state = 'cancelled', state_at_ms = ?2, settled_seq = ?3,
                           cancel_reason = ?4, note = ?5
                       WHERE id = ?1 AND state = 'pending'";
            (p.conn.prepare_cached(sql)?.execute(params![text, at, seq, reason.word(), note])?, "pending")
        }
        Fact::ApprovalConsumed { .. } => (after_yes(p, &text, "consumed", at, seq)?, "approved"),
        Fact::ApprovalLapsed { .. } => (after_yes(p, &text, "lapsed", at, seq)?, "approved"),
        Fact::ApprovalVoided { changed, .. } => {
            let sql = "UPDATE approvals SET state = 'void', state_at_ms = ?2, settled_seq = ?3, changed = ?4
                       WHERE id = ?1 AND state = 'approved'";
            let values = params![text, at, seq, serde_json::to_string(changed)?];
            (p.conn.prepare_cached(sql)?.execute(values)?, "approved")
        }
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
    one(changed, "approvals", id, expected)?;
    if let Fact::ApprovalApproved { .. } = &entry.fact {
        return Ok(());
    }
    let read = select(p.conn, "WHERE a.id = ?1", &[&id.to_string()], Bodies::LeftOut)?;
    let Some(Read { approval, .. }) = read.first() else { return Ok(()) };
    let facts = &approval.judged.facts;
    // A yes that was handed over brings in what its call brings in.
    if matches!(&entry.fact, Fact::ApprovalConsumed { .. }) && facts.brings_content_in() {
        session::tainted(p, approval.session)?;
    }
    facts.masked.as_deref().map_or(Ok(()), |masked| forget_secrets(p, id, masked))
}

/// Nobody will be asked any more, so input and card stay with their secrets masked alone.
fn forget_secrets(p: &mut Projecting<'_>, id: ApprovalId, masked: &Masked) -> Result<(), StoreError> {
    for (column, is_masked) in [("input_sha256", masked.input.is_some()), ("card_sha256", masked.card.is_some())] {
        if is_masked {
            let sql = format!(
                "DELETE FROM bodies WHERE sha256 = (SELECT {column} FROM approvals WHERE id = ?1)
                     AND NOT EXISTS (SELECT 1 FROM approvals open WHERE open.state IN ('pending', 'approved')
                         AND open.{column} = bodies.sha256)"
            );
            p.known.forgot_secrets |= p.conn.prepare_cached(&sql)?.execute([id.to_string()])? > 0;
        }
    }
    Ok(())
}

fn after_yes(p: &Projecting<'_>, id: &str, state: &str, at: i64, seq: i64) -> Result<usize, StoreError> {
    let sql =
        "UPDATE approvals SET state = ?4, state_at_ms = ?2, settled_seq = ?3 WHERE id = ?1 AND state = 'approved'";
    Ok(p.conn.prepare_cached(sql)?.execute(params![id, at, seq, state])?)
}

const COLUMNS: &str = "a.id, a.session, a.call_seq, a.number, a.rule, a.reason, a.asked_at_ms, a.expires_at_ms,
    a.waiter_pid, a.waiter_start, a.can_edit, a.input_sha256, a.card_sha256, a.state, a.state_at_ms, a.approved_digest,
    a.decided_by, a.cancel_reason, a.note, a.changed, a.asked_seq, a.approved_seq";

/// An approval with where its facts stand.
pub(crate) struct Read {
    pub(crate) approval: Approval,
    pub(crate) asked_seq: u64,
    pub(crate) call_seq: u64,
    pub(crate) approved_seq: Option<u64>,
}

/// The id of a row, and the approval if it can be read.
pub(crate) type ReadOrNot = (String, Result<Read, StoreError>);

/// Whether input and card are wanted too.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bodies {
    Wanted,
    LeftOut,
}

/// Reads the approvals that a condition on `approvals a` names.
pub(crate) fn select(
    conn: &Connection,
    condition: &str,
    values: &[&dyn rusqlite::ToSql],
    bodies: Bodies,
) -> Result<Vec<Read>, StoreError> {
    select_each(conn, condition, values, bodies)?.into_iter().map(|(_, read)| read).collect()
}

/// The same, with the id of each row, where one that cannot be read shall not hide the others.
pub(crate) fn select_each(
    conn: &Connection,
    condition: &str,
    values: &[&dyn rusqlite::ToSql],
    bodies: Bodies,
) -> Result<Vec<ReadOrNot>, StoreError> {
    let mut statement = conn.prepare_cached(&format!("SELECT {COLUMNS} FROM approvals a {condition}"))?;
    let mut rows = statement.query(values)?;
    let mut read = Vec::new();
    while let Some(row) = rows.next()? {
        read.push((row.get(0)?, read_row(conn, row, bodies)));
    }
    Ok(read)
}

fn read_row(conn: &Connection, row: &Row<'_>, bodies: Bodies) -> Result<Read, StoreError> {
    let text: String = row.get(0)?;
    let approval: ApprovalId = id("approvals", &text)?;
    let call_seq = chain::seq_of(row.get(2)?);
    let (pid, start): (Option<i32>, Option<i64>) = (row.get(8)?, row.get(9)?);
    let facts = asked_call(conn, approval, call_seq)?;
    let (input, card) = match bodies {
        Bodies::LeftOut => (None, None),
        Bodies::Wanted => {
            let masked = facts.masked.as_deref().cloned().unwrap_or_default();
            let (input, card) = (Digest::new(row.get(11)?), Digest::new(row.get(12)?));
            (
                first(masked.input, input, |of| body::input(conn, of))?,
                first(masked.card, card, |of| body::card(conn, of))?,
            )
        }
    };
    Ok(Read {
        approval: Approval {
            id: approval,
            session: id("approvals", &row.get::<_, String>(1)?)?,
            judged: Judged {
                facts,
                input: Arc::new(input.unwrap_or(Value::Null)),
                card: Arc::new(card.unwrap_or_else(empty_card)),
            },
            number: row.get(3)?,
            rule: row.get(4)?,
            reason: row.get(5)?,
            asked_at_ms: At(row.get(6)?),
            expires_at_ms: At(row.get(7)?),
            waiter: pid.zip(start).map(|(pid, start)| Waiter { pid, start: start.cast_unsigned() }),
            can_edit: row.get(10)?,
            state: read_state(&text, row)?,
        },
        asked_seq: chain::seq_of(row.get(20)?),
        call_seq,
        approved_seq: row.get::<_, Option<i64>>(21)?.map(chain::seq_of),
    })
}

/// What is there as it came; once that is forgotten, what was kept of it.
fn first<T>(
    kept: Option<Digest>,
    came: Digest,
    read: impl Fn(&Digest) -> Result<Option<T>, StoreError>,
) -> Result<Option<T>, StoreError> {
    match (read(&came)?, kept) {
        (None, Some(kept)) => read(&kept),
        (found, _) => Ok(found),
    }
}

/// The call as the fact says that asked it, or refreshed it last.
fn asked_call(conn: &Connection, approval: ApprovalId, seq: u64) -> Result<CallFacts, StoreError> {
    let missing = || StoreError::corrupt("approvals", approval, format!("fact {seq} does not ask it"));
    let fact = chain::row(conn, seq)?.ok_or_else(missing)?.entry()?.fact;
    if let Fact::ApprovalAsked { approval: of, call, .. } | Fact::ApprovalRefreshed { approval: of, call, .. } = fact
        && of == approval
    {
        return Ok(call);
    }
    Err(missing())
}

fn read_state(id: &str, row: &Row<'_>) -> Result<ApprovalState, StoreError> {
    let corrupt = |what: &str| StoreError::corrupt("approvals", id, what);
    let word: String = row.get(13)?;
    let at_ms = At(row.get::<_, Option<i64>>(14)?.unwrap_or_default());
    let by: Option<String> = row.get(16)?;
    let by = by.map(|by| serde_json::from_str::<By>(&by)).transpose().map_err(|_| corrupt("an unreadable word"))?;
    let note: Option<String> = row.get(18)?;
    let decided = || by.clone().ok_or_else(|| corrupt("answered on nobody's word"));
    Ok(match word.as_str() {
        "pending" => ApprovalState::Pending,
        "approved" => {
            let digest: Option<[u8; 32]> = row.get(15)?;
            let digest = Digest::new(digest.ok_or_else(|| corrupt("approved without a digest"))?);
            ApprovalState::Approved { at_ms, by: decided()?, note, digest }
        }
        "consumed" => ApprovalState::Consumed { at_ms, by: decided()? },
        "lapsed" => ApprovalState::Lapsed { at_ms, by: decided()? },
        "void" => {
            let changed: Option<String> = row.get(19)?;
            let changed = serde_json::from_str(&changed.unwrap_or_default())
                .map_err(|_| corrupt("void without saying what changed"))?;
            ApprovalState::Void { at_ms, by: decided()?, changed }
        }
        "denied" => ApprovalState::Denied { at_ms, by: decided()?, note },
        "expired" => ApprovalState::Expired { at_ms },
        "cancelled" => {
            let reason: Option<String> = row.get(17)?;
            let reason = reason.and_then(|word| CANCEL_REASONS.into_iter().find(|r| r.word() == word));
            let reason = reason.ok_or_else(|| corrupt("cancelled for no known reason"))?;
            ApprovalState::Cancelled { at_ms, reason, note }
        }
        _ => return Err(corrupt("an unknown state")),
    })
}

const CANCEL_REASONS: [CancelReason; 5] = [
    CancelReason::Batch,
    CancelReason::User,
    CancelReason::AgentGone,
    CancelReason::Withdrawn,
    CancelReason::AnsweredElsewhere,
];

impl Reader {
    /// An approval in any state, with card and input where these are still kept.
    pub fn approval(&self, id: ApprovalId) -> Result<Option<Approval>, StoreError> {
        self.with(|conn| {
            let mut found = select(conn, "WHERE a.id = ?1", &[&id.to_string()], Bodies::Wanted)?;
            Ok(found.pop().map(|read| read.approval))
        })
    }

    /// Approvals with card and input, oldest first.
    pub fn approvals(&self, filter: &ApprovalFilter) -> Result<Page<Approval, ApprovalId>, StoreError> {
        let limit = page_size(filter.limit);
        let after = filter.after.map(|id| id.to_string()).unwrap_or_default();
        let session = filter.session.map(|id| id.to_string());
        let agent = filter.agent.as_ref().map(AgentName::as_str);
        let rows = rows_for(limit);
        let mut condition = "WHERE a.id > ?1".to_owned();
        let mut values: Vec<&dyn rusqlite::ToSql> = vec![&after, &rows];
        let mut also = |column: &str, value| {
            values.push(value);
            let _ = write!(condition, " AND a.{column} = ?{}", values.len());
        };
        if let Some(state) = &filter.state {
            also("state", state);
        }
        if let Some(session) = &session {
            also("session", session);
        }
        if let Some(agent) = &agent {
            also("agent", agent);
        }
        condition.push_str(" ORDER BY a.id LIMIT ?2");
        self.with(|conn| {
            let read = select(conn, &condition, &values, Bodies::Wanted)?;
            Ok(Page::cut(read.into_iter().map(|r| r.approval).collect(), limit, |approval| approval.id))
        })
    }
}
