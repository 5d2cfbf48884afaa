//! The proxy before a real MCP server, with a real gate behind it and us at its desk.
#![allow(clippy::unwrap_used)]

#[path = "common/desk.rs"]
mod desk;
#[path = "common/peer.rs"]
mod peer;

use std::{
    fs,
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use desk::{Desk, placet};
use peer::Client;
use placet_ipc::Moment;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

const SERVER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/clients/drivers/mcp_server.py");

/// A folder with a gate's places, a workspace, and what the server saw.
struct House(tempfile::TempDir);

impl House {
    fn new(policy: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        for folder in ["c", "w", "log"] {
            fs::create_dir(dir.path().join(folder)).unwrap();
        }
        fs::write(dir.path().join("c/policy.toml"), policy).unwrap();
        Self(dir)
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn file(&self) -> PathBuf {
        self.path().join("w/out.txt")
    }

    /// The lines of the calls that reached the server.
    fn calls(&self) -> Vec<String> {
        let mut names: Vec<_> = fs::read_dir(self.path().join("log")).unwrap().map(|e| e.unwrap().path()).collect();
        names.sort();
        names.iter().map(|name| fs::read_to_string(name).unwrap()).collect()
    }

    fn write(&self, content: &str) -> Value {
        json!({ "name": "write_file", "arguments": { "path": self.file(), "content": content } })
    }

    /// A client with the server behind the proxy, greeted.
    fn client(&self, more: &[&str]) -> Client {
        let mut client = self.silent_client(more);
        let hello = json!({ "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": { "name": "acme-agent", "version": "1" } });
        client.ask(1, "initialize", &hello);
        assert_eq!(client.answer(1)["serverInfo"]["name"], "recorder");
        client.say(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        client
    }

    fn silent_client(&self, more: &[&str]) -> Client {
        let mut command = placet(self.path(), &[&["mcp"], more].concat());
        command.args(["--", "python3", SERVER]).arg(self.path().join("log")).arg("allow");
        command.current_dir(self.path().join("w")).stderr(Stdio::inherit());
        Client::of(command.spawn().unwrap())
    }
}

const ASK: &str = "default = \"ask\"\ntimeout = \"5m\"\n";

fn approve(desk: &mut Desk, card: &Value) {
    desk.call("approvals.approve", json!({ "id": card["id"], "digest": card["digest"] }));
}

#[test]
fn a_call_waits_for_the_person_and_reaches_the_server_byte_for_byte() {
    let house = House::new(ASK);
    let mut desk = Desk::open(house.path());
    let mut client = house.client(&[]);
    client.ask(2, "tools/list", &json!({}));
    assert_eq!(client.answer(2)["tools"][0]["name"], "write_file");
    let file = house.file();
    let line = format!(
        r#"{{"jsonrpc":"2.0", "id":"c-1","method":"tools/call","params":{{"arguments":{{ "path":"{}","content":"\u0068i" }},"name":"write_file"}}}}"#,
        file.display()
    );
    client.line(&line);
    let card = desk.asked();
    assert_eq!(card["tool"], "mcp__recorder__write_file");
    assert_eq!(card["agent"], "acme-agent");
    assert_eq!(card["workspace"], fs::canonicalize(house.path().join("w")).unwrap().to_str().unwrap());
    assert!(house.calls().is_empty());
    approve(&mut desk, &card);
    let answer = client.hear(|message| message["id"] == "c-1");
    assert!(answer["result"]["content"][0]["text"].as_str().unwrap().starts_with("wrote "), "{answer}");
    assert_eq!(house.calls(), [format!("{line}\n")]);
    assert_eq!(fs::read_to_string(file).unwrap(), "hi");
    let ran = desk.hear(|message| message["params"]["kind"] == "call_ran");
    assert_eq!(ran["params"]["outcome"], "ok");
    assert_eq!(ran["params"]["approval"], card["id"]);
}

#[test]
fn a_denied_call_never_reaches_the_server_and_the_model_hears_why() {
    let house = House::new(ASK);
    let mut desk = Desk::open(house.path());
    let mut client = house.client(&["--name", "files"]);
    client.ask(2, "tools/call", &house.write("x"));
    let card = desk.asked();
    assert_eq!(card["tool"], "mcp__files__write_file");
    desk.call("approvals.deny", json!({ "id": card["id"], "note": "Not there." }));
    assert!(client.blocked(2).contains("Not there."));
    assert!(house.calls().is_empty());
}

#[test]
fn what_the_person_changed_is_what_the_server_gets() {
    let house = House::new(ASK);
    let mut desk = Desk::open(house.path());
    let mut client = house.client(&[]);
    client.ask(2, "tools/call", &house.write("long"));
    let card = desk.asked();
    let input = json!({ "path": house.file(), "content": "short" });
    let preview = desk.call("approvals.preview", json!({ "id": card["id"], "input": input }));
    let digest = &preview["digest"];
    desk.call("approvals.approve", json!({ "id": card["id"], "digest": digest, "input": input }));
    client.answer(2);
    assert_eq!(fs::read_to_string(house.file()).unwrap(), "short");
}

#[test]
fn a_held_call_is_told_to_come_back_and_the_retry_finds_the_answer() {
    let house = House::new(ASK);
    let mut desk = Desk::open(house.path());
    let mut client = house.client(&["--hold-ms", "600"]);
    client.ask(2, "tools/call", &house.write("x"));
    let card = desk.asked();
    let (text, is_error) = client.text(2);
    assert!(is_error && text.starts_with("approval pending, id "), "{text}");
    assert!(text.contains(card["id"].as_str().unwrap()) && text.contains("call again with the same arguments"));
    approve(&mut desk, &card);
    client.ask(3, "tools/call", &house.write("x"));
    assert!(!client.text(3).1);
    assert_eq!(house.calls().len(), 1);
    let asked = desk.kept.iter().filter(|message| message["params"]["kind"] == "approval_asked").count();
    assert_eq!(asked, 0, "the person was asked once");
}

#[test]
fn who_asked_for_progress_hears_it_while_a_person_is_asked() {
    let house = House::new(ASK);
    let mut desk = Desk::open(house.path());
    let mut client = house.client(&[]);
    let mut params = house.write("x");
    params["_meta"] = json!({ "progressToken": "p-1" });
    client.ask(2, "tools/call", &params);
    let card = desk.asked();
    let mut last = 0.0;
    for _ in 0..2 {
        let told = client.hear(|message| message["method"] == "notifications/progress")["params"].clone();
        assert_eq!(told["progressToken"], "p-1");
        assert!(told["progress"].as_f64().unwrap() > last);
        last = told["progress"].as_f64().unwrap();
    }
    approve(&mut desk, &card);
    client.answer(2);
}

#[test]
fn a_cancelled_call_is_withdrawn_and_the_server_never_hears_of_it() {
    let house = House::new(ASK);
    let mut desk = Desk::open(house.path());
    let mut client = house.client(&[]);
    client.ask(2, "tools/call", &house.write("x"));
    let card = desk.asked();
    let params = json!({ "requestId": 2, "reason": "changed my mind" });
    client.say(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params }));
    let fact = desk.hear(|message| message["params"]["kind"] == "approval_cancelled");
    assert_eq!((&fact["params"]["approval"], &fact["params"]["reason"]), (&card["id"], &json!("withdrawn")));
    client.ask(3, "ping", &json!({}));
    client.answer(3);
    assert!(client.kept.iter().all(|message| message["id"] != 2), "{:?}", client.kept);
    assert!(house.calls().is_empty());
}

#[test]
fn two_that_wait_get_their_own_answers() {
    let house = House::new(ASK);
    let mut desk = Desk::open(house.path());
    let mut client = house.client(&[]);
    client.ask(2, "tools/call", &house.write("two"));
    let two = desk.asked();
    client.ask(3, "tools/call", &house.write("three"));
    let three = desk.asked();
    approve(&mut desk, &three);
    assert!(!client.text(3).1);
    desk.call("approvals.deny", json!({ "id": two["id"] }));
    client.blocked(2);
    assert_eq!(fs::read_to_string(house.file()).unwrap(), "three");
}

#[test]
fn a_client_that_ends_takes_its_question_and_its_server_along() {
    let house = House::new(ASK);
    let mut desk = Desk::open(house.path());
    let mut client = house.client(&[]);
    client.ask(2, "tools/call", &house.write("x"));
    desk.asked();
    let (code, took) = client.end();
    assert_eq!(code, Some(0));
    assert!(took < Duration::from_secs(6), "{took:?}");
    desk.hear(|message| message["params"]["kind"] == "approval_cancelled");
    desk.hear(|message| message["params"]["kind"] == "session_stopped");
    assert!(house.calls().is_empty());
}

#[test]
fn a_proxy_that_is_killed_leaves_no_question_behind() {
    let house = House::new(ASK);
    let mut desk = Desk::open(house.path());
    let mut client = house.client(&[]);
    client.ask(2, "tools/call", &house.write("x"));
    desk.asked();
    kill_process(Pid::from_child(&client.child), Signal::KILL).unwrap();
    client.child.wait().unwrap();
    let fact = desk.hear(|message| message["params"]["kind"] == "approval_cancelled");
    assert_eq!(fact["params"]["reason"], "agent_gone");
    assert!(house.calls().is_empty());
}

#[test]
fn a_server_that_ends_is_an_error_for_whoever_waits_and_its_code_is_the_proxys() {
    let house = House::new("default = \"ask\"\n[[rule]]\ndecide = \"allow\"\nname = \"q\"\ntool = [\"*quit\"]\n");
    let mut desk = Desk::open(house.path());
    let mut client = house.client(&[]);
    client.ask(2, "tools/call", &house.write("x"));
    desk.asked();
    client.ask(3, "tools/call", &json!({ "name": "quit", "arguments": {} }));
    for id in [2, 3] {
        let answer = client.hear(|message| message["id"] == id);
        assert_eq!(answer["error"]["message"], "The MCP server ended.", "{answer}");
    }
    assert_eq!(client.child.wait().unwrap().code(), Some(7));
    desk.hear(|message| message["params"]["kind"] == "approval_cancelled");
}

#[test]
fn without_a_gate_every_call_is_blocked_and_everything_else_passes() {
    let house = House::new(ASK);
    let mut client = house.client(&[]);
    client.ask(2, "tools/list", &json!({}));
    assert!(client.answer(2)["tools"].is_array());
    let began = Moment::now();
    client.ask(3, "tools/call", &house.write("x"));
    assert!(client.blocked(3).contains("gate cannot be asked"));
    assert!(began.passed() < Duration::from_secs(2));
    assert!(house.calls().is_empty());
}

#[test]
fn no_call_slips_past() {
    let house = House::new(ASK);
    let _desk = Desk::open(house.path());
    // Before the server said who it is there is no name to judge.
    let mut early = house.silent_client(&[]);
    early.ask(2, "tools/call", &house.write("x"));
    early.blocked(2);
    let mut client = house.client(&[]);
    let call = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": house.write("x") }).to_string();
    for line in [
        format!("[{call}]"),
        call.replacen('{', r#"{"method":"ping","#, 1),
        call.replacen('{', r#"{"METHOD":"ping","#, 1),
        call.replacen(r#""method":"tools/call""#, "\"method\":\r\"tools/call\"", 1),
        call.replacen(r#""arguments""#, r#""Arguments":{},"arguments""#, 1),
        call.replacen(r#""arguments""#, r#""Name":"quit","arguments""#, 1),
    ] {
        client.line(&line);
        let answer = client.hear(|message| message.get("error").is_some());
        assert!(answer["error"]["message"].as_str().unwrap().starts_with("Placet "), "{answer}");
    }
    // A call without an id wants no answer, and gets nothing done.
    client.say(&json!({ "jsonrpc": "2.0", "method": "tools/call", "params": house.write("x") }));
    client.ask(9, "ping", &json!({}));
    client.answer(9);
    assert!(house.calls().is_empty());
}

#[test]
fn claude_codes_permission_prompt_is_answered_from_the_desk() {
    let house = House::new(ASK);
    let mut desk = Desk::open(house.path());
    let mut command = placet(house.path(), &["mcp", "--permission-prompt"]);
    let mut client = Client::of(command.current_dir(house.path().join("w")).spawn().unwrap());
    client.ask(1, "initialize", &json!({ "protocolVersion": "2025-11-25", "capabilities": {} }));
    assert_eq!(client.answer(1)["protocolVersion"], "2025-11-25");
    client.ask(2, "tools/list", &json!({}));
    assert_eq!(client.answer(2)["tools"][0]["name"], "approve");
    let prompt = |id: u32, input: &str| {
        format!(
            r#"{{"method":"tools/call","params":{{"name":"approve","arguments":{{"tool_name":"Bash","input":{input},"tool_use_id":"toolu_{id}"}},"_meta":{{"claudecode/toolUseId":"toolu_{id}","progressToken":2}}}},"jsonrpc":"2.0","id":{id}}}"#
        )
    };
    client.line(&prompt(3, r#"{ "command":"touch \u0061" }"#));
    let card = desk.asked();
    assert_eq!((&card["agent"], &card["tool"]), (&json!("claude-code"), &json!("Bash")));
    approve(&mut desk, &card);
    assert_eq!(client.text(3).0, r#"{"behavior":"allow","updatedInput":{ "command":"touch \u0061" }}"#);

    client.line(&prompt(4, r#"{"command":"touch b"}"#));
    let card = desk.asked();
    desk.call("approvals.deny", json!({ "id": card["id"], "note": "Not b." }));
    let answer: Value = serde_json::from_str(&client.text(4).0).unwrap();
    assert_eq!(answer["behavior"], "deny");
    assert!(answer["message"].as_str().unwrap().contains("Not b."), "{answer}");

    for arguments in [json!({}), json!({ "tool_name": "Bash" }), json!({ "tool_name": 1, "input": {} })] {
        client.ask(5, "tools/call", &json!({ "name": "approve", "arguments": arguments }));
        assert!(client.text(5).0.contains(r#""behavior":"deny""#));
    }
    client.ask(6, "tools/call", &json!({ "name": "other", "arguments": {} }));
    assert!(client.hear(|message| message["id"] == 6)["error"].is_object());
    assert_eq!(client.end().0, Some(0));
}

#[test]
fn a_grant_for_a_tool_ends_when_the_server_describes_it_otherwise() {
    let house = House::new(ASK);
    let mut desk = Desk::open(house.path());
    let mut client = house.client(&[]);
    client.ask(2, "tools/list", &json!({}));
    client.answer(2);
    client.ask(3, "tools/call", &house.write("one"));
    let card = desk.asked();
    let scope =
        json!({ "who": "agent_in_workspace", "on": { "mcp_tool": "recorder/write_file" }, "expires_in_ms": 600_000 });
    let given = desk.call("approvals.approve", json!({ "id": card["id"], "digest": card["digest"], "grant": scope }));
    assert_eq!(given["grant"]["state"], "active", "{given}");
    client.answer(3);
    client.ask(4, "tools/call", &house.write("two"));
    client.answer(4);
    assert_eq!(fs::read_to_string(house.file()).unwrap(), "two", "the grant answers");

    client.ask(5, "tools/call", &json!({ "name": "redefine", "arguments": {} }));
    let card = desk.asked();
    approve(&mut desk, &card);
    client.answer(5);
    client.ask(6, "tools/list", &json!({}));
    client.answer(6);
    client.ask(7, "tools/call", &house.write("three"));
    let card = desk.asked();
    assert_eq!(card["tool"], "mcp__recorder__write_file");
    assert_eq!(fs::read_to_string(house.file()).unwrap(), "two");
    let grants = desk.call("grants.list", json!({}));
    assert_eq!(grants["items"][0]["state"], "dead", "{grants}");
    approve(&mut desk, &card);
    client.answer(7);
    assert_eq!(fs::read_to_string(house.file()).unwrap(), "three");
}
