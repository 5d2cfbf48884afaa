//! Forgetting the oldest part of the history. What remains still verifies: a signed stub holds the hash of the last
//! fact that was removed.

use placet_domain::{At, CallFacts, Digest, Fact};
use rusqlite::{Connection, params};

use crate::{
    ChainKey, Store, StoreError, Stub,
    chain::{self, Row},
    place, verify,
};

/// What pruning did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pruned {
    /// What it left.
    pub stub: Stub,
    /// Whether there is more that is old enough.
    pub more: bool,
}

impl Store {
    /// Removes facts that happened before `before_ms`, with what follows from them, at most `max` at a time; none where
    /// there is nothing old enough. Stops before the first fact that is needed still: one that asked an open approval,
    /// issued an active grant, or is the last. A stretch that does not verify is kept, as evidence: `Corrupt`.
    pub fn prune(&mut self, before_ms: At, max: u64, at_ms: At) -> Result<Option<Pruned>, StoreError> {
        while self.follow_some(1_000)? {}
        self.transact(|conn, key, _| {
            let needed = first_needed(conn)?;
            let old = old_facts(conn, key, before_ms, needed, max)?;
            let Some(last) = old.last() else { return Ok(None) };
            let stub = Stub {
                through_seq: last.seq,
                through_ms: last.at_ms,
                hash: Digest::new(last.hash),
                rows: old.len() as u64,
                pruned_at_ms: at_ms,
            };
            stub.write(conn, key)?;
            old.iter().try_for_each(|row| remove_places(conn, row))?;
            remove(conn, stub)?;
            let next = chain::row(conn, stub.through_seq + 1)?;
            let more = next.is_some_and(|row| row.at_ms < before_ms && row.seq < needed);
            Ok(Some(Pruned { stub, more }))
        })
    }
}

impl Store {
    /// Bytes of the file that hold something. What was pruned leaves room in the file, which is used again.
    pub fn used_bytes(&self) -> Result<u64, StoreError> {
        let pragma = |name: &str| self.conn.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
        let pages = pragma("page_count")?.saturating_sub(pragma("freelist_count")?);
        Ok(chain::seq_of(pages.saturating_mul(pragma("page_size")?)))
    }
}

/// The first fact that something open rests on, or the last one.
fn first_needed(conn: &Connection) -> Result<u64, StoreError> {
    let needed: Option<i64> = conn.query_row(
        "SELECT min(seq) FROM (
             SELECT min(asked_seq) AS seq FROM approvals WHERE state IN ('pending', 'approved')
             UNION ALL SELECT min(issued_seq) FROM grants WHERE state = 'active'
             UNION ALL SELECT max(seq) FROM facts)",
        [],
        |row| row.get(0),
    )?;
    Ok(needed.map_or(0, chain::seq_of))
}

/// The oldest facts that may go, each of them verified.
fn old_facts(conn: &Connection, key: &ChainKey, before_ms: At, needed: u64, max: u64) -> Result<Vec<Row>, StoreError> {
    let mut head = verify::start(conn, key, None)?.map_err(|broken| refused(broken.seq, broken.kind))?;
    let sql = "SELECT seq, at_ms, kind, body, prev, hash FROM facts WHERE seq < ?1 ORDER BY seq LIMIT ?2";
    let mut statement = conn.prepare_cached(sql)?;
    let mut rows = statement.query(params![chain::row_id(needed), chain::row_id(max)])?;
    let mut old = Vec::new();
    while let Some(row) = rows.next()? {
        let row = Row::read(row, 0)?;
        if let Some(kind) = verify::fault(key, &head, &row) {
            return Err(refused(row.seq, kind));
        }
        if row.at_ms >= before_ms {
            break;
        }
        head = crate::Head { seq: row.seq, hash: Digest::new(row.hash) };
        old.push(row);
    }
    Ok(old)
}

fn refused(seq: u64, kind: crate::Break) -> StoreError {
    StoreError::corrupt("facts", seq, format!("the chain is broken here ({}); it is not pruned", kind.word()))
}

/// A call is taken off the places where it was: they are found by its fact, not by looking through all of them.
fn remove_places(conn: &Connection, row: &Row) -> Result<(), StoreError> {
    let entry = row.entry()?;
    let remove = |call: &CallFacts| -> Result<(), StoreError> {
        for place in place::places_of(call) {
            if let Some(no) = place::find(conn, &place)? {
                conn.prepare_cached("DELETE FROM call_places WHERE place = ?1 AND call = ?2")?
                    .execute([no, chain::row_id(row.seq)])?;
            }
        }
        Ok(())
    };
    if let Fact::CallAllowed { call, grants, .. } = &entry.fact {
        for grant in grants {
            conn.prepare_cached("DELETE FROM call_grants WHERE grant_id = ?1 AND call = ?2")?
                .execute(params![grant.to_string(), chain::row_id(row.seq)])?;
        }
        remove(call)
    } else if let Fact::CallDenied { call, .. } | Fact::ApprovalAsked { call, .. } = &entry.fact {
        remove(call)
    } else {
        Ok(())
    }
}

fn remove(conn: &Connection, stub: Stub) -> Result<(), StoreError> {
    let through = chain::row_id(stub.through_seq);
    for sql in [
        "INSERT INTO search (search, rowid, text)
             SELECT 'delete', t.call, coalesce((SELECT indexed FROM unsearched u WHERE u.call = t.call), t.text)
             FROM texts t WHERE t.call <= ?1 AND t.call <= (SELECT through FROM searched WHERE one = 1)",
        "UPDATE searched SET through = max(through, ?1) WHERE one = 1",
        "DELETE FROM unsearched WHERE call <= ?1",
        "DELETE FROM texts WHERE call <= ?1",
        "DELETE FROM call_facts WHERE seq <= ?1",
        "DELETE FROM call_grants WHERE (grant_id, call) IN
             (SELECT grant_id, seq FROM calls WHERE seq <= ?1 AND grant_id IS NOT NULL)",
        "DELETE FROM calls WHERE seq <= ?1",
        "DELETE FROM approvals WHERE asked_seq <= ?1",
        "DELETE FROM grants WHERE issued_seq <= ?1 AND state <> 'active'",
        "DELETE FROM facts WHERE seq <= ?1",
    ] {
        conn.execute(sql, [through])?;
    }
    conn.execute(
        "DELETE FROM bodies WHERE used_ms <= ?1
             AND sha256 NOT IN (SELECT input_sha256 FROM approvals UNION SELECT card_sha256 FROM approvals)",
        [stub.through_ms.0],
    )?;
    Ok(())
}
