//! No gate, no yes.

use std::time::{Duration, Instant};

use placet_tests::ground::Ground;
use placet_tests::hook::Hook;
use serde_json::json;

#[test]
fn without_a_gate_a_hook_denies_within_two_seconds() {
    let ground = Ground::new(None);
    let started = Instant::now();
    let hook = Hook::before(&ground, "s1", "call-1", "Bash", &json!({"command": "true"}));
    let answer = hook.answer(Duration::from_secs(10));
    assert_eq!(answer.decision(), "deny", "{answer:?}");
    assert!(!answer.reason().is_empty());
    // Two seconds by its contract, and what starting a process may take on a busy machine.
    assert!(started.elapsed() < Duration::from_secs(4), "{:?}", started.elapsed());
}
