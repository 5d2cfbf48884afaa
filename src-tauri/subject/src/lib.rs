//! What it really is: a call made concrete.
//!
//! Whatever a call says, the person sees what it would really touch, the policy compares what is really touched, and
//! the digest covers exactly what would run. Paths are resolved, addresses parsed, commands taken apart, text made
//! visible. This room reads the disk and changes nothing; it decides nothing either.

pub mod call;
pub mod canonical;
mod card;
mod changed;
mod character;
pub mod command;
mod content;
mod difference;
pub mod digest;
mod edit;
mod explain;
mod file;
mod patch;
mod path;
mod reading;
pub mod show;
pub mod strict_json;
mod tools;
mod url;

pub use call::{Known, RawCall, definition_digest, judge};
pub use changed::changed;
pub use command::{Programs, ProgramsError};
pub use digest::NORMALIZER_VERSION;
pub use explain::explain;
pub use show::{DISPLAY_VERSION, show, show_bytes, show_line, unshow};
pub use strict_json::strict_json;
