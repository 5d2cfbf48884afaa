//! Making facts findable after they were decided. A decision waits for its fact and for what later decisions rest on,
//! and for nothing else: the rows of calls with all their indexes cost several times as much. They follow in the order
//! of the facts, from the facts alone, and where they have come to stands in the same transaction, so that a crash
//! loses nothing and repeats nothing.

use std::collections::BTreeSet;

use rusqlite::{Connection, OptionalExtension as _, TransactionBehavior, params};

use crate::{
    ChainKey, StoreError,
    chain::{self, Row, Sum},
    project, schema,
    store::{Known, Projecting, by_constraint},
};

/// What is done in one transaction; whether there is more.
pub(crate) type Work<'a> = dyn FnMut(&Connection, &ChainKey, &mut Known) -> Result<bool, StoreError> + 'a;

/// Whoever can run a transaction of which nothing stays when it fails.
pub(crate) trait Transact {
    fn transact(&mut self, work: &mut Work<'_>) -> Result<bool, StoreError>;
}

/// A connection that is not the writer's own.
pub(crate) struct Apart<'a> {
    pub(crate) conn: &'a mut Connection,
    pub(crate) key: &'a ChainKey,
    pub(crate) known: &'a mut Known,
}

impl Transact for Apart<'_> {
    fn transact(&mut self, work: &mut Work<'_>) -> Result<bool, StoreError> {
        let tx = self.conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let done = work(&tx, self.key, self.known).map_err(by_constraint).and_then(|more| {
            tx.commit()?;
            Ok(more)
        });
        if done.is_err() {
            *self.known = Known::default();
        }
        done
    }
}

/// Whether there are facts that are not findable yet. A file of an older version, read without being brought up to
/// date, has none.
pub(crate) fn is_behind(conn: &Connection) -> Result<bool, StoreError> {
    if !schema::is_current(conn)? {
        return Ok(false);
    }
    let last: Option<i64> = conn.prepare_cached("SELECT max(seq) FROM facts")?.query_row([], |row| row.get(0))?;
    Ok(last.is_some_and(|last| last > 0) && last > Some(through(conn)?))
}

/// Makes up to `max` more facts findable; whether there may be more. A fact that was tampered with, or that does not
/// fit, is left out: `verify` names it, and it must not keep the others from being found.
pub(crate) fn follow(store: &mut dyn Transact, max: u64) -> Result<bool, StoreError> {
    let mut left_out = BTreeSet::new();
    loop {
        let mut at = None;
        let done = store.transact(&mut |conn, key, known| some(conn, key, known, max, &left_out, &mut at));
        match (done, at) {
            (Err(error @ (StoreError::Conflict { .. } | StoreError::Corrupt { .. })), Some(seq)) => {
                tracing::error!(%error, seq, "a fact cannot be made findable");
                left_out.insert(seq);
            }
            (done, _) => return done,
        }
    }
}

fn some(
    conn: &Connection,
    key: &ChainKey,
    known: &mut Known,
    max: u64,
    left_out: &BTreeSet<u64>,
    at: &mut Option<u64>,
) -> Result<bool, StoreError> {
    // Somebody else may have indexed meanwhile.
    known.searched_through = None;
    let through = through(conn)?;
    let sql = "SELECT seq, at_ms, kind, body, prev, hash FROM facts WHERE seq > ?1 ORDER BY seq LIMIT ?2";
    let mut statement = conn.prepare_cached(sql)?;
    let mut rows = statement.query(params![through, chain::row_id(max)])?;
    let (mut read, mut last) = (0, through);
    // No grant is touched here, nor the switch that denies everything.
    let (mut grants, mut paused) = (Sum::default(), false);
    while let Some(row) = rows.next()? {
        (read, last) = (read + 1, row.get(0)?);
        let seq = chain::seq_of(last);
        if left_out.contains(&seq) {
            continue;
        }
        *at = Some(seq);
        let row = Row::read(row, 0).map_err(|e| crate::reader::corrupt_at("facts", seq, e))?;
        if !row.is_true(key) {
            return Err(StoreError::corrupt("facts", seq, "it was changed"));
        }
        let entry = row.entry()?;
        let mut p = Projecting { conn, key, known, grants: &mut grants, paused: &mut paused };
        project::later(&mut p, &entry)?;
    }
    *at = None;
    if last > through {
        conn.prepare_cached("UPDATE followed SET through = ?1 WHERE one = 1")?.execute([last])?;
    }
    Ok(read == max)
}

fn through(conn: &Connection) -> Result<i64, StoreError> {
    conn.prepare_cached("SELECT through FROM followed WHERE one = 1")?
        .query_row([], |row| row.get(0))
        .optional()?
        .ok_or_else(|| StoreError::corrupt("followed", 1, "its one row is missing"))
}
