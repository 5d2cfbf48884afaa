//! `placet run` with a provider that answers on loopback: with a gate of its own, and through one that is open.
#![allow(clippy::unwrap_used)]

#[path = "../../agent/tests/wire/server.rs"]
#[allow(dead_code, unreachable_pub)]
mod server;

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    time::Duration,
};

use placet_gate::{Flags, Gate, Host, Options, Places, Seat};
use serde_json::{Value, json};
use server::{Server, stream};

const POLICY: &str = r#"
default = "ask"

[[rule]]
name = "notes may be written"
decide = "allow"
action = ["write"]
path = ["${workspace}/notes/**"]
"#;

struct House(tempfile::TempDir);

impl House {
    /// A workspace, a policy, and a provider that has one file written and is then done.
    fn new(path: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        for folder in ["config", "app/notes"] {
            fs::create_dir_all(dir.path().join(folder)).unwrap();
        }
        fs::write(dir.path().join("config/policy.toml"), POLICY).unwrap();
        let arguments = json!({"path": path, "content": "new"}).to_string();
        let call = json!({"tool_calls": [{"index": 0, "id": "call_A", "type": "function",
            "function": {"name": "write_file", "arguments": arguments}}]});
        let choice =
            |delta: &Value, why: &str| json!({"choices": [{"index": 0, "delta": delta, "finish_reason": why}]});
        let server = Server::start(vec![
            stream(&[choice(&call, "tool_calls")], "data: [DONE]\n\n"),
            stream(&[choice(&json!({"content": "All done."}), "stop")], "data: [DONE]\n\n"),
        ]);
        let agent = format!("[provider]\nkind = \"openai\"\nmodel = \"m\"\nbase_url = \"{}\"\n", server.url);
        fs::write(dir.path().join("config/agent.toml"), agent).unwrap();
        Self(dir)
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_placet"));
        command.arg("--data-dir").arg(self.at("data")).arg("--config-dir").arg(self.at("config"));
        command.args(arguments).arg("--workspace").arg(self.at("app")).stdin(Stdio::null());
        command
    }

    async fn open(&self) -> Gate {
        let flags = Flags { data_dir: Some(self.at("data")), config_dir: Some(self.at("config")), socket: None };
        let places = Places::new(&flags).unwrap();
        placet_gate::open(Options { places, host: Host::Supervised, version: "0".to_owned() }).await.unwrap()
    }
}

fn written(path: &Path) -> Option<String> {
    fs::read_to_string(path).ok()
}

fn last(output: &Output) -> Value {
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    serde_json::from_str(said.lines().last().unwrap_or_default()).unwrap_or_else(|_| panic!("{output:?}"))
}

#[test]
fn without_an_open_gate_what_the_policy_allows_is_done_and_what_it_asks_about_is_denied() {
    let house = House::new("notes/a.txt");
    let output = house.command(&["run", "write it", "--json"]).output().unwrap();
    assert_eq!((output.status.code(), &last(&output)["tally"]["allowed"]), (Some(0), &json!(1)), "{output:?}");
    assert_eq!(written(&house.at("app/notes/a.txt")).as_deref(), Some("new"));

    let house = House::new("src.txt");
    let output = house.command(&["run", "write it"]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(said.contains("would have been asked") && said.contains("No Placet is open"), "{output:?}");
    assert_eq!(written(&house.at("app/src.txt")), None);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_gate_that_is_open_is_the_one_that_is_asked_and_the_person_there_answers() {
    let house = House::new("src.txt");
    let gate = house.open().await;
    let mut running = house.command(&["run", "write it", "--json"]).stdout(Stdio::piped()).spawn().unwrap();
    let desk = gate.desk(Seat::Supervisor);
    let mut asked = Value::Null;
    for _ in 0..2_000 {
        asked = desk.call("approvals.list", json!({"state": "pending"})).await.unwrap()["items"][0].clone();
        if !asked.is_null() || running.try_wait().unwrap().is_some() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!((&asked["tool"], &asked["agent"]), (&json!("write_file"), &json!("builtin")));
    assert_eq!(written(&house.at("app/src.txt")), None, "nothing is done before the yes");
    desk.call("approvals.approve", json!({"id": asked["id"], "digest": asked["digest"]})).await.unwrap();
    let output = tokio::task::spawn_blocking(move || running.wait_with_output().unwrap()).await.unwrap();
    assert_eq!((output.status.code(), &last(&output)["tally"]["asked"]), (Some(0), &json!(1)), "{output:?}");
    assert_eq!(written(&house.at("app/src.txt")).as_deref(), Some("new"));
    gate.close().await;
}

#[test]
fn what_cannot_be_run_is_said_with_the_code_of_a_wrong_command_line() {
    let house = House::new("src.txt");
    for arguments in [&["run"][..], &["run", "--provider", "openai"], &["run", "--provider", "anthropic", "x"]] {
        let output = house.command(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{output:?}");
    }
    fs::remove_file(house.at("config/agent.toml")).unwrap();
    let output = house.command(&["run", "x"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("agent.toml"), "{output:?}");
    assert!(!house.at("data").exists(), "nothing was begun");
}
