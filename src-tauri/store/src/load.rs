//! What is the case when a store is opened, and whether the facts bear it out.

use std::{ops::ControlFlow, path::Path};

use placet_domain::{Approval, ApprovalId, ApprovalState, At, Digest, Fact, SessionId, state::Settled};
use rusqlite::{Connection, TransactionBehavior, params};

use crate::{
    Break, Broken, ChainKey, Opened, Reader, Store, StoreError,
    approval::{self, Bodies},
    chain::{self, Seal, Sum},
    definition, grant,
    reader::id,
    session, verify,
};

/// How many closings are handed over.
const SETTLED: u32 = 1_000;
/// How many of the newest facts are verified at every start.
const TAIL: u64 = 1_000;
/// How long a person's denials count.
const DENIALS_MS: i64 = 5 * 60 * 1_000;

pub(crate) fn load(mut conn: Connection, key: ChainKey, file: &Path) -> Result<Opened, StoreError> {
    let (last, latest_ms) = chain::last(&conn)?;
    let sealed = Seal::read(&conn, &key)?;
    let mut broken = verify::tail(&conn, &key, TAIL, &mut |_| ControlFlow::Continue(()))?.broken;
    let mut loaded = grant::load(&conn, &key)?;
    let (seal, whole) = match sealed {
        Some((seal, true)) => {
            // A true seal beyond the last fact: the newest were cut off. The history goes on behind the gap, which
            // stays to be seen.
            let head = if seal.head.seq > last.seq { seal.head } else { last };
            (Seal { head, ..seal }, seal.head == last)
        }
        None if last.seq == 0 => (Seal { head: last, grants: Sum::default(), paused: false }, true),
        Some((_, false)) | None => (Seal { head: last, grants: loaded.sum, paused: false }, false),
    };
    if !whole && broken.is_none() {
        let cut = seal.head.seq > last.seq;
        broken = Some(Broken { seq: last.seq + 1, kind: if cut { Break::Truncated } else { Break::Seal } });
    }
    // Each row may be true and the whole still not be: an old row put back. Then none of them can be believed.
    if seal.grants != loaded.sum || !whole {
        let why = "the active grants are not those that were left";
        let unbelieved = loaded.grants.drain(..).map(|g| crate::IgnoredGrant { id: Some(g.id), why: why.to_owned() });
        loaded.ignored.extend(unbelieved);
    }
    let (approvals, ignored_approvals) = open_approvals(&conn, &key)?;
    let denials = denials(&conn, latest_ms.unwrap_or_default())?;
    let settled = settled(&conn)?;
    let sessions = session::all(&conn)?;
    let definitions = definition::all(&conn, &key)?;
    let mut seal = seal;
    if !loaded.ignored.is_empty() {
        let tx = conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
        grant::quarantine(&tx, &key, &loaded.ignored, latest_ms.unwrap_or_default())?;
        seal.grants = grant::load(&tx, &key)?.sum;
        seal.write(&tx, &key)?;
        tx.commit()?;
    }
    Ok(Opened {
        reader: Reader::new(file, key.clone()),
        sessions,
        approvals,
        grants: loaded.grants,
        settled,
        denials,
        definitions,
        // Without a seal nobody knows; then it is a no.
        paused: seal.paused || (!whole && sealed.is_none_or(|(_, is_true)| !is_true)),
        latest_ms,
        head: seal.head,
        ignored_grants: loaded.ignored,
        ignored_approvals,
        broken,
        store: Store::new(conn, key, seal),
    })
}

/// What waits, and each yes that waits to be fetched, if the facts bear it out. One that cannot be read is none.
fn open_approvals(conn: &Connection, key: &ChainKey) -> Result<(Vec<Approval>, Vec<ApprovalId>), StoreError> {
    let condition = "WHERE a.state IN ('pending', 'approved') ORDER BY a.id";
    let (mut open, mut ignored) = (Vec::new(), Vec::new());
    for (id, read) in approval::select_each(conn, condition, &[], Bodies::Wanted)? {
        let read = unless_corrupt(read)?;
        match read.map(|read| Ok::<_, StoreError>((borne_out(conn, key, &read)?, read.approval))).transpose()? {
            Some((true, approval)) => open.push(approval),
            Some((false, _)) | None => ignored.extend(id.parse::<ApprovalId>()),
        }
    }
    Ok((open, ignored))
}

/// Whether true facts asked it and, where it is approved, approved it, and none closed it.
fn borne_out(conn: &Connection, key: &ChainKey, read: &approval::Read) -> Result<bool, StoreError> {
    let true_row = |seq| Ok::<_, StoreError>(chain::row(conn, seq)?.filter(|row| row.is_true(key)));
    if true_row(read.asked_seq)?.is_none() || true_row(read.call_seq)?.is_none() {
        return Ok(false);
    }
    let ApprovalState::Approved { digest, .. } = &read.approval.state else { return Ok(true) };
    let seq = read.approved_seq.unwrap_or(0);
    let fact = true_row(seq)?.map(|row| row.entry()).transpose()?.map(|entry| entry.fact);
    let approved = matches!(&fact, Some(Fact::ApprovalApproved { approval, digest: of, .. })
        if *approval == read.approval.id && of == digest);
    Ok(approved && !closed_after(conn, read.approval.id, seq)?)
}

/// Whether a later fact closed the approval, or one that cannot be read may have. A yes lives five minutes at most, so
/// these are few.
fn closed_after(conn: &Connection, approval: ApprovalId, seq: u64) -> Result<bool, StoreError> {
    let mut statement =
        conn.prepare_cached("SELECT seq, at_ms, kind, body, prev, hash FROM facts WHERE seq > ?1 ORDER BY seq")?;
    let mut rows = statement.query([chain::row_id(seq)])?;
    while let Some(row) = rows.next()? {
        let Some(entry) = unless_corrupt(chain::Row::read(row, 0)?.entry())? else { return Ok(true) };
        if let Fact::ApprovalConsumed { approval: closed }
        | Fact::ApprovalLapsed { approval: closed }
        | Fact::ApprovalVoided { approval: closed, .. } = entry.fact
            && closed == approval
        {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The last closings that can be read, in the order in which they happened.
fn settled(conn: &Connection) -> Result<Vec<(ApprovalId, Settled)>, StoreError> {
    let condition = "WHERE a.settled_seq IS NOT NULL ORDER BY a.settled_seq DESC LIMIT ?1";
    let mut closings = Vec::new();
    for (_, read) in approval::select_each(conn, condition, &[&SETTLED], Bodies::LeftOut)? {
        let Some(read) = unless_corrupt(read)? else { continue };
        let Approval { id, session, judged, state, .. } = read.approval;
        let facts = judged.facts;
        let (action_digest, raw_sha256) = (facts.action_digest, facts.raw_sha256);
        closings.push((id, Settled { session, call_id: facts.call_id, action_digest, raw_sha256, state }));
    }
    closings.reverse();
    Ok(closings)
}

/// What cannot be read is left out here, where leaving out is a no; whoever asks for it by name hears of the corruption.
fn unless_corrupt<T>(read: Result<T, StoreError>) -> Result<Option<T>, StoreError> {
    match read {
        Err(StoreError::Corrupt { table, id, what }) => {
            tracing::error!(table, id, what, "a row cannot be read");
            Ok(None)
        }
        other => other.map(Some),
    }
}

/// A person's denials that still count, oldest first.
fn denials(conn: &Connection, latest_ms: At) -> Result<Vec<(SessionId, Digest, At)>, StoreError> {
    let mut statement = conn.prepare(
        "SELECT a.session, c.action_digest, a.state_at_ms
         FROM approvals a INDEXED BY approvals_by_settling CROSS JOIN calls c ON c.seq = a.asked_seq
         WHERE a.settled_seq IS NOT NULL AND a.state = 'denied' AND a.state_at_ms > ?1
             AND c.decided_by IN ('user', 'supervisor')
             AND a.settled_seq >= coalesce((SELECT min(settled_seq) FROM (SELECT settled_seq FROM approvals
                 WHERE settled_seq IS NOT NULL ORDER BY settled_seq DESC LIMIT ?2)), 0)
         ORDER BY a.settled_seq",
    )?;
    let mut rows = statement.query(params![latest_ms.0.saturating_sub(DENIALS_MS), SETTLED])?;
    let mut denials = Vec::new();
    while let Some(row) = rows.next()? {
        denials.push((id("approvals", &row.get::<_, String>(0)?)?, Digest::new(row.get(1)?), At(row.get(2)?)));
    }
    Ok(denials)
}
