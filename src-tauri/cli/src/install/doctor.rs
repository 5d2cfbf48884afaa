//! `placet doctor`: for each client, whether its settings hold our entry, and whether what stands there really blocks.
//!
//! The proof is a call that Placet denies whatever the policy says, put to the hook with the very words that the client
//! gives it. No shell is involved, and no program but this one is run: what stands in settings is other people's text.

use std::{
    fs,
    io::{Read as _, Write as _},
    path::{Path, PathBuf},
    process::{Command, ExitCode, Stdio},
    time::Duration,
};

use placet_domain::Digest;
use placet_ipc::{
    Flags, Moment, Places,
    message::{Nothing, Status, method},
};
use serde_json::{Value, json};

use super::{
    edit::{self, Found, Shape},
    file,
    hook_line::{self, HookLine},
    plan::{Line, Plan, Scope, plan},
    records::{Proof, Record, Records, digest_of},
    scope, version,
};
use crate::{
    exit,
    hook::Client,
    say::{self, Form, field, line, now_ms, visible},
    start::{self, WhenNoGate},
    views::ask,
};

/// How long a probe may take.
const PROBE: Duration = Duration::from_secs(15);

/// `doctor`. Exit code 1 if a client that has our entry is not blocked by it, is blocked in part, or cannot be proved,
/// and if an entry that was there has gone.
pub(crate) fn doctor(places: &Places, project: Option<PathBuf>, form: Form) -> ExitCode {
    let gate = ask::<_, Status>(places, method::STATUS, &Nothing {});
    let gate = match gate {
        Ok(status) => json!({ "reached": true, "host": status.host, "version": status.version }),
        Err(error) => json!({ "reached": false, "why": error.to_string() }),
    };
    let own = std::env::current_exe().and_then(fs::canonicalize).ok();
    let mut doctor = Doctor { places, scope: scope(project), own, records: Records::read(places) };
    let clients: Vec<Value> = Client::ALL.into_iter().filter_map(|client| doctor.of(client)).collect();
    doctor.records.keep();
    let sound = clients.iter().all(|client| {
        client["vanished"] != true
            && matches!(client["state"].as_str(), Some("blocked" | "not_installed" | "unreadable"))
    });
    if form == Form::Json {
        say::json(&json!({ "gate": gate, "clients": clients }));
    } else {
        print(places, &gate, &clients);
    }
    if sound { exit::DONE } else { exit::no() }
}

fn print(places: &Places, gate: &Value, clients: &[Value]) {
    if gate["reached"] == true {
        line(format_args!("gate         Placet {} in {}", field(gate, "version"), field(gate, "host")));
    } else {
        let then = match start::when_no_gate(places) {
            WhenNoGate::Start => "the next hook starts one",
            WhenNoGate::Deny => "until one runs, every call is denied",
            WhenNoGate::Client => "until one runs, each client decides by itself",
        };
        line(format_args!("gate         none runs; {then}"));
        line(format_args!("{:12} {}", "", field(gate, "why")));
    }
    for client in clients {
        let state = match client["state"].as_str() {
            Some("blocked") => "a denied probe is blocked",
            Some("not_blocked") => "A DENIED PROBE IS NOT BLOCKED",
            Some("partial") => "BLOCKED IN PART ONLY",
            Some("off") => "ITS HOOKS ARE SWITCHED OFF",
            Some("altered") => "CHANGED BY SOMEBODY, not run",
            Some("other_program") => "runs another placet, not proved",
            Some("other_gate") => "asks another gate, not proved",
            Some("not_installed") if client["vanished"] == true => "THE ENTRY THAT WAS HERE IS GONE",
            Some("not_installed") => "not installed",
            _ => "its settings cannot be read",
        };
        line(format_args!("{:12} {state}: {}", field(client, "client"), field(client, "file")));
        let notes = client["differs"].as_array().into_iter().flatten().filter_map(Value::as_str);
        for note in client["why"].as_str().into_iter().chain(notes).chain(client["version"].as_str()) {
            line(format_args!("{:12} {}", "", visible(note)));
        }
    }
}

struct Doctor<'a> {
    places: &'a Places,
    scope: Scope,
    /// This program, by its real path.
    own: Option<PathBuf>,
    records: Records,
}

impl Doctor<'_> {
    fn of(&mut self, client: Client) -> Option<Value> {
        let nowhere = Line { program: Path::new("placet"), patience: None, places: &Flags::default() };
        let plan = plan(client, &self.scope, &nowhere).ok().flatten()?;
        let version = version::installed(client);
        let version = version.map(|found| found.version.unwrap_or_else(|| found.program.display().to_string()));
        let text = file::read(&plan.file).map_err(|error| error.to_string());
        let examined = match &text {
            Ok(text) => self.examined(&plan, text),
            Err(error) => Examined::of("unreadable", error.clone()),
        };
        let known = self.records.of(&plan);
        // An entry that was never there is not missed.
        let vanished = examined.state == "not_installed" && known.is_some();
        if examined.state == "blocked" {
            let proof = Proof {
                at_ms: now_ms(),
                version: env!("CARGO_PKG_VERSION").to_owned(),
                client_version: version.clone(),
                entries: examined.entries.unwrap_or_else(|| digest_of(&[])),
            };
            let record = Record { proof: Some(proof), ..known.cloned().unwrap_or_default() };
            self.records.set(&plan, Some(record));
        }
        Some(json!({
            "client": plan.client.name(), "file": visible(&plan.file.display().to_string()), "state": examined.state,
            "why": examined.why, "differs": examined.differs, "version": version.as_deref().map(visible),
            "vanished": vanished,
        }))
    }

    fn examined(&self, plan: &Plan, text: &str) -> Examined {
        let read = edit::found(text, plan.client, plan.shape)
            .and_then(|found| Ok((found, edit::altered(text, plan.client, plan.shape)?)));
        let (found, altered) = match read {
            Ok(read) => read,
            Err(error) => return Examined::of("unreadable", error.to_string()),
        };
        if let Some(line) = altered.first() {
            return Examined::of(
                "altered",
                format!("what stands there does more than ask Placet, so it was not run: {line}"),
            );
        }
        let Some(entry) = found.iter().find(|entry| entry.event == plan.client.asking_event()) else {
            return Examined { state: "not_installed", ..Examined::default() };
        };
        let Some(line) = hook_line::read(entry.command(), plan.client) else {
            return Examined::of("altered", format!("not run: {}", entry.command()));
        };
        if let Some(key) = edit::off(text, plan.shape) {
            return Examined::of("off", format!("{key} stands in the settings, so no hook is run at all"));
        }
        match self.stranger(&line) {
            Ok(()) => {}
            Err(other) => return other,
        }
        let differs = differences(plan.client, &self.scope, &line, text, &found);
        let entries = Some(digest_of(&found));
        match (probe(plan.client, self.own.as_deref(), &line.arguments), differs.is_empty()) {
            (Ok(reason), true) => Examined { state: "blocked", why: Some(reason), differs, entries },
            (Ok(_), false) => Examined { state: "partial", why: None, differs, entries },
            (Err(why), _) => Examined { state: "not_blocked", why: Some(why), differs, entries },
        }
    }

    /// A line is run only where it runs this very program and asks the gate that was meant: settings come from others,
    /// too, and a proof by somebody else's program proves nothing.
    fn stranger(&self, line: &HookLine) -> Result<(), Examined> {
        let shown = line.program.display();
        let program = match version::on_path(&line.program).map(fs::canonicalize) {
            Some(Ok(program)) => program,
            None => return Err(Examined::of("not_blocked", format!("{shown} is on no search path"))),
            Some(Err(error)) => return Err(Examined::of("not_blocked", format!("{shown} cannot be run: {error}"))),
        };
        if Some(&program) != self.own.as_ref() {
            let own = self.own.as_deref().unwrap_or_else(|| Path::new("placet")).display();
            let why = format!("{shown} was not run, as this is {own}: ask that one, or install this one in its place");
            return Err(Examined::of("other_program", why));
        }
        match Places::new(&line.places) {
            Ok(places) if places == *self.places => Ok(()),
            Ok(places) => {
                let why = format!("its gate is at {}; give doctor the same flags", places.socket.display());
                Err(Examined::of("other_gate", why))
            }
            Err(error) => Err(Examined::of("not_blocked", error.to_string())),
        }
    }
}

#[derive(Debug, Default)]
struct Examined {
    state: &'static str,
    why: Option<String>,
    differs: Vec<String>,
    entries: Option<Digest>,
}

impl Examined {
    fn of(state: &'static str, why: String) -> Self {
        Self { state, why: Some(why), ..Self::default() }
    }
}

/// What is otherwise than `install` would write it for the same line: a matcher that leaves tools out, a time-out at
/// which the client goes on without an answer, an event that is missing.
fn differences(client: Client, scope: &Scope, line: &HookLine, text: &str, found: &[Found]) -> Vec<String> {
    let same_line = Line { program: &line.program, patience: line.patience, places: &line.places };
    let Ok(Some(wanted)) = plan(client, scope, &same_line) else { return Vec::new() };
    if wanted.shape == Shape::Plugin {
        let same = edit::installed(text, wanted.client, wanted.shape, &wanted.entries).is_ok_and(|after| after == text);
        return if same { Vec::new() } else { vec!["the plugin is not as this Placet writes it".to_owned()] };
    }
    let mut differs = Vec::new();
    for entry in &wanted.entries {
        let Some(there) = found.iter().find(|one| one.event == entry.event) else {
            differs.push(format!("{} is missing", entry.event));
            continue;
        };
        if there.matcher.as_deref() != entry.matcher {
            let (is, should) = (there.matcher.as_deref().unwrap_or("none"), entry.matcher.unwrap_or("none"));
            differs.push(format!("{}: matcher is {is} and should be {should}", entry.event));
        }
        for (key, value) in entry.hook.iter().filter(|(key, _)| !matches!(*key, "command" | "bash")) {
            let is = there.hook.get(*key).unwrap_or(&Value::Null);
            if is != value {
                differs.push(format!("{}: {key} is {is} and should be {value}", entry.event));
            }
        }
    }
    differs
}

/// Puts the probe to the hook as the client would, and looks for the client's own denial.
fn probe(client: Client, own: Option<&Path>, arguments: &[String]) -> Result<String, String> {
    let own = own.ok_or("it is not known where this program lies")?;
    let mut child = Command::new(own)
        .args(arguments)
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
