//! `placet serve --supervise` as a process, and its desk: JSON-RPC lines on its own stdin and stdout.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::ground::Ground;
use crate::program::{eventually, placet};

const ANSWER_WITHIN: Duration = Duration::from_secs(20);

/// A gate without a window, and us in the person's place.
pub struct Desk {
    child: Child,
    stdin: Option<ChildStdin>,
    heard: Arc<Heard>,
    last_id: u64,
}

#[derive(Default)]
struct Heard {
    said: Mutex<Said>,
    more: Condvar,
}

#[derive(Default)]
struct Said {
    replies: HashMap<u64, Value>,
    facts: Vec<Value>,
    ended: bool,
}

impl Desk {
    /// Starts the gate and waits until it answers.
    pub fn open(ground: &Ground) -> Self {
        let mut command = Command::new(placet());
        command.args(["serve", "--supervise"]).args(ground.flags());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
        let mut child = command.spawn().expect("placet serve starts");
        let stdin = child.stdin.take();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let heard = Arc::new(Heard::default());
        let hearing = Arc::clone(&heard);
        std::thread::spawn(move || hearing.all(stdout));
        let mut desk = Self { child, stdin, heard, last_id: 0 };
        desk.ask("approvals.list", &json!({}));
        desk
    }

    /// Asks and takes the result; an error ends the test.
    pub fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.try_ask(method, params).unwrap_or_else(|error| panic!("{method} {params}: {error}"))
    }

    /// Asks and takes the result or the error's `data`.
    pub fn try_ask(&mut self, method: &str, params: &Value) -> Result<Value, Value> {
        self.last_id += 1;
        let id = self.last_id;
        let line = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string() + "\n";
        self.stdin.as_mut().expect("the desk is open").write_all(line.as_bytes()).expect("the desk hears");
        let mut reply = self.heard.wait(method, |said| said.replies.remove(&id));
        match reply.get_mut("error") {
            Some(error) => Err(error["data"].take()),
            None => Ok(reply["result"].take()),
        }
    }

    /// Approvals in this state, oldest first; there must be at most a thousand.
    pub fn approvals(&mut self, state: &str) -> Vec<Value> {
        let list = self.ask("approvals.list", &json!({"state": state, "limit": 1000}));
        assert!(list["next"].is_null(), "more than a thousand");
        list["items"].as_array().expect("a list").clone()
    }

    /// Waits until so many wait, and gives them oldest first.
    pub fn until_pending(&mut self, count: usize, within: Duration) -> Vec<Value> {
        eventually(within, &format!("{count} pending"), || {
            let pending = self.approvals("pending");
            (pending.len() == count).then_some(pending)
        })
    }

    /// Approves once what was listed, with the digest that was listed.
    pub fn approve(&mut self, approval: &Value) -> Value {
        self.ask("approvals.approve", &json!({"id": approval["id"], "digest": approval["digest"]}))
    }

    /// Denies, with words for the agent.
    pub fn deny(&mut self, approval: &Value, note: &str) -> Value {
        self.ask("approvals.deny", &json!({"id": approval["id"], "note": note}))
    }

    /// The facts told so far, in the order told.
    pub fn facts(&self) -> Vec<Value> {
        self.heard.said.lock().unwrap().facts.clone()
    }

    /// Waits for a fact of this kind.
    pub fn until_fact(&self, kind: &str) -> Value {
        self.heard.wait(kind, |said| said.facts.iter().find(|fact| fact["kind"] == kind).cloned())
    }

    /// Ends it as a power cut would: SIGKILL, nothing flushed, nobody told.
    pub fn crash(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Ends it by ending its input, as its contract says, and gives its exit status.
    pub fn close(mut self) -> Option<i32> {
        drop(self.stdin.take());
        let child = &mut self.child;
        eventually(Duration::from_secs(6), "the end of serve", || child.try_wait().unwrap()).code()
    }
}

impl Drop for Desk {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Heard {
    fn all(&self, stdout: impl BufRead) {
        for line in stdout.lines().map_while(Result::ok) {
            let message: Value = serde_json::from_str(&line).expect("nothing but JSON on the desk");
            let mut said = self.said.lock().unwrap();
            match message["id"].as_u64() {
                Some(id) => drop(said.replies.insert(id, message)),
                None if message["method"] == "fact" => said.facts.push(message["params"].clone()),
                None => {}
            }
            self.more.notify_all();
        }
        self.said.lock().unwrap().ended = true;
        self.more.notify_all();
    }

    fn wait<T>(&self, what: &str, mut look: impl FnMut(&mut Said) -> Option<T>) -> T {
        let started = Instant::now();
        let mut said = self.said.lock().unwrap();
        loop {
            if let Some(found) = look(&mut said) {
                return found;
            }
            assert!(!said.ended, "the gate ended while we waited for {what}");
            let left = ANSWER_WITHIN.saturating_sub(started.elapsed());
            assert!(!left.is_zero(), "the gate said nothing of {what} within {ANSWER_WITHIN:?}");
            said = self.more.wait_timeout(said, left).unwrap().0;
        }
    }
}
