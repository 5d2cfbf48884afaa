//! Real processes against a real gate.
