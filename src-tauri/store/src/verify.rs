//! Walking the chain.

use std::ops::ControlFlow;

use placet_domain::Digest;
use rusqlite::{Connection, params};

use crate::{
    ChainKey, Head, Reader, StoreError,
    chain::{self, BEGINNING, Row, Seal, Stub},
};

/// Rows that are read at once. Between two readings the file is let go of, so that the log can be recycled.
const AT_ONCE: u32 = 1_000;

/// What a walk over the chain found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verified {
    /// Whether every row that was walked is as it was written, and none is missing.
    pub intact: bool,
    /// How many rows were walked.
    pub rows: u64,
    /// The last row that was found intact.
    pub head: Head,
    /// The first broken row.
    pub broken: Option<Broken>,
    /// Whether the walk was stopped before the end.
    pub stopped: bool,
}

/// The first broken row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Broken {
    /// Its number, or the number that is missing.
    pub seq: u64,
    /// What is wrong with it.
    pub kind: Break,
}

/// What can be wrong with a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Break {
    /// Its hash is not that of its content: it was changed.
    Hash,
    /// It is missing.
    Gap,
    /// It is a true row, but does not follow the one before it: swapped or put in from elsewhere.
    Order,
    /// Its columns say another number, time or kind than its content.
    Columns,
    /// The chain ends before the last row that was written: the newest were cut off.
    Truncated,
    /// The mark of where the chain ends is missing or was changed.
    Seal,
    /// The stub that pruning left is missing or was changed.
    Stub,
    /// It is not the row that an anchor outside the file tells of: the chain was written anew.
    Anchor,
}

impl Break {
    /// The word on the wire.
    pub fn word(self) -> &'static str {
        match self {
            Self::Hash => "hash",
            Self::Gap => "gap",
            Self::Order => "order",
            Self::Columns => "columns",
            Self::Truncated => "truncated",
            Self::Seal => "seal",
            Self::Stub => "stub",
            Self::Anchor => "anchor",
        }
    }
}

impl Reader {
    /// Walks the chain from the fact `from` (or the oldest kept) and names the first broken row. `progress` hears how
    /// many rows are done and can stop the walk.
    pub fn verify(
        &self,
        from: Option<u64>,
        progress: &mut dyn FnMut(u64) -> ControlFlow<()>,
    ) -> Result<Verified, StoreError> {
        walk(&self.own_connection()?, self.key(), from, progress)
    }
}

impl Reader {
    /// Whether the chain still holds every row that was the last one when an anchor was put down. The first that it does
    /// not hold; a row that was pruned since counts as held.
    pub fn check_anchors(&self, anchors: &[Head]) -> Result<Option<Broken>, StoreError> {
        self.with(|conn| {
            let (last, _) = chain::last(conn)?;
            let pruned = Stub::latest(conn, self.key())?.map_or(0, |(stub, _)| stub.through_seq);
            for anchor in anchors.iter().filter(|anchor| anchor.seq > pruned) {
                match chain::row(conn, anchor.seq)? {
                    Some(row) if row.hash == *anchor.hash.bytes() => {}
                    Some(_) => return Ok(Some(Broken { seq: anchor.seq, kind: Break::Anchor })),
                    None if anchor.seq > last.seq => {
                        return Ok(Some(Broken { seq: last.seq + 1, kind: Break::Truncated }));
                    }
                    None => return Ok(Some(Broken { seq: anchor.seq, kind: Break::Gap })),
                }
            }
            Ok(None)
        })
    }
}

/// Walks the newest `rows` facts.
pub(crate) fn tail(
    conn: &Connection,
    key: &ChainKey,
    rows: u64,
    progress: &mut dyn FnMut(u64) -> ControlFlow<()>,
) -> Result<Verified, StoreError> {
    let (last, _) = chain::last(conn)?;
    walk(conn, key, last.seq.checked_sub(rows).map(|before| before + 1), progress)
}

fn walk(
    conn: &Connection,
    key: &ChainKey,
    from: Option<u64>,
    progress: &mut dyn FnMut(u64) -> ControlFlow<()>,
) -> Result<Verified, StoreError> {
    // What is written after this moment is not walked; the seal and the rows up to it belong together.
    let snapshot = conn.unchecked_transaction()?;
    let sealed = Seal::read(conn, key)?;
    let (last, _) = chain::last(conn)?;
    let start = start(conn, key, from)?;
    snapshot.finish()?;
    let mut verified = match start {
        Ok(head) => Verified { intact: true, rows: 0, head, broken: None, stopped: false },
        Err(broken) => {
            let head = Head { seq: 0, hash: Digest::new(BEGINNING) };
            return Ok(Verified { intact: false, rows: 0, head, broken: Some(broken), stopped: false });
        }
    };
    while verified.head.seq < last.seq && verified.broken.is_none() {
        let walked = step(conn, key, &mut verified, last.seq)?;
        if progress(verified.rows).is_break() && verified.head.seq < last.seq {
            verified.stopped = true;
            return Ok(verified);
        }
        if walked == 0 && verified.broken.is_none() {
            verified.broken = Some(Broken { seq: verified.head.seq + 1, kind: Break::Gap });
        }
    }
    if verified.broken.is_none() {
        verified.broken = end(sealed, verified.head);
    }
    verified.intact = verified.broken.is_none();
    Ok(verified)
}

/// What the first row that is walked has to follow.
pub(crate) fn start(conn: &Connection, key: &ChainKey, from: Option<u64>) -> Result<Result<Head, Broken>, StoreError> {
    let stub = Stub::latest(conn, key)?;
    let oldest = match stub {
        Some((stub, true)) => Head { seq: stub.through_seq, hash: stub.hash },
        Some((stub, false)) => return Ok(Err(Broken { seq: stub.through_seq, kind: Break::Stub })),
        None => Head { seq: 0, hash: Digest::new(BEGINNING) },
    };
    let before = from.unwrap_or(0).saturating_sub(1);
    if before <= oldest.seq {
        return Ok(Ok(oldest));
    }
    Ok(match chain::row(conn, before)? {
        Some(row) if row.is_true(key) => Ok(Head { seq: row.seq, hash: Digest::new(row.hash) }),
        Some(row) => Err(Broken { seq: row.seq, kind: Break::Hash }),
        None => Err(Broken { seq: before, kind: Break::Gap }),
    })
}

/// Walks some rows on; how many were there.
fn step(conn: &Connection, key: &ChainKey, verified: &mut Verified, through: u64) -> Result<usize, StoreError> {
    let sql = "SELECT seq, at_ms, kind, body, prev, hash FROM facts WHERE seq > ?1 AND seq <= ?2 ORDER BY seq LIMIT ?3";
    let mut statement = conn.prepare_cached(sql)?;
    let after = chain::row_id(verified.head.seq);
    let mut rows = statement.query(params![after, chain::row_id(through), AT_ONCE])?;
    let mut walked = 0;
    while let Some(row) = rows.next()? {
        walked += 1;
        let next = verified.head.seq + 1;
        let Ok(row) = Row::read(row, 0) else {
            verified.broken = Some(Broken { seq: next, kind: Break::Columns });
            break;
        };
        if let Some(kind) = fault(key, &verified.head, &row) {
            let seq = if kind == Break::Gap { next } else { row.seq };
            verified.broken = Some(Broken { seq, kind });
            break;
        }
        verified.rows += 1;
        verified.head = Head { seq: row.seq, hash: Digest::new(row.hash) };
    }
    Ok(walked)
}

pub(crate) fn fault(key: &ChainKey, before: &Head, row: &Row) -> Option<Break> {
    if row.seq != before.seq + 1 {
        return Some(Break::Gap);
    }
    if !row.is_true(key) {
        return Some(Break::Hash);
    }
    if row.prev != *before.hash.bytes() {
        return Some(Break::Order);
    }
    // The content is true; what stands beside it has to say the same.
    let beside: Beside<'_> = match serde_json::from_str(&row.body) {
        Ok(beside) => beside,
        Err(_) => return Some(Break::Columns),
    };
    let same = beside.seq == row.seq && beside.at_ms == row.at_ms.0 && beside.kind == row.kind;
    (!same).then_some(Break::Columns)
}

/// The part of a fact that the table repeats in columns.
#[derive(serde::Deserialize)]
struct Beside<'a> {
    seq: u64,
    at_ms: i64,
    kind: std::borrow::Cow<'a, str>,
}

/// Whether the chain ends where the seal says.
fn end(sealed: Option<(Seal, bool)>, head: Head) -> Option<Broken> {
    match sealed {
        Some((seal, true)) if seal.head == head => None,
        Some((seal, true)) if seal.head.seq > head.seq => Some(Broken { seq: head.seq + 1, kind: Break::Truncated }),
        None if head.seq == 0 => None,
        Some(_) | None => Some(Broken { seq: head.seq, kind: Break::Seal }),
    }
}
