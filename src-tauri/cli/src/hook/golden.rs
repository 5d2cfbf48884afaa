//! Every recorded payload read and every answer rendered, client by client. The payloads in `tests/data/clients` were
//! recorded from the real clients; the snapshots say what is made of them.
#![allow(clippy::unwrap_used)]

use std::{fmt::Write as _, fs, path::PathBuf};

use serde_json::{Value, value::RawValue};

use super::dialect::{Call, Client, Event, Output, Place, Said};

fn recorded(client: Client) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/clients")).join(client.name())
}

/// Reads each payload of a client, in the order of the file names; the event is named by the file, as it is by the
/// installed command line.
fn told(client: Client) -> String {
    let mut text = String::new();
    let mut files: Vec<PathBuf> = fs::read_dir(recorded(client)).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    for file in files {
        let name = file.file_stem().unwrap().to_str().unwrap();
        if name == "told-to-model" || name.starts_with("app-server") || name.starts_with("event-") {
            continue;
        }
        let payload = fs::read(&file).unwrap();
        let flag = name.split_once('-').map_or(name, |(event, _)| event);
        let event = Client::event_in(&payload).unwrap().unwrap_or_else(|| flag.to_owned());
        assert_eq!(event, flag, "{name}");
        let _ = writeln!(text, "== {name}");
        match client.read(&event, &payload).unwrap() {
            Event::Ask(caller, call) => {
                let _ = writeln!(text, "asks in {:?} of {:?}", caller.cwd, caller.session);
                let _ = writeln!(text, "{} {} {:?} can_edit={}", call.tool, call.input.get(), call.id, call.can_edit);
                assert!(String::from_utf8(payload).unwrap().contains(call.input.get()), "not byte for byte: {name}");
                answers(&mut text, client, &event, &call);
            }
            Event::Report(caller, report) => {
                let _ = writeln!(text, "reports in {:?} of {:?}", caller.cwd, caller.session);
                let output = report.output.as_ref().map(|raw| raw.get());
                let _ = writeln!(text, "{} {} {:?}", report.tool, report.input.get(), report.id);
                let _ = writeln!(text, "{} after {} ms: {output:?}", report.outcome, report.duration_ms);
            }
            other @ (Event::Begin(_) | Event::End(..) | Event::Nothing | Event::Unknown) => {
                let _ = writeln!(text, "{other:?}");
            }
        }
    }
    text
}

fn answers(text: &mut String, client: Client, event: &str, call: &Call) {
    let place = Place { event: event.to_owned(), tool: call.tool.clone() };
    let mut changed: Value = serde_json::from_str(call.input.get()).unwrap();
    let field = changed.as_object().unwrap().keys().next().unwrap().clone();
    changed[&field] = "changed".into();
    let changed = RawValue::from_string(changed.to_string()).unwrap();
    let mut say = |word: &str, said: Said<'_>| {
        let Output { stdout, stderr, code } = client.render(&place, Some(call), &said);
        let _ = writeln!(text, "{word} [{code}] {stdout}{stderr}");
    };
    say("allow", Said::Allow { reason: "Approved once.", input: None });
    say("edit ", Said::Allow { reason: "Approved as changed.", input: Some(&changed) });
    say("deny ", Said::Deny { reason: "Not \"today\".\nAsk \u{202e}again." });
}

#[test]
fn claude_code() {
    insta::assert_snapshot!(told(Client::ClaudeCode));
}

#[test]
fn codex() {
    insta::assert_snapshot!(told(Client::Codex));
}

#[test]
fn gemini_cli() {
    insta::assert_snapshot!(told(Client::GeminiCli));
}

#[test]
fn qwen_code() {
    insta::assert_snapshot!(told(Client::QwenCode));
}

#[test]
fn copilot() {
    insta::assert_snapshot!(told(Client::Copilot));
}

#[test]
fn opencode() {
    insta::assert_snapshot!(told(Client::Opencode));
}

#[test]
fn openhands() {
    insta::assert_snapshot!(told(Client::Openhands));
}

/// There are no recordings of Cursor: these payloads are written after its documentation.
#[test]
fn cursor() {
    let payloads = [
        r#"{"hook_event_name":"beforeShellExecution","conversation_id":"c1","workspace_roots":["/w"],"command":"rm -r \u0061","cwd":""}"#,
        r#"{"hook_event_name":"beforeMCPExecution","conversation_id":"c1","workspace_roots":["/w"],"tool_name":"write_file","tool_input":"{\"path\": \"/w/a\"}","command":"npx fs"}"#,
        r#"{"hook_event_name":"beforeReadFile","conversation_id":"c1","workspace_roots":["/w"],"file_path":"/w/a","content":"x"}"#,
        r#"{"hook_event_name":"preToolUse","conversation_id":"c1","workspace_roots":[],"tool_name":"Write","tool_input":{"file_path":"/w/a"}}"#,
        r#"{"hook_event_name":"afterFileEdit","conversation_id":"c1","file_path":"/w/a","edits":[]}"#,
        r#"{"hook_event_name":"stop","conversation_id":"c1","status":"completed","loop_count":0}"#,
    ];
    let mut text = String::new();
    for payload in payloads {
        let event = Client::event_in(payload.as_bytes()).unwrap().unwrap();
        let _ = writeln!(text, "== {event}");
        match Client::Cursor.read(&event, payload.as_bytes()).unwrap() {
            Event::Ask(caller, call) => {
                let _ = writeln!(text, "{} {} in {:?}", call.tool, call.input.get(), caller.cwd);
                answers(&mut text, Client::Cursor, &event, &call);
            }
            other @ (Event::Report(..) | Event::Begin(_) | Event::End(..) | Event::Nothing | Event::Unknown) => {
                let _ = writeln!(text, "{other:?}");
            }
        }
    }
    insta::assert_snapshot!(text);
}

/// The very answers that each real client was seen to obey.
#[test]
fn a_denial_is_what_the_client_was_seen_to_block_on() {
    for (client, scenario) in [
        (Client::ClaudeCode, "deny"),
        (Client::Codex, "deny"),
        (Client::GeminiCli, "deny"),
        (Client::QwenCode, "deny"),
        (Client::Copilot, "deny"),
        (Client::Openhands, "openhands-deny"),
    ] {
        let seen: Value =
            serde_json::from_slice(&fs::read(recorded(client).join("told-to-model.json")).unwrap()).unwrap();
        let (event, answered) = seen[scenario]["hook_answered"].as_object().unwrap().iter().next().unwrap();
        let place = Place { event: event.clone(), tool: "Bash".into() };
        let output = client.render(&place, None, &Said::Deny { reason: "DENIED-BY-TEST: not on main" });
        let said: Value = serde_json::from_str(&output.stdout).unwrap();
        assert_eq!(said, answered["stdout"], "{}", client.name());
        assert_eq!(output.code, 0);
    }
}

#[test]
fn a_denial_is_said_wherever_a_call_waits_and_nowhere_else() {
    for client in Client::ALL {
        let asking = Place { event: client.asking_event().into(), tool: String::new() };
        let denied = client.render(&asking, None, &Said::Deny { reason: "no" });
        assert!(denied.stdout.contains("deny"), "{}", client.name());
        let other = Place { event: "Stop".into(), tool: String::new() };
        assert_eq!(client.render(&other, None, &Said::Deny { reason: "no" }), Output::silence(), "{}", client.name());
    }
}

#[test]
fn claude_code_is_told_no_more_than_it_takes() {
    let place = Place { event: "PreToolUse".into(), tool: "Write".into() };
    let reason = "\u{1}\"\\é".repeat(5_000);
    let denied = Client::ClaudeCode.render(&place, None, &Said::Deny { reason: &reason });
    assert!(denied.stdout.chars().count() <= 10_000, "{}", denied.stdout.chars().count());
    assert!(denied.stdout.contains("\"deny\""));
    let input = RawValue::from_string(format!("{{\"content\":{:?}}}", "x".repeat(10_000))).unwrap();
    let said = Said::Allow { reason: "Approved as changed.", input: Some(&input) };
    let denied = Client::ClaudeCode.render(&place, None, &said);
    assert!(denied.stdout.contains("\"deny\"") && denied.stdout.chars().count() <= 10_000);
}

#[test]
fn questions_to_the_person_stay_in_the_client() {
    for tool in ["AskUserQuestion", "ExitPlanMode"] {
        let place = Place { event: "PreToolUse".into(), tool: tool.into() };
        let said = Said::Allow { reason: "", input: None };
        assert_eq!(Client::ClaudeCode.render(&place, None, &said), Output::silence());
        let denied = Client::ClaudeCode.render(&place, None, &Said::Deny { reason: "no" });
        assert!(denied.stdout.contains("\"deny\""));
    }
}

#[test]
fn gemini_would_bring_back_what_was_taken_away() {
    let payload =
        br#"{"session_id":"s","cwd":"/w","hook_event_name":"BeforeTool","tool_name":"t","tool_input":{"a":1,"b":2}}"#;
    let Event::Ask(_, call) = Client::GeminiCli.read("BeforeTool", payload).unwrap() else { panic!("asks") };
    let place = Place { event: "BeforeTool".into(), tool: "t".into() };
    let input = RawValue::from_string(r#"{"a":1}"#.into()).unwrap();
    let said = Said::Allow { reason: "", input: Some(&input) };
    assert!(Client::GeminiCli.render(&place, Some(&call), &said).stdout.contains("\"deny\""));
}

#[test]
fn what_cannot_be_read_is_an_error() {
    for client in Client::ALL {
        let event = client.asking_event();
        for payload in [&b""[..], b"{", b"[]", b"null", b"{}", b"\xff", b"{\"tool_name\":3,\"tool_input\":{}}"] {
            assert!(client.read(event, payload).is_err(), "{} {payload:?}", client.name());
        }
    }
}
