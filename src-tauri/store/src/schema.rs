//! Opening the file: whose it is, which version, which settings, and bringing an older one up to date.

use std::{io::Read as _, path::Path};

use rusqlite::{Connection, OpenFlags};

use crate::{StoreError, files};

/// The migrations, in order. The first makes version 1.
const MIGRATIONS: &[&str] = &[
    include_str!("../migrations/0001_first.sql"),
    include_str!("../migrations/0002_later.sql"),
    include_str!("../migrations/0003_definitions.sql"),
];

/// "Plct": marks the file as ours.
const APPLICATION_ID: i32 = 0x506c_6374;

/// Pages after which the write-ahead log is copied back, and so how large it has to be to be recycled: 4 MiB.
const AUTOCHECKPOINT_PAGES: i64 = 1_000;

/// Opens the file for writing, making it where there is none.
pub(crate) fn open_writer(path: &Path) -> Result<Connection, StoreError> {
    if path.exists() {
        look_at_header(path)?;
        files::make_private(path)?;
    } else {
        files::create_private(path)?.sync_all().map_err(|e| StoreError::io(path, e))?;
        files::sync_folder_of(path)?;
    }
    let mut conn =
        Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    // The header in the file may be older than the one in the log, so it is asked again, through SQLite.
    refuse_newer(path, conn.pragma_query_value(None, "user_version", |row| row.get(0))?)?;
    conn.busy_timeout(std::time::Duration::from_secs(5))?;
    conn.pragma_update(None, "journal_mode", "wal")?;
    conn.pragma_update(None, "synchronous", "full")?;
    conn.pragma_update(None, "foreign_keys", true)?;
    conn.pragma_update(None, "wal_autocheckpoint", AUTOCHECKPOINT_PAGES)?;
    conn.pragma_update(None, "cache_size", -16_384)?;
    // What is forgotten is overwritten.
    conn.pragma_update(None, "secure_delete", true)?;
    conn.pragma_update(None, "trusted_schema", false)?;
    conn.set_prepared_statement_cache_capacity(128);
    migrate(&mut conn)?;
    Ok(conn)
}

/// Opens a file of this version for bringing up to date what is found in it. A commit is not synced: what is lost of it
/// with the power is made again from the facts.
pub(crate) fn open_follower(path: &Path) -> Result<Connection, StoreError> {
    let conn = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    conn.busy_timeout(std::time::Duration::from_secs(5))?;
    conn.pragma_update(None, "synchronous", "normal")?;
    conn.pragma_update(None, "foreign_keys", true)?;
    conn.pragma_update(None, "trusted_schema", false)?;
    conn.set_prepared_statement_cache_capacity(64);
    Ok(conn)
}

/// Whether the file has the tables of this version.
pub(crate) fn is_current(conn: &Connection) -> Result<bool, StoreError> {
    let version: i64 = conn.prepare_cached("PRAGMA user_version")?.query_row([], |row| row.get(0))?;
    Ok(usize::try_from(version).is_ok_and(|version| version == MIGRATIONS.len()))
}

/// Opens the file for reading only.
pub(crate) fn open_reader(path: &Path) -> Result<Connection, StoreError> {
    let conn = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    conn.busy_timeout(std::time::Duration::from_secs(5))?;
    conn.pragma_update(None, "query_only", true)?;
    conn.pragma_update(None, "mmap_size", 1_i64 << 28)?;
    conn.pragma_update(None, "trusted_schema", false)?;
    conn.set_prepared_statement_cache_capacity(64);
    Ok(conn)
}

/// Makes the write-ahead log as large as it will get and rewinds it. A commit into a log that does not grow costs one
/// sync of data alone, half of what growing costs.
pub(crate) fn grow_wal(conn: &Connection) -> Result<(), StoreError> {
    let page_size: i64 = conn.pragma_query_value(None, "page_size", |row| row.get(0))?;
    let bytes = page_size * (AUTOCHECKPOINT_PAGES + 24);
    conn.execute_batch(&format!(
        "BEGIN IMMEDIATE;
         CREATE TABLE wal_growth (bytes BLOB NOT NULL) STRICT;
         INSERT INTO wal_growth (bytes) VALUES (zeroblob({bytes}));
         COMMIT;
         DROP TABLE wal_growth;"
    ))?;
    rewind_wal(conn)
}

/// Copies the log back into the file, so that the next commit starts at its beginning.
pub(crate) fn rewind_wal(conn: &Connection) -> Result<(), StoreError> {
    conn.query_row("PRAGMA wal_checkpoint(RESTART)", [], |_| Ok(()))?;
    Ok(())
}

/// Looks at the file's first bytes alone, so that a file that is not for us stays as it is, to the byte.
fn look_at_header(path: &Path) -> Result<(), StoreError> {
    let mut header = Vec::with_capacity(100);
    let file = std::fs::File::open(path).map_err(|e| StoreError::io(path, e))?;
    file.take(100).read_to_end(&mut header).map_err(|e| StoreError::io(path, e))?;
    if header.is_empty() {
        return Ok(());
    }
    let word = |at: usize| header.get(at..at + 4).and_then(|b| b.try_into().ok()).map_or(0, i32::from_be_bytes);
    if !header.starts_with(b"SQLite format 3\0") || (word(68) != APPLICATION_ID && (word(60) != 0 || word(68) != 0)) {
        return Err(StoreError::Foreign { path: path.to_owned() });
    }
    refuse_newer(path, i64::from(word(60)))
}

fn refuse_newer(path: &Path, found: i64) -> Result<(), StoreError> {
    let known = i64::try_from(MIGRATIONS.len()).unwrap_or(i64::MAX);
    if found > known { Err(StoreError::Newer { path: path.to_owned(), found, known }) } else { Ok(()) }
}

fn migrate(conn: &mut Connection) -> Result<(), StoreError> {
    let version: i64 = conn.pragma_query_value(None, "user_version", |row| row.get(0))?;
    let done = usize::try_from(version).unwrap_or(0);
    for (number, sql) in MIGRATIONS.iter().enumerate().skip(done) {
        let tx = conn.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
        tx.execute_batch(sql)?;
        tx.pragma_update(None, "application_id", APPLICATION_ID)?;
        tx.pragma_update(None, "user_version", i64::try_from(number).unwrap_or(i64::MAX) + 1)?;
        tx.commit()?;
    }
    if done < MIGRATIONS.len() {
        // Whoever looks at the file's first bytes shall see the version that it really has.
        conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn schema_of(conn: &Connection) -> Vec<(String, String, Option<String>)> {
        let mut rows = conn.prepare("SELECT type, name, sql FROM sqlite_schema ORDER BY type, name").unwrap();
        let rows = rows.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).unwrap();
        rows.map(Result::unwrap).collect()
    }

    #[test]
    fn migrations_make_the_whole_schema() {
        let mut migrated = Connection::open_in_memory().unwrap();
        migrate(&mut migrated).unwrap();
        let whole = Connection::open_in_memory().unwrap();
        whole.execute_batch(include_str!("../schema.sql")).unwrap();
        assert_eq!(schema_of(&migrated), schema_of(&whole));
        assert!(schema_of(&whole).len() > 30);
    }

    #[test]
    fn every_table_of_ours_is_strict() {
        let mut conn = Connection::open_in_memory().unwrap();
        migrate(&mut conn).unwrap();
        let loose: Vec<String> = conn
            .prepare("SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND strict = 0")
            .unwrap()
            .query_map([], |row| row.get(0))
            .unwrap()
            .map(Result::unwrap)
            .collect();
        assert_eq!(loose, ["sqlite_schema"]);
    }
}
