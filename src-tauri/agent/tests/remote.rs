//! A run whose gate is in another process, asked over the socket: only what that gate cleared is run.
#![allow(clippy::unwrap_used, missing_docs)]

mod house;

use std::sync::Arc;

use house::{House, approve, deny, pending, results, wait_for};
use placet_agent::{
    Bus, Ending, Options, Stop, Summary,
    provider::scripted::{Scripted, calls, says},
};
use placet_gate::{Gate, Host, Remote, Seat};
use serde_json::{Value, json};
use tokio::task::JoinHandle;

fn start(house: &House, script: &[(&str, Value)], stop: &Stop) -> (JoinHandle<Summary>, Arc<Scripted>) {
    let remote = Remote::reach(&house.places()).unwrap();
    let (options, provider): (Options, _) = house.options(vec![calls("c", script), says("done")]);
    let stop = stop.clone();
    let running = tokio::spawn(async move { placet_agent::run(remote, options, Bus::default(), stop).await.unwrap() });
    (running, provider)
}

async fn history(gate: &Gate) -> Vec<Value> {
    let found = gate.desk(Seat::Supervisor).call("history.search", json!({})).await.unwrap();
    found["items"].as_array().unwrap().clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_other_gate_allows_runs_once_what_it_denies_does_not_and_both_stand_in_its_history() {
    let house = House::new();
    let gate = house.open(Host::Supervised).await;
    let script = [
        ("write_file", json!({"path": "notes/a", "content": "by a rule"})),
        ("write_file", json!({"path": "tests/main.rs", "content": "cheat"})),
        ("write_file", json!({"path": "src/new.rs", "content": "by a person"})),
        ("write_file", json!({"path": "src/other.rs", "content": "no"})),
    ];
    let (running, provider) = start(&house, &script, &Stop::default());
    let asked = wait_for(&gate, 1).await;
    assert!(!house.workspace.join("src/new.rs").exists());
    approve(&gate, &asked[0]).await;
    let mut next = wait_for(&gate, 1).await;
    while next[0]["id"] == asked[0]["id"] {
        next = wait_for(&gate, 1).await;
    }
    deny(&gate, &next[0], "not that one").await;
    let summary = running.await.unwrap();
    assert_eq!(summary.ending, Ending::Done);
    assert_eq!((summary.tally.allowed, summary.tally.denied, summary.approvals), (2, 2, 1));
    assert_eq!((house.text("notes/a"), house.text("src/new.rs")), ("by a rule".to_owned(), "by a person".to_owned()));
    assert_eq!(house.text("tests/main.rs"), "assert!(true)\n");
    assert!(!house.workspace.join("src/other.rs").exists());
    let results = results(&provider);
    assert!(results[1].text.contains("Tests are protected"), "{results:?}");
    assert!(results[3].text.contains("not that one"), "{results:?}");
    assert_eq!(history(&gate).await.len(), 4);
    gate.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_changes_after_the_question_voids_the_yes() {
    let house = House::new();
    let gate = house.open(Host::Supervised).await;
    let script = [("edit_file", json!({"path": "src/main.rs", "old_string": "fn main", "new_string": "pub fn main"}))];
    let (running, provider) = start(&house, &script, &Stop::default());
    let asked = wait_for(&gate, 1).await;
    // The card that the person saw shows the old file; their answer and the change race.
    let desk = gate.desk(Seat::Supervisor);
    house.put("src/main.rs", "fn main() { evil() }\n");
    let answer = desk.call("approvals.approve", json!({"id": asked[0]["id"], "digest": asked[0]["digest"]})).await;
    if answer.is_err() {
        deny(&gate, &pending(&gate).await[0], "it changed").await;
    }
    running.await.unwrap();
    assert_eq!(house.text("src/main.rs"), "fn main() { evil() }\n", "{:?}", results(&provider));
    gate.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_gate_that_comes_back_has_the_question_still_and_its_answer_is_heard() {
    let house = House::new();
    let gate = house.open(Host::Supervised).await;
    let (running, _) =
        start(&house, &[("write_file", json!({"path": "src/new.rs", "content": "new"}))], &Stop::default());
    let before = wait_for(&gate, 1).await;
    gate.close().await;
    let gate = house.open(Host::Supervised).await;
    let after = wait_for(&gate, 1).await;
    assert_eq!(after[0]["id"], before[0]["id"]);
    approve(&gate, &after[0]).await;
    assert_eq!(running.await.unwrap().ending, Ending::Done);
    assert_eq!(house.text("src/new.rs"), "new");
    gate.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_is_stopped_takes_back_what_it_asked() {
    let house = House::new();
    let gate = house.open(Host::Supervised).await;
    let stop = Stop::default();
    let (running, _) = start(&house, &[("write_file", json!({"path": "src/new.rs", "content": "new"}))], &stop);
    wait_for(&gate, 1).await;
    stop.now();
    assert_eq!(running.await.unwrap().ending, Ending::Aborted);
    assert!(pending(&gate).await.is_empty());
    assert!(!house.workspace.join("src/new.rs").exists());
    gate.close().await;
}

#[test]
fn without_a_gate_there_is_none_to_reach() {
    let house = House::new();
    assert!(Remote::reach(&house.places()).is_err());
}
