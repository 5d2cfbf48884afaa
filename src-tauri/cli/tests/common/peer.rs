//! A client that speaks JSON-RPC, one message a line, on a child's pipes.
#![allow(clippy::unwrap_used, dead_code)]

use std::{
    io::{BufRead as _, BufReader, Write as _},
    process::{Child, ChildStdin},
    sync::mpsc,
    time::Duration,
};

use placet_ipc::Moment;
use serde_json::{Value, json};

use crate::desk::SOON;

/// Whoever stands at a proxy's pipes.
pub(crate) struct Client {
    pub(crate) child: Child,
    stdin: Option<ChildStdin>,
    heard: mpsc::Receiver<Value>,
    pub(crate) kept: Vec<Value>,
}

impl Client {
    pub(crate) fn of(mut child: Child) -> Self {
        let (teller, heard) = mpsc::channel();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        std::thread::spawn(move || {
            for line in stdout.lines() {
                let _ = teller.send(serde_json::from_str(&line.unwrap()).unwrap());
            }
        });
        Self { stdin: child.stdin.take(), child, heard, kept: Vec::new() }
    }

    pub(crate) fn line(&mut self, line: &str) {
        writeln!(self.stdin.as_mut().unwrap(), "{line}").unwrap();
    }

    pub(crate) fn say(&mut self, message: &Value) {
        self.line(&message.to_string());
    }

    pub(crate) fn ask(&mut self, id: u32, method: &str, params: &Value) {
        self.say(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
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

    pub(crate) fn answer(&mut self, id: u32) -> Value {
        let answer = self.hear(|message| message["id"] == id && message.get("method").is_none());
        assert!(answer.get("error").is_none(), "{answer}");
        answer["result"].clone()
    }

    /// The text of a result, and whether it is an error.
    pub(crate) fn text(&mut self, id: u32) -> (String, bool) {
        let result = self.answer(id);
        (result["content"][0]["text"].as_str().unwrap().to_owned(), result["isError"] == true)
    }

    pub(crate) fn blocked(&mut self, id: u32) -> String {
        let (text, is_error) = self.text(id);
        assert!(is_error && text.starts_with("BLOCKED: "), "{text}");
        text
    }

    /// Its own end, and the code of the proxy.
    pub(crate) fn end(&mut self) -> (Option<i32>, Duration) {
        let began = Moment::now();
        drop(self.stdin.take());
        (self.child.wait().unwrap().code(), began.passed())
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
