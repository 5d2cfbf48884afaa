//! A run that is killed while a person is asked, or while a tool runs, and is taken up again. The victim is a process
//! of its own: this very test program, told to be it.
#![allow(clippy::unwrap_used, missing_docs)]

mod house;

use std::{
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::Arc,
    time::Duration,
};

use house::{approve, deny, pending, results, wait_for};
use placet_agent::{
    Bus, Ending, Options, RunError, Stop, Summary,
    message::Reply,
    provider::scripted::{Scripted, calls, says},
};
use placet_gate::{Flags, Gate, Host, Places};
use serde_json::json;

const VICTIM: &str = "PLACET_TEST_VICTIM";

async fn open(dir: &Path) -> Gate {
    let flags = Flags { data_dir: Some(dir.join("data")), config_dir: Some(dir.join("config")), socket: None };
    let places = Places::new(&flags).unwrap();
    placet_gate::open(placet_gate::Options { places, host: Host::Supervised, version: "0".to_owned() }).await.unwrap()
}

fn script(kind: &str) -> Vec<Reply> {
    let first = match kind {
        "asking" => ("write_file", json!({"path": "src/new.rs", "content": "new"})),
        _ => ("run_command", json!({"command": "echo once >> notes/ran; sleep 30"})),
    };
    vec![calls("c", &[first]), says("done")]
}

fn options(dir: &Path, kind: &str) -> (Options, Arc<Scripted>) {
    let provider = Arc::new(Scripted::new(script(kind)));
    let agent = "builtin".parse().unwrap();
    let mut options = Options::new(agent, dir.join("app"), "do it".to_owned(), Arc::clone(&provider) as _);
    options.journals = Some(dir.join("runs"));
    (options, provider)
}

/// What the victim does. As a plain test it does nothing.
#[tokio::test(flavor = "multi_thread")]
async fn victim() {
    let Ok(told) = std::env::var(VICTIM) else { return };
    let (kind, dir) = told.split_once(':').unwrap();
    let dir = PathBuf::from(dir);
    let (options, _) = options(&dir, kind);
    let gate = open(&dir).await;
    let _ = placet_agent::run(gate, options, Bus::default(), Stop::default()).await;
}

fn start_victim(kind: &str, dir: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["victim", "--exact", "--nocapture"])
        .env(VICTIM, format!("{kind}:{}", dir.display()))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

fn kill(mut victim: Child) {
    victim.kill().unwrap();
    victim.wait().unwrap();
}

fn journal(dir: &Path) -> Option<(PathBuf, String)> {
    let path = std::fs::read_dir(dir.join("runs")).ok()?.next()?.ok()?.path();
    let text = std::fs::read_to_string(&path).ok()?;
    Some((path, text))
}

fn journal_with(dir: &Path, what: &str) -> PathBuf {
    for _ in 0..1_500 {
        match journal(dir) {
            Some((path, text)) if text.contains(what) => return path,
            _ => std::thread::sleep(Duration::from_millis(10)),
        }
    }
    panic!("no {what} in {:?}", journal(dir));
}

async fn resume(gate: &Gate, dir: &Path, kind: &str, journal: &Path) -> (Summary, Arc<Scripted>) {
    let (options, provider) = options(dir, kind);
    let summary = placet_agent::resume(gate.clone(), options, journal, Bus::default(), Stop::default()).await.unwrap();
    (summary, provider)
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_while_a_person_is_asked_the_approval_is_still_pending_and_a_yes_lets_the_run_go_on() {
    let house = house::House::new();
    let dir = house.dir.path().to_owned();
    let victim = start_victim("asking", &dir);
    let journal = journal_with(&dir, "\"asked\"");
    kill(victim);

    let gate = open(&dir).await;
    let before = wait_for(&gate, 1).await;
    let running = tokio::spawn({
        let (gate, dir, journal) = (gate.clone(), dir.clone(), journal.clone());
        async move { resume(&gate, &dir, "asking", &journal).await }
    });
    tokio::time::sleep(Duration::from_millis(300)).await;
    let after = pending(&gate).await;
    assert_eq!((after.len(), &after[0]["id"]), (1, &before[0]["id"]), "it is the same approval, asked once");
    approve(&gate, &after[0]).await;
    let (summary, provider) = running.await.unwrap();
    assert_eq!(summary.ending, Ending::Done);
    assert_eq!(house.text("src/new.rs"), "new");
    assert_eq!(results(&provider).len(), 1);

    let (again, _) = options(&dir, "asking");
    let over = placet_agent::resume(gate.clone(), again, &journal, Bus::default(), Stop::default()).await;
    assert!(matches!(over, Err(RunError::Over(_))), "{over:?}");
    gate.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_no_given_while_nobody_waited_is_heard_by_the_run_that_is_taken_up() {
    let house = house::House::new();
    let dir = house.dir.path().to_owned();
    let victim = start_victim("asking", &dir);
    let journal = journal_with(&dir, "\"asked\"");
    kill(victim);
    let gate = open(&dir).await;
    deny(&gate, &wait_for(&gate, 1).await[0], "not now").await;
    let (summary, provider) = resume(&gate, &dir, "asking", &journal).await;
    assert_eq!(summary.ending, Ending::Done);
    assert!(results(&provider)[0].text.contains("not now"), "{:?}", results(&provider));
    assert!(!house.workspace.join("src/new.rs").exists());
    gate.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_that_may_have_run_before_the_crash_is_asked_about_and_never_run_again_silently() {
    let house = house::House::with_policy(&format!(
        "{}\n[[rule]]\nname = \"anything\"\ndecide = \"allow\"\ntool = [\"run_command\"]\n",
        house::POLICY
    ));
    let dir = house.dir.path().to_owned();
    let gate = open(&dir).await;
    gate.close().await;
    let victim = start_victim("running", &dir);
    // Where the policy asks about the command, the victim has nobody to answer it: then it is not this test's case.
    journal_with(&dir, "tool_started");
    for _ in 0..500 {
        if house.workspace.join("notes/ran").exists() {
            break;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    let journal = journal(&dir).unwrap().0;
    kill(victim);

    let gate = open(&dir).await;
    let running = tokio::spawn({
        let (gate, dir) = (gate.clone(), dir.clone());
        async move { resume(&gate, &dir, "running", &journal).await }
    });
    let items = wait_for(&gate, 1).await;
    assert_eq!(items[0]["tool"], "confirm_call");
    deny(&gate, &items[0], "it ran").await;
    let (summary, provider) = running.await.unwrap();
    assert_eq!(summary.ending, Ending::Done);
    let text = &results(&provider)[0].text;
    assert!(text.starts_with("BLOCKED: ") && text.contains("it may or may not have run"), "{text}");
    assert_eq!(house.text("notes/ran"), "once\n");
    gate.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_gate_that_closes_suspends_the_run_and_what_waits_stays_pending() {
    let house = house::House::new();
    let dir = house.dir.path().to_owned();
    let gate = open(&dir).await;
    let (options, _) = options(&dir, "asking");
    let running = tokio::spawn(placet_agent::run(gate.clone(), options, Bus::default(), Stop::default()));
    wait_for(&gate, 1).await;
    let journal = journal_with(&dir, "\"asked\"");
    gate.close().await;
    assert_eq!(running.await.unwrap().unwrap().ending, Ending::Suspended);
    let gate = open(&dir).await;
    approve(&gate, &wait_for(&gate, 1).await[0]).await;
    let (summary, _) = resume(&gate, &dir, "asking", &journal).await;
    assert_eq!((summary.ending, house.text("src/new.rs")), (Ending::Done, "new".to_owned()));
    gate.close().await;
}
