//! A hook that finds no gate, by what `settings.toml` says.
#![allow(clippy::unwrap_used)]

#[path = "common/desk.rs"]
mod desk;

use std::{
    fs,
    io::Write as _,
    path::Path,
    process::{Command, Output},
    time::Duration,
};

use desk::{SOON, placet};
use placet_ipc::Moment;
use rustix::process::{Pid, Signal, getsid, kill_process};
use serde_json::{Value, json};

const LETS_READ: &str = "default = \"ask\"\n[[rule]]\nname = \"read\"\ndecide = \"allow\"\naction = [\"read\"]\n";

/// A gate's folders with this setting, and a workspace; whatever gate was started there ends with it.
struct House(tempfile::TempDir);

impl House {
    fn where_(when_no_gate: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        for folder in ["c", "w"] {
            fs::create_dir(dir.path().join(folder)).unwrap();
        }
        fs::write(dir.path().join("c/policy.toml"), LETS_READ).unwrap();
        fs::write(dir.path().join("c/settings.toml"), format!("when_no_gate = \"{when_no_gate}\"\n")).unwrap();
        fs::write(dir.path().join("w/a.txt"), "a").unwrap();
        Self(dir)
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn hook(&self) -> Command {
        let mut command = placet(self.path(), &["hook", "claude-code"]);
        command.env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY");
        command
    }

    /// Asks to read a file of the workspace.
    fn reads(&self, command: &mut Command) -> Output {
        let payload = json!({ "session_id": "s", "cwd": self.path().join("w"), "hook_event_name": "PreToolUse",
            "tool_name": "Read", "tool_input": { "file_path": self.path().join("w/a.txt") }, "tool_use_id": "t" });
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(payload.to_string().as_bytes()).unwrap();
        child.wait_with_output().unwrap()
    }

    fn status(&self) -> Option<Value> {
        let output = placet(self.path(), &["status", "--json"]).output().unwrap();
        output.status.success().then(|| serde_json::from_slice(&output.stdout).unwrap())
    }
}

impl Drop for House {
    fn drop(&mut self) {
        let Some(status) = self.status() else { return };
        let pid = Pid::from_raw(i32::try_from(status["pid"].as_i64().unwrap()).unwrap()).unwrap();
        let _ = kill_process(pid, Signal::TERM);
        let until = Moment::in_(SOON);
        while self.status().is_some() && !until.left().is_zero() {
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

fn decision(output: &Output) -> (String, String) {
    let said: Value = serde_json::from_slice(&output.stdout).unwrap();
    let said = &said["hookSpecificOutput"];
    let word = |key: &str| said[key].as_str().unwrap().to_owned();
    (word("permissionDecision"), word("permissionDecisionReason"))
}

#[test]
fn a_hook_starts_the_gate_that_it_does_not_find_and_asks_it() {
    let house = House::where_("start");
    let output = house.reads(&mut house.hook());
    assert_eq!(decision(&output).0, "allow", "{output:?}");
    let status = house.status().unwrap();
    assert_eq!(status["host"], "serve");
    // It belongs to nobody who could take it along when they end, and knows nothing of their environment.
    let pid = status["pid"].as_i64().unwrap();
    let own = Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    assert_eq!(getsid(Some(own)).unwrap(), own);
    assert_eq!(fs::read_link(format!("/proc/{pid}/cwd")).unwrap(), Path::new("/"));
    assert_eq!(fs::read_link(format!("/proc/{pid}/fd/1")).unwrap(), Path::new("/dev/null"));
}

#[test]
fn what_it_starts_inherits_nothing_that_an_agent_could_have_set() {
    let house = House::where_("start");
    let mut hook = house.hook();
    hook.env("LD_LIBRARY_PATH", "/nowhere").env("AGENTS_OWN", "1").env("PATH", "/nowhere");
    assert_eq!(decision(&house.reads(&mut hook)).0, "allow");
    let pid = house.status().unwrap()["pid"].as_i64().unwrap();
    let environment = fs::read(format!("/proc/{pid}/environ")).unwrap();
    let environment = String::from_utf8_lossy(&environment).into_owned();
    assert!(!environment.contains("/nowhere") && !environment.contains("AGENTS_OWN"), "{environment}");
}

#[test]
fn hooks_that_start_together_start_one_gate() {
    let house = House::where_("start");
    std::thread::scope(|scope| {
        let hooks: Vec<_> = (0..4).map(|_| scope.spawn(|| house.reads(&mut house.hook()))).collect();
        for hook in hooks {
            assert_eq!(decision(&hook.join().unwrap()).0, "allow");
        }
    });
    let output = placet(house.path(), &["history", "export"]).output().unwrap();
    let starts = String::from_utf8(output.stdout).unwrap().matches("app_started").count();
    assert_eq!(starts, 1);
}

#[test]
fn a_window_that_cannot_be_opened_is_no_reason_to_have_no_gate() {
    let house = House::where_("start");
    let mut hook = house.hook();
    hook.env("DISPLAY", ":nonsense").env("WAYLAND_DISPLAY", "nonsense");
    let output = house.reads(&mut hook);
    assert_eq!(decision(&output).0, "allow", "{output:?}");
    assert_eq!(house.status().unwrap()["host"], "serve");
}

#[test]
fn where_it_is_to_deny_it_denies_within_two_seconds_and_starts_nothing() {
    for word in ["deny", "no such word"] {
        let house = House::where_(word);
        let began = Moment::now();
        let (decision, reason) = decision(&house.reads(&mut house.hook()));
        assert_eq!(decision, "deny");
        assert!(reason.contains("gate cannot be asked"), "{reason}");
        assert!(began.passed() < Duration::from_secs(2));
        assert!(house.status().is_none());
    }
}

#[test]
fn where_it_is_left_to_the_client_the_hook_says_nothing() {
    let house = House::where_("client");
    let output = house.reads(&mut house.hook());
    assert_eq!((output.status.code(), output.stdout.len()), (Some(0), 0), "{output:?}");
    assert!(house.status().is_none());
}
