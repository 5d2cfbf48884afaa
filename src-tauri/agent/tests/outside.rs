//! What people bring along: hooks in any language, and MCP servers.
#![allow(clippy::unwrap_used, missing_docs)]

mod house;

use std::{os::unix::fs::PermissionsExt as _, path::PathBuf, sync::Arc};

use house::{House, approve, deny, questions, results, run, wait_for};
use placet_agent::{
    Ending,
    hooks::{External, Names, external::ExternalConfig},
    mcp::{self, McpConfig},
    provider::scripted::{calls, says},
};
use placet_gate::Host;
use serde_json::{Value, json};

/// A hook in a shell, kept in the house beside the workspace.
fn hook(house: &House, name: &str, events: &[&str], script: &str) -> Arc<External> {
    let path = program(house, name, &format!("#!/bin/sh\n{script}\n"));
    let config = ExternalConfig {
        name: name.to_owned(),
        command: vec![path.to_str().unwrap().to_owned()],
        events: events.iter().map(|event| (*event).to_owned()).collect(),
        matcher: Some("write_.*".to_owned()),
        timeout_ms: Some(2_000),
        names: Names::Own,
    };
    Arc::new(External::try_from(config).unwrap())
}

fn program(house: &House, name: &str, text: &str) -> PathBuf {
    let path = house.dir.path().join(name);
    std::fs::write(&path, text).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path
}

/// Runs one write with one hook and gives the ending, what the model reads, and what is on disk.
async fn with_hook(events: &[&str], script: &str) -> (Ending, String, Option<String>) {
    let house = House::new();
    let gate = house.open(Host::Serve).await;
    let (mut options, provider) =
        house.options(vec![calls("c", &[("write_file", json!({"path": "notes/a", "content": "x"}))]), says("done")]);
    options.hooks = vec![hook(&house, "mine", events, script)];
    let summary = run(&gate, options).await;
    gate.close().await;
    let said = provider.asked().len() > 1;
    let text = if said { results(&provider)[0].text.clone() } else { String::new() };
    (summary.ending, text, std::fs::read_to_string(house.workspace.join("notes/a")).ok())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hook_gets_what_claude_code_gives_its_hooks() {
    let house = House::new();
    let gate = house.open(Host::Serve).await;
    let (mut options, _) =
        house.options(vec![calls("c", &[("write_file", json!({"path": "notes/a", "content": "x"}))]), says("done")]);
    let events = ["BeforeTurn", "BeforeProvider", "PreToolUse", "PostToolUse", "AfterTurn", "Stop"];
    options.attributes = [("tier".to_owned(), "free".to_owned())].into();
    options.hooks = vec![hook(
        &house,
        "mine",
        &events,
        &format!("cat >> {0}/heard; echo >> {0}/heard", house.dir.path().display()),
    )];
    run(&gate, options).await;
    let heard: Vec<Value> = std::fs::read_to_string(house.dir.path().join("heard"))
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let names: Vec<&str> = heard.iter().map(|event| event["hook_event_name"].as_str().unwrap()).collect();
    assert_eq!(
        names,
        [
            "BeforeTurn",
            "BeforeProvider",
            "PreToolUse",
            "PostToolUse",
            "AfterTurn",
            "BeforeTurn",
            "BeforeProvider",
            "AfterTurn",
            "Stop",
        ]
    );
    assert_eq!(
        (&heard[0]["turn"], &heard[0]["messages"]),
        (&json!(1), &json!([{"role": "user", "text": "do it"}])),
        "the conversation so far"
    );
    let later = heard[6]["messages"].as_array().unwrap();
    assert_eq!(later[1]["calls"][0]["tool"], "write_file");
    assert_eq!((&later[2]["role"], &later[2]["results"][0]["is_error"]), (&json!("results"), &json!(false)));
    for event in &heard {
        assert_eq!((&event["agent"], &event["attributes"]), (&json!("builtin"), &json!({"tier": "free"})), "{event}");
    }
    let pre = &heard[2];
    assert_eq!(
        (&pre["tool_name"], &pre["tool_input"]),
        (&json!("write_file"), &json!({"path": "notes/a", "content": "x"}))
    );
    assert_eq!((&pre["tool_use_id"], &pre["cwd"]), (&json!("c_0"), &json!(house.workspace)));
    assert!(pre["session_id"].is_string() && pre["permission_mode"] == "default");
    assert!(heard[3]["tool_response"]["text"].as_str().unwrap().starts_with("Wrote"));
    assert_eq!(heard[8]["last_assistant_message"], "done");
    gate.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hook_denies_in_each_of_the_ways_it_may() {
    for script in [
        r#"echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"not here"}}'"#,
        r#"echo '{"decision":"block","reason":"not here"}'"#,
        "echo 'not here' >&2; exit 2",
    ] {
        let (ending, text, disk) = with_hook(&["PreToolUse"], script).await;
        assert_eq!((ending, disk), (Ending::Done, None), "{script}");
        assert!(text.starts_with("BLOCKED: not here"), "{text}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hook_passes_rewrites_and_adds_words() {
    let rewrite = r#"echo '{"hookSpecificOutput":{"permissionDecision":"allow","updatedInput":{"path":"notes/a","content":"y"}}}'"#;
    assert_eq!(with_hook(&["PreToolUse"], rewrite).await.2.unwrap(), "y");
    assert_eq!(with_hook(&["PreToolUse"], "echo looks fine").await.2.unwrap(), "x");
    let words = r#"echo '{"hookSpecificOutput":{"additionalContext":"remember the changelog"}}'"#;
    let (_, text, _) = with_hook(&["PostToolUse"], words).await;
    assert_eq!(text, "Wrote 1 bytes to notes/a.\nremember the changelog");
    let whole = r#"echo '{"hookSpecificOutput":{"updatedToolOutput":"something else"}}'"#;
    assert_eq!(with_hook(&["PostToolUse"], whole).await.1, "something else");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hook_cannot_widen_what_the_gate_allows() {
    let allow = r#"echo '{"hookSpecificOutput":{"permissionDecision":"allow","updatedInput":{"path":"tests/main.rs","content":"y"}}}'"#;
    let house = House::new();
    let gate = house.open(Host::Serve).await;
    let (mut options, provider) =
        house.options(vec![calls("c", &[("write_file", json!({"path": "notes/a", "content": "x"}))]), says("done")]);
    options.hooks = vec![hook(&house, "mine", &["PreToolUse"], allow)];
    run(&gate, options).await;
    assert!(results(&provider)[0].text.contains("Tests are protected"), "what was rewritten is what is judged");
    assert_eq!(house.text("tests/main.rs"), "assert!(true)\n");
    gate.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_broken_pre_hook_ends_the_run_and_a_broken_post_hook_does_not() {
    for script in ["exit 1", "kill -9 $$", "sleep 20", "echo '{broken'", r#"echo '{"decision":"maybe"}'"#] {
        let (ending, _, disk) = with_hook(
            &["PreToolUse", "BeforeTurn"],
            &format!("read -r x; case $x in *BeforeTurn*) exit 0;; esac; {script}"),
        )
        .await;
        assert!(matches!(ending, Ending::HookFailed { ref hook, .. } if hook == "mine"), "{script}: {ending:?}");
        assert_eq!(disk, None, "{script}");
    }
    let (ending, text, disk) = with_hook(&["PostToolUse", "Stop"], "exit 1").await;
    assert_eq!((ending, disk.as_deref()), (Ending::Done, Some("x")));
    assert_eq!(text, "Wrote 1 bytes to notes/a.\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hook_that_says_ask_has_a_person_asked_even_where_the_policy_allows() {
    // Everything is allowed, and what is not is denied: only the hook's word puts a question.
    let house = House::with_policy(
        "default = \"deny\"\n[[rule]]\nname = \"all\"\ndecide = \"allow\"\ntool = [\"*\"]\npath = [\"/**\"]\n\
         [[rule]]\nname = \"all tools\"\ndecide = \"allow\"\ntool = [\"*\"]\n",
    );
    let gate = house.open(Host::Supervised).await;
    assert!(!gate.policy_is_broken());
    let (mut options, provider) =
        house.options(vec![calls("c", &[("write_file", json!({"path": "notes/a", "content": "x"}))]), says("done")]);
    let ask = r#"echo '{"hookSpecificOutput":{"permissionDecision":"ask","permissionDecisionReason":"odd name"}}'"#;
    options.hooks = vec![hook(&house, "mine", &["PreToolUse"], ask)];
    let running = tokio::spawn({
        let gate = gate.clone();
        async move { run(&gate, options).await }
    });
    let items = wait_for(&gate, 1).await;
    assert_eq!(items[0]["tool"], "write_file", "the call itself is asked about");
    let card =
        gate.desk(placet_gate::Seat::Supervisor).call("approvals.get", json!({"id": items[0]["id"]})).await.unwrap();
    let why = card["rule_reason"].as_str().unwrap();
    assert!(why.starts_with("The hook “mine” asks: odd name"), "{why}");
    assert!(why.contains("would let it through"), "{why}");
    deny(&gate, &items[0], "no").await;
    running.await.unwrap();
    assert!(results(&provider)[0].text.starts_with("BLOCKED: "));
    assert!(!house.workspace.join("notes/a").exists());
    gate.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hooks_ask_and_the_policys_are_one_question_and_one_yes_answers_both() {
    let house = House::new();
    let gate = house.open(Host::Supervised).await;
    let mut facts = gate.facts();
    let (mut options, provider) =
        house.options(vec![calls("c", &[("write_file", json!({"path": "src/a", "content": "x"}))]), says("done")]);
    let ask = r#"echo '{"hookSpecificOutput":{"permissionDecision":"ask","permissionDecisionReason":"new file"}}'"#;
    options.hooks = vec![hook(&house, "mine", &["PreToolUse"], ask), hook(&house, "other", &["PreToolUse"], ask)];
    let running = tokio::spawn({
        let gate = gate.clone();
        async move { run(&gate, options).await }
    });
    approve(&gate, &wait_for(&gate, 1).await[0]).await;
    let summary = running.await.unwrap();
    assert_eq!((summary.tally.asked, summary.approvals), (1, 1));
    assert_eq!(results(&provider)[0].text, "Wrote 1 bytes to src/a.\n");
    assert_eq!(questions(&mut facts), 1);
    gate.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_policy_denies_is_denied_whatever_a_hook_asks() {
    for policy in [house::POLICY, "default = \"deny\"\n"] {
        let house = House::with_policy(policy);
        let gate = house.open(Host::Supervised).await;
        let mut facts = gate.facts();
        let (mut options, provider) = house.options(vec![
            calls("c", &[("write_file", json!({"path": "tests/main.rs", "content": "x"}))]),
            says("done"),
        ]);
        let ask = r#"echo '{"hookSpecificOutput":{"permissionDecision":"ask"}}'"#;
        options.hooks = vec![hook(&house, "mine", &["PreToolUse"], ask)];
        run(&gate, options).await;
        assert!(results(&provider)[0].text.starts_with("BLOCKED: "), "{policy}");
        assert_eq!(questions(&mut facts), 0, "{policy}");
        assert_eq!(house.text("tests/main.rs"), "assert!(true)\n");
        gate.close().await;
    }
}

/// As people have them: written for Claude Code, by its names and fields.
const FOR_CLAUDE_CODE: &str = r#"#!/usr/bin/env python3
import json, sys
event = json.load(sys.stdin)
tool, given = event["tool_name"], event["tool_input"]
if tool == "Bash" and "curl" in given["command"]:
    print("no network from here", file=sys.stderr)
    sys.exit(2)
if tool == "Write" and given["file_path"].endswith("/notes/a"):
    changed = {**given, "file_path": given["file_path"] + ".md"}
    print(json.dumps({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow", "updatedInput": changed}}))
"#;

#[tokio::test(flavor = "multi_thread")]
async fn a_hook_that_was_written_for_claude_code_sees_its_names_and_is_obeyed() {
    let house = House::new();
    let gate = house.open(Host::Serve).await;
    let (mut options, provider) = house.options(vec![
        calls(
            "c",
            &[
                ("run_command", json!({"command": "curl https://example.com"})),
                ("write_file", json!({"path": "notes/a", "content": "x"})),
                ("read_file", json!({"path": "src/main.rs"})),
            ],
        ),
        says("done"),
    ]);
    let path = program(&house, "guard.py", FOR_CLAUDE_CODE);
    let config = format!(
        "name = \"guard\"\ncommand = [{path:?}]\nevents = [\"PreToolUse\"]\nmatcher = \"Bash|Write\"\nnames = \"claude-code\"\n"
    );
    let config: ExternalConfig = toml::from_str(&config).unwrap();
    options.hooks = vec![Arc::new(External::try_from(config).unwrap())];
    run(&gate, options).await;
    let results = results(&provider);
    assert!(results[0].text.starts_with("BLOCKED: no network from here"), "{results:?}");
    assert_eq!(results[1].text, format!("Wrote 1 bytes to {}/notes/a.md.\n", house.workspace.display()));
    assert_eq!(results[2].text, "fn main() {}\n");
    assert_eq!(house.text("notes/a.md"), "x");
    gate.close().await;
}

const SERVER: &str = r#"#!/usr/bin/env python3
import json, sys
def say(m): print(json.dumps(m), flush=True)
for line in sys.stdin:
    m = json.loads(line)
    if m.get("method") == "initialize":
        say({"jsonrpc": "2.0", "id": "s1", "method": "roots/list"})
        say({"jsonrpc": "2.0", "id": m["id"], "result": {"protocolVersion": m["params"]["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": {"name": "t", "version": "1"}}})
    elif m.get("method") == "tools/list":
        if "cursor" not in m["params"]:
            say({"jsonrpc": "2.0", "id": m["id"], "result": {"tools": [{"name": "shout", "inputSchema": {"type": "object"}}], "nextCursor": "2"}})
        else:
            say({"jsonrpc": "2.0", "id": m["id"], "result": {"tools": [{"name": "bad name", "inputSchema": {}}, {"name": "fail", "inputSchema": {"type": "object"}}]}})
    elif m.get("method") == "tools/call":
        if m["params"]["name"] == "fail":
            sys.exit(1)
        say({"jsonrpc": "2.0", "id": m["id"], "result": {"content": [{"type": "text", "text": m["params"]["arguments"]["text"].upper()}]}})
"#;

#[tokio::test(flavor = "multi_thread")]
async fn an_mcp_servers_tools_appear_beside_the_others_and_walk_the_corridor() {
    let policy = format!(
        "{}\n[[rule]]\nname = \"shouting\"\ndecide = \"allow\"\ntool = [\"mcp__loud__shout\", \"mcp__loud__fail\"]\n",
        house::POLICY
    );
    let house = House::with_policy(&policy);
    let path = program(&house, "server.py", SERVER);
    let config = McpConfig {
        name: "loud".into(),
        command: vec!["python3".into(), path.to_str().unwrap().into()],
        env: std::collections::BTreeMap::new(),
    };
    let tools = mcp::connect(&config).await.unwrap();
    assert_eq!(tools.iter().map(|tool| tool.spec().name).collect::<Vec<_>>(), ["mcp__loud__shout", "mcp__loud__fail"]);
    let gate = house.open(Host::Serve).await;
    let (mut options, provider) = house.options(vec![
        calls("c", &[("mcp__loud__shout", json!({"text": "hello"})), ("mcp__loud__fail", json!({}))]),
        says("done"),
    ]);
    options.extra_tools = tools;
    run(&gate, options).await;
    let results = results(&provider);
    assert_eq!(results[0].text, "HELLO");
    assert!(results[1].is_error && results[1].text.contains("The server ended."), "{results:?}");
    gate.close().await;
}
