//! Inputs and cards, each once, under their SHA-256.

use placet_domain::{At, Card, Digest};
use rusqlite::{Connection, OptionalExtension as _, params};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::{Body, Store, StoreError};

pub(crate) fn write(conn: &Connection, body: &Body, at_ms: i64) -> Result<(), StoreError> {
    if Sha256::digest(&body.bytes)[..] != body.sha256.bytes()[..] {
        return Err(StoreError::BodyMismatch(body.sha256));
    }
    conn.prepare_cached(
        "INSERT INTO bodies (sha256, bytes, used_ms) VALUES (?1, ?2, ?3)
         ON CONFLICT (sha256) DO UPDATE SET used_ms = max(used_ms, ?3)",
    )?
    .execute(params![body.sha256.bytes(), body.bytes, at_ms])?;
    Ok(())
}

/// The bytes, if they are still kept. Others than their name says are a corruption.
pub(crate) fn read(conn: &Connection, sha256: &Digest) -> Result<Option<Vec<u8>>, StoreError> {
    let bytes: Option<Vec<u8>> = conn
        .prepare_cached("SELECT bytes FROM bodies WHERE sha256 = ?1")?
        .query_row([sha256.bytes()], |row| row.get(0))
        .optional()?;
    match bytes {
        Some(bytes) if Sha256::digest(&bytes)[..] != sha256.bytes()[..] => {
            Err(StoreError::corrupt("bodies", sha256, "its bytes have another digest"))
        }
        other => Ok(other),
    }
}

pub(crate) fn input(conn: &Connection, sha256: &Digest) -> Result<Option<Value>, StoreError> {
    let bytes = read(conn, sha256)?;
    bytes.map(|b| serde_json::from_slice(&b).map_err(|e| StoreError::corrupt("bodies", sha256, e))).transpose()
}

pub(crate) fn card(conn: &Connection, sha256: &Digest) -> Result<Option<Card>, StoreError> {
    let bytes = read(conn, sha256)?;
    bytes.map(|b| serde_json::from_slice(&b).map_err(|e| StoreError::corrupt("bodies", sha256, e))).transpose()
}

impl Store {
    /// Deletes inputs and cards that were last used before `before_ms`, at most `max` of them, but none that an open
    /// approval needs; how many. The facts keep their digests, so the chain holds.
    pub fn forget_bodies(&mut self, before_ms: At, max: usize) -> Result<usize, StoreError> {
        self.transact(|conn, _, _| {
            let max = i64::try_from(max).unwrap_or(i64::MAX);
            Ok(conn.execute(
                "DELETE FROM bodies WHERE sha256 IN (
                     SELECT sha256 FROM bodies WHERE used_ms < ?1
                     EXCEPT SELECT input_sha256 FROM approvals WHERE state IN ('pending', 'approved')
                     EXCEPT SELECT card_sha256 FROM approvals WHERE state IN ('pending', 'approved')
                     LIMIT ?2)",
                params![before_ms.0, max],
            )?)
        })
    }
}
