//! `placet mcp --permission-prompt`: what Claude Code asks in place of its own prompt, when it was started with
//! `--permission-prompt-tool mcp__placet__approve`.
//!
//! One tool, `approve`: its answer is a text that holds JSON, `{"behavior": "allow", "updatedInput": …}` or
//! `{"behavior": "deny", "message": …}`. Everything that goes wrong is the second.

use std::{cell::Cell, os::unix::net::UnixStream, process::ExitCode, sync::Arc, time::Duration};

use placet_ipc::{Places, message::Decision};
use serde_json::{Value, json, value::RawValue};

use super::{
    client::{Came, Lines},
    fields::Fields,
    hall::{Hall, NO_GATE, Wait},
};
use crate::{
    ask::{self, Asker, Outcome},
    exit,
    hook::{Bell, Call, Caller, Client},
    say,
};

/// The one tool.
const APPROVE: &str = "approve";
/// The version of MCP that is spoken where the client names none.
const REVISION: &str = "2025-06-18";
/// How long a person has: the client itself waits longer than a day.
const PATIENCE: Duration = Duration::from_secs(1_810);

#[derive(Debug)]
struct Prompt {
    hall: Hall,
    asker: Asker,
    caller: Caller,
}

/// Runs until the client ends.
pub(crate) fn run(places: Places) -> ExitCode {
    let bell = match Bell::hang() {
        Ok(bell) => bell,
        Err(error) => {
            say::trouble(error);
            return exit::no();
        }
    };
    let cwd = std::env::current_dir().map(|dir| dir.to_string_lossy().into_owned()).ok();
    let prompt = Arc::new(Prompt {
        hall: Hall::new(places),
        asker: Asker {
            agent: Client::ClaudeCode.name().to_owned(),
            gives_time_for: "its permission prompt",
            comes_back: false,
        },
        caller: Caller { session: Some(super::session_id("prompt")), cwd },
    });
    let mut lines = Lines::new(&bell, None);
    loop {
        match lines.next() {
            Came::Line(line) => prompt.take(&line),
            Came::TooLong => prompt.hall.refuse("null", -32_600, "Placet takes no message of this size."),
            Came::End | Came::Stop | Came::Other => break,
        }
    }
    prompt.hall.take_all();
    let _ = ask::end(&prompt.hall.places, &prompt.asker.agent, &prompt.caller, None);
    exit::DONE
}

impl Prompt {
    fn take(self: &Arc<Self>, line: &[u8]) {
        let message = match Fields::of_a_message(line) {
            Ok(message) => message,
            Err(why) => return self.hall.refuse("null", -32_600, &why),
        };
        let Some(method) = message.text("method") else { return };
        let params = message.object("params");
        let Some(id) = message.get("id").map(ToOwned::to_owned) else {
            let cancelled = params.filter(|_| method == "notifications/cancelled");
            if let Some(request) = cancelled.as_ref().and_then(|params| params.get("requestId")) {
                self.hall.take(request.get());
            }
            return;
        };
        match method.as_str() {
            "initialize" => {
                let asked = params.and_then(|params| params.text("protocolVersion"));
                self.hall.answer(id.get(), &greeting(asked.as_deref()));
            }
            "ping" => self.hall.answer(id.get(), &json!({})),
            "tools/list" => self.hall.answer(id.get(), &json!({ "tools": [definition()] })),
            "tools/call" => self.call(id, params),
            _ => self.hall.refuse(id.get(), -32_601, "Placet has one tool and nothing else."),
        }
    }

    fn call(self: &Arc<Self>, id: Box<RawValue>, params: Option<Fields>) {
        let Some(params) = params.filter(|params| params.text("name").as_deref() == Some(APPROVE)) else {
            return self.hall.refuse(id.get(), -32_602, "The tool is called approve.");
        };
        let ring = match self.hall.enter(&id) {
            Ok(ring) => ring,
            Err(full) => return self.hall.answer(id.get(), &denied(&format!("Placet denied this call: {full}."))),
        };
        let this = Arc::clone(self);
        std::thread::spawn(move || this.walk(&id, &params, &ring));
    }

    fn walk(&self, id: &RawValue, params: &Fields, ring: &UnixStream) {
        let Some(call) = params.object("arguments").and_then(|arguments| read(&arguments)) else {
            if self.hall.take(id.get()) {
                let why = "Placet denied this call: the prompt needs tool_name and input.";
                self.hall.answer(id.get(), &denied(why));
            }
            return;
        };
        let meta = params.object("_meta");
        let wait = Wait {
            hall: &self.hall,
            id: id.get(),
            ring,
            patience: PATIENCE,
            progress: meta.as_ref().and_then(|meta| meta.get("progressToken")),
            told: Cell::new(0),
        };
        let Some(outcome) = self.hall.ask(&self.asker, &self.caller, &call, &wait) else { return };
        let answer = match outcome {
            Outcome::Answered(answer) if answer.decision == Decision::Allow => {
                allowed(answer.input.as_deref().unwrap_or(&call.input))
            }
            Outcome::Answered(answer) => denied(&answer.reason),
            Outcome::Failed(reason) => denied(&reason),
            Outcome::LeftToClient => denied(NO_GATE),
            Outcome::Rung(_) => return,
        };
        self.hall.answer(id.get(), &answer);
    }
}

fn read(arguments: &Fields) -> Option<Call> {
    let (tool, input) = (arguments.text("tool_name")?, arguments.get("input")?.to_owned());
    Some(Call { id: arguments.text("tool_use_id"), can_edit: true, ..Call::of(tool, input) })
}

/// The input goes back byte for byte: what is told to run is what was judged.
fn allowed(input: &RawValue) -> Value {
    text(&format!(r#"{{"behavior":"allow","updatedInput":{input}}}"#))
}

fn denied(message: &str) -> Value {
    text(&json!({ "behavior": "deny", "message": message }).to_string())
}

fn text(text: &str) -> Value {
    json!({ "content": [{ "type": "text", "text": text }] })
}

fn greeting(revision: Option<&str>) -> Value {
    json!({
        "protocolVersion": revision.unwrap_or(REVISION),
        "capabilities": { "tools": {} },
        "serverInfo": { "name": "placet", "version": env!("CARGO_PKG_VERSION") },
    })
}

fn definition() -> Value {
    json!({
        "name": APPROVE,
        "description": "Asks the person, by their policy, whether a tool call may run.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "tool_name": { "type": "string" },
                "input": { "type": "object" },
                "tool_use_id": { "type": "string" },
            },
            "required": ["tool_name", "input"],
        },
    })
}
