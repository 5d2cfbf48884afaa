//! The history for whoever has no gate at hand: read from the files, beside a running gate or without one.

use std::{
    io::{self, Write},
    ops::ControlFlow,
};

use placet_ipc::Places;
use placet_store::{ChainKey, Head, HistoryFilter, Reader, StoreError};
use serde_json::{Value, json};

use crate::upkeep::Retention;

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
        let (file, key) = (places.data.join("history.db"), places.data.join("history.key"));
        for path in [&file, &key] {
            if !path.is_file() {
                let missing = io::Error::new(io::ErrorKind::NotFound, "there is no history here");
                return Err(StoreError::Io { path: path.clone(), source: missing });
            }
        }
        // The key is there: no new one is made.
        let key = ChainKey::load_or_make(&key, || [0; 32])?;
        Ok(Self { reader: Reader::open(&file, key)?, anchors: Retention::read(&places.config).anchors() })
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
        let verified = self.reader.verify(from, &mut |_| ControlFlow::Continue(()))?;
        let broken = match verified.broken {
            Some(broken) => Some(broken),
            None => self.reader.check_anchors(&self.anchors)?,
        };
        let mut answer = json!({
            "intact": broken.is_none(),
            "rows": verified.rows,
            "head": { "seq": verified.head.seq, "hash": verified.head.hash },
            "anchors": self.anchors.len(),
        });
        if let Some(broken) = broken {
            answer["broken"] = json!({ "seq": broken.seq, "kind": broken.kind.word() });
        }
        Ok(answer)
    }

    /// Writes all of it in this form. How many lines it were.
    ///
    /// # Errors
    /// The file cannot be read, or `out` not be written.
    pub fn export(&self, format: ExportFormat, out: &mut dyn Write) -> Result<u64, StoreError> {
        self.reader.export(format, &HistoryFilter::default(), out, &mut |_| ControlFlow::Continue(()))
    }
}
