//! The store on a real file.
#![allow(clippy::unwrap_used)]

mod append;
mod file;
mod keep;
mod kill;
mod later;
mod scale;
mod script;
mod search;
mod tamper;
mod world;
