//! The history for whoever has no gate at hand: read from the files, beside a running gate or without one.

use std::{
    io::{self, Write},
    ops::ControlFlow,
};

use placet_ipc::Places;
use placet_store::{Head, HistoryFilter, Reader, StoreError};
use serde_json::{Value, json};

use crate::{
    history_key::{self, KeyPlace},
    upkeep::Retention,
};

pub use placet_store::Format as ExportFormat;

/// A history on the disk.
#[derive(Debug)]
pub struct History {
    reader: Reader,
    /// Where the chain ended when it was anchored.
    anchors: Vec<Head>,
}

impl History {
    /// Opens what is there; nothing is made and no fact written.
    ///
    /// # Errors
    /// There is no history, or its key or file cannot be read.
    pub fn open(places: &Places) -> Result<Self, StoreError> {
        let file = places.data.join("history.db");
        if !file.is_file() || !history_key::is_there(&places.data) {
            let missing = io::Error::new(io::ErrorKind::NotFound, "there is no history here, or no key of it");
            return Err(StoreError::Io { path: file, source: missing });
        }
        // The key is there: no new one is made.
        let key = history_key::load_or_make(&places.data, || [0; 32])?;
        Ok(Self { reader: Reader::open(&file, key)?, anchors: Retention::read(&places.config).anchors() })
    }

    /// Where the history's key is kept.
    ///
    /// # Errors
    /// The file that says so cannot be read.
    pub fn key_place(places: &Places) -> Result<KeyPlace, StoreError> {
        history_key::place(&places.data)
    }

    pub(crate) fn reader(&self) -> &Reader {
        &self.reader
    }

    /// Walks the chain from the fact `from`, or from the oldest kept: `{intact, rows, head, broken?}` as the desk says,
    /// and how many `anchors` the person's file holds, of which each must still be in the chain.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn verify(&self, from: Option<u64>) -> Result<Value, StoreError> {
        verified(&self.reader, &self.anchors, from, &mut |_| ControlFlow::Continue(()))
    }

    /// Writes all of it in this form. How many lines it were.
    ///
    /// # Errors
    /// The file cannot be read, or `out` not be written.
    pub fn export(&self, format: ExportFormat, out: &mut dyn Write) -> Result<u64, StoreError> {
        self.reader.export(format, &HistoryFilter::default(), out, &mut |_| ControlFlow::Continue(()))
    }
}

/// Walks the chain and looks for each anchor in it. `progress` hears how many rows are walked and can stop the walk; a
/// chain that was not walked to its end is not called intact.
pub(crate) fn verified(
    reader: &Reader,
    anchors: &[Head],
    from: Option<u64>,
    progress: &mut dyn FnMut(u64) -> ControlFlow<()>,
) -> Result<Value, StoreError> {
    let verified = reader.verify(from, progress)?;
    let broken = match verified.broken {
        Some(broken) => Some(broken),
        None if verified.stopped => None,
        None => reader.check_anchors(anchors)?,
    };
    let mut answer = json!({
        "intact": broken.is_none() && !verified.stopped,
        "rows": verified.rows,
        "head": { "seq": verified.head.seq, "hash": verified.head.hash },
        "anchors": anchors.len(),
    });
    if verified.stopped {
        answer["stopped"] = json!(true);
    }
    if let Some(broken) = broken {
        answer["broken"] = json!({ "seq": broken.seq, "kind": broken.kind.word() });
    }
    Ok(answer)
}
