//! The gate as this room uses it.

pub(crate) use placet_gate::{Ask, Cleared, Gate, Ran, Verdict};
