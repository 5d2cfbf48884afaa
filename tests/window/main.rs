//! The real window under Xvfb, a real hook process before it, and clicks as a person makes them.
#![allow(clippy::unwrap_used, reason = "a test may end where it cannot go on")]

mod inbox;

/// Asks for everything and waits as long as a test may take.
const ASK_EVERYTHING: &str = "default = \"ask\"\ntimeout = \"10m\"\n";
