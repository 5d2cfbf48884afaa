//! A gate that says what the test wants, on a real socket, and the hook run against it as a client runs it.
#![allow(clippy::unwrap_used, dead_code)]

use std::{
    fs,
    io::{BufRead as _, BufReader, Write as _},
    os::unix::{
        fs::PermissionsExt as _,
        net::{UnixListener, UnixStream},
    },
    path::PathBuf,
    process::{Child, Command, Stdio},
    sync::{Arc, mpsc},
    time::Duration,
};

use serde_json::{Value, json};

pub(crate) const SESSION: &str = "01890000-0000-7000-8000-00000000000a";
pub(crate) const APPROVAL: &str = "01890000-0000-7000-8000-00000000000b";
pub(crate) const BASH: &str = r#"{"session_id":"s-1","cwd":"/tmp","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{ "command":"echo \u0068i" },"tool_use_id":"toolu_1"}"#;

/// A place for a gate, and what the gate there hears.
pub(crate) struct Gate {
    dir: tempfile::TempDir,
    heard: mpsc::Receiver<Value>,
    teller: mpsc::Sender<Value>,
}

/// One connection, from the gate's side.
pub(crate) struct Talk {
    reader: BufReader<UnixStream>,
    writer: UnixStream,
    teller: mpsc::Sender<Value>,
    /// The last request as it came.
    pub(crate) last_line: String,
}

impl Gate {
    /// The place, with nobody there.
    pub(crate) fn absent() -> Self {
        let (teller, heard) = mpsc::channel();
        Self { dir: tempfile::tempdir().unwrap(), heard, teller }
    }

    /// A gate that talks as `script` says; it is given the number of the connection, from 0.
    pub(crate) fn that(script: impl Fn(usize, &mut Talk) + Send + Sync + 'static) -> Self {
        let gate = Self::absent();
        gate.open(script);
        gate
    }

    /// Opens the gate at this place.
    pub(crate) fn open(&self, script: impl Fn(usize, &mut Talk) + Send + Sync + 'static) {
        let run = self.data().join("run");
        fs::create_dir_all(&run).unwrap();
        for dir in [&self.data(), &run] {
            fs::set_permissions(dir, fs::Permissions::from_mode(0o700)).unwrap();
        }
        let listener = UnixListener::bind(run.join("gate.sock")).unwrap();
        fs::set_permissions(run.join("gate.sock"), fs::Permissions::from_mode(0o600)).unwrap();
        let script = Arc::new(script);
        let teller = self.teller.clone();
        std::thread::spawn(move || {
            for (number, stream) in listener.incoming().enumerate() {
                let stream = stream.unwrap();
                let writer = stream.try_clone().unwrap();
                let mut talk =
                    Talk { reader: BufReader::new(stream), writer, teller: teller.clone(), last_line: String::new() };
                let script = Arc::clone(&script);
                std::thread::spawn(move || script(number, &mut talk));
            }
        });
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.dir.path().join("d")
    }

    /// The next message with this method, of those that were heard.
    pub(crate) fn heard(&self, method: &str) -> Value {
        loop {
            let message = self.heard.recv_timeout(Duration::from_secs(10)).unwrap_or_else(|_| panic!("no {method}"));
            if message["method"] == method {
                return message["params"].clone();
            }
        }
    }

    /// Whether a message with this method was heard so far.
    pub(crate) fn has_heard(&self, method: &str) -> bool {
        self.heard.try_iter().any(|message| message["method"] == method)
    }

    /// The hook of a client, as a command that reads and writes pipes.
    pub(crate) fn hook(&self, client: &str, more: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_placet"));
        command
            .args(["hook", client, "--data-dir"])
            .arg(self.data())
            .arg("--config-dir")
            .arg(self.dir.path().join("c"));
        command.args(more).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Runs it to its end.
    pub(crate) fn run(&self, client: &str, payload: &str, more: &[&str]) -> Said {
        finish(start(&mut self.hook(client, more), payload))
    }
}

impl Talk {
    /// The next request; none when the other side has gone.
    pub(crate) fn hear(&mut self) -> Option<Value> {
        let mut line = String::new();
        if self.reader.read_line(&mut line).unwrap_or(0) == 0 {
            return None;
        }
        let message: Value = serde_json::from_str(&line).unwrap();
        let _ = self.teller.send(message.clone());
        self.last_line = line;
        Some(message)
    }

    pub(crate) fn say(&mut self, message: &Value) {
        let _ = writeln!(self.writer, "{message}");
    }

    pub(crate) fn raw(&mut self, bytes: &[u8]) {
        let _ = self.writer.write_all(bytes);
    }

    pub(crate) fn answer(&mut self, request: &Value, result: &Value) {
        self.say(&json!({ "jsonrpc": "2.0", "id": request["id"], "result": result }));
    }

    /// Greets, gives a session, and hears what is asked.
    pub(crate) fn hear_check(&mut self) -> Option<Value> {
        let hello = self.hear()?;
        self.answer(&hello, &json!({ "protocol": 1, "server": "placet", "version": "0" }));
        let start = self.hear()?;
        self.answer(&start, &json!({ "session": SESSION }));
        self.hear()
    }

    /// Says that a person is asked.
    pub(crate) fn pend(&mut self, check: &Value) {
        let params = json!({ "request": check["id"], "approval": APPROVAL, "expires_at_ms": 1 });
        self.say(&json!({ "jsonrpc": "2.0", "method": "call.pending", "params": params }));
    }

    pub(crate) fn decide(&mut self, check: &Value, decision: &str, reason: &str) {
        self.answer(check, &json!({ "decision": decision, "reason": reason, "digest": digest() }));
    }

    /// Hears and does what is wanted until the other side has gone.
    pub(crate) fn oblige(&mut self) {
        while let Some(request) = self.hear() {
            self.answer(&request, &json!({}));
        }
    }
}

pub(crate) fn digest() -> String {
    format!("sha256:{}", "0".repeat(64))
}

/// What a hook said.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) code: Option<i32>,
    pub(crate) took: Duration,
}

impl Said {
    /// The answer's own part, for Claude Code before a call.
    pub(crate) fn decision(&self) -> (String, String) {
        assert_eq!(self.code, Some(0), "{self:?}");
        let answer: Value = serde_json::from_str(&self.stdout).unwrap_or_else(|_| panic!("{self:?}"));
        let answer = &answer["hookSpecificOutput"];
        assert_eq!(answer["hookEventName"], "PreToolUse");
        let word = |key: &str| answer[key].as_str().unwrap().to_owned();
        (word("permissionDecision"), word("permissionDecisionReason"))
    }

    /// The reason of a denial.
    pub(crate) fn denial(&self) -> String {
        let (decision, reason) = self.decision();
        assert_eq!(decision, "deny");
        reason
    }
}

pub(crate) fn start(command: &mut Command, payload: &str) -> (Child, placet_ipc::Moment) {
    let began = placet_ipc::Moment::now();
    let mut child = command.spawn().unwrap();
    // A hook that denies without reading its payload closes the pipe, and so be it.
    let _ = child.stdin.take().unwrap().write_all(payload.as_bytes());
    (child, began)
}

pub(crate) fn finish((child, began): (Child, placet_ipc::Moment)) -> Said {
    let output = child.wait_with_output().unwrap();
    Said {
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
        code: output.status.code(),
        took: began.passed(),
    }
}
