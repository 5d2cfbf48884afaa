//! What can go wrong here. Every one of these is a no for whoever waits.

use std::path::PathBuf;

/// Why the store did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// A projection was not in the state that a fact presupposes; nothing of the transaction was written.
    #[error("{table} {id} is not as the fact presupposes ({expected}); nothing was written")]
    Conflict {
        /// Which table.
        table: &'static str,
        /// Which row.
        id: String,
        /// What it would have to be.
        expected: &'static str,
    },
    /// Entries do not continue the head; nothing was written.
    #[error("entry {got} does not continue the history, whose next is {expected}; nothing was written")]
    OutOfOrder {
        /// The next number.
        expected: u64,
        /// The number that came.
        got: u64,
    },
    /// A body is not what its name says; nothing was written.
    #[error("a body does not have the digest {0} under which it came; nothing was written")]
    BodyMismatch(placet_domain::Digest),
    /// A row that cannot be: edited behind our back, or a bug.
    #[error("impossible row in {table}, {id}: {what}")]
    Corrupt {
        /// Which table.
        table: &'static str,
        /// Which row.
        id: String,
        /// What is impossible about it.
        what: String,
    },
    /// The file was written by a later version. It was not touched.
    #[error(
        "{path} was written by a newer version of Placet (schema {found}, this one knows {known}); it was left untouched"
    )]
    Newer {
        /// Which file.
        path: PathBuf,
        /// Its schema.
        found: i64,
        /// The latest schema known here.
        known: i64,
    },
    /// The file is not a history of Placet. It was not touched.
    #[error("{path} is a database of another program; it was left untouched")]
    Foreign {
        /// Which file.
        path: PathBuf,
    },
    /// The chain's key cannot be used.
    #[error("the key of the history in {path} cannot be used: {what}")]
    Key {
        /// Which file.
        path: PathBuf,
        /// Why.
        what: String,
    },
    /// An earlier write failed half-way and its outcome is unknown; the store must be opened anew.
    #[error("an earlier write failed; open the store anew")]
    Poisoned,
    /// The disk is full.
    #[error("the disk is full; nothing was written")]
    DiskFull,
    /// A fact that cannot be turned into text or back.
    #[error("a stored text cannot be read")]
    Json(#[from] serde_json::Error),
    /// SQLite says no.
    #[error("the database says no")]
    Sqlite(#[source] rusqlite::Error),
    /// The file system says no.
    #[error("{path}: {source}")]
    Io {
        /// Which file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// Writing to where an export goes failed.
    #[error("the export could not be written")]
    Output(#[source] std::io::Error),
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(rusqlite::ErrorCode::DiskFull) => Self::DiskFull,
            _ => Self::Sqlite(error),
        }
    }
}

impl StoreError {
    pub(crate) fn io(path: &std::path::Path, source: std::io::Error) -> Self {
        Self::Io { path: path.to_owned(), source }
    }

    pub(crate) fn corrupt(table: &'static str, id: impl std::fmt::Display, what: impl std::fmt::Display) -> Self {
        Self::Corrupt { table, id: id.to_string(), what: what.to_string() }
    }
}
