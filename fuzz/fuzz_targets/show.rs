//! Text made visible: total, injective, and hiding nothing.
#![no_main]

#[allow(dead_code, reason = "each target uses its own part")]
#[path = "../../src-tauri/subject/tests/fuzz/targets.rs"]
mod targets;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    targets::shown(bytes);
    let (a, b) = bytes.split_at(bytes.len() / 2);
    targets::shown_apart(a, b);
});
