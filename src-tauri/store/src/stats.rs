//! Figures over the history, from counters that are kept as it grows.

use placet_domain::At;

use crate::CallDecision;

/// How wide a bar of the timeline is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bucket {
    /// 3,600,000 ms.
    Hour,
    /// 86,400,000 ms, from midnight UTC.
    Day,
}

/// How many calls of a time had a decision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counted {
    /// Where the bucket begins.
    pub at_ms: At,
    /// What became of them.
    pub decision: CallDecision,
    /// How many.
    pub calls: u64,
}

/// Figures of a time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// By bucket and decision, oldest first; empty ones are left out.
    pub timeline: Vec<Counted>,
    /// By agent, the busiest first.
    pub agents: Vec<(String, u64)>,
    /// By tool, the busiest first, at most 100.
    pub tools: Vec<(String, u64)>,
    /// All calls.
    pub calls: u64,
    /// How many of them were put to a person.
    pub asked: u64,
    /// The median time a person took, in milliseconds, over at most the last 1,000 answers; none without one.
    pub median_wait_ms: Option<i64>,
}

/// What a person said to the like of a call before. Counts stop at 1,000 calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Alike {
    /// Yes.
    pub approved: u64,
    /// No.
    pub denied: u64,
    /// When last.
    pub last_at_ms: Option<At>,
}
