//! The real gate, `placet serve --supervise`, with us at its desk.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// Allows reading in the workspace by rule and asks about everything else.
const POLICY: &str = r#"
default = "ask"
timeout = "10m"

[[rule]]
name = "read in the workspace"
decide = "allow"
action = ["read"]
path = ["${workspace}/**"]
"#;
const WITHIN: Duration = Duration::from_secs(30);

pub(super) struct Desk {
    child: Child,
    stdin: Mutex<ChildStdin>,
    /// What the gate says, in the order said.
    said: Mutex<Receiver<Value>>,
    folder: PathBuf,
}

impl Desk {
    pub(super) fn open(placet: &Path, folder: &Path) -> Result<Self, String> {
        let problem = |error: std::io::Error| format!("placet serve: {error}");
        fs::write(folder.join("config/policy.toml"), POLICY).map_err(problem)?;
        fs::create_dir_all(folder.join("workspace")).map_err(problem)?;
        let mut command = Command::new(placet);
        command.args(["serve", "--supervise"]).args(flags(folder));
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().map_err(problem)?;
        let stdin = child.stdin.take().ok_or("no stdin")?;
        let stdout = BufReader::new(child.stdout.take().ok_or("no stdout")?);
        let (told, said) = channel();
        std::thread::spawn(move || {
            for line in stdout.lines().map_while(Result::ok) {
                if told.send(serde_json::from_str(&line).unwrap_or(Value::Null)).is_err() {
                    return;
                }
            }
        });
        let desk = Self { child, stdin: Mutex::new(stdin), said: Mutex::new(said), folder: folder.to_owned() };
        desk.send("approvals.list", &json!({}))?;
        desk.hear(|message| message["result"].is_object().then_some(()))?;
        Ok(desk)
    }

    pub(super) fn socket(&self) -> PathBuf {
        self.folder.join("data/run/gate.sock")
    }

    pub(super) fn workspace(&self) -> PathBuf {
        self.folder.join("workspace")
    }

    /// Waits for the next question, approves it, and says when the word was given.
    pub(super) fn approve_next(&self) -> Result<Instant, String> {
        let asked = self.hear(|message| {
            let fact = &message["params"];
            (fact["kind"] == "approval_asked").then(|| (fact["approval"].clone(), fact["call"]["digest"].clone()))
        });
        let (id, digest) = asked?;
        let given = Instant::now();
        self.send("approvals.approve", &json!({"id": id, "digest": digest}))?;
        Ok(given)
    }

    /// Approves every question as it comes, as long as there are `more`.
    pub(super) fn approve_while(&self, more: impl Fn() -> bool) -> Result<(), String> {
        let said = self.said.lock().map_err(|_| "another thread failed")?;
        while more() {
            let message = match said.recv_timeout(Duration::from_millis(20)) {
                Ok(message) => message,
                Err(RecvTimeoutError::Timeout) => continue,
                Err(RecvTimeoutError::Disconnected) => return Err("the desk said nothing more".into()),
            };
            let fact = &message["params"];
            if fact["kind"] == "approval_asked" {
                self.send("approvals.approve", &json!({"id": fact["approval"], "digest": fact["call"]["digest"]}))?;
            } else if !message["error"].is_null() {
                return Err(format!("the desk refuses: {}", message["error"]));
            }
        }
        Ok(())
    }

    /// The gate's process.
    pub(super) fn pid(&self) -> u32 {
        self.child.id()
    }

    fn send(&self, method: &str, params: &Value) -> Result<(), String> {
        let line = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string() + "\n";
        let mut stdin = self.stdin.lock().map_err(|_| "another thread failed")?;
        stdin.write_all(line.as_bytes()).map_err(|error| format!("{method}: {error}"))
    }

    fn hear<T>(&self, mut wanted: impl FnMut(&Value) -> Option<T>) -> Result<T, String> {
        let said = self.said.lock().map_err(|_| "another thread failed")?;
        loop {
            let message = said.recv_timeout(WITHIN).map_err(|_| "the desk said nothing more".to_owned())?;
            if !message["error"].is_null() {
                return Err(format!("the desk refuses: {}", message["error"]));
            }
            if let Some(found) = wanted(&message) {
                return Ok(found);
            }
        }
    }
}

impl Drop for Desk {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The flags that put any of the programs into this folder.
pub(super) fn flags(folder: &Path) -> [String; 4] {
    let text = |name: &str| folder.join(name).to_string_lossy().into_owned();
    ["--data-dir".into(), text("data"), "--config-dir".into(), text("config")]
}
