//! A supervised gate, and us at its desk.
#![allow(clippy::unwrap_used, dead_code)]

use std::{
    io::{BufRead as _, BufReader, Write as _},
    path::Path,
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc,
    time::Duration,
};

use placet_ipc::Moment;
use serde_json::{Value, json};

pub(crate) const SOON: Duration = Duration::from_secs(20);

/// The command line with folders of its own.
pub(crate) fn placet(dir: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_placet"));
    command.args(arguments).arg("--data-dir").arg(dir.join("d")).arg("--config-dir").arg(dir.join("c"));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// A supervisor: what it says, what it hears.
pub(crate) struct Desk {
    child: Child,
    stdin: Option<ChildStdin>,
    heard: mpsc::Receiver<Value>,
    pub(crate) kept: Vec<Value>,
}

impl Desk {
    pub(crate) fn open(dir: &Path) -> Self {
        let mut child = placet(dir, &["serve", "--supervise"]).stderr(Stdio::inherit()).spawn().unwrap();
        let stdin = child.stdin.take();
        let (teller, heard) = mpsc::channel();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        std::thread::spawn(move || {
            for line in stdout.lines() {
                let message: Value = serde_json::from_str(&line.unwrap()).unwrap();
                assert_eq!(message["jsonrpc"], "2.0");
                let _ = teller.send(message);
            }
        });
        let mut desk = Self { child, stdin, heard, kept: Vec::new() };
        desk.call("snapshot", json!({}));
        desk
    }

    pub(crate) fn send(&mut self, line: &str) {
        writeln!(self.stdin.as_mut().unwrap(), "{line}").unwrap();
    }

    pub(crate) fn hear(&mut self, wanted: impl Fn(&Value) -> bool) -> Value {
        if let Some(place) = self.kept.iter().position(&wanted) {
            return self.kept.remove(place);
        }
        loop {
            let message = self.heard.recv_timeout(SOON).unwrap();
            if wanted(&message) {
                return message;
            }
            self.kept.push(message);
        }
    }

    pub(crate) fn answer(&mut self, method: &str, params: &Value) -> Value {
        self.send(&json!({ "jsonrpc": "2.0", "id": method, "method": method, "params": params }).to_string());
        self.hear(|message| message["id"] == method)
    }

    pub(crate) fn call(&mut self, method: &str, params: Value) -> Value {
        let answer = self.answer(method, &params);
        drop(params);
        assert!(answer["error"].is_null(), "{answer}");
        answer["result"].clone()
    }

    pub(crate) fn asked(&mut self) -> Value {
        let fact = self.hear(|message| message["params"]["kind"] == "approval_asked");
        self.call("approvals.get", json!({ "id": fact["params"]["approval"] }))
    }

    /// Ends stdin, and tells how long the end took.
    pub(crate) fn end(&mut self) -> Duration {
        let began = Moment::now();
        drop(self.stdin.take());
        assert!(self.child.wait().unwrap().success());
        began.passed()
    }
}

impl Drop for Desk {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
