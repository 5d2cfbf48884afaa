//! The writer: facts, what follows from them and the bodies they name, in one durable transaction.

use std::{collections::HashMap, path::Path};

use placet_domain::{AgentName, Digest, Entry, SessionId};
use rusqlite::{Connection, ErrorCode, TransactionBehavior};
use sha2::{Digest as _, Sha256};

use crate::{
    ChainKey, Head, Opened, StoreError, body,
    chain::{self, Seal, Sum},
    later, load, project, schema,
};

/// An input or a card, kept under its digest, apart from the facts, deletable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Body {
    /// SHA-256 of `bytes`.
    pub sha256: Digest,
    /// JSON of the input or the card.
    pub bytes: Vec<u8>,
}

impl Body {
    /// Takes bytes under their digest.
    pub fn new(bytes: Vec<u8>) -> Self {
        Self { sha256: Digest::new(Sha256::digest(&bytes).into()), bytes }
    }
}

/// The one writer of a history. After an error of which the outcome on disk is unknown it takes nothing more; opened
/// anew, it says what is there.
#[derive(Debug)]
pub struct Store {
    pub(crate) conn: Connection,
    pub(crate) key: ChainKey,
    pub(crate) seal: Seal,
    pub(crate) known: Known,
    /// The last fact that is known to be findable.
    followed: u64,
    poisoned: bool,
}

/// What the writer remembers of the tables, so that it need not ask. Forgotten whenever a transaction fails.
#[derive(Debug, Default)]
pub(crate) struct Known {
    /// Something was deleted that no file may hold any more.
    pub(crate) forgot_secrets: bool,
    pub(crate) agents: HashMap<SessionId, AgentName>,
    pub(crate) places: HashMap<(&'static str, Vec<u8>), i64>,
    pub(crate) searched_through: Option<u64>,
}

impl Known {
    /// So many places or sessions are remembered at most, before all are forgotten.
    pub(crate) const AT_MOST: usize = 50_000;
}

/// A transaction in which facts are projected.
pub(crate) struct Projecting<'a> {
    pub(crate) conn: &'a Connection,
    pub(crate) key: &'a ChainKey,
    pub(crate) known: &'a mut Known,
    pub(crate) grants: &'a mut Sum,
    pub(crate) paused: &'a mut bool,
}

impl Store {
    /// Opens the history, making it (mode 0600, its folder 0700) where there is none. A file from a newer version, or
    /// of another program, is refused and left as it is.
    pub fn open(file: &Path, key: ChainKey) -> Result<Opened, StoreError> {
        let mut conn = schema::open_writer(file)?;
        schema::grow_wal(&conn)?;
        // After a crash some facts are not findable yet, and what is loaded counts calls.
        while later::follow(&mut later::Apart { conn: &mut conn, key: &key, known: &mut Known::default() }, LATER)? {}
        load::load(conn, key, file)
    }

    pub(crate) fn new(conn: Connection, key: ChainKey, seal: Seal) -> Self {
        Self { conn, key, seal, known: Known::default(), followed: seal.head.seq, poisoned: false }
    }

    /// Writes facts and bodies with everything that decisions rest on, or nothing at all. When this returns, they are
    /// on disk. What calls are found by follows later: see `follow_some`. Entries continue the head; bodies come with the facts that name them.
    ///
    /// Refused with `Conflict`, and nothing written, where a fact presupposes what is not so: an approval that is
    /// settled, a yes that is too late, a grant that has ended. After `Poisoned`, open the store anew.
    pub fn append(&mut self, entries: &[Entry], bodies: &[Body]) -> Result<Head, StoreError> {
        let mut seal = self.seal;
        let written = self.transact(|conn, key, known| {
            let at_ms = entries.first().map_or(0, |entry| entry.at_ms.0);
            for body in bodies {
                body::write(conn, body, at_ms)?;
            }
            for entry in entries {
                seal.head = chain::append(conn, key, seal.head, entry)?;
                let (grants, paused) = (&mut seal.grants, &mut seal.paused);
                project::at_once(&mut Projecting { conn, key, known, grants, paused }, entry)?;
            }
            seal.write(conn, key)
        });
        written?;
        self.seal = seal;
        Ok(seal.head)
    }

    /// The last fact.
    pub fn head(&self) -> Head {
        self.seal.head
    }

    /// Makes up to `max` more facts findable: rows of calls, their places, texts and figures. Whether there are more.
    /// Readers do the same before they look, so this is only for doing it when nothing else is to do.
    pub fn follow_some(&mut self, max: u64) -> Result<bool, StoreError> {
        let more = later::follow(self, max)?;
        self.followed =
            if more { self.followed.saturating_add(max).min(self.seal.head.seq) } else { self.seal.head.seq };
        Ok(more)
    }

    /// How many facts are not findable yet, at most.
    pub fn behind(&self) -> u64 {
        self.seal.head.seq.saturating_sub(self.followed)
    }

    /// Copies the log back into the file, as far as no reader is in the way, so that no commit has to. For when nothing
    /// else is to do.
    pub fn checkpoint(&mut self) -> Result<(), StoreError> {
        self.conn.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()))?;
        // What was forgotten stands in the log until that is written over.
        if std::mem::take(&mut self.known.forgot_secrets) {
            schema::grow_wal(&self.conn)?;
        }
        Ok(())
    }

    /// Runs `work` in one transaction. Whatever fails, nothing of it stays.
    pub(crate) fn transact<T>(
        &mut self,
        work: impl FnOnce(&Connection, &ChainKey, &mut Known) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        if self.poisoned {
            return Err(StoreError::Poisoned);
        }
        let tx = self.conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let done = work(&tx, &self.key, &mut self.known).map_err(by_constraint);
        let (done, committed) = match done {
            Ok(value) => (Ok(value), tx.commit().map_err(StoreError::from)),
            // SQLite has rolled back by itself after some errors, a full disk among them.
            Err(error) => (Err(error), tx.finish().map_err(StoreError::from)),
        };
        if done.is_err() || committed.is_err() {
            self.known = Known::default();
        }
        match committed {
            Ok(()) => done,
            // A full disk is noticed before the commit mark is written; SQLite has rolled back.
            Err(StoreError::DiskFull) if done.is_ok() => Err(StoreError::DiskFull),
            Err(error) => {
                self.poisoned = true;
                done.and(Err(error))
            }
        }
    }
}

/// So many facts at once are made findable where nobody waits.
const LATER: u64 = 1_000;

impl later::Transact for Store {
    fn transact(&mut self, work: &mut later::Work<'_>) -> Result<bool, StoreError> {
        Self::transact(self, |conn, key, known| work(conn, key, known))
    }
}

impl Drop for Store {
    /// A history that is closed in peace leaves nothing to be done by who opens it.
    fn drop(&mut self) {
        while !self.poisoned && self.follow_some(LATER).unwrap_or(false) {}
        if self.known.forgot_secrets
            && let Err(error) = self.checkpoint()
        {
            tracing::warn!(%error, "what was forgotten may stand in the history's log until it is written over");
        }
    }
}

/// A named CHECK or a trigger that said no is a conflict: what the fact says does not fit what is there.
pub(crate) fn by_constraint(error: StoreError) -> StoreError {
    if let StoreError::Sqlite(rusqlite::Error::SqliteFailure(failure, message)) = &error
        && failure.code == ErrorCode::ConstraintViolation
    {
        let id = message.clone().unwrap_or_default();
        return StoreError::Conflict { table: "history", id, expected: "allowed by its constraints" };
    }
    error
}

/// A compare-and-set has to have changed its one row.
pub(crate) fn one(
    changed: usize,
    table: &'static str,
    id: impl std::fmt::Display,
    expected: &'static str,
) -> Result<(), StoreError> {
    if changed == 1 { Ok(()) } else { Err(StoreError::Conflict { table, id: id.to_string(), expected }) }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use placet_domain::{At, Fact};

    use super::*;

    fn stopped(seq: u64) -> Entry {
        Entry { seq, at_ms: At(1), fact: Fact::AppStopped {} }
    }

    #[test]
    fn a_full_disk_is_a_no_of_which_nothing_stays_and_after_which_it_goes_on() {
        let folder = tempfile::tempdir().unwrap();
        let mut opened = Store::open(&folder.path().join("history.db"), ChainKey::new([7; 32])).unwrap();
        let store = &mut opened.store;
        let head = store.append(&[stopped(1)], &[]).unwrap();
        // What the file had for growing its log is free again, so a body is taken that is larger.
        let large = Body::new(vec![b'x'; 8 << 20]);
        let limit = |store: &Store, pages: i64| {
            store.conn.pragma_update_and_check(None, "max_page_count", pages, |_| Ok(())).unwrap();
        };
        limit(store, 1_500);
        let refused = store.append(&[stopped(2)], std::slice::from_ref(&large));
        assert!(matches!(refused, Err(StoreError::DiskFull)), "{refused:?}");
        assert_eq!((store.head(), opened.reader.head().unwrap()), (head, head));
        assert_eq!(store.append(&[stopped(2)], &[]).unwrap().seq, 2);
        limit(store, 1_000_000);
        assert_eq!(store.append(&[stopped(3)], &[large]).unwrap().seq, 3);
        assert_eq!(opened.reader.facts(0, 10).unwrap().len(), 3);
    }

    #[test]
    fn after_a_failure_of_unknown_outcome_nothing_more_is_taken() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("history.db");
        let mut opened = Store::open(&file, ChainKey::new([7; 32])).unwrap();
        opened.store.append(&[stopped(1)], &[]).unwrap();
        // A commit that is refused from outside stands for a disk that fails at the last moment.
        opened
            .store
            .conn
            .execute_batch("CREATE TABLE late (x REFERENCES sessions (id) DEFERRABLE INITIALLY DEFERRED)")
            .unwrap();
        let failed: Result<(), _> = opened.store.transact(|conn, _, _| {
            conn.execute("INSERT INTO late VALUES ('nobody')", [])?;
            Ok(())
        });
        assert!(matches!(failed, Err(StoreError::Sqlite(_))), "{failed:?}");
        assert!(matches!(opened.store.append(&[stopped(2)], &[]), Err(StoreError::Poisoned)));
        drop(opened);
        let mut opened = Store::open(&file, ChainKey::new([7; 32])).unwrap();
        assert_eq!((opened.head.seq, opened.broken), (1, None));
        assert_eq!(opened.store.append(&[stopped(2)], &[]).unwrap().seq, 2);
    }

    fn allowed(seq: u64, input: &Body) -> Entry {
        let sha256 = |n: u64| Body::new(n.to_be_bytes().to_vec()).sha256;
        let name = format!("/home/somebody/code/project/src/part{}/file{seq}.rs", seq % 7);
        serde_json::from_value(serde_json::json!({
            "seq": seq, "at_ms": 1_790_000_000_000 + seq * 1_000, "kind": "call_allowed",
            "session": "01930000-0000-7000-8000-000000000001", "rules": ["read in the workspace"], "policy": sha256(0),
            "call": {"tool": "Read", "call_id": format!("toolu_{seq}"), "cwd": "/home/somebody/code/project",
                "action": "read", "flags": [], "digest": sha256(seq), "action_digest": sha256(seq),
                "raw_sha256": input.sha256, "grantable": [], "subjects": [{"kind": "path", "action": "read",
                    "asked": name, "normalized": name, "resolved": name, "exists": true, "inside_workspace": true}]},
        }))
        .unwrap()
    }

    /// Pages, unlike seconds, are the same on every machine. It was 23 to 29 when everything was written at once.
    #[test]
    fn a_decided_call_writes_few_pages_in_one_commit() {
        let folder = tempfile::tempdir().unwrap();
        let mut opened = Store::open(&folder.path().join("history.db"), ChainKey::new([7; 32])).unwrap();
        let store = &mut opened.store;
        let started: Entry = serde_json::from_value(serde_json::json!({"seq": 1, "at_ms": 1_790_000_000_000_i64,
            "kind": "session_started", "session": "01930000-0000-7000-8000-000000000001", "agent": "claude-code",
            "workspace": "/home/somebody/code/project"}))
        .unwrap();
        store.append(&[started], &[]).unwrap();
        let input = |seq: u64| Body::new(format!("{{\"file_path\":\"src/file{seq}.rs\"}}").into_bytes());
        let write = |store: &mut Store, calls: std::ops::Range<u64>| {
            for seq in calls {
                let input = input(seq);
                store.append(&[allowed(seq, &input)], &[input]).unwrap();
            }
        };
        // Long enough that every table has more than one page.
        write(store, 2..1_002);
        while store.index_some(1_000).unwrap() {}
        schema::rewind_wal(&store.conn).unwrap();
        write(store, 1_002..1_102);
        let frames: u32 =
            store.conn.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |row| row.get::<_, u32>(1)).unwrap();
        assert!((100..=800).contains(&frames), "{frames} pages for 100 calls, each in a commit of its own");
    }
}
