//! A copy of the history while it is in use. The key is not in it: keep it apart, or the copy proves nothing.

use std::{ops::ControlFlow, path::Path};

use rusqlite::{
    Connection, OpenFlags,
    backup::{Backup, StepResult},
};

use crate::{Reader, StoreError, files};

/// Pages that are copied between two reports: 4 MiB.
const PAGES: i32 = 1_000;

impl Reader {
    /// Copies the history, as it is at this moment, into a new file (mode 0600) that must not be there yet. `progress`
    /// hears how many pages are copied and how many there are, and can stop; then, as after any failure, no file is
    /// left. Whether it was finished.
    pub fn backup(&self, to: &Path, progress: &mut dyn FnMut(u64, u64) -> ControlFlow<()>) -> Result<bool, StoreError> {
        drop(files::create_private(to)?);
        let copied = self.copy(to, progress);
        if !matches!(copied, Ok(true)) {
            // It is ours, made a moment ago, and worth nothing.
            let _ = std::fs::remove_file(to);
        }
        copied
    }

    fn copy(&self, to: &Path, progress: &mut dyn FnMut(u64, u64) -> ControlFlow<()>) -> Result<bool, StoreError> {
        let from = self.own_connection()?;
        let mut into =
            Connection::open_with_flags(to, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
        // One state of the file, held until the end: otherwise each write meanwhile would begin the copy anew.
        let snapshot = from.unchecked_transaction()?;
        snapshot.query_row("SELECT count(*) FROM seal", [], |_| Ok(()))?;
        let backup = Backup::new(&from, &mut into)?;
        loop {
            let step = backup.step(PAGES)?;
            let (all, left) = (backup.progress().pagecount, backup.progress().remaining);
            let count = |pages: i32| u64::try_from(pages).unwrap_or(0);
            if progress(count(all - left), count(all)).is_break() && step != StepResult::Done {
                return Ok(false);
            }
            if step == StepResult::Done {
                break;
            }
        }
        drop(backup);
        drop(into);
        std::fs::File::open(to).and_then(|file| file.sync_all()).map_err(|e| StoreError::io(to, e))?;
        files::sync_folder_of(to)?;
        Ok(true)
    }
}
