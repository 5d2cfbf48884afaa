//! The strict reader of JSON against the usual one.
#![no_main]

#[allow(dead_code, reason = "each target uses its own part")]
#[path = "../../src-tauri/subject/tests/fuzz/targets.rs"]
mod targets;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    targets::json(bytes);
});
