//! `placet acp -- COMMAND…`: between an editor and an agent that speak the Agent Client Protocol. Everything passes
//! unchanged but `session/request_permission`, which the gate answers in the editor's place.
//!
//! Only options that the agent offers are chosen, and only those for once: a lasting yes is a grant, and those are
//! given at the desk. Where no such option is offered the answer is `cancelled`.

use std::{
    cell::Cell,
    collections::HashMap,
    ffi::OsString,
    io::{BufRead as _, BufReader},
    os::{fd::AsFd as _, unix::net::UnixStream},
    process::{ChildStdout, ExitCode},
    sync::{Arc, Mutex},
    time::Duration,
};

use placet_domain::AgentName;
use placet_ipc::{Moment, Places, message::Decision};
use serde_json::{Value, json, value::RawValue};

use crate::{
    ask::{Asker, Outcome},
    exit,
    hook::{Bell, Call, Caller},
    mcp::{
        client::{Came, Lines},
        fields::Fields,
        hall::{Hall, Wait, lock},
        server::{self, Server},
        session_id,
    },
    say,
};

/// The agent's name where it gives none that fits.
const NAMELESS: &str = "acp";
/// How long a person has: agents wait as long as their turn lasts.
const PATIENCE: Duration = Duration::from_secs(1_810);
/// How long the end waits for questions to be taken back.
const FAREWELL: Duration = Duration::from_secs(1);
/// The tool of a call that is a command and nothing else.
const SHELL: &str = "Bash";

#[derive(Debug)]
struct Proxy {
    hall: Hall,
    agent: Server,
    /// What tells this run's sessions from those of another.
    run: String,
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    name: Option<String>,
    /// Where sessions work, by the agent's ids of them.
    folders: HashMap<String, String>,
    /// Requests of the editor whose answers tell of a session, by their ids: the folder.
    opening: HashMap<String, String>,
    /// The editor's first request.
    greeting: Option<String>,
    /// Whose the questions are that wait, by the requests' ids.
    asking: HashMap<String, String>,
}

/// A question of the agent's.
#[derive(Debug)]
struct Question {
    line: Vec<u8>,
    id: Box<RawValue>,
    session: String,
    call: Call,
    allow: Option<String>,
    reject: Option<String>,
}

/// Runs until the editor or the agent ends.
pub(crate) fn run(places: Places, command: &[OsString]) -> ExitCode {
    let started = Bell::hang().and_then(|bell| Ok((bell, Server::start(command)?, UnixStream::pair()?)));
    let (bell, (agent, mut child, stdout), (ended, ends)) = match started {
        Ok(started) => started,
        Err(error) => {
            say::trouble(format_args!("the agent cannot be started: {error}"));
            return exit::usage();
        }
    };
    let proxy = Arc::new(Proxy { hall: Hall::new(places), agent, run: session_id("acp"), known: Mutex::default() });
    let reader = Arc::clone(&proxy);
    std::thread::spawn(move || {
        reader.pass_back(stdout);
        drop(ends);
    });
    let mut lines = Lines::new(&bell, Some(ended.as_fd()));
    loop {
        match lines.next() {
            Came::Line(line) => proxy.take(&line),
            Came::TooLong => say::trouble("a message of the editor's was too large and was not passed on"),
            Came::End | Came::Stop | Came::Other => break,
        }
    }
    // Whoever still waits is rung, and is given a moment to take its question back.
    proxy.hall.take_all();
    proxy.agent.hang_up();
    let until = Moment::in_(FAREWELL);
    while !lock(&proxy.known).asking.is_empty() && !until.left().is_zero() {
        std::thread::sleep(Duration::from_millis(5));
    }
    server::end(&mut child)
}

impl Proxy {
    /// A line of the editor's.
    fn take(&self, line: &[u8]) {
        if let Ok(message) = Fields::of_a_message(line) {
            let params = message.object("params");
            let id = message.get("id").map(|id| id.get().to_owned());
            match (message.text("method").as_deref(), id, params) {
                (Some("initialize"), Some(id), _) => lock(&self.known).greeting = Some(id),
                (Some("session/new"), Some(id), Some(params)) => {
                    if let Some(cwd) = params.text("cwd") {
                        lock(&self.known).opening.insert(id, cwd);
                    }
                }
                (Some("session/load" | "session/resume"), _, Some(params)) => {
                    if let (Some(session), Some(cwd)) = (params.text("sessionId"), params.text("cwd")) {
                        lock(&self.known).folders.insert(session, cwd);
                    }
                }
                (Some("session/cancel"), None, Some(params)) => self.cancel(params.text("sessionId").as_deref()),
                _ => {}
            }
        }
        self.agent.tell(line);
    }

    /// The turn is over: what it asked is taken back, and the agent is told so as the protocol wants it.
    fn cancel(&self, session: Option<&str>) {
        let of_it: Vec<String> = {
            let known = lock(&self.known);
            known.asking.iter().filter(|(_, of)| Some(of.as_str()) == session).map(|(id, _)| id.clone()).collect()
        };
        for id in of_it {
            if self.hall.take(&id) {
                self.answer(&id, None);
            }
        }
    }

    /// The agent's lines, to its end.
    fn pass_back(self: &Arc<Self>, stdout: ChildStdout) {
        let mut stdout = BufReader::new(stdout);
        let mut line = Vec::new();
        loop {
            line.clear();
            match stdout.read_until(b'\n', &mut line) {
                Ok(0) | Err(_) => return,
                Ok(_) => {}
            }
            match Fields::of_a_message(&line) {
                Ok(message) if message.text("method").as_deref() == Some("session/request_permission") => {
                    self.asked(std::mem::take(&mut line), &message);
                }
                Ok(message) => {
                    self.look_at(&message);
                    self.hall.tell(&line);
                }
                Err(_) => self.hall.tell(&line),
            }
        }
    }

    /// What an answer of the agent's says of itself or of a session.
    fn look_at(&self, message: &Fields) {
        let (None, Some(id), Some(result)) = (message.get("method"), message.get("id"), message.object("result"))
        else {
            return;
        };
        let mut known = lock(&self.known);
        if known.greeting.as_deref() == Some(id.get()) {
            known.greeting = None;
            let name = result.object("agentInfo").and_then(|info| info.text("name"));
            known.name = name.filter(|name| name.parse::<AgentName>().is_ok());
        }
        if let (Some(cwd), Some(session)) = (known.opening.remove(id.get()), result.text("sessionId")) {
            known.folders.insert(session, cwd);
        }
    }

    fn asked(self: &Arc<Self>, line: Vec<u8>, message: &Fields) {
        let Some(id) = message.get("id").map(ToOwned::to_owned) else { return };
        let Some(question) = message.object("params").and_then(|params| Question::read(line, &id, &params)) else {
            return self.answer(id.get(), None);
        };
        let Ok(ring) = self.hall.enter(&id) else { return self.answer(id.get(), question.reject.as_deref()) };
        lock(&self.known).asking.insert(id.get().to_owned(), question.session.clone());
        let this = Arc::clone(self);
        std::thread::spawn(move || {
            this.walk(&question, &ring);
            lock(&this.known).asking.remove(question.id.get());
        });
    }

    fn walk(&self, question: &Question, ring: &UnixStream) {
        let (asker, caller) = self.who(&question.session);
        let id = question.id.get();
        let patience = PATIENCE;
        let wait = Wait { hall: &self.hall, id, ring, patience, progress: None, told: Cell::new(0) };
        match self.hall.ask(&asker, &caller, &question.call, &wait) {
            None => {}
            Some(Outcome::Answered(answer)) if answer.decision == Decision::Allow => {
                self.answer(id, question.allow.as_deref());
            }
            Some(Outcome::LeftToClient) => self.hall.tell(&question.line),
            Some(Outcome::Answered(_) | Outcome::Failed(_) | Outcome::Rung(_)) => {
                self.answer(id, question.reject.as_deref());
            }
        }
    }

    /// Answers a question with this option; without one, with `cancelled`.
    fn answer(&self, id: &str, option: Option<&str>) {
        let outcome = match option {
            Some(option) => json!({ "outcome": "selected", "optionId": option }),
            None => json!({ "outcome": "cancelled" }),
        };
        let result = json!({ "outcome": outcome });
        self.agent.tell(format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#).as_bytes());
    }

    fn who(&self, session: &str) -> (Asker, Caller) {
        let known = lock(&self.known);
        let agent = known.name.clone().unwrap_or_else(|| NAMELESS.to_owned());
        let cwd = known.folders.get(session).cloned();
        (
            Asker { agent, gives_time_for: "a question", comes_back: false },
            Caller { session: Some(format!("{}-{session}", self.run)), cwd },
        )
    }
}

impl Question {
    /// None where it cannot be told what is asked.
    fn read(line: Vec<u8>, id: &RawValue, params: &Fields) -> Option<Self> {
        let tool_call = params.object("toolCall")?;
        let whole = params.get("toolCall")?;
        let raw = tool_call.get("rawInput").filter(|raw| raw.get().starts_with('{'));
        let kind = tool_call.text("kind").unwrap_or_else(|| "other".to_owned());
        let named = tool_call.text("name").or_else(|| tool_call.object("_meta")?.text("toolName"));
        let tool = match (named, raw) {
            (Some(name), Some(_)) => name,
            (_, Some(raw)) if kind == "execute" && is_a_command_alone(raw) => SHELL.to_owned(),
            // What it means is not known for certain, and so it is not claimed.
            (_, _) => format!("acp_{kind}"),
        };
        let options: Vec<Value> = serde_json::from_str(params.get("options")?.get()).ok()?;
        let option = |kind: &str| {
            let of_kind = options.iter().find(|option| option["kind"] == kind);
            of_kind.and_then(|option| option["optionId"].as_str()).map(str::to_owned)
        };
        Some(Self {
            line,
            id: id.to_owned(),
            session: params.text("sessionId")?,
            call: Call { id: tool_call.text("toolCallId"), ..Call::of(tool, raw.unwrap_or(whole).to_owned()) },
            allow: option("allow_once"),
            reject: option("reject_once"),
        })
    }
}

/// Whether an input says nothing but a command, and perhaps what it is for.
fn is_a_command_alone(raw: &RawValue) -> bool {
    let input: Value = serde_json::from_str(raw.get()).unwrap_or_default();
    input["command"].is_string()
        && input.as_object().is_some_and(|input| input.keys().all(|key| key == "command" || key == "description"))
}
