//! What the tests that cross rooms share: the repository read as text, and the real programs as processes.
//!
//! It deliberately depends on no room: these tests see what a stranger sees.
#![allow(clippy::unwrap_used, reason = "this is test code: what cannot happen ends the test")]
#![allow(clippy::disallowed_methods, reason = "tests wait for real processes by real time")]
#![allow(clippy::missing_panics_doc, reason = "every function here may end the test")]

pub mod desk;
pub mod ground;
pub mod hands;
pub mod hook;
pub mod house;
pub mod licence;
pub mod program;
pub mod room;
pub mod window;
