//! Reading. Calls block; a reader can be cloned and used from several threads.

use std::{
    path::{Path, PathBuf},
    str::FromStr,
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use placet_domain::Entry;
use rusqlite::Connection;

use crate::{ChainKey, Head, StoreError, chain, filter::page_size, later, schema, store::Known};

/// How many read at once. More would not be faster: the file is in memory, and the machine has few cores.
const CONNECTIONS: usize = 2;
/// So many facts are made findable in one transaction; who decides meanwhile waits no longer than that takes.
const AT_ONCE: u64 = 500;

/// Reads what was written, over connections of its own. Every call sees one state of the file. Before it looks through
/// calls, it makes those findable that were only just decided.
#[derive(Clone, Debug)]
pub struct Reader {
    pool: Arc<Pool>,
}

#[derive(Debug)]
struct Pool {
    path: PathBuf,
    key: ChainKey,
    idle: Mutex<Idle>,
    returned: Condvar,
    follower: Mutex<Option<(Connection, Known)>>,
}

#[derive(Debug, Default)]
struct Idle {
    connections: Vec<Connection>,
    lent: usize,
}

impl Reader {
    pub(crate) fn new(path: &Path, key: ChainKey) -> Self {
        let pool = Pool {
            path: path.to_owned(),
            key,
            idle: Mutex::default(),
            returned: Condvar::new(),
            follower: Mutex::default(),
        };
        Self { pool: Arc::new(pool) }
    }

    /// Reads a history that is there, beside the gate that has it open or without one. No fact is written.
    ///
    /// # Errors
    /// There is no such file, or it is no database.
    pub fn open(file: &Path, key: ChainKey) -> Result<Self, StoreError> {
        drop(schema::open_reader(file)?);
        Ok(Self::new(file, key))
    }

    /// Facts after this number, oldest first; at most 10,000.
    pub fn facts(&self, after_seq: u64, limit: usize) -> Result<Vec<Entry>, StoreError> {
        self.with(|conn| {
            let limit = i64::try_from(limit.min(10_000)).unwrap_or(0);
            let sql = "SELECT seq, at_ms, kind, body, prev, hash FROM facts WHERE seq > ?1 ORDER BY seq LIMIT ?2";
            let mut statement = conn.prepare_cached(sql)?;
            let mut rows = statement.query(rusqlite::params![chain::row_id(after_seq), limit])?;
            let mut entries = Vec::new();
            while let Some(row) = rows.next()? {
                entries.push(chain::Row::read(row, 0).map_err(|e| corrupt_at("facts", after_seq, e))?.entry()?);
            }
            Ok(entries)
        })
    }

    /// Facts that are not about a call (sessions, grants, policies, alerts, pauses), newest first; at most 1,000.
    pub fn events(&self, before_seq: Option<u64>, limit: usize) -> Result<Vec<Entry>, StoreError> {
        self.with(|conn| {
            let limit = i64::try_from(page_size(limit)).unwrap_or(0);
            let sql = "SELECT seq, at_ms, kind, body, prev, hash FROM facts INDEXED BY facts_events
                       WHERE kind NOT GLOB 'call_*' AND kind NOT GLOB 'approval_*' AND seq < ?1
                       ORDER BY seq DESC LIMIT ?2";
            let mut statement = conn.prepare_cached(sql)?;
            let before = chain::row_id(before_seq.unwrap_or(u64::MAX));
            let mut rows = statement.query(rusqlite::params![before, limit])?;
            let mut entries = Vec::new();
            while let Some(row) = rows.next()? {
                entries.push(chain::Row::read(row, 0).map_err(|e| corrupt_at("facts", before, e))?.entry()?);
            }
            Ok(entries)
        })
    }

    /// From now on counts the steps that SQLite takes for this reader, `each` at a time: what does not grow with the
    /// table takes no more of them in a larger one, on every machine. For tests.
    #[doc(hidden)]
    pub fn count_steps(&self, each: i32, steps: &Arc<AtomicU64>) -> Result<(), StoreError> {
        self.with(|_| Ok(()))?;
        for conn in &mut self.pool.lock().connections {
            let steps = Arc::clone(steps);
            conn.progress_handler(
                each,
                Some(move || {
                    steps.fetch_add(1, Ordering::Relaxed);
                    false
                }),
            )?;
        }
        Ok(())
    }

    /// The last fact that is written.
    pub fn head(&self) -> Result<Head, StoreError> {
        self.with(|conn| Ok(chain::last(conn)?.0))
    }

    pub(crate) fn key(&self) -> &ChainKey {
        &self.pool.key
    }

    /// A connection for work that takes long, so that it holds up nobody who reads a page.
    pub(crate) fn own_connection(&self) -> Result<Connection, StoreError> {
        schema::open_reader(&self.pool.path)
    }

    /// Runs `work` on one state of the file in which every call is found that was decided before.
    pub(crate) fn with_calls<T>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.follow()?;
        self.with(work)
    }

    /// Makes every fact findable that is written.
    pub(crate) fn follow(&self) -> Result<(), StoreError> {
        if !self.with(later::is_behind)? {
            return Ok(());
        }
        let mut follower = self.pool.follower.lock().unwrap_or_else(PoisonError::into_inner);
        // Whoever held it before has perhaps done it.
        if !self.with(later::is_behind)? {
            return Ok(());
        }
        if follower.is_none() {
            *follower = Some((schema::open_follower(&self.pool.path)?, Known::default()));
        }
        if let Some((conn, known)) = follower.as_mut() {
            while later::follow(&mut later::Apart { conn, key: &self.pool.key, known }, AT_ONCE)? {}
        }
        Ok(())
    }

    /// Runs `work` on one state of the file.
    pub(crate) fn with<T>(&self, work: impl FnOnce(&Connection) -> Result<T, StoreError>) -> Result<T, StoreError> {
        let lent = self.lend()?;
        let Some(conn) = &lent.conn else { return Err(StoreError::Poisoned) };
        let snapshot = conn.unchecked_transaction()?;
        let done = work(conn)?;
        snapshot.finish()?;
        Ok(done)
    }

    fn lend(&self) -> Result<Lent<'_>, StoreError> {
        let mut idle = self.pool.lock();
        while idle.connections.is_empty() && idle.lent >= CONNECTIONS {
            idle = self.pool.returned.wait(idle).unwrap_or_else(PoisonError::into_inner);
        }
        let kept = idle.connections.pop();
        idle.lent += 1;
        drop(idle);
        let mut lent = Lent { pool: &self.pool, conn: kept };
        if lent.conn.is_none() {
            lent.conn = Some(schema::open_reader(&self.pool.path)?);
        }
        Ok(lent)
    }
}

impl Pool {
    fn lock(&self) -> MutexGuard<'_, Idle> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A connection that goes back when it is no longer needed.
struct Lent<'a> {
    pool: &'a Pool,
    conn: Option<Connection>,
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        let mut idle = self.pool.lock();
        idle.lent -= 1;
        idle.connections.extend(self.conn.take());
        drop(idle);
        self.pool.returned.notify_one();
    }
}

/// An id as it stands in a table.
pub(crate) fn id<I: FromStr>(table: &'static str, text: &str) -> Result<I, StoreError> {
    text.parse().map_err(|_| StoreError::corrupt(table, text, "it has no readable id"))
}

/// A column of another type than ours is a corruption; anything else is SQLite's own matter.
pub(crate) fn corrupt_at(table: &'static str, near: impl std::fmt::Display, error: rusqlite::Error) -> StoreError {
    if let rusqlite::Error::FromSqlConversionFailure(..) | rusqlite::Error::InvalidColumnType(..) = error {
        StoreError::corrupt(table, near, error)
    } else {
        error.into()
    }
}
