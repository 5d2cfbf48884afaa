//! The writer.

use std::path::Path;

use placet_domain::{Digest, Entry};

use crate::{ChainKey, Head, Opened, StoreError};

/// An input or a card, kept under its digest, apart from the facts, deletable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Body {
    /// SHA-256 of `bytes`.
    pub sha256: Digest,
    /// JSON of the input or the card.
    pub bytes: Vec<u8>,
}

/// The one writer of a history.
#[derive(Debug)]
pub struct Store {
    head: Head,
}

impl Store {
    /// Opens the history, making it where there is none.
    pub fn open(file: &Path, key: ChainKey) -> Result<Opened, StoreError> {
        let _ = (file, key);
        Err(StoreError::Poisoned)
    }

    /// Writes facts and bodies with everything that follows from them, durably, or nothing at all.
    pub fn append(&mut self, entries: &[Entry], bodies: &[Body]) -> Result<Head, StoreError> {
        let _ = (entries, bodies);
        Ok(self.head)
    }

    /// The last fact.
    pub fn head(&self) -> Head {
        self.head
    }

    /// Indexes up to `max` more calls for text search; whether there are more. For when nothing else is to do.
    pub fn index_some(&mut self, max: usize) -> Result<bool, StoreError> {
        let _ = max;
        Ok(false)
    }
}
