//! The real window under Xvfb, a real hook process before it, and clicks as a person makes them.
#![allow(clippy::unwrap_used, reason = "a test may end where it cannot go on")]

mod agents;
mod answers;
mod claude_code;
mod connect;
mod demo;
mod grants;
mod inbox;
mod keys;
mod left;
mod measure;
mod restart;
mod settings;

use placet_tests::ground::Ground;
use placet_tests::program::placet;
use serde_json::Value;

/// Asks for everything and waits as long as a test may take.
const ASK_EVERYTHING: &str = "default = \"ask\"\ntimeout = \"10m\"\n";

/// What the history says of each call, newest first: the decision, on whose word, with what words.
fn decisions(ground: &Ground) -> Vec<String> {
    let output = std::process::Command::new(placet())
        .args(["history", "--json"])
        .args(ground.flags())
        .output()
        .expect("placet starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let list: Value = serde_json::from_slice(&output.stdout).unwrap();
    let items = list["items"].as_array().unwrap_or_else(|| panic!("no list: {list}"));
    let word = |item: &Value, name: &str, before: &str| match item[name].as_str() {
        Some(word) => format!("{before}{word}"),
        None => String::new(),
    };
    items
        .iter()
        .map(|item| format!("{}{}{}", word(item, "decision", ""), word(item, "by", " by "), word(item, "note", ": ")))
        .collect()
}
