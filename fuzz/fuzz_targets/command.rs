//! The reader of commands: whatever the text, it is read or refused.
#![no_main]

#[allow(dead_code, reason = "each target uses its own part")]
#[path = "../../src-tauri/subject/tests/fuzz/targets.rs"]
mod targets;

libfuzzer_sys::fuzz_target!(|text: &str| {
    targets::command(text);
});
