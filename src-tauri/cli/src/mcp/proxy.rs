//! Before a server: what passes, what is looked at on the way, and what has to wait.

use std::{
    cell::Cell,
    collections::HashMap,
    io::{BufRead as _, BufReader, Read as _},
    os::{fd::AsFd as _, unix::net::UnixStream},
    process::{ChildStdout, ExitCode},
    sync::{Arc, Mutex},
    time::Duration,
};

use placet_ipc::{Moment, Places, message::Decision};
use serde_json::{json, value::RawValue};

use super::{
    Order,
    client::{Came, Lines},
    fields::{Fields, is_taken_for},
    hall::{Hall, NO_GATE, Wait, lock},
    server::{self, Server},
    session::Session,
};
use crate::{
    ask::{self, Outcome},
    exit,
    hook::{Bell, Call, Report},
    say,
};

/// How long a call is held at most: clients give a call a minute.
pub(crate) const LONGEST_HOLD: Duration = Duration::from_secs(50);
/// How long calls may still be decided after the client closed its end.
const GRACE: Duration = Duration::from_secs(1);
/// The longest line of a server: all of it is kept until its end.
const MOST_OF_A_SERVER: u64 = 256 << 20;
/// JSON-RPC's word for a message that is none.
const NO_REQUEST: i32 = -32_600;
const SERVER_ENDED: i32 = -32_000;

#[derive(Debug)]
struct Proxy {
    hall: Hall,
    server: Server,
    hold: Duration,
    session: Mutex<Session>,
    /// What of the server's answers is looked at, by the request's id as it was written.
    awaited: Mutex<HashMap<String, Awaited>>,
}

/// An answer that is looked at as it passes.
#[derive(Debug)]
enum Awaited {
    Initialize,
    Tools,
    Call { call: Box<Call>, began: Moment },
}

/// A `tools/call` as it came.
#[derive(Debug)]
struct ToolCall {
    line: Vec<u8>,
    message: Fields,
    params: Fields,
    id: Box<RawValue>,
    name: String,
}

/// Runs until the client or the server ends.
pub(crate) fn run(places: Places, order: &Order) -> ExitCode {
    let (bell, server) = match Bell::hang().and_then(|bell| Ok((bell, Server::start(&order.command)?))) {
        Ok(started) => started,
        Err(error) => {
            let program = order.command.first().map(|program| program.to_string_lossy().into_owned());
            say::trouble(format_args!("the MCP server {} cannot be started: {error}", program.unwrap_or_default()));
            return exit::usage();
        }
    };
    let (server, mut child, stdout) = server;
    let (server_ended, ended) = match UnixStream::pair() {
        Ok(pair) => pair,
        Err(error) => {
            say::trouble(error);
            return server::end(&mut child);
        }
    };
    let proxy = Arc::new(Proxy {
        hall: Hall::new(places),
        server,
        hold: order.hold.min(LONGEST_HOLD),
        session: Mutex::new(Session::begun(order.name.as_deref())),
        awaited: Mutex::default(),
    });
    let reader = {
        let proxy = Arc::clone(&proxy);
        std::thread::spawn(move || {
            proxy.pass_back(stdout);
            drop(ended);
        })
    };
    let mut lines = Lines::new(&bell, Some(server_ended.as_fd()));
    loop {
        match lines.next() {
            Came::Line(line) => proxy.take(line),
            Came::TooLong => proxy.hall.refuse("null", NO_REQUEST, "Placet takes no message of this size."),
            Came::End => {
                let until = Moment::in_(GRACE);
                while !proxy.hall.is_empty() && !until.left().is_zero() {
                    std::thread::sleep(Duration::from_millis(5));
                }
                break;
            }
            Came::Stop => break,
            Came::Other => {
                proxy.server_ended();
                break;
            }
        }
    }
    // Whoever still waits is rung, and takes its question back.
    proxy.hall.take_all();
    proxy.server.hang_up();
    let code = server::end(&mut child);
    // A program that the server left behind may keep its pipe; what it says is nothing to wait for.
    let until = Moment::in_(GRACE / 2);
    while !reader.is_finished() && !until.left().is_zero() {
        std::thread::sleep(Duration::from_millis(5));
    }
    let (asker, caller) = proxy.who();
    let _ = ask::end(&proxy.hall.places, &asker.agent, &caller, None);
    code
}

impl Proxy {
    /// A line of the client's.
    fn take(self: &Arc<Self>, line: Vec<u8>) {
        let message = match Fields::of_a_message(&line) {
            Ok(message) => message,
            Err(why) => {
                return self.hall.refuse("null", NO_REQUEST, &format!("Placet passes this message not on: {why}."));
            }
        };
        let id = message.get("id").map(|id| id.get().to_owned());
        match (message.text("method").as_deref(), id) {
            (Some("tools/call"), Some(_)) => return self.call(line, message),
            // A call that wants no answer could not be told a no.
            (Some("tools/call"), None) => return,
            (Some("notifications/cancelled"), _) if self.cancelled(&message) => return,
            (Some("initialize"), Some(id)) => {
                lock(&self.session).greeted_by(&message);
                lock(&self.awaited).insert(id, Awaited::Initialize);
            }
            (Some("tools/list"), Some(id)) => {
                lock(&self.awaited).insert(id, Awaited::Tools);
            }
            (Some(_) | None, _) => {}
        }
        self.server.tell(&line);
    }

    /// A request is taken back. Whether the server never heard of it.
    fn cancelled(&self, message: &Fields) -> bool {
        let params = message.object("params");
        params.and_then(|params| params.get("requestId").map(|id| self.hall.take(id.get()))).unwrap_or(false)
    }

    fn call(self: &Arc<Self>, line: Vec<u8>, message: Fields) {
        let Some(id) = message.get("id").map(ToOwned::to_owned) else { return };
        let params = message
            .object("params")
            .filter(|params| !["name", "arguments"].iter().any(|field| is_taken_for(params, field)));
        let named = params.and_then(|params| Some((params.text("name")?, params)));
        let Some((name, params)) = named else {
            return self.hall.refuse(id.get(), -32_602, "Placet cannot tell which tool is called.");
        };
        let ring = match self.hall.enter(&id) {
            Ok(ring) => ring,
            Err(full) => return self.hall.answer(id.get(), &blocked(&format!("{full}."))),
        };
        let call = ToolCall { line, message, params, id, name };
        let this = Arc::clone(self);
        std::thread::spawn(move || this.walk(call, &ring));
    }

    /// A call's way through the corridor, and what became of it.
    fn walk(&self, tool_call: ToolCall, ring: &UnixStream) {
        let id = tool_call.id.get().to_owned();
        let Some(outcome) = self.ask(&tool_call, ring) else { return };
        match outcome {
            Ok((answer, call)) if answer.decision == Decision::Allow => {
                let line = match answer.input {
                    None => tool_call.line,
                    Some(input) => match RawValue::from_string(tool_call.params.with("arguments", input).write()) {
                        Ok(params) => tool_call.message.with("params", params).write().into_bytes(),
                        Err(error) => return self.hall.answer(&id, &blocked(&error.to_string())),
                    },
                };
                let awaited = Awaited::Call { call: Box::new(call), began: Moment::now() };
                lock(&self.awaited).insert(id, awaited);
                self.server.tell(&line);
            }
            Ok((answer, _)) if answer.pending => {
                let approval = answer.approval.map(|id| format!(", id {id}")).unwrap_or_default();
                let text = format!(
                    "approval pending{approval}: a person was asked and has not answered yet. It is no denial: call \
                     again with the same arguments to go on waiting."
                );
                self.hall.answer(&id, &failed(&text));
            }
            Ok((answer, _)) => self.hall.answer(&id, &blocked(&answer.reason)),
            Err(reason) => self.hall.answer(&id, &blocked(&reason)),
        }
    }

    /// The gate's answer, or why there is none; nothing at all when nobody waits for it any more.
    fn ask(
        &self,
        tool_call: &ToolCall,
        ring: &UnixStream,
    ) -> Option<Result<(placet_ipc::message::CallChecked, Call), String>> {
        let (tool, definition) = {
            let session = lock(&self.session);
            (session.tool(&tool_call.name), session.definition(&tool_call.name))
        };
        let id = tool_call.id.get();
        let input = match tool_call.params.get("arguments") {
            Some(arguments) => Ok(arguments.to_owned()),
            None => RawValue::from_string("{}".to_owned()),
        };
        let (Some(tool), Ok(input)) = (tool, input) else {
            let early = "The MCP server has not said yet who it is; call again after initialization.";
            return self.hall.take(id).then(|| Err(early.to_owned()));
        };
        let (asker, caller) = self.who();
        let call = Call { definition, id: Some(id.to_owned()), can_edit: true, ..Call::of(tool, input) };
        let meta = tool_call.params.object("_meta");
        let wait = Wait {
            hall: &self.hall,
            id,
            ring,
            patience: self.hold,
            progress: meta.as_ref().and_then(|meta| meta.get("progressToken")),
            told: Cell::new(0),
        };
        match self.hall.ask(&asker, &caller, &call, &wait)? {
            Outcome::Answered(answer) => Some(Ok((*answer, call))),
            Outcome::Failed(reason) => Some(Err(reason)),
            Outcome::LeftToClient => Some(Err(NO_GATE.to_owned())),
            Outcome::Rung(_) => None,
        }
    }

    fn who(&self) -> (crate::ask::Asker, crate::hook::Caller) {
        let session = lock(&self.session);
        (session.asker(), session.caller())
    }

    /// The server's lines, to its end.
    fn pass_back(self: &Arc<Self>, stdout: ChildStdout) {
        let mut stdout = BufReader::new(stdout);
        let mut line = Vec::new();
        loop {
            line.clear();
            match stdout.by_ref().take(MOST_OF_A_SERVER).read_until(b'\n', &mut line) {
                Ok(0) | Err(_) => return,
                Ok(_) => {}
            }
            if let Ok(message) = Fields::of_a_message(&line) {
                self.look_at(&message);
            }
            self.hall.tell(&line);
        }
    }

    fn look_at(self: &Arc<Self>, message: &Fields) {
        let (None, Some(id)) = (message.get("method"), message.get("id")) else { return };
        let Some(awaited) = lock(&self.awaited).remove(id.get()) else { return };
        let result = message.object("result");
        match (awaited, result) {
            (Awaited::Initialize, Some(result)) => lock(&self.session).answered_by(&result),
            (Awaited::Tools, Some(result)) => lock(&self.session).lists(&result),
            (Awaited::Initialize | Awaited::Tools, None) => {}
            (Awaited::Call { call, began }, result) => {
                let failed = result.as_ref().is_none_or(|r| r.get("isError").is_some_and(|e| e.get() == "true"));
                let output = message.get("result").or(message.get("error")).map(ToOwned::to_owned);
                let report = Report {
                    tool: call.tool,
                    input: call.input,
                    id: call.id,
                    outcome: if failed { "error" } else { "ok" },
                    output,
                    duration_ms: u64::try_from(began.passed().as_millis()).unwrap_or(u64::MAX),
                };
                let this = Arc::clone(self);
                // The client need not wait for what only the history wants to know.
                std::thread::spawn(move || {
                    let (asker, caller) = this.who();
                    let _ = ask::report(&this.hall.places, &asker.agent, &caller, report);
                });
            }
        }
    }

    /// Tells whoever still waits that nobody is left to answer.
    fn server_ended(&self) {
        let mut ids = self.hall.take_all();
        ids.extend(lock(&self.awaited).drain().map(|(id, _)| id));
        for id in ids {
            self.hall.refuse(&id, SERVER_ENDED, "The MCP server ended.");
        }
    }
}

fn blocked(reason: &str) -> serde_json::Value {
    failed(&format!("BLOCKED: {reason}"))
}

fn failed(text: &str) -> serde_json::Value {
    json!({ "content": [{ "type": "text", "text": text }], "isError": true })
}
