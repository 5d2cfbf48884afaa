//! The proxy between an editor and an ACP agent, with a real gate and us at its desk.
#![allow(clippy::unwrap_used)]

#[path = "common/desk.rs"]
mod desk;
#[path = "common/peer.rs"]
mod peer;

use std::{fs, path::Path, process::Stdio};

use desk::{Desk, placet};
use peer::Client;
use serde_json::{Value, json};

const AGENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/clients/drivers/acp_agent.py");

fn house(settings: &str) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for folder in ["c", "w"] {
        fs::create_dir(dir.path().join(folder)).unwrap();
    }
    fs::write(dir.path().join("c/policy.toml"), "default = \"ask\"\ntimeout = \"5m\"\n").unwrap();
    fs::write(dir.path().join("c/settings.toml"), settings).unwrap();
    dir
}

/// An editor with the agent behind the proxy, in a session.
fn editor(house: &Path) -> Client {
    let mut command = placet(house, &["acp"]);
    command.args(["--", "python3", AGENT]).stderr(Stdio::inherit());
    let mut editor = Client::of(command.spawn().unwrap());
    editor.ask(1, "initialize", &json!({ "protocolVersion": 1 }));
    assert_eq!(editor.answer(1)["agentInfo"]["name"], "acme-agent");
    editor.ask(2, "session/new", &json!({ "cwd": house.join("w"), "mcpServers": [] }));
    assert_eq!(editor.answer(2)["sessionId"], "s-1");
    editor
}

fn prompt(editor: &mut Client, id: u32, question: &Value) {
    let text = question.as_str().map_or_else(|| question.to_string(), str::to_owned);
    let params = json!({ "sessionId": "s-1", "prompt": [{ "type": "text", "text": text }] });
    editor.ask(id, "session/prompt", &params);
}

/// As opencode asks.
fn to_run(command: &str, options: &[&str]) -> Value {
    let options: Vec<_> = options.iter().map(|kind| json!({ "optionId": format!("o-{kind}"), "kind": kind })).collect();
    json!({ "toolCall": { "toolCallId": "call_1", "title": command, "kind": "execute", "status": "pending",
        "rawInput": { "command": command } }, "options": options })
}

const ALL: [&str; 4] = ["allow_always", "allow_once", "reject_always", "reject_once"];

fn chosen(editor: &mut Client, id: u32) -> Value {
    let answered = editor.answer(id)["answered"]["outcome"].clone();
    let asked = |message: &&Value| message["method"] == "session/request_permission";
    assert_eq!(editor.kept.iter().filter(asked).count(), 0, "the editor was asked too");
    answered
}

#[test]
fn the_desk_answers_with_the_options_for_once() {
    let house = house("");
    let mut desk = Desk::open(house.path());
    let mut editor = editor(house.path());
    prompt(&mut editor, 3, &to_run("touch a", &ALL));
    let card = desk.asked();
    assert_eq!((&card["agent"], &card["tool"]), (&json!("acme-agent"), &json!("Bash")));
    assert_eq!(card["workspace"], fs::canonicalize(house.path().join("w")).unwrap().to_str().unwrap());
    desk.call("approvals.approve", json!({ "id": card["id"], "digest": card["digest"] }));
    assert_eq!(chosen(&mut editor, 3), json!({ "outcome": "selected", "optionId": "o-allow_once" }));

    prompt(&mut editor, 4, &to_run("touch b", &ALL));
    let card = desk.asked();
    desk.call("approvals.deny", json!({ "id": card["id"] }));
    assert_eq!(chosen(&mut editor, 4), json!({ "outcome": "selected", "optionId": "o-reject_once" }));
}

#[test]
fn an_option_that_is_not_offered_is_not_chosen() {
    let house = house("");
    let mut desk = Desk::open(house.path());
    let mut editor = editor(house.path());
    prompt(&mut editor, 3, &to_run("touch a", &["allow_always", "reject_always"]));
    let card = desk.asked();
    desk.call("approvals.approve", json!({ "id": card["id"], "digest": card["digest"] }));
    assert_eq!(chosen(&mut editor, 3), json!({ "outcome": "cancelled" }));
    // What cannot be read is no question, and gets no yes.
    for question in [json!({ "options": [] }), json!({ "toolCall": {}, "options": 1 })] {
        prompt(&mut editor, 4, &question);
        assert_eq!(chosen(&mut editor, 4), json!({ "outcome": "cancelled" }));
    }
}

#[test]
fn what_is_not_known_for_certain_is_shown_whole() {
    let house = house("");
    let mut desk = Desk::open(house.path());
    let mut editor = editor(house.path());
    // As Gemini CLI asks: the command stands in the title alone.
    let mut question = to_run("touch a", &ALL);
    question["toolCall"].as_object_mut().unwrap().remove("rawInput");
    prompt(&mut editor, 3, &question);
    let card = desk.asked();
    assert_eq!(card["tool"], "acp_execute");
    assert!(card.to_string().contains("touch a"), "{card}");
    desk.call("approvals.deny", json!({ "id": card["id"] }));
    chosen(&mut editor, 3);
}

#[test]
fn a_turn_that_the_editor_cancels_takes_its_question_back() {
    let house = house("");
    let mut desk = Desk::open(house.path());
    let mut editor = editor(house.path());
    prompt(&mut editor, 3, &to_run("touch a", &ALL));
    let card = desk.asked();
    editor.say(&json!({ "jsonrpc": "2.0", "method": "session/cancel", "params": { "sessionId": "s-1" } }));
    assert_eq!(chosen(&mut editor, 3), json!({ "outcome": "cancelled" }));
    let fact = desk.hear(|message| message["params"]["kind"] == "approval_cancelled");
    assert_eq!(fact["params"]["approval"], card["id"]);
}

#[test]
fn without_a_gate_the_answer_is_no_or_the_editors_where_it_was_left_to_it() {
    let deny = house("");
    let mut there = editor(deny.path());
    prompt(&mut there, 3, &to_run("touch a", &ALL));
    assert_eq!(chosen(&mut there, 3), json!({ "outcome": "selected", "optionId": "o-reject_once" }));

    let left = house("when_no_gate = \"client\"\n");
    let mut there = editor(left.path());
    prompt(&mut there, 3, &to_run("touch a", &ALL));
    let question = there.hear(|message| message["method"] == "session/request_permission");
    assert_eq!(question["params"]["toolCall"]["rawInput"]["command"], "touch a");
    let theirs = json!({ "outcome": { "outcome": "selected", "optionId": "o-allow_once" } });
    there.say(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": theirs }));
    assert_eq!(there.answer(3)["answered"], theirs);
}

#[test]
fn the_end_of_either_side_is_the_end_of_the_proxy() {
    let house = house("");
    let mut desk = Desk::open(house.path());
    let mut first = editor(house.path());
    prompt(&mut first, 3, &to_run("touch a", &ALL));
    desk.asked();
    assert_eq!(first.end().0, Some(0));
    desk.hear(|message| message["params"]["kind"] == "approval_cancelled");

    let mut second = editor(house.path());
    prompt(&mut second, 3, &json!("quit"));
    assert_eq!(second.child.wait().unwrap().code(), Some(7));
}
