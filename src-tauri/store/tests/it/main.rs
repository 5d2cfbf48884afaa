//! The store on a real file.
#![allow(clippy::unwrap_used)]

mod append;
mod file;
mod kill;
mod search;
mod tamper;
mod world;
