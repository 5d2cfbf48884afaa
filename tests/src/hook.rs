//! `placet hook claude-code` as a process: what the client would start before each of its tool calls.

use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use crate::ground::Ground;
use crate::program::{eventually, placet};

/// A hook that was started and may be waiting.
pub struct Hook {
    child: Child,
}

/// What a hook said, and how it ended.
#[derive(Debug)]
pub struct Answer {
    /// Its exit status; none if it was killed.
    pub status: Option<i32>,
    /// Its standard output.
    pub stdout: String,
    /// Its standard error.
    pub stderr: String,
}

impl Hook {
    /// Starts it for one call before the call runs, as Claude Code does.
    pub fn before(ground: &Ground, session: &str, call_id: &str, tool: &str, input: &Value) -> Self {
        Self::before_within(ground, session, call_id, tool, input, 600_000)
    }

    /// The same for a client that waits so many milliseconds.
    pub fn before_within(
        ground: &Ground,
        session: &str,
        call_id: &str,
        tool: &str,
        input: &Value,
        client_timeout_ms: u64,
    ) -> Self {
        let payload = json!({
            "session_id": session,
            "transcript_path": ground.path().join("transcript.jsonl"),
            "cwd": ground.workspace(),
            "permission_mode": "default",
            "hook_event_name": "PreToolUse",
            "tool_name": tool,
            "tool_input": input,
            "tool_use_id": call_id,
        });
        let mut command = Command::new(placet());
        command.args(["hook", "claude-code", "--client-timeout-ms", &client_timeout_ms.to_string()]);
        command.args(ground.flags()).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the hook starts");
        child.stdin.take().unwrap().write_all(payload.to_string().as_bytes()).unwrap();
        Self { child }
    }

    /// Whether it has not answered yet.
    pub fn waits(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// What it says in the end.
    pub fn answer(mut self, within: Duration) -> Answer {
        let status = eventually(within, "an answer of the hook", || self.child.try_wait().unwrap());
        let read = |from: Option<&mut dyn Read>| {
            let mut text = String::new();
            from.unwrap().read_to_string(&mut text).unwrap();
            text
        };
        Answer {
            status: status.code(),
            stdout: read(self.child.stdout.as_mut().map(|out| out as &mut dyn Read)),
            stderr: read(self.child.stderr.as_mut().map(|err| err as &mut dyn Read)),
        }
    }
}

impl Drop for Hook {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Answer {
    /// `allow` or `deny`, where it is the one whole JSON object that Claude Code expects.
    pub fn decision(&self) -> &'static str {
        assert_eq!(self.status, Some(0), "{self:?}");
        match self.specific()["permissionDecision"].as_str() {
            Some("allow") => "allow",
            Some("deny") => "deny",
            _ => panic!("neither allow nor deny: {self:?}"),
        }
    }

    /// The words that go with it.
    pub fn reason(&self) -> String {
        self.specific()["permissionDecisionReason"].as_str().unwrap_or_default().to_owned()
    }

    fn specific(&self) -> Value {
        let said: Value = serde_json::from_str(&self.stdout).unwrap_or_else(|_| panic!("no JSON: {self:?}"));
        let specific = said["hookSpecificOutput"].clone();
        assert_eq!(specific["hookEventName"], "PreToolUse", "{self:?}");
        specific
    }
}
