//! The demo, as the window starts it and as the terminal does.
#![allow(clippy::unwrap_used, missing_docs)]

mod house;

use house::{House, approve, deny, pending, until, wait_for};
use placet_agent::{Bus, Stop, demo};
use placet_gate::{Host, Seat};
use serde_json::{Value, json};

fn tools(items: &[Value]) -> Vec<String> {
    let mut tools: Vec<String> = items
        .iter()
        .map(|item| format!("{} {}", item["agent"].as_str().unwrap(), item["tool"].as_str().unwrap()))
        .collect();
    tools.sort();
    tools
}

fn demo_house() -> House {
    House::with_policy(&format!("{}{}", placet_domain::Policy::default_text(), demo::POLICY_ADDITION))
}

#[tokio::test(flavor = "multi_thread")]
async fn the_window_has_seven_calls_of_seven_kinds_to_answer_and_never_runs_dry() {
    let house = demo_house();
    let gate = house.open(Host::Supervised).await;
    let demo = demo::start(gate.clone()).await.unwrap();
    let items = wait_for(&gate, 7).await;
    assert_eq!(
        tools(&items),
        [
            "builtin delete_file",
            "claude-code Edit",
            "claude-code Write",
            "claude-code mcp__tracker__create_comment",
            "codex Bash",
            "gemini-cli read_file",
            "gemini-cli web_fetch",
        ]
    );
    let flags = |tool: &str| items.iter().find(|item| item["tool"] == tool).unwrap()["flags"].to_string();
    assert!(flags("Edit").contains("symlink"), "{}", flags("Edit"));
    assert!(flags("Bash").contains("uninspectable"), "{}", flags("Bash"));
    assert!(flags("web_fetch").contains("idn"), "{}", flags("web_fetch"));
    assert!(flags("mcp__tracker__create_comment").contains("bidi"), "{}", flags("mcp__tracker__create_comment"));
    assert!(flags("read_file").contains("secret"), "{}", flags("read_file"));

    let workspace = demo.workspace().to_owned();
    for item in &items {
        approve(&gate, item).await;
    }
    // Each answer is followed by the session's next call; one session goes on for ever.
    let read = |path: &str| std::fs::read_to_string(workspace.join(path)).unwrap_or_default();
    until("the sessions did what was approved", async || {
        for item in &pending(&gate).await {
            // What changed meanwhile is answered the next time.
            let params = json!({"id": item["id"], "digest": item["digest"]});
            let _ = gate.desk(Seat::Supervisor).call("approvals.approve", params).await;
        }
        read("config/live/limits.toml").contains("per_minute = 240")
            && read("migrations/0004_customer_phone.sql").contains("phone")
            && !workspace.join("migrations/0003_drop_coupons.sql").exists()
            && read("reports/todo.txt").contains("TODO")
            && read(".tracker/comments.jsonl").contains("ORD-214")
            && read("src/orders.ts").contains("Math.round(input.items")
    })
    .await;
    assert!(read("tests/limits.test.ts").contains("false"), "the protected test is untouched");

    demo.stop().await;
    assert!(!workspace.exists(), "the folder is removed");
    assert_eq!(pending(&gate).await.len(), 0, "nothing is left waiting");
    gate.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_denied_demo_call_does_nothing_and_the_demo_can_be_started_twice() {
    let house = demo_house();
    let gate = house.open(Host::Supervised).await;
    for _ in 0..2 {
        let demo = demo::start(gate.clone()).await.unwrap();
        let items = wait_for(&gate, 7).await;
        let delete = items.iter().find(|item| item["tool"] == "delete_file").unwrap();
        deny(&gate, delete, "keep it").await;
        let session = &delete["session"];
        until("its session heard the no", async || {
            let stopped = gate.desk(Seat::Supervisor).call("sessions.list", json!({"running": true})).await.unwrap();
            let is_there = stopped["items"].as_array().unwrap().iter().any(|item| item["id"] == *session);
            !is_there
                || pending(&gate).await.iter().any(|item| item["session"] == *session && item["id"] != delete["id"])
        })
        .await;
        assert!(demo.workspace().join("migrations/0003_drop_coupons.sql").exists());
        demo.stop().await;
    }
    gate.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_terminals_demo_meets_every_kind_of_answer_and_counts_them() {
    let summary = demo::terminal(Bus::default(), Stop::default()).await.unwrap();
    assert_eq!(
        serde_json::to_value(summary.tally).unwrap(),
        serde_json::json!({
            "calls": 6, "allowed": 3, "denied": 3, "asked": 2, "blocked_protected": 1, "clamped": 1, "masked": 1,
            "audited": 6,
        })
    );
}
