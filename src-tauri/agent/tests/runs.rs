//! Runs as the window starts them: by an order, and taken up again when the window comes back.
#![allow(clippy::unwrap_used, missing_docs)]

mod house;
mod wire;

use std::{path::PathBuf, time::Duration};

use house::{House, approve, pending, told, until, wait_for};
use placet_agent::{Ending, Order, Runs, StartError, Told, Watched};
use placet_domain::SessionId;
use placet_gate::{Gate, Host, Seat};
use serde_json::{Value, json};
use wire::server::{Server, stream};

fn calls(tool: &str, arguments: &Value) -> String {
    let delta = json!({"tool_calls": [{"index": 0, "id": "call_A", "type": "function",
        "function": {"name": tool, "arguments": arguments.to_string()}}]});
    stream(&[json!({"choices": [{"index": 0, "delta": delta, "finish_reason": "tool_calls"}]})], "data: [DONE]\n\n")
}

fn says(text: &str) -> String {
    stream(
        &[json!({"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": "stop"}]})],
        "data: [DONE]\n\n",
    )
}

fn runs(house: &House, gate: &Gate) -> Runs {
    Runs::new(gate.clone(), &house.dir.path().join("config"), &house.dir.path().join("data"))
}

fn answered_by(house: &House, server: &Server) {
    let text = format!("[provider]\nkind = \"openai\"\nmodel = \"m\"\nbase_url = \"{}\"\n", server.url);
    std::fs::write(house.dir.path().join("config/agent.toml"), text).unwrap();
}

fn order(house: &House) -> Order {
    Order { workspace: Some(house.workspace.clone()), task: Some("do it".to_owned()), ..Order::default() }
}

async fn until_stopped(gate: &Gate, session: SessionId) {
    let desk = gate.desk(Seat::Supervisor);
    for _ in 0..1_000 {
        let list = desk.call("sessions.list", json!({"running": true})).await.unwrap();
        if list["items"].as_array().unwrap().iter().all(|item| item["id"] != session.to_string()) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("the session {session} goes on");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_demo_is_started_asks_and_is_stopped_which_withdraws_what_it_asked() {
    let house = House::with_policy(&format!(
        "{}{}",
        placet_domain::Policy::default_text(),
        placet_agent::demo::POLICY_ADDITION
    ));
    let gate = house.open(Host::Supervised).await;
    let runs = runs(&house, &gate);
    let session = runs.start(Order { provider: Some("demo".to_owned()), ..Order::default() }).await.unwrap();
    assert_eq!(wait_for(&gate, 1).await[0]["session"], session.to_string());
    assert!(runs.stop(session));
    until_stopped(&gate, session).await;
    assert!(pending(&gate).await.is_empty());
    for _ in 0..500 {
        if !runs.stop(session) {
            return gate.close().await;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("a run that is over is still known");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_the_window_left_waiting_is_taken_up_and_the_answer_lets_it_go_on() {
    let house = House::new();
    let server =
        Server::start(vec![calls("write_file", &json!({"path": "src/new.rs", "content": "new"})), says("done")]);
    answered_by(&house, &server);
    let gate = house.open(Host::Supervised).await;
    let session = runs(&house, &gate).start(order(&house)).await.unwrap();
    let before = wait_for(&gate, 1).await;
    let journals = house.dir.path().join("data/runs");
    let noted = async || {
        let path = std::fs::read_dir(&journals).unwrap().next().unwrap().unwrap().path();
        std::fs::read_to_string(path).unwrap().contains("\"asked\"")
    };
    until("the journal has the question", noted).await;
    gate.close().await;

    let gate = house.open(Host::Supervised).await;
    let runs = runs(&house, &gate);
    assert_eq!(runs.take_up().await, [session]);
    let after = wait_for(&gate, 1).await;
    assert_eq!(after[0]["id"], before[0]["id"], "it is the same question");
    approve(&gate, &after[0]).await;
    until_stopped(&gate, session).await;
    assert_eq!(house.text("src/new.rs"), "new");
    assert_eq!(server.heard().len(), 2, "the provider was not asked twice for what it had said");
    assert!(runs.take_up().await.is_empty(), "a run that is over is over");
    gate.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_that_the_person_ends_stops_its_run() {
    let house = House::new();
    let server = Server::start(vec![calls("write_file", &json!({"path": "src/new.rs", "content": "new"}))]);
    answered_by(&house, &server);
    let gate = house.open(Host::Supervised).await;
    let runs = runs(&house, &gate);
    let session = runs.start(order(&house)).await.unwrap();
    wait_for(&gate, 1).await;
    gate.desk(Seat::Supervisor).call("sessions.stop", json!({"session": session})).await.unwrap();
    for _ in 0..1_000 {
        if !runs.stop(session) {
            assert_eq!(server.heard().len(), 1, "the provider is not asked again");
            return gate.close().await;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("the run goes on");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_that_lacks_something_says_what() {
    let house = House::new();
    let gate = house.open(Host::Supervised).await;
    let runs = runs(&house, &gate);
    let without_file = runs.start(order(&house)).await.unwrap_err();
    assert!(without_file.to_string().contains("agent.toml"), "{without_file}");
    let relative = Order { workspace: Some(PathBuf::from("app")), ..order(&house) };
    assert!(matches!(runs.start(relative).await, Err(StartError::Lacks(_))));
    assert!(matches!(runs.start(Order { task: None, ..order(&house) }).await, Err(StartError::Lacks(_))));
    std::fs::write(
        house.dir.path().join("config/agent.toml"),
        "[provider]\nkind = \"openai\"\nmodel = \"m\"\nbase_url = \"http://127.0.0.1:1\"\n",
    )
    .unwrap();
    let other = runs.start(Order { provider: Some("anthropic".to_owned()), ..order(&house) }).await.unwrap_err();
    assert!(other.to_string().contains("openai, not anthropic"), "{other}");
    gate.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_is_followed_from_its_beginning_by_whoever_comes_and_can_be_read_when_it_is_over() {
    let house = House::new();
    house.put("src/secret.env", "API_KEY=abcdefghij0123456789\n");
    let server = Server::start(vec![
        calls("read_file", &json!({"path": "src/secret.env"})),
        calls("write_file", &json!({"path": "src/new.rs", "content": "new"})),
        says("done"),
    ]);
    answered_by(&house, &server);
    let gate = house.open(Host::Supervised).await;
    let runs = runs(&house, &gate);
    let session = runs.start(Order { max_turns: Some(3), ..order(&house) }).await.unwrap();
    let waiting = wait_for(&gate, 1).await;
    let mut followed = runs.follow(session).unwrap();
    let words = |told: &[Told]| -> Vec<String> {
        let told = serde_json::to_value(told).unwrap();
        told.as_array().unwrap().iter().map(|told| told["event"].as_str().unwrap().to_owned()).collect()
    };
    let so_far = serde_json::to_string(&followed.told).unwrap();
    assert!(so_far.contains("[masked") && !so_far.contains("abcdefghij"), "{so_far}");
    approve(&gate, &waiting[0]).await;
    let Watched::Ended { ending, tally } = told(&mut followed.next, |told| matches!(told, Watched::Ended { .. })).await
    else {
        unreachable!("what was waited for")
    };
    assert_eq!((ending, tally.calls, tally.allowed, tally.asked, tally.masked), (Ending::Done, 2, 2, 1, 1));
    until_stopped(&gate, session).await;
    until("the run is over", async || !runs.stop(session)).await;
    let all = runs.follow(session).unwrap();
    assert!(!all.forgotten);
    let expected = [
        &["session_started"][..],
        &["turn_started", "usage", "tool_started", "tool_ended"],
        &["turn_started", "usage", "tool_started", "tool_waits", "tool_ended"],
        &["turn_started", "text", "usage", "ended"],
    ];
    let expected = expected.concat();
    assert_eq!(words(&all.told), expected);
    assert!(runs.follow("01890a5d-ac96-774b-bcce-b302099a8057".parse().unwrap()).is_none());
    gate.close().await;
}
