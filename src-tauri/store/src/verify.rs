//! Walking the chain.

use crate::Head;

/// What a walk over the chain found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verified {
    /// Whether every row that was walked is as it was written, and none is missing.
    pub intact: bool,
    /// How many rows were walked.
    pub rows: u64,
    /// The last row that was found intact.
    pub head: Head,
    /// The first broken row.
    pub broken: Option<Broken>,
    /// Whether the walk was stopped before the end.
    pub stopped: bool,
}

/// The first broken row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Broken {
    /// Its number, or the number that is missing.
    pub seq: u64,
    /// What is wrong with it.
    pub kind: Break,
}

/// What can be wrong with a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Break {
    /// Its hash is not that of its content: it was changed.
    Hash,
    /// It is missing.
    Gap,
    /// It is a true row, but does not follow the one before it: swapped or put in from elsewhere.
    Order,
    /// Its columns say another number, time or kind than its content.
    Columns,
    /// The chain ends before the last row that was written: the newest were cut off.
    Truncated,
    /// The stub left by pruning does not fit, or facts were removed without one.
    Stub,
}

impl Break {
    /// The word on the wire.
    pub fn word(self) -> &'static str {
        match self {
            Self::Hash => "hash",
            Self::Gap => "gap",
            Self::Order => "order",
            Self::Columns => "columns",
            Self::Truncated => "truncated",
            Self::Stub => "stub",
        }
    }
}
