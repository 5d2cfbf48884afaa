//! JSON-RPC, a line a message: just enough of it to measure with.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// An agent's connection to the gate, with a session begun.
pub(super) struct Asker {
    reader: BufReader<UnixStream>,
    writer: UnixStream,
    session: Value,
    workspace: String,
    last_id: u64,
}

impl Asker {
    pub(super) fn connect(socket: &Path, number: usize, workspace: &Path) -> Result<Self, String> {
        let problem = |error: std::io::Error| format!("{}: {error}", socket.display());
        let writer = UnixStream::connect(socket).map_err(problem)?;
        writer.set_read_timeout(Some(Duration::from_secs(60))).map_err(problem)?;
        let reader = BufReader::new(writer.try_clone().map_err(problem)?);
        let workspace = workspace.to_str().ok_or("the path of the target folder is no text")?.to_owned();
        let mut asker = Self { reader, writer, session: Value::Null, workspace, last_id: 0 };
        asker.ask("hello", &json!({"protocol": 1, "client": "bench", "version": env!("CARGO_PKG_VERSION")}))?;
        let session = json!({
            "agent": "bench", "client_session": format!("bench-{number}"), "workspace": asker.workspace
        });
        asker.session = asker.ask("session.start", &session)?["session"].take();
        Ok(asker)
    }

    /// Asks whether a file may be read, which the policy allows, or written, which it asks about.
    pub(super) fn check(&mut self, tool: &str) -> Result<Value, String> {
        let file = format!("{}/file-{}.txt", self.workspace, self.last_id);
        let input =
            if tool == "Read" { json!({"file_path": file}) } else { json!({"file_path": file, "content": "x"}) };
        let session = self.session.clone();
        let call = json!({"session": session, "tool": tool, "input": input, "cwd": self.workspace, "call_id":
            format!("call-{}", self.last_id)});
        self.ask("call.check", &call)
    }

    /// Microseconds of each allowed call within a slice of time.
    pub(super) fn slice(&mut self, length: Duration) -> Result<Vec<f64>, String> {
        let started = Instant::now();
        let mut taken = Vec::new();
        while started.elapsed() < length {
            let one = Instant::now();
            let answer = self.check("Read")?;
            taken.push(one.elapsed().as_secs_f64() * 1e6);
            if answer["decision"] != "allow" {
                return Err(format!("a read in the workspace was not allowed: {answer}"));
            }
        }
        Ok(taken)
    }

    fn ask(&mut self, method: &str, params: &Value) -> Result<Value, String> {
        self.last_id += 1;
        let id = self.last_id;
        let line = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string() + "\n";
        self.writer.write_all(line.as_bytes()).map_err(|error| format!("{method}: {error}"))?;
        loop {
            let mut line = String::new();
            let read = self.reader.read_line(&mut line).map_err(|error| format!("{method}: {error}"))?;
            if read == 0 {
                return Err(format!("{method}: the gate hung up"));
            }
            let mut reply: Value = serde_json::from_str(&line).map_err(|error| format!("{method}: {error}"))?;
            if reply["id"] != id {
                continue; // a notification that the call became a question
            }
            return if reply["error"].is_null() { Ok(reply["result"].take()) } else { Err(reply["error"].to_string()) };
        }
    }
}
