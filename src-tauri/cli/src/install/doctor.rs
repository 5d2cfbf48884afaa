//! `placet doctor`: for each client, whether its settings hold our entry, and whether what stands there really blocks.
//!
//! The proof is a call that Placet denies whatever the policy says, put to the very command line that the client runs.

use std::{
    io::{Read as _, Write as _},
    path::PathBuf,
    process::{Command, ExitCode, Stdio},
    time::Duration,
};

use placet_ipc::{
    Flags, Moment, Places,
    message::{Nothing, Status, method},
};
use serde_json::{Value, json};

use super::{
    edit, file,
    plan::{Line, Plan, plan},
    scope,
};
use crate::{
    exit,
    hook::Client,
    say::{self, Form, field, line, visible},
    start::{self, WhenNoGate},
    views::ask,
};

/// How long a probe may take.
const PROBE: Duration = Duration::from_secs(15);

/// `doctor`. Exit code 1 if a client that has our entry is not blocked by it.
pub(crate) fn doctor(places: &Places, project: Option<PathBuf>, form: Form) -> ExitCode {
    let gate = ask::<_, Status>(places, method::STATUS, &Nothing {});
    let gate = match gate {
        Ok(status) => json!({ "reached": true, "host": status.host, "version": status.version }),
        Err(error) => json!({ "reached": false, "why": error.to_string() }),
    };
    let scope = scope(project);
    let nowhere = Line { program: std::path::Path::new("placet"), patience: None, places: &Flags::default() };
    let plans = Client::ALL.into_iter().filter_map(|client| plan(client, &scope, &nowhere).ok().flatten());
    let clients: Vec<Value> = plans.map(|plan| examined(&plan)).collect();
    let sound = clients.iter().all(|client| client["state"] != "not_blocked");
    if form == Form::Json {
        say::json(&json!({ "gate": gate, "clients": clients }));
    } else {
        if gate["reached"] == true {
            line(format_args!("gate         Placet {} in {}", field(&gate, "version"), field(&gate, "host")));
        } else {
            let then = match start::when_no_gate(places) {
                WhenNoGate::Start => "the next hook starts one",
                WhenNoGate::Deny => "until one runs, every call is denied",
                WhenNoGate::Client => "until one runs, each client decides by itself",
            };
            line(format_args!("gate         none runs; {then}"));
            line(format_args!("{:12} {}", "", field(&gate, "why")));
        }
        for client in &clients {
            let state = match client["state"].as_str() {
                Some("blocked") => "a denied probe is blocked",
                Some("not_blocked") => "A DENIED PROBE IS NOT BLOCKED",
                Some("not_installed") => "not installed",
                _ => "its settings cannot be read",
            };
            line(format_args!("{:12} {state}: {}", field(client, "client"), field(client, "file")));
            if client["why"].is_string() {
                line(format_args!("{:12} {}", "", field(client, "why")));
            }
        }
    }
    if sound { exit::DONE } else { exit::no() }
}

fn examined(plan: &Plan) -> Value {
    let shown = visible(&plan.file.display().to_string());
    let told = |state: &str, why: Option<String>| json!({ "client": plan.client.name(), "file": shown, "state": state, "why": why });
    let found = file::read(&plan.file)
        .map_err(|error| error.to_string())
        .and_then(|text| edit::found(&text, plan.client, plan.shape).map_err(|error| error.to_string()));
    let found = match found {
        Ok(found) => found,
        Err(error) => return told("unreadable", Some(error)),
    };
    let Some(entry) = found.iter().find(|entry| entry.event == plan.client.asking_event()) else {
        return told("not_installed", None);
    };
    match probe(plan.client, entry.command()) {
        Ok(reason) => told("blocked", Some(reason)),
        Err(why) => told("not_blocked", Some(why)),
    }
}

/// Puts the probe to the client's command line, as the client would, and looks for the client's own denial.
fn probe(client: Client, command: &str) -> Result<String, String> {
    let mut child = Command::new("/bin/sh")
        .args(["-c", command])
        .current_dir("/")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| error.to_string())?;
    if let Some(mut stdin) = child.stdin.take() {
        // A command that does not read it is seen by what it says.
        let _ = stdin.write_all(payload(client).to_string().as_bytes());
    }
    let deadline = Moment::in_(PROBE);
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) if !deadline.left().is_zero() => std::thread::sleep(Duration::from_millis(20)),
            Ok(None) | Err(_) => {
                let _ = child.kill();
                let _ = child.wait();
                return Err("the hook did not answer".to_owned());
            }
        }
    };
    let mut said = String::new();
    if let Some(mut stdout) = child.stdout.take() {
        let _ = stdout.read_to_string(&mut said);
    }
    denial(client, status.code(), &said).ok_or_else(|| format!("the hook said {said:?} and ended with {status}"))
}

/// A call that the built-in rule denies: agents may not start Placet.
fn payload(client: Client) -> Value {
    let input = json!({ "command": "placet serve" });
    match client {
        Client::Copilot => {
            json!({ "sessionId": "placet-doctor", "cwd": "/", "toolName": "bash", "toolArgs": input })
        }
        Client::Cursor => json!({
            "hook_event_name": "preToolUse", "conversation_id": "placet-doctor", "workspace_roots": ["/"],
            "tool_name": "Shell", "tool_input": input,
        }),
        Client::Opencode => json!({
            "input": { "tool": "bash", "sessionID": "placet-doctor", "callID": "placet-doctor" },
            "output": { "args": input },
        }),
        Client::GeminiCli | Client::QwenCode => json!({
            "hook_event_name": client.asking_event(), "session_id": "placet-doctor", "cwd": "/",
            "tool_name": "run_shell_command", "tool_input": input,
        }),
        Client::ClaudeCode | Client::Codex | Client::Openhands => json!({
            "hook_event_name": client.asking_event(), "session_id": "placet-doctor", "cwd": "/",
            "tool_name": "Bash", "tool_input": input,
        }),
    }
}

/// The reason of a denial in the client's syntax.
fn denial(client: Client, code: Option<i32>, said: &str) -> Option<String> {
    let said: Value = serde_json::from_str(said).ok().filter(|_| code == Some(0))?;
    let (decision, reason) = match client {
        Client::ClaudeCode | Client::Codex | Client::QwenCode => {
            let said = &said["hookSpecificOutput"];
            (&said["permissionDecision"], &said["permissionDecisionReason"])
        }
        Client::Copilot => (&said["permissionDecision"], &said["permissionDecisionReason"]),
        Client::Cursor => (&said["permission"], &said["agent_message"]),
        Client::GeminiCli | Client::Opencode | Client::Openhands => (&said["decision"], &said["reason"]),
    };
    (decision == "deny").then(|| reason.as_str().unwrap_or_default().to_owned())
}
