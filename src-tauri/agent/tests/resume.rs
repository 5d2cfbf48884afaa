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

use house::{approve, deny, pending, results, told, until, wait_for};
use placet_agent::{
    Budget, Bus, Ending, Options, RunError, SUB_AGENT, Stop, Summary, Told, Watched,
    message::Reply,
    provider::scripted::{Scripted, calls, says},
};
use placet_gate::{Flags, Gate, Host, Places, Seat};
use serde_json::json;
use tokio::{sync::broadcast::Receiver, task::JoinHandle};

const VICTIM: &str = "PLACET_TEST_VICTIM";

async fn open(dir: &Path) -> Gate {
    let flags = Flags { data_dir: Some(dir.join("data")), config_dir: Some(dir.join("config")), socket: None };
    let places = Places::new(&flags).unwrap();
    placet_gate::open(placet_gate::Options { places, host: Host::Supervised, version: "0".to_owned() }).await.unwrap()
}

fn script(kind: &str) -> Vec<Reply> {
    let write = ("write_file", json!({"path": "src/new.rs", "content": "new"}));
    let first = match kind {
        "asking" => vec![write],
        // The sub-agent has the same script, and no sub-agents of its own.
        "sub" => vec![(SUB_AGENT, json!({"task": "go on"})), write],
        _ => vec![("run_command", json!({"command": "echo once >> notes/ran; sleep 30"}))],
    };
    vec![calls("c", &first), says("done")]
}

fn options(dir: &Path, kind: &str) -> (Options, Arc<Scripted>) {
    let provider = Arc::new(Scripted::new(script(kind)));
    let agent = "builtin".parse().unwrap();
    let mut options = Options::new(agent, dir.join("app"), "do it".to_owned(), Arc::clone(&provider) as _);
    options.journals = Some(dir.join("runs"));
    options.sub_agents = u32::from(kind == "sub");
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

/// The journals there are, each with what it holds.
fn journals(dir: &Path) -> Vec<(PathBuf, String)> {
    let entries = std::fs::read_dir(dir.join("runs")).into_iter().flatten();
    let read = |path: PathBuf| std::fs::read_to_string(&path).ok().map(|text| (path, text));
    entries.filter_map(|entry| read(entry.ok()?.path())).collect()
}

fn journal_with(dir: &Path, what: &str) -> PathBuf {
    for _ in 0..1_500 {
        match journals(dir).into_iter().find(|(_, text)| text.contains(what)) {
            Some((path, _)) => return path,
            None => std::thread::sleep(Duration::from_millis(10)),
        }
    }
    panic!("no {what} in {:?}", journals(dir));
}

/// A run that is taken up, and what it tells.
struct TakenUp {
    running: JoinHandle<Summary>,
    provider: Arc<Scripted>,
    watching: Receiver<Arc<Told>>,
}

fn take_up(gate: &Gate, dir: &Path, kind: &str, journal: &Path) -> TakenUp {
    let (options, provider) = options(dir, kind);
    let (bus, gate, journal) = (Bus::default(), gate.clone(), journal.to_owned());
    let watching = bus.watch();
    let running =
        async move { placet_agent::resume(gate, options, None, &journal, bus, Stop::default()).await.unwrap() };
    TakenUp { running: tokio::spawn(running), provider, watching }
}

fn waits(watched: &Watched) -> bool {
    let within = if let Watched::Within { told, .. } = watched { told } else { watched };
    matches!(within, Watched::ToolWaits { .. })
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
    let TakenUp { running, provider, mut watching } = take_up(&gate, &dir, "asking", &journal);
    let Watched::TakenUp { turn, messages } = told(&mut watching, |told| matches!(told, Watched::TakenUp { .. })).await
    else {
        unreachable!("what was waited for")
    };
    assert_eq!((turn, messages.len()), (1, 2), "the run is shown where it was");
    told(&mut watching, waits).await;
    let after = pending(&gate).await;
    assert_eq!((after.len(), &after[0]["id"]), (1, &before[0]["id"]), "it is the same approval, asked once");
    approve(&gate, &after[0]).await;
    let summary = running.await.unwrap();
    assert_eq!(summary.ending, Ending::Done);
    assert_eq!(house.text("src/new.rs"), "new");
    assert_eq!(results(&provider).len(), 1);

    let (again, _) = options(&dir, "asking");
    let over = placet_agent::resume(gate.clone(), again, None, &journal, Bus::default(), Stop::default()).await;
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
    let TakenUp { running, provider, .. } = take_up(&gate, &dir, "asking", &journal);
    assert_eq!(running.await.unwrap().ending, Ending::Done);
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
    until("the command ran", async || house.workspace.join("notes/ran").exists()).await;
    let journal = journals(&dir).remove(0).0;
    kill(victim);

    let gate = open(&dir).await;
    let TakenUp { running, mut watching, .. } = take_up(&gate, &dir, "running", &journal);
    let before = wait_for(&gate, 1).await;
    assert_eq!(before[0]["tool"], "run_command", "the call itself is asked about");
    let card = gate.desk(Seat::Supervisor).call("approvals.get", json!({"id": before[0]["id"]})).await.unwrap();
    let why = card["rule_reason"].as_str().unwrap();
    assert!(why.contains("may have run already"), "{why}");
    // It breaks off once more: the question stays the one it was.
    told(&mut watching, waits).await;
    gate.close().await;
    assert_eq!(running.await.unwrap().ending, Ending::Suspended);
    let gate = open(&dir).await;
    let TakenUp { running, provider, mut watching } = take_up(&gate, &dir, "running", &journal);
    told(&mut watching, waits).await;
    let items = pending(&gate).await;
    assert_eq!((items.len(), &items[0]["id"]), (1, &before[0]["id"]));
    deny(&gate, &items[0], "it ran").await;
    assert_eq!(running.await.unwrap().ending, Ending::Done);
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
    let summary = take_up(&gate, &dir, "asking", &journal).running.await.unwrap();
    assert_eq!((summary.ending, house.text("src/new.rs")), (Ending::Done, "new".to_owned()));
    gate.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sub_agent_that_was_killed_while_a_person_is_asked_goes_on_within_the_run_that_began_it() {
    let house = house::House::with_policy(&format!(
        "{}\n[[rule]]\nname = \"sub-agents\"\ndecide = \"allow\"\ntool = [\"sub_agent\"]\n",
        house::POLICY
    ));
    let dir = house.dir.path().to_owned();
    let victim = start_victim("sub", &dir);
    journal_with(&dir, "\"asked\"");
    let parent = journal_with(&dir, "\"tool_started\"");
    kill(victim);

    let gate = open(&dir).await;
    let before = wait_for(&gate, 1).await;
    let TakenUp { running, provider, mut watching } = take_up(&gate, &dir, "sub", &parent);
    let Watched::Within { depth: 1, .. } = told(&mut watching, waits).await else { panic!("the sub-agent asks") };
    let after = pending(&gate).await;
    assert_eq!((after.len(), &after[0]["id"]), (1, &before[0]["id"]), "it is the same approval, asked once");
    approve(&gate, &after[0]).await;
    // The sub-agent is through, and its parent goes on with its own next call.
    told(&mut watching, |told| matches!(told, Watched::ToolWaits { .. })).await;
    assert_eq!(house.text("src/new.rs"), "new");
    deny(&gate, &wait_for(&gate, 1).await[0], "once is enough").await;
    assert_eq!(running.await.unwrap().ending, Ending::Done);
    let results = results(&provider);
    assert_eq!((results[0].text.as_str(), results[0].is_error), ("done", false), "{results:?}");
    assert_eq!(journals(&dir).len(), 2, "no other sub-agent was begun");
    gate.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_ran_into_a_bound_is_taken_up_with_a_wider_one_and_never_with_more_tools() {
    let house = house::House::new();
    let dir = house.dir.path().to_owned();
    let gate = open(&dir).await;
    let read = ("read_file", json!({"path": "src/main.rs"}));
    let write = ("write_file", json!({"path": "notes/a", "content": "x"}));
    let script =
        || vec![calls("c", std::slice::from_ref(&read)), calls("d", std::slice::from_ref(&write)), says("done")];
    let with = |provider: &Arc<Scripted>| {
        let mut options =
            Options::new("builtin".parse().unwrap(), dir.join("app"), "do it".to_owned(), Arc::clone(provider) as _);
        options.journals = Some(dir.join("runs"));
        options
    };
    let provider = Arc::new(Scripted::new(script()));
    let mut options = with(&provider);
    options.tools = Some(vec!["read_file".to_owned()]);
    options.budget = Budget { max_turns: 1, ..Budget::default() };
    let run = placet_agent::run(gate.clone(), options, Bus::default(), Stop::default()).await.unwrap();
    assert_eq!(run.ending, Ending::MaxTurns);
    let journal = journals(&dir).remove(0).0;
    for (budget, ending) in [(None, Ending::MaxTurns), (Some(Budget::default()), Ending::Done)] {
        let provider = Arc::new(Scripted::new(script()));
        let (options, bus) = (with(&provider), Bus::default());
        let ended = placet_agent::resume(gate.clone(), options, budget, &journal, bus, Stop::default()).await.unwrap();
        assert_eq!(ended.ending, ending);
        let offered = provider.asked().iter().map(|request| request.tools.len()).max();
        assert!(offered.is_none_or(|tools| tools == 1), "it began with one tool: {offered:?}");
    }
    assert!(!house.workspace.join("notes/a").exists());
    gate.close().await;
}
