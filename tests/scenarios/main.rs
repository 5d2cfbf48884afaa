//! Scenarios with real processes: the gate, hooks as clients start them, and a person's answers.
#![allow(clippy::unwrap_used, reason = "a test may end where it cannot go on")]
#![allow(clippy::disallowed_methods, reason = "real processes live in real time")]

mod autostart;
mod crowd;
mod examples;
mod keyring;
mod restart;
mod revoke;
mod soak;
mod without_a_gate;

/// Asks for everything and waits as long as a test may take.
const ASK_EVERYTHING: &str = "default = \"ask\"\ntimeout = \"10m\"\n";
