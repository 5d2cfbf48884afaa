//! The gate without a window: by itself, and with a supervisor at its desk.
#![allow(clippy::unwrap_used)]

#[path = "common/desk.rs"]
mod desk;

use std::{
    io::{BufRead as _, BufReader, Write as _},
    path::Path,
    process::{Child, Command, Output, Stdio},
    time::Duration,
};

use desk::{Desk, placet};
use placet_ipc::Moment;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

fn run(dir: &Path, arguments: &[&str]) -> (Output, Value) {
    let output = placet(dir, arguments).output().unwrap();
    let said = serde_json::from_slice(&output.stdout).unwrap_or(Value::Null);
    (output, said)
}

fn payload(command: &str, id: &str) -> String {
    json!({ "session_id": "s-1", "cwd": "/tmp", "hook_event_name": "PreToolUse", "tool_name": "Bash",
        "tool_input": { "command": command }, "tool_use_id": id })
    .to_string()
}

fn hook(dir: &Path, payload: &str) -> Child {
    // A hook that is never answered is to fail the test and not to hold it.
    let mut child = placet(dir, &["hook", "claude-code", "--client-timeout-ms", "60000"]).spawn().unwrap();
    child.stdin.take().unwrap().write_all(payload.as_bytes()).unwrap();
    child
}

fn said_by(hook: Child) -> (String, String) {
    let output = hook.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let said: Value = serde_json::from_slice(&output.stdout).unwrap();
    let said = &said["hookSpecificOutput"];
    let word = |key: &str| said[key].as_str().unwrap().to_owned();
    (word("permissionDecision"), word("permissionDecisionReason"))
}

#[test]
fn a_supervisor_approves_denies_and_leaves_pending_what_it_does_not_answer() {
    let dir = tempfile::tempdir().unwrap();
    let mut desk = Desk::open(dir.path());

    let waiting = hook(dir.path(), &payload("touch placet-a", "t1"));
    let card = desk.asked();
    desk.call("approvals.approve", json!({ "id": card["id"], "digest": card["digest"] }));
    let consumed = desk.hear(|message| message["params"]["kind"] == "approval_consumed");
    assert_eq!(consumed["method"], "fact");
    assert_eq!(consumed["params"]["approval"], card["id"]);
    assert_eq!(said_by(waiting).0, "allow");

    let waiting = hook(dir.path(), &payload("touch placet-b", "t2"));
    let card = desk.asked();
    let stale = desk.answer("approvals.approve", &json!({ "id": card["id"], "digest": card["action_digest"] }));
    assert_eq!(stale["error"]["code"], -32000);
    assert_eq!(stale["error"]["data"]["code"], "stale_digest");
    desk.call("approvals.deny", json!({ "id": card["id"], "note": "Use make." }));
    let (decision, reason) = said_by(waiting);
    assert_eq!(decision, "deny");
    assert!(reason.contains("Use make."), "{reason}");

    let waiting = hook(dir.path(), &payload("touch placet-c", "t3"));
    let card = desk.asked();
    assert!(desk.end() < Duration::from_secs(5));
    let mut desk = Desk::open(dir.path());
    let items = desk.call("approvals.list", json!({ "state": "pending" }))["items"].clone();
    assert_eq!(items.as_array().unwrap().len(), 1, "{items}");
    assert_eq!(items[0]["id"], card["id"]);
    desk.call("approvals.approve", json!({ "id": card["id"], "digest": card["digest"] }));
    assert_eq!(said_by(waiting).0, "allow");
    assert_eq!(desk.call("history.verify", json!({}))["intact"], true);
}

#[test]
fn a_supervisor_hears_of_every_mistake_in_a_line() {
    let dir = tempfile::tempdir().unwrap();
    let mut desk = Desk::open(dir.path());
    for line in
        ["nonsense", "[]", "{\"jsonrpc\":\"2.0\",\"id\":5}", "{\"jsonrpc\":\"1.0\",\"id\":5,\"method\":\"pause\"}"]
    {
        desk.send(line);
        let answer = desk.hear(|message| message.get("error").is_some());
        assert_eq!(
            (&answer["id"], &answer["error"]["data"]["code"]),
            (&Value::Null, &json!("invalid_params")),
            "{line}"
        );
    }
    assert_eq!(desk.answer("approvals.yes", &json!({}))["error"]["data"]["code"], "unknown_method");
    // No id, no answer; a blank line is nothing.
    desk.send("{\"jsonrpc\":\"2.0\",\"method\":\"pause\"}");
    desk.send("");
    desk.hear(|message| message["params"]["kind"] == "paused");
    assert!(desk.kept.iter().all(|message| message["method"] == "fact"), "{:?}", desk.kept);
}

#[test]
fn a_supervisor_needs_a_data_directory_of_its_own() {
    let named = placet_ipc::home().unwrap().join(".local/share/placet");
    for more in [&[][..], &["--data-dir", named.to_str().unwrap()]] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_placet"));
        let output = command.args(["serve", "--supervise"]).args(more).stdin(Stdio::null()).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        assert_eq!(output.stdout, b"");
    }
}

struct Served(Child);

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A gate by itself, once it listens.
fn served(dir: &Path) -> Served {
    let mut child = placet(dir, &["serve", "--json"]).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert!(line.contains("gate.sock"), "{line}");
    Served(child)
}

#[test]
fn with_nobody_to_ask_what_would_be_asked_is_denied_at_once() {
    let dir = tempfile::tempdir().unwrap();
    let _gate = served(dir.path());
    let began = Moment::now();
    let (decision, reason) = said_by(hook(dir.path(), &payload("touch placet-d", "t1")));
    assert_eq!(decision, "deny");
    assert!(reason.contains("would have been asked"), "{reason}");
    assert!(began.passed() < Duration::from_secs(5));
    let read = json!({ "session_id": "s-1", "cwd": "/tmp", "hook_event_name": "PreToolUse", "tool_name": "TodoWrite",
        "tool_input": { "todos": [] }, "tool_use_id": "t2" });
    assert_eq!(said_by(hook(dir.path(), &read.to_string())).0, "allow");
}

#[test]
fn a_second_gate_is_refused_and_sigterm_ends_the_first_in_order() {
    let dir = tempfile::tempdir().unwrap();
    let mut gate = served(dir.path());
    let (second, _) = run(dir.path(), &["serve"]);
    assert_eq!(second.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&second.stderr).contains("another Placet"), "{second:?}");
    kill_process(Pid::from_child(&gate.0), Signal::TERM).unwrap();
    assert!(gate.0.wait().unwrap().success());
    assert!(!dir.path().join("d/run/gate.sock").exists());
    served(dir.path());
}

#[test]
fn what_may_be_seen_and_taken_away_from_the_command_line() {
    let dir = tempfile::tempdir().unwrap();
    let mut desk = Desk::open(dir.path());
    let first = hook(dir.path(), &payload("touch placet-e", "t1"));
    let first_id = desk.asked()["id"].as_str().unwrap().to_owned();
    let second = hook(dir.path(), &payload("touch placet-f", "t2"));
    let second_id = desk.asked()["id"].as_str().unwrap().to_owned();

    let (_, status) = run(dir.path(), &["status", "--json"]);
    assert_eq!((&status["pending"], &status["host"]), (&json!(2), &json!("supervised")));
    let (_, pending) = run(dir.path(), &["pending", "--json", "--limit", "1"]);
    assert_eq!(pending["items"][0]["id"], first_id.as_str());
    let (text, _) = run(dir.path(), &["pending"]);
    assert!(String::from_utf8_lossy(&text.stdout).contains("touch placet-f"), "{text:?}");

    let (denied, outcomes) = run(dir.path(), &["deny", &first_id, "--note", "Not now.", "--json"]);
    assert_eq!(denied.status.code(), Some(0));
    assert_eq!(outcomes["outcomes"], json!([{ "id": first_id, "state": "denied", "changed": true }]));
    assert!(said_by(first).1.contains("Not now."));
    let (cancelled, outcomes) = run(dir.path(), &["cancel", &second_id, "nothing", "--json"]);
    assert_eq!(cancelled.status.code(), Some(1));
    assert_eq!(outcomes["outcomes"][0]["state"], "cancelled");
    assert_eq!(outcomes["outcomes"][1], json!({ "id": "nothing", "state": null, "changed": false }));
    assert_eq!(said_by(second).0, "deny");

    assert_eq!(run(dir.path(), &["pause"]).0.status.code(), Some(0));
    let todo = payload("ls", "t3");
    let (decision, reason) = said_by(hook(dir.path(), &todo));
    assert_eq!(decision, "deny");
    assert!(reason.to_lowercase().contains("pause"), "{reason}");
    let (_, history) = run(dir.path(), &["history", "--json"]);
    assert_eq!(history["items"].as_array().unwrap().len(), 3, "{history}");
    let (_, grants) = run(dir.path(), &["grants", "--json"]);
    assert_eq!(grants["items"], json!([]));
    let (bad, said) = run(dir.path(), &["pending", "--json", "--session", "nobody"]);
    assert_eq!(bad.status.code(), Some(1));
    assert_eq!(said["error"]["code"], "invalid_params");
}

#[test]
fn the_history_is_walked_and_written_out_beside_a_gate_and_without_one() {
    let dir = tempfile::tempdir().unwrap();
    let (nothing, _) = run(dir.path(), &["history", "verify"]);
    assert_eq!(nothing.status.code(), Some(2), "{nothing:?}");
    let mut desk = Desk::open(dir.path());
    let waiting = hook(dir.path(), &payload("touch placet-g", "t1"));
    let card = desk.asked();
    desk.call("approvals.deny", json!({ "id": card["id"], "note": "no" }));
    said_by(waiting);
    let (beside, verified) = run(dir.path(), &["history", "verify", "--json"]);
    assert_eq!((beside.status.code(), &verified["intact"]), (Some(0), &json!(true)), "{beside:?}");
    desk.end();
    let (without, verified) = run(dir.path(), &["history", "verify", "--json"]);
    assert_eq!((without.status.code(), &verified["intact"]), (Some(0), &json!(true)), "{without:?}");

    let lines = |format: &str| {
        let (output, _) = run(dir.path(), &["history", "export", "--format", format]);
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(json!(lines("jsonl").len()), verified["rows"]);
    assert_eq!(lines("csv").len(), 2);
    assert_eq!(lines("ocsf").len(), 1);
    assert_eq!(lines("audit-log").len(), 1);
    assert_eq!(lines("session-summaries").len(), 1);
    let file = dir.path().join("out.jsonl");
    let written = run(dir.path(), &["history", "export", "--output", file.to_str().unwrap()]).0;
    assert_eq!(written.status.code(), Some(0));
    let again = run(dir.path(), &["history", "export", "--output", file.to_str().unwrap()]).0;
    assert_eq!(again.status.code(), Some(1), "a file that is there is not written over");
}

#[test]
fn a_copy_of_the_history_is_restored_without_what_it_allowed() {
    let dir = tempfile::tempdir().unwrap();
    let mut desk = Desk::open(dir.path());
    let waiting = hook(dir.path(), &payload("touch placet-r", "t1"));
    let card = desk.asked();
    let scope = json!({ "who": "session", "on": { "exact": true }, "expires_in_ms": 3_600_000 });
    desk.call("approvals.approve", json!({ "id": card["id"], "digest": card["digest"], "grant": scope }));
    assert_eq!(said_by(waiting).0, "allow");
    let copy = dir.path().join("copy.db");
    let copy = copy.to_str().unwrap();
    assert_eq!(run(dir.path(), &["history", "backup", copy]).0.status.code(), Some(0));
    assert_eq!(run(dir.path(), &["history", "backup", copy]).0.status.code(), Some(1), "it is not written over");
    let running = run(dir.path(), &["history", "restore", copy]).0;
    assert_eq!(running.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&running.stderr).contains("a gate runs"), "{running:?}");
    desk.call("pause", json!({}));
    desk.end();

    // A copy that was changed, and one from a newer version, are refused, and nothing is changed.
    let before = run(dir.path(), &["history", "verify", "--json"]).1;
    let mut bytes = std::fs::read(copy).unwrap();
    let place = bytes.windows(8).position(|bytes| bytes == b"placet-r").unwrap();
    bytes[place] = b'q';
    let changed = dir.path().join("changed.db");
    std::fs::write(&changed, &bytes).unwrap();
    assert_eq!(run(dir.path(), &["history", "restore", changed.to_str().unwrap()]).0.status.code(), Some(1));
    bytes[63] = 200;
    std::fs::write(&changed, &bytes).unwrap();
    let newer = run(dir.path(), &["history", "restore", changed.to_str().unwrap()]).0;
    assert!(String::from_utf8_lossy(&newer.stderr).contains("newer version"), "{newer:?}");
    assert_eq!(std::fs::read(&changed).unwrap(), bytes);
    assert_eq!(run(dir.path(), &["history", "verify", "--json"]).1, before);

    let (restored, said) = run(dir.path(), &["history", "restore", copy, "--json"]);
    assert_eq!(restored.status.code(), Some(0), "{restored:?}");
    assert!(Path::new(said["kept"].as_str().unwrap()).is_file());
    assert_eq!(run(dir.path(), &["history", "verify", "--json"]).1["intact"], true);
    let mut desk = Desk::open(dir.path());
    let grants = desk.call("grants.list", json!({}));
    assert_eq!(grants["items"][0]["state"], "revoked", "{grants}");
    // The pause that came after the copy was made holds.
    assert_eq!(said_by(hook(dir.path(), &payload("touch placet-r", "t2"))).0, "deny");
    desk.end();
}

#[test]
fn a_gate_that_is_killed_finds_its_questions_again_and_so_do_those_who_wait() {
    let dir = tempfile::tempdir().unwrap();
    let mut desk = Desk::open(dir.path());
    let first = hook(dir.path(), &payload("touch placet-h", "t1"));
    let first_card = desk.asked();
    let second = hook(dir.path(), &payload("touch placet-i", "t2"));
    let second_card = desk.asked();
    // Dropped, it is killed.
    drop(desk);
    std::thread::sleep(Duration::from_secs(2));
    let mut desk = Desk::open(dir.path());
    let items = desk.call("approvals.list", json!({ "state": "pending" }))["items"].clone();
    assert_eq!(items.as_array().unwrap().len(), 2, "{items}");
    for (item, card) in items.as_array().unwrap().iter().zip([&first_card, &second_card]) {
        assert_eq!((&item["id"], &item["expires_at_ms"]), (&card["id"], &card["expires_at_ms"]));
    }
    desk.call("approvals.approve", json!({ "id": first_card["id"], "digest": first_card["digest"] }));
    desk.call("approvals.deny", json!({ "id": second_card["id"] }));
    assert_eq!(said_by(first).0, "allow");
    assert_eq!(said_by(second).0, "deny");
    let asked = desk.call("history.search", json!({}))["items"].as_array().unwrap().len();
    assert_eq!(asked, 2, "nobody was asked twice");
}
