//! The writer: facts, what follows from them and the bodies they name, in one durable transaction.

use std::{collections::HashMap, path::Path};

use placet_domain::{AgentName, Digest, Entry, SessionId};
use rusqlite::{Connection, ErrorCode, TransactionBehavior};
use sha2::{Digest as _, Sha256};

use crate::{
    ChainKey, Head, Opened, StoreError, body,
    chain::{self, Seal, Sum},
    load, project, schema,
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
    poisoned: bool,
}

/// What the writer remembers of the tables, so that it need not ask. Forgotten whenever a transaction fails.
#[derive(Debug, Default)]
pub(crate) struct Known {
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
        let conn = schema::open_writer(file)?;
        schema::grow_wal(&conn)?;
        load::load(conn, key, file)
    }

    pub(crate) fn new(conn: Connection, key: ChainKey, seal: Seal) -> Self {
        Self { conn, key, seal, known: Known::default(), poisoned: false }
    }

    /// Writes facts and bodies with everything that follows from them, or nothing at all. When this returns, they are
    /// on disk. Entries continue the head; bodies come with the facts that name them.
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
                project::project(&mut Projecting { conn, key, known, grants, paused }, entry)?;
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

/// A named CHECK or a trigger that said no is a conflict: what the fact says does not fit what is there.
fn by_constraint(error: StoreError) -> StoreError {
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
}
