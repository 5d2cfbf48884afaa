//! `placet`.
fn main() {}
