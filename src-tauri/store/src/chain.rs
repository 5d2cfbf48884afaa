//! The keyed hash chain: a row's hash covers its bytes and the hash of the row before it, and the seal says where the
//! chain ends.

use placet_domain::{At, Digest, Entry};
use rusqlite::{Connection, OptionalExtension as _, params};

use crate::{ChainKey, Head, StoreError};

const FACT: &[u8] = b"placet fact/1\0";
const GRANT: &[u8] = b"placet grant/1\0";
const SEAL: &[u8] = b"placet seal/1\0";
const STUB: &[u8] = b"placet stub/1\0";

/// Before the first fact.
pub(crate) const BEGINNING: [u8; 32] = [0; 32];

/// The hash of a row.
pub(crate) fn fact_hash(key: &ChainKey, prev: &[u8; 32], body: &str) -> [u8; 32] {
    key.mac(FACT, &[prev, body.as_bytes()])
}

/// What vouches for a grant's row.
pub(crate) fn grant_mac(key: &ChainKey, body: &str) -> [u8; 32] {
    key.mac(GRANT, &[body.as_bytes()])
}

/// Writes a fact behind `head` and gives the new one.
pub(crate) fn append(conn: &Connection, key: &ChainKey, head: Head, entry: &Entry) -> Result<Head, StoreError> {
    if entry.seq != head.seq + 1 {
        return Err(StoreError::OutOfOrder { expected: head.seq + 1, got: entry.seq });
    }
    let body = serde_json::to_string(entry)?;
    let hash = fact_hash(key, head.hash.bytes(), &body);
    conn.prepare_cached("INSERT INTO facts (seq, at_ms, kind, body, prev, hash) VALUES (?1, ?2, ?3, ?4, ?5, ?6)")?
        .execute(params![row_id(entry.seq), entry.at_ms.0, entry.fact.kind(), body, head.hash.bytes(), hash])?;
    Ok(Head { seq: entry.seq, hash: Digest::new(hash) })
}

/// A row of `facts` as it stands.
pub(crate) struct Row {
    pub(crate) seq: u64,
    pub(crate) at_ms: At,
    pub(crate) kind: String,
    pub(crate) body: String,
    pub(crate) prev: [u8; 32],
    pub(crate) hash: [u8; 32],
}

impl Row {
    /// Reads the columns `seq, at_ms, kind, body, prev, hash`, which begin at `from`.
    pub(crate) fn read(row: &rusqlite::Row<'_>, from: usize) -> rusqlite::Result<Self> {
        Ok(Self {
            seq: seq_of(row.get(from)?),
            at_ms: At(row.get(from + 1)?),
            kind: row.get(from + 2)?,
            body: row.get(from + 3)?,
            prev: row.get(from + 4)?,
            hash: row.get(from + 5)?,
        })
    }

    /// The fact, if it can be read.
    pub(crate) fn entry(&self) -> Result<Entry, StoreError> {
        serde_json::from_str(&self.body).map_err(|e| StoreError::corrupt("facts", self.seq, e))
    }

    /// Whether the hash is that of its own content.
    pub(crate) fn is_true(&self, key: &ChainKey) -> bool {
        fact_hash(key, &self.prev, &self.body) == self.hash
    }
}

/// One row of the chain.
pub(crate) fn row(conn: &Connection, seq: u64) -> Result<Option<Row>, StoreError> {
    let sql = "SELECT seq, at_ms, kind, body, prev, hash FROM facts WHERE seq = ?1";
    Ok(conn.prepare_cached(sql)?.query_row([row_id(seq)], |r| Row::read(r, 0)).optional()?)
}

/// The last row, or what pruning left of it.
pub(crate) fn last(conn: &Connection) -> Result<(Head, Option<At>), StoreError> {
    let fact = "SELECT seq, hash, at_ms FROM facts ORDER BY seq DESC LIMIT 1";
    let stub = "SELECT through_seq, hash, through_ms FROM stubs ORDER BY through_seq DESC LIMIT 1";
    let read = |r: &rusqlite::Row<'_>| {
        Ok((Head { seq: seq_of(r.get(0)?), hash: Digest::new(r.get(1)?) }, Some(At(r.get(2)?))))
    };
    if let Some(last) = conn.prepare_cached(fact)?.query_row([], read).optional()? {
        return Ok(last);
    }
    let stub = conn.prepare_cached(stub)?.query_row([], read).optional()?;
    Ok(stub.unwrap_or((Head { seq: 0, hash: Digest::new(BEGINNING) }, None)))
}

/// Where the chain ends and what the active grants add up to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Seal {
    pub(crate) head: Head,
    pub(crate) grants: Sum,
    pub(crate) paused: bool,
}

impl Seal {
    fn mac(&self, key: &ChainKey) -> [u8; 32] {
        let seq = self.head.seq.to_be_bytes();
        key.mac(SEAL, &[&seq, self.head.hash.bytes(), &self.grants.bytes(), &[u8::from(self.paused)]])
    }

    pub(crate) fn write(&self, conn: &Connection, key: &ChainKey) -> Result<(), StoreError> {
        conn.prepare_cached(
            "INSERT INTO seal (one, seq, hash, grants, paused, mac) VALUES (1, ?1, ?2, ?3, ?4, ?5)
             ON CONFLICT (one) DO UPDATE SET seq = ?1, hash = ?2, grants = ?3, paused = ?4, mac = ?5",
        )?
        .execute(params![
            row_id(self.head.seq),
            self.head.hash.bytes(),
            self.grants.bytes(),
            self.paused,
            self.mac(key)
        ])?;
        Ok(())
    }

    /// The seal, and whether its MAC is right.
    pub(crate) fn read(conn: &Connection, key: &ChainKey) -> Result<Option<(Self, bool)>, StoreError> {
        let row = conn
            .prepare_cached("SELECT seq, hash, grants, paused, mac FROM seal WHERE one = 1")?
            .query_row([], |r| {
                let head = Head { seq: seq_of(r.get(0)?), hash: Digest::new(r.get(1)?) };
                let seal = Self { head, grants: Sum::of_bytes(r.get(2)?), paused: r.get(3)? };
                Ok((seal, r.get::<_, [u8; 32]>(4)?))
            })
            .optional()?;
        Ok(row.map(|(seal, mac)| (seal, seal.mac(key) == mac)))
    }
}

/// What pruning left: how far it went, and the hash of the last row that it took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stub {
    /// The last fact that was removed.
    pub through_seq: u64,
    /// When that fact happened.
    pub through_ms: At,
    /// Its hash.
    pub hash: Digest,
    /// How many facts this pruning removed.
    pub rows: u64,
    /// When it was pruned.
    pub pruned_at_ms: At,
}

impl Stub {
    fn mac(&self, key: &ChainKey) -> [u8; 32] {
        let numbers = [row_id(self.through_seq), self.through_ms.0, row_id(self.rows), self.pruned_at_ms.0];
        let numbers: Vec<u8> = numbers.iter().flat_map(|n| n.to_be_bytes()).collect();
        key.mac(STUB, &[self.hash.bytes(), &numbers])
    }

    pub(crate) fn write(&self, conn: &Connection, key: &ChainKey) -> Result<(), StoreError> {
        conn.execute(
            "INSERT INTO stubs (through_seq, through_ms, hash, rows, pruned_at_ms, mac) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            params![
                row_id(self.through_seq),
                self.through_ms.0,
                self.hash.bytes(),
                row_id(self.rows),
                self.pruned_at_ms.0,
                self.mac(key)
            ],
        )?;
        Ok(())
    }

    /// The latest stub, and whether its MAC is right.
    pub(crate) fn latest(conn: &Connection, key: &ChainKey) -> Result<Option<(Self, bool)>, StoreError> {
        let sql = "SELECT through_seq, through_ms, hash, rows, pruned_at_ms, mac FROM stubs
                   ORDER BY through_seq DESC LIMIT 1";
        let row = conn
            .prepare_cached(sql)?
            .query_row([], |r| {
                let stub = Self {
                    through_seq: seq_of(r.get(0)?),
                    through_ms: At(r.get(1)?),
                    hash: Digest::new(r.get(2)?),
                    rows: seq_of(r.get(3)?),
                    pruned_at_ms: At(r.get(4)?),
                };
                Ok((stub, r.get::<_, [u8; 32]>(5)?))
            })
            .optional()?;
        Ok(row.map(|(stub, mac)| (stub, stub.mac(key) == mac)))
    }
}

/// A sum of MACs modulo 2^256: changed by one row at a time, the same in whatever order the rows come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sum([u64; 4]);

impl Sum {
    pub(crate) fn add(&mut self, mac: [u8; 32]) {
        let mut carry = false;
        for (limb, other) in self.0.iter_mut().zip(Self::of_bytes(mac).0) {
            let (sum, first) = limb.overflowing_add(other);
            let (sum, second) = sum.overflowing_add(u64::from(carry));
            (*limb, carry) = (sum, first || second);
        }
    }

    pub(crate) fn subtract(&mut self, mac: [u8; 32]) {
        let mut borrow = false;
        for (limb, other) in self.0.iter_mut().zip(Self::of_bytes(mac).0) {
            let (rest, first) = limb.overflowing_sub(other);
            let (rest, second) = rest.overflowing_sub(u64::from(borrow));
            (*limb, borrow) = (rest, first || second);
        }
    }

    pub(crate) fn bytes(self) -> [u8; 32] {
        let mut bytes = [0; 32];
        for (chunk, limb) in bytes.chunks_mut(8).zip(self.0) {
            chunk.copy_from_slice(&limb.to_le_bytes());
        }
        bytes
    }

    pub(crate) fn of_bytes(bytes: [u8; 32]) -> Self {
        let mut limbs = [0; 4];
        for (limb, chunk) in limbs.iter_mut().zip(bytes.chunks(8)) {
            *limb = chunk.iter().rev().fold(0, |n, byte| n << 8 | u64::from(*byte));
        }
        Self(limbs)
    }
}

/// A fact's number as SQLite takes it.
pub(crate) fn row_id(seq: u64) -> i64 {
    i64::try_from(seq).unwrap_or(i64::MAX)
}

/// A fact's number as SQLite gives it; a negative one is none of ours and becomes 0.
pub(crate) fn seq_of(id: i64) -> u64 {
    u64::try_from(id).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_does_not_care_for_order_and_gives_back_what_was_added() {
        let (a, b, c) = ([0xff; 32], [0x81; 32], [7; 32]);
        let mut one = Sum::default();
        let mut other = Sum::default();
        for mac in [a, b, c] {
            one.add(mac);
        }
        for mac in [c, a, b] {
            other.add(mac);
        }
        assert_eq!(one, other);
        assert_eq!(Sum::of_bytes(one.bytes()), one);
        for mac in [b, c, a] {
            one.subtract(mac);
        }
        assert_eq!(one, Sum::default());
    }
}
