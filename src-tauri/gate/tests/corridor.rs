//! The corridor with a real history file: calls wait, are answered, expire, survive, in the order of a call's life.

#![allow(clippy::unwrap_used, clippy::wildcard_enum_match_arm, reason = "a test may end where it cannot go on")]

use std::{
    ops::ControlFlow,
    os::unix::fs::DirBuilderExt as _,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use placet_domain::{ApprovalId, At, Digest, Entry, Fact, PathText, SessionId, command::Decision};
use placet_gate::{Ask, Desk, Flags, Gate, Host, Options, Places, Ran, Seat, Told, Verdict, open};
use placet_store::{ChainKey, Store};
use serde_json::{Value, json};

const POLICY: &str = r#"
default = "ask"
timeout = "30m"

[[rule]]
name = "reading in the workspace"
decide = "allow"
action = ["read", "list", "search"]
path = ["${workspace}/**"]

[[rule]]
name = "tests are the yardstick"
decide = "deny"
action = ["write", "delete"]
path = ["${workspace}/tests/**"]
reason = "Tests are protected: change the code, not the tests."

[[rule]]
name = "quick"
decide = "ask"
tool = ["Quick"]
timeout = "5s"
"#;

struct House {
    dir: tempfile::TempDir,
    workspace: PathBuf,
}

impl House {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let workspace = dir.path().join("app");
        std::fs::create_dir_all(workspace.join("src")).unwrap();
        std::fs::create_dir_all(workspace.join("tests")).unwrap();
        std::fs::write(workspace.join("src/main.rs"), "fn main() {}\n").unwrap();
        std::fs::create_dir_all(dir.path().join("config")).unwrap();
        std::fs::write(dir.path().join("config/policy.toml"), POLICY).unwrap();
        let workspace = workspace.canonicalize().unwrap();
        Self { dir, workspace }
    }

    fn places(&self) -> Places {
        Places::new(&Flags {
            data_dir: Some(self.dir.path().join("data")),
            config_dir: Some(self.dir.path().join("config")),
            socket: None,
        })
        .unwrap()
    }

    async fn open(&self) -> Gate {
        self.open_as(Host::Supervised).await
    }

    async fn open_as(&self, host: Host) -> Gate {
        open(Options { places: self.places(), host, version: "0.0.0".to_owned() }).await.unwrap()
    }

    async fn session(&self, gate: &Gate, client: &str) -> SessionId {
        gate.session("claude-code".parse().unwrap(), Some(client.to_owned()), text(&self.workspace), None)
            .await
            .unwrap()
    }

    fn ask(&self, session: SessionId, call: &str, tool: &str, input: &Value) -> Ask {
        Ask {
            session,
            call_id: Some(call.to_owned()),
            parent: None,
            tool: tool.to_owned(),
            input: Arc::from(input.to_string().into_bytes()),
            definition: None,
            cwd: text(&self.workspace),
            again: None,
            deadline_ms: None,
            hold_ms: None,
            waiter: None,
            can_edit: true,
            can_rewrite: true,
            confirms: false,
            doubt: None,
        }
    }

    fn write(&self, session: SessionId, call: &str, file: &str, content: &str) -> Ask {
        let input = json!({ "file_path": self.workspace.join(file), "content": content });
        self.ask(session, call, "Write", &input)
    }
}

fn text(path: &Path) -> PathText {
    PathText::from(path.to_str().unwrap())
}

fn ask_beside(gate: &Gate, ask: Ask) -> tokio::task::JoinHandle<Told> {
    let gate = gate.clone();
    tokio::spawn(async move { gate.check(ask, None).await.unwrap() })
}

async fn pending(desk: &Desk) -> Vec<Value> {
    let list = desk.call("approvals.list", json!({ "state": "pending" })).await.unwrap();
    list["items"].as_array().unwrap().clone()
}

async fn wait_for(desk: &Desk, count: usize) -> Vec<Value> {
    for _ in 0..500 {
        let items = pending(desk).await;
        if items.len() == count {
            return items;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("{} wait, not {count}", pending(desk).await.len());
}

async fn kinds_of(desk: &Desk, approval: &Value) -> Vec<String> {
    let life = desk.call("history.get", json!({ "approval": approval })).await.unwrap();
    life["facts"].as_array().unwrap().iter().map(|f| f["kind"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_rule_allows_passes_at_once_and_is_in_the_history() {
    let house = House::new();
    let gate = house.open().await;
    let session = house.session(&gate, "s1").await;
    let input = json!({ "file_path": house.workspace.join("src/main.rs") });
    let told = gate.check(house.ask(session, "c1", "Read", &input), None).await.unwrap();
    assert_eq!(told.answer.decision, Decision::Allow);
    assert_eq!(told.answer.rule.as_deref(), Some("reading in the workspace"));
    let found = gate.desk(Seat::Supervisor).call("history.search", json!({})).await.unwrap();
    assert_eq!(found["items"][0]["decision"], "allowed_by_rule");
    assert_eq!(found["items"][0]["digest"], json!(told.answer.digest));
    gate.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_rule_denies_is_refused_with_its_reason() {
    let house = House::new();
    let gate = house.open().await;
    let session = house.session(&gate, "s1").await;
    let told = gate.check(house.write(session, "c1", "tests/a.rs", "x"), None).await.unwrap();
    assert_eq!(told.answer.decision, Decision::Deny);
    assert!(told.answer.reason.contains("Tests are protected"), "{}", told.answer.reason);
    gate.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_asked_waits_and_a_yes_reaches_the_asker_once() {
    let house = House::new();
    let gate = house.open().await;
    let desk = gate.desk(Seat::Supervisor);
    let session = house.session(&gate, "s1").await;
    let asked = ask_beside(&gate, house.write(session, "c1", "src/new.rs", "mod a;\n"));
    let item = wait_for(&desk, 1).await.remove(0);
    assert_eq!((item["action"].as_str(), item["waiting"].as_bool()), (Some("write"), Some(true)));
    let card = desk.call("approvals.get", json!({ "id": item["id"] })).await.unwrap();
    assert_eq!(card["digest"], item["digest"]);
    let answer = desk.call("approvals.approve", json!({ "id": item["id"], "digest": item["digest"] })).await.unwrap();
    assert_eq!(answer["approval"]["by"], "supervisor");
    let told = asked.await.unwrap();
    assert_eq!(told.answer.decision, Decision::Allow);
    assert_eq!(kinds_of(&desk, &item["id"]).await, ["approval_asked", "approval_approved", "approval_consumed"]);
    gate.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_no_with_words_reaches_the_asker_in_words() {
    let house = House::new();
    let gate = house.open().await;
    let desk = gate.desk(Seat::Supervisor);
    let session = house.session(&gate, "s1").await;
    let asked = ask_beside(&gate, house.write(session, "c1", "src/new.rs", "x"));
    let item = wait_for(&desk, 1).await.remove(0);
    desk.call("approvals.deny", json!({ "id": item["id"], "note": "use lib.rs" })).await.unwrap();
    let told = asked.await.unwrap();
    assert_eq!(told.answer.decision, Decision::Deny);
    assert!(told.answer.reason.contains("use lib.rs"), "{}", told.answer.reason);
    gate.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_answers_one_wins_and_the_other_is_told_who_and_when() {
    let house = House::new();
    let gate = house.open().await;
    let desk = gate.desk(Seat::Supervisor);
    let session = house.session(&gate, "s1").await;
    let asked = ask_beside(&gate, house.write(session, "c1", "src/new.rs", "x"));
    let item = wait_for(&desk, 1).await.remove(0);
    let yes = desk.call("approvals.approve", json!({ "id": item["id"], "digest": item["digest"] }));
    let no = desk.call("approvals.deny", json!({ "id": item["id"] }));
    let (yes, no) = tokio::join!(yes, no);
    let lost = match (&yes, &no) {
        (Ok(_), Err(lost)) | (Err(lost), Ok(_)) => lost,
        both => panic!("{both:?}"),
    };
    assert_eq!(lost.data["code"], "already_settled");
    assert!(lost.data["at_ms"].as_i64().is_some());
    assert_eq!(lost.data["by"], "supervisor");
    let told = asked.await.unwrap();
    assert_eq!(told.answer.decision == Decision::Allow, yes.is_ok());
    gate.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_to_an_older_card_is_stale_and_it_stays_pending() {
    let house = House::new();
    let gate = house.open().await;
    let desk = gate.desk(Seat::Supervisor);
    let session = house.session(&gate, "s1").await;
    let _asked = ask_beside(&gate, house.write(session, "c1", "src/main.rs", "fn main() { a() }\n"));
    let item = wait_for(&desk, 1).await.remove(0);
    std::fs::write(house.workspace.join("src/main.rs"), "fn main() { b() }\n").unwrap();
    let stale =
        desk.call("approvals.approve", json!({ "id": item["id"], "digest": item["digest"] })).await.unwrap_err();
    assert_eq!(stale.data["code"], "stale_digest");
    let now = wait_for(&desk, 1).await.remove(0);
    assert_eq!(stale.data["digest"], now["digest"]);
    assert_ne!(now["digest"], item["digest"]);
    desk.call("approvals.approve", json!({ "id": item["id"], "digest": now["digest"] })).await.unwrap();
    gate.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_edited_while_its_call_waits_refreshes_the_card_by_itself() {
    let house = House::new();
    let gate = house.open().await;
    let desk = gate.desk(Seat::Supervisor);
    let session = house.session(&gate, "s1").await;
    let _asked = ask_beside(&gate, house.write(session, "c1", "src/main.rs", "fn main() { a() }\n"));
    let before = wait_for(&desk, 1).await.remove(0);
    tokio::time::sleep(Duration::from_millis(50)).await;
    std::fs::write(house.workspace.join("src/main.rs"), "fn main() { b() }\n").unwrap();
    for _ in 0..300 {
        if pending(&desk).await[0]["digest"] != before["digest"] {
            gate.close().await;
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("the card was not refreshed");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_approved_call_whose_file_changed_before_it_was_fetched_is_void() {
    let house = House::new();
    let gate = house.open().await;
    let desk = gate.desk(Seat::Supervisor);
    let session = house.session(&gate, "s1").await;
    let ask = house.write(session, "c1", "src/main.rs", "fn main() { a() }\n");
    // Nobody is connected when the yes comes: the asker is held for a moment only, and comes back.
    let told = gate.check(Ask { hold_ms: Some(1), ..ask.clone() }, None).await.unwrap();
    assert!(told.pending);
    let item = wait_for(&desk, 1).await.remove(0);
    desk.call("approvals.approve", json!({ "id": item["id"], "digest": item["digest"] })).await.unwrap();
    std::fs::write(house.workspace.join("src/main.rs"), "fn main() { b() }\n").unwrap();
    let told = gate.check(ask, None).await.unwrap();
    assert_eq!(told.answer.decision, Decision::Deny);
    assert!(told.answer.reason.contains("void"), "{}", told.answer.reason);
    assert_eq!(kinds_of(&desk, &item["id"]).await.last().unwrap(), "approval_voided");
    gate.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_comes_back_takes_its_own_approval_and_is_not_asked_twice() {
    let house = House::new();
    let gate = house.open().await;
    let desk = gate.desk(Seat::Supervisor);
    let session = house.session(&gate, "s1").await;
    let ask = house.write(session, "c1", "src/new.rs", "x");
    let first = gate.check(Ask { hold_ms: Some(1), ..ask.clone() }, None).await.unwrap();
    let asked = ask_beside(&gate, Ask { call_id: Some("another id".to_owned()), ..ask });
    let item = wait_for(&desk, 1).await.remove(0);
    assert_eq!(json!(first.answer.approval.unwrap()), item["id"]);
    tokio::time::sleep(Duration::from_millis(50)).await;
    desk.call("approvals.approve", json!({ "id": item["id"], "digest": item["digest"] })).await.unwrap();
    assert_eq!(asked.await.unwrap().answer.decision, Decision::Allow);
    gate.close().await;
}

/// Whether any file of the history holds these bytes.
fn is_kept(house: &House, secret: &str) -> bool {
    let holds = |path: PathBuf| {
        let bytes = std::fs::read(path).unwrap_or_default();
        bytes.windows(secret.len()).any(|window| window == secret.as_bytes())
    };
    std::fs::read_dir(house.dir.path().join("data")).unwrap().any(|file| holds(file.unwrap().path()))
}

/// A secret that an agent writes is shown to whoever is asked, runs as it is, also after a restart, and is not in the
/// history afterwards, however it ended.
#[tokio::test(flavor = "multi_thread")]
async fn secrets_are_on_the_card_and_not_in_the_history() {
    const SECRET: &str = "hunter-22-and-more";
    let house = House::new();
    let gate = house.open().await;
    let session = house.session(&gate, "s1").await;
    let bash = |call: &str, line: String| house.ask(session, call, "Bash", &json!({ "command": line }));
    let login = |call: &str, n: u32| bash(call, format!("login --password {SECRET} {n}"));
    // Let through and denied at once.
    let outside = house.ask(
        session,
        "c0",
        "Read",
        &json!({ "file_path": house.workspace.join("src/main.rs"), "api_key": SECRET }),
    );
    assert_eq!(gate.check(outside, None).await.unwrap().answer.decision, Decision::Allow);
    let protected = house.write(session, "c1", "tests/a.env", &format!("API_TOKEN={SECRET}\n"));
    assert_eq!(gate.check(protected, None).await.unwrap().answer.decision, Decision::Deny);
    assert!(!is_kept(&house, SECRET), "nobody was asked");

    let asks: Vec<Ask> = (0..4).map(|n| login(&format!("c{}", n + 2), n)).collect();
    let asked: Vec<_> = asks.iter().map(|ask| ask_beside(&gate, ask.clone())).collect();
    let desk = gate.desk(Seat::Supervisor);
    let items = wait_for(&desk, 4).await;
    for item in &items {
        let card = desk.call("approvals.get", json!({ "id": item["id"] })).await.unwrap();
        assert!(card.to_string().contains(SECRET), "{card}");
        assert!(!card["grantable"].to_string().contains("command"), "no grant holds a secret: {}", card["grantable"]);
    }
    gate.close().await;
    for asked in asked {
        asked.abort();
    }

    let gate = house.open().await;
    let desk = gate.desk(Seat::Supervisor);
    let again: Vec<_> = asks.iter().map(|ask| ask_beside(&gate, ask.clone())).collect();
    let items = wait_for(&desk, 4).await;
    let card = desk.call("approvals.get", json!({ "id": items[0]["id"] })).await.unwrap();
    assert!(card.to_string().contains(SECRET), "also after a restart: {card}");
    for item in &items[..2] {
        desk.call("approvals.approve", json!({ "id": item["id"], "digest": item["digest"] })).await.unwrap();
    }
    let note = format!("not with TOKEN={SECRET}");
    desk.call("approvals.deny", json!({ "id": items[2]["id"], "note": note })).await.unwrap();
    desk.call("approvals.cancel", json!({ "all": true })).await.unwrap();
    let mut heard = Vec::new();
    for told in again {
        heard.push(told.await.unwrap().answer.decision);
    }
    assert_eq!(heard.iter().filter(|decision| **decision == Decision::Allow).count(), 2);
    let life = desk.call("history.get", json!({ "approval": items[0]["id"] })).await.unwrap();
    assert!(life.to_string().contains("[masked: 18 characters]") && !life.to_string().contains(SECRET), "{life}");
    let found = desk.call("history.search", json!({ "text": "login" })).await.unwrap();
    assert_eq!(found["items"].as_array().unwrap().len(), 4);
    let verified = desk.call("history.verify", json!({})).await.unwrap();
    assert_eq!(verified["intact"], true, "{verified}");
    gate.close().await;
    assert!(!is_kept(&house, SECRET), "it is settled");
}

/// A client that asks by its own rules, too, about a call that its hook asked about: the person is asked once.
#[tokio::test(flavor = "multi_thread")]
async fn a_clients_own_question_is_answered_by_the_yes_that_was_given_and_once() {
    let house = House::new();
    let gate = house.open().await;
    let (desk, session) = (gate.desk(Seat::Supervisor), house.session(&gate, "s1").await);
    let ask = house.write(session, "c1", "a.txt", "x");
    let asked = ask_beside(&gate, ask.clone());
    let item = wait_for(&desk, 1).await.remove(0);
    desk.call("approvals.approve", json!({ "id": item["id"], "digest": item["digest"] })).await.unwrap();
    assert_eq!(asked.await.unwrap().answer.decision, Decision::Allow);

    // Another id, as such questions have none.
    let own = Ask { confirms: true, call_id: None, ..ask.clone() };
    let other = Ask { hold_ms: Some(1), ..house.write(session, "c2", "a.txt", "y") };
    let other = Ask { confirms: true, call_id: None, ..other };
    assert!(gate.check(other, None).await.unwrap().pending, "another call is another question");
    desk.call("approvals.cancel", json!({ "all": true })).await.unwrap();

    desk.call("pause", json!({})).await.unwrap();
    assert_eq!(gate.check(own.clone(), None).await.unwrap().answer.decision, Decision::Deny, "paused meanwhile");
    desk.call("resume", json!({})).await.unwrap();

    assert_eq!(gate.check(own.clone(), None).await.unwrap().answer.decision, Decision::Allow);
    let again = gate.check(Ask { hold_ms: Some(1), ..own }, None).await.unwrap();
    assert!(again.pending, "a yes answers one such question");
    gate.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn two_connected_askers_of_the_same_thing_are_two_approvals() {
    let house = House::new();
    let gate = house.open().await;
    let desk = gate.desk(Seat::Supervisor);
    let session = house.session(&gate, "s1").await;
    let ask = Ask { call_id: None, ..house.write(session, "", "src/new.rs", "x") };
    let one = ask_beside(&gate, ask.clone());
    wait_for(&desk, 1).await;
    let two = ask_beside(&gate, ask);
    let items = wait_for(&desk, 2).await;
    desk.call("approvals.approve", json!({ "id": items[0]["id"], "digest": items[0]["digest"] })).await.unwrap();
    desk.call("approvals.deny", json!({ "id": items[1]["id"] })).await.unwrap();
    let heard = [one.await.unwrap().answer.decision, two.await.unwrap().answer.decision];
    assert_eq!(heard, [Decision::Allow, Decision::Deny]);
    gate.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_selection_is_cancelled_at_once_with_an_outcome_for_each() {
    let house = House::new();
    let gate = house.open().await;
    let desk = gate.desk(Seat::Supervisor);
    let session = house.session(&gate, "s1").await;
    let mut asked = Vec::new();
    let mut items = Vec::new();
    for n in 0..3 {
        asked.push(ask_beside(&gate, house.write(session, &format!("c{n}"), &format!("src/{n}.rs"), "x")));
        items = wait_for(&desk, n + 1).await;
    }
    desk.call("approvals.deny", json!({ "id": items[1]["id"] })).await.unwrap();
    let late = ask_beside(&gate, house.write(session, "c9", "src/9.rs", "x"));
    wait_for(&desk, 3).await;
    let unknown = "01890a5d-ac96-774b-bcce-b302099a8057";
    let ids = json!([items[0]["id"], items[1]["id"], items[2]["id"], unknown, "nonsense"]);
    let answer = desk.call("approvals.cancel", json!({ "ids": ids, "note": "start over" })).await.unwrap();
    assert_eq!(
        answer["outcomes"],
        json!([
            { "id": items[0]["id"], "state": "cancelled", "changed": true },
            { "id": items[1]["id"], "state": "denied", "changed": false },
            { "id": items[2]["id"], "state": "cancelled", "changed": true },
            { "id": unknown, "state": null, "changed": false },
            { "id": "nonsense", "state": null, "changed": false },
        ])
    );
    for (n, asked) in asked.into_iter().enumerate() {
        let told = asked.await.unwrap();
        assert_eq!(told.answer.decision, Decision::Deny);
        assert_eq!(told.answer.reason.contains("start over"), n != 1, "{}", told.answer.reason);
    }
    assert_eq!(wait_for(&desk, 1).await.len(), 1, "what came later was not on the list");
    late.abort();
    gate.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_nobody_answers_expires_and_a_late_yes_loses() {
    let house = House::new();
    let gate = house.open().await;
    let desk = gate.desk(Seat::Supervisor);
    let session = house.session(&gate, "s1").await;
    let ask = Ask { deadline_ms: Some(300), ..house.write(session, "c1", "src/new.rs", "x") };
    let asked = ask_beside(&gate, ask);
    let item = wait_for(&desk, 1).await.remove(0);
    let told = asked.await.unwrap();
    assert!(told.answer.reason.contains("Nobody answered"), "{}", told.answer.reason);
    let late = desk.call("approvals.approve", json!({ "id": item["id"], "digest": item["digest"] })).await.unwrap_err();
    assert_eq!((&late.data["code"], &late.data["state"]), (&json!("already_settled"), &json!("expired")));
    gate.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn with_nobody_to_ask_it_is_a_denial_that_says_so() {
    let house = House::new();
    let gate = house.open_as(Host::Serve).await;
    let session = house.session(&gate, "s1").await;
    let told = gate.check(house.write(session, "c1", "src/new.rs", "x"), None).await.unwrap();
    assert_eq!(told.answer.decision, Decision::Deny);
    assert!(told.answer.reason.contains("person would have been asked"), "{}", told.answer.reason);
    gate.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn approvals_outlive_a_restart_and_what_is_overdue_expires_first() {
    let house = House::new();
    let gate = house.open().await;
    let desk = gate.desk(Seat::Supervisor);
    let session = house.session(&gate, "s1").await;
    let long = house.write(session, "long", "src/long.rs", "x");
    let short = Ask { deadline_ms: Some(400), ..house.write(session, "short", "src/short.rs", "x") };
    for ask in [&long, &short] {
        let told = gate.check(Ask { hold_ms: Some(1), ..ask.clone() }, None).await.unwrap();
        assert!(told.pending);
    }
    let before = wait_for(&desk, 2).await;
    gate.close().await;
    tokio::time::sleep(Duration::from_millis(500)).await;

    let gate = house.open().await;
    let desk = gate.desk(Seat::Supervisor);
    let after = pending(&desk).await;
    assert_eq!(after.len(), 1);
    for field in ["id", "digest", "expires_at_ms", "created_at_ms", "headline", "number"] {
        assert_eq!(after[0][field], before[0][field], "{field}");
    }
    let snapshot = desk.call("snapshot", json!({})).await.unwrap();
    assert_eq!(snapshot["expired_while_away"], 1);
    assert_eq!(house.session(&gate, "s1").await, session, "the session is found again");
    let asked = ask_beside(&gate, long);
    tokio::time::sleep(Duration::from_millis(50)).await;
    desk.call("approvals.approve", json!({ "id": after[0]["id"], "digest": after[0]["digest"] })).await.unwrap();
    assert_eq!(asked.await.unwrap().answer.decision, Decision::Allow);
    let verified = desk.call("history.verify", json!({})).await.unwrap();
    assert_eq!(verified["intact"], true);
    gate.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_gate_on_the_same_data_is_refused() {
    let house = House::new();
    let gate = house.open().await;
    let second = open(Options { places: house.places(), host: Host::Supervised, version: "0".to_owned() }).await;
    assert!(second.unwrap_err().to_string().contains("another Placet"));
    gate.close().await;
    house.open().await.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pause_denies_everything_and_survives_a_restart() {
    let house = House::new();
    let gate = house.open().await;
    let session = house.session(&gate, "s1").await;
    let input = json!({ "file_path": house.workspace.join("src/main.rs") });
    gate.desk(Seat::Supervisor).call("pause", json!({})).await.unwrap();
    gate.close().await;
    let gate = house.open().await;
    let told = gate.check(house.ask(session, "c1", "Read", &input), None).await.unwrap();
    assert_eq!(told.answer.decision, Decision::Deny);
    gate.desk(Seat::Supervisor).call("resume", json!({})).await.unwrap();
    let told = gate.check(house.ask(session, "c2", "Read", &input), None).await.unwrap();
    assert_eq!(told.answer.decision, Decision::Allow);
    gate.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_broken_policy_is_refused_whole_and_the_last_good_one_stays() {
    let house = House::new();
    let gate = house.open().await;
    let desk = gate.desk(Seat::Supervisor);
    let session = house.session(&gate, "s1").await;
    let file = house.dir.path().join("config/policy.toml");
    std::fs::write(&file, "default = \"alow\"\n").unwrap();
    let mut state = Value::Null;
    for _ in 0..300 {
        state = desk.call("policy.get", json!({})).await.unwrap();
        if state["ok"] == false {
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!((&state["ok"], &state["error"]["line"]), (&json!(false), &json!(1)), "{state}");
    let input = json!({ "file_path": house.workspace.join("src/main.rs") });
    let told = gate.check(house.ask(session, "c1", "Read", &input), None).await.unwrap();
    assert_eq!(told.answer.rule.as_deref(), Some("reading in the workspace"));
    gate.close().await;
    // The last good one also outlives a restart.
    let gate = house.open().await;
    let told = gate.check(house.ask(session, "c2", "Read", &input), None).await.unwrap();
    assert_eq!(told.answer.decision, Decision::Allow, "{}", told.answer.reason);
    gate.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_rule_answers_what_waits() {
    let house = House::new();
    let gate = house.open().await;
    let desk = gate.desk(Seat::Supervisor);
    let session = house.session(&gate, "s1").await;
    let asked = ask_beside(&gate, house.write(session, "c1", "src/new.rs", "x"));
    wait_for(&desk, 1).await;
    let file = house.dir.path().join("config/policy.toml");
    let rule = "\n[[rule]]\nname = \"not now\"\ndecide = \"deny\"\naction = [\"write\"]\nreason = \"frozen\"\n";
    std::fs::write(&file, format!("{POLICY}{rule}")).unwrap();
    let told = tokio::time::timeout(Duration::from_secs(5), asked).await.unwrap().unwrap();
    assert_eq!(told.answer.decision, Decision::Deny);
    assert!(told.answer.reason.contains("frozen"), "{}", told.answer.reason);
    gate.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_runtime_in_this_process_holds_a_yes_only_after_it_is_used_up() {
    let house = House::new();
    let gate = house.open().await;
    let desk = gate.desk(Seat::Supervisor);
    let session = house.session(&gate, "s1").await;
    let ask = house.write(session, "c1", "src/new.rs", "x");
    let asked = {
        let gate = gate.clone();
        tokio::spawn(async move { gate.ask(ask, None).await })
    };
    let item = wait_for(&desk, 1).await.remove(0);
    desk.call("approvals.approve", json!({ "id": item["id"], "digest": item["digest"] })).await.unwrap();
    let Verdict::Allowed(cleared) = asked.await.unwrap() else { panic!("denied") };
    assert_eq!(cleared.tool(), "Write");
    assert_eq!(kinds_of(&desk, &item["id"]).await.last().unwrap(), "approval_consumed");
    gate.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_window_takes_no_answer_before_its_card_could_be_read() {
    let house = House::new();
    let gate = house.open_as(Host::Window).await;
    let desk = gate.desk(Seat::Window);
    let session = house.session(&gate, "s1").await;
    let asked = ask_beside(&gate, house.write(session, "c1", "src/new.rs", "x"));
    let item = wait_for(&desk, 1).await.remove(0);
    let yes = json!({ "id": item["id"], "digest": item["digest"] });
    assert_eq!(desk.call("approvals.approve", yes.clone()).await.unwrap_err().data["code"], "not_armed");
    desk.call("approvals.shown", yes.clone()).await.unwrap();
    assert_eq!(desk.call("approvals.approve", yes.clone()).await.unwrap_err().data["code"], "not_armed");
    tokio::time::sleep(Duration::from_millis(500)).await;
    desk.call("approvals.approve", yes).await.unwrap();
    assert_eq!(asked.await.unwrap().answer.decision, Decision::Allow);
    gate.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edited_call_is_judged_anew_and_what_the_person_wrote_is_what_runs() {
    let house = House::new();
    let gate = house.open().await;
    let desk = gate.desk(Seat::Supervisor);
    let session = house.session(&gate, "s1").await;
    let asked = ask_beside(&gate, house.write(session, "c1", "src/new.rs", "bad\n"));
    let item = wait_for(&desk, 1).await.remove(0);
    let better = json!({ "file_path": house.workspace.join("src/new.rs"), "content": "good\n" });
    let preview = desk.call("approvals.preview", json!({ "id": item["id"], "input": better })).await.unwrap();
    assert_ne!(preview["digest"], item["digest"]);
    let forbidden = json!({ "file_path": house.workspace.join("tests/a.rs"), "content": "good\n" });
    let elsewhere = desk.call("approvals.preview", json!({ "id": item["id"], "input": forbidden })).await.unwrap();
    let refused = desk
        .call("approvals.approve", json!({ "id": item["id"], "digest": elsewhere["digest"], "input": forbidden }))
        .await
        .unwrap_err();
    assert_eq!(refused.data["code"], "denied_by_policy");
    desk.call("approvals.approve", json!({ "id": item["id"], "digest": preview["digest"], "input": better }))
        .await
        .unwrap();
    let told = asked.await.unwrap();
    assert_eq!(told.answer.decision, Decision::Allow);
    assert_eq!(*told.answer.input.unwrap(), better);
    gate.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_ran_while_it_was_pending_was_answered_elsewhere() {
    let house = House::new();
    let gate = house.open().await;
    let desk = gate.desk(Seat::Supervisor);
    let session = house.session(&gate, "s1").await;
    let ask = house.write(session, "c1", "src/new.rs", "x");
    let asked = ask_beside(&gate, ask.clone());
    let item = wait_for(&desk, 1).await.remove(0);
    gate.report(Ran {
        session,
        call_id: ask.call_id,
        tool: ask.tool,
        input: ask.input,
        cwd: ask.cwd,
        outcome: "ok".to_owned(),
        output: Some(b"done".to_vec()),
        duration_ms: 3,
    })
    .await
    .unwrap();
    assert_eq!(asked.await.unwrap().answer.decision, Decision::Deny);
    let now = desk.call("approvals.get", json!({ "id": item["id"] })).await.unwrap();
    assert_eq!((&now["state"], &now["reason"]), (&json!("cancelled"), &json!("answered_elsewhere")));
    gate.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_end_of_a_session_takes_back_what_it_asked() {
    let house = House::new();
    let gate = house.open().await;
    let desk = gate.desk(Seat::Supervisor);
    let session = house.session(&gate, "s1").await;
    let asked = ask_beside(&gate, house.write(session, "c1", "src/new.rs", "x"));
    wait_for(&desk, 1).await;
    gate.end_session(session, None).await.unwrap();
    assert_eq!(asked.await.unwrap().answer.decision, Decision::Deny);
    assert!(pending(&desk).await.is_empty());
    gate.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn many_askers_at_once_get_one_answer_each() {
    let house = House::new();
    let gate = house.open().await;
    let desk = gate.desk(Seat::Supervisor);
    let mut asked = Vec::new();
    for s in 0..10 {
        let session = house.session(&gate, &format!("s{s}")).await;
        for n in 0..20 {
            asked.push(ask_beside(&gate, house.write(session, &format!("c{n}"), &format!("src/{s}-{n}.rs"), "x")));
        }
    }
    let mut ids: Vec<ApprovalId> = Vec::new();
    for _ in 0..1_000 {
        let list = desk.call("approvals.list", json!({ "state": "pending", "limit": 1000 })).await.unwrap();
        let items = list["items"].as_array().unwrap();
        if items.len() == 200 {
            ids = items.iter().map(|i| i["id"].as_str().unwrap().parse().unwrap()).collect();
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(ids.len(), 200);
    for id in &ids {
        let item = desk.call("approvals.get", json!({ "id": id })).await.unwrap();
        desk.call("approvals.approve", json!({ "id": id, "digest": item["digest"] })).await.unwrap();
    }
    for asked in asked {
        assert_eq!(asked.await.unwrap().answer.decision, Decision::Allow);
    }
    let closed = desk.call("history.search", json!({ "decision": "consumed", "limit": 1000 })).await.unwrap();
    assert_eq!(closed["items"].as_array().unwrap().len(), 200);
    gate.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rule_is_proposed_from_an_approval_and_put_by_the_person_and_then_decides() {
    let house = House::new();
    let gate = house.open().await;
    let desk = gate.desk(Seat::Supervisor);
    let session = house.session(&gate, "s1").await;
    let asked = ask_beside(&gate, house.write(session, "c1", "src/new[1].rs", "x"));
    let item = wait_for(&desk, 1).await.remove(0);
    let proposed = desk.call("policy.propose", json!({ "approval": item["id"] })).await.unwrap();
    assert!(proposed["diff"].as_str().unwrap().contains("+[[rule]]"), "{proposed}");
    let call = json!({
        "tool": "Write", "cwd": house.workspace, "agent": "claude-code",
        "input": { "file_path": house.workspace.join("src/new[1].rs"), "content": "y" },
    });
    let mut with_text = call.clone();
    with_text["text"] = proposed["text"].clone();
    assert_eq!(desk.call("policy.try", call.clone()).await.unwrap()["ruling"], "ask");
    assert_eq!(desk.call("policy.try", with_text.clone()).await.unwrap()["ruling"], "allow");
    with_text["input"]["file_path"] = json!(house.workspace.join("src/new1.rs"));
    assert_eq!(desk.call("policy.try", with_text).await.unwrap()["ruling"], "ask", "it is for that name alone");
    desk.call("policy.put", json!({ "text": proposed["text"], "digest": proposed["digest"] })).await.unwrap();
    assert_eq!(asked.await.unwrap().answer.decision, Decision::Allow, "what waits is judged by it");
    let stale = desk.call("policy.put", json!({ "text": POLICY, "digest": proposed["digest"] })).await.unwrap_err();
    assert_eq!(stale.data["code"], "stale_digest");
    gate.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_preview_counts_the_calls_of_the_last_seven_days() {
    let house = House::new();
    let policy = house.dir.path().join("config/policy.toml");
    std::fs::write(&policy, "[[rule]]\nname = \"writing\"\ndecide = \"allow\"\naction = [\"write\"]\n").unwrap();
    let gate = house.open().await;
    let mut facts = gate.facts();
    let session = house.session(&gate, "s1").await;
    for (call, file) in [("c1", "src/a.rs"), ("c2", "src/b.rs"), ("c3", "src/c.rs")] {
        let told = gate.check(house.write(session, call, file, "x"), None).await.unwrap();
        assert_eq!(told.answer.decision, Decision::Allow);
    }
    gate.close().await;
    // The same history, told as of another day: a session nine days ago, its calls eight, six and five days ago.
    let data = house.dir.path().join("data");
    std::fs::remove_dir_all(&data).unwrap();
    std::fs::DirBuilder::new().mode(0o700).create(&data).unwrap();
    let now = At(i64::try_from(std::time::UNIX_EPOCH.elapsed().unwrap().as_millis()).unwrap());
    let mut days_ago = [9, 8, 6, 5].into_iter();
    let mut seq = 0;
    let mut past = Vec::new();
    while let Ok(entry) = facts.try_recv() {
        if let Fact::SessionStarted { .. } | Fact::CallAllowed { .. } = entry.fact {
            seq += 1;
            let at_ms = now.plus_ms(-days_ago.next().unwrap() * 24 * 60 * 60 * 1_000);
            past.push(Entry { seq, at_ms, fact: entry.fact.clone() });
        }
    }
    assert_eq!(past.len(), 4);
    let key = ChainKey::load_or_make(&data.join("history.key"), || [7; 32]).unwrap();
    Store::open(&data.join("history.db"), key).unwrap().store.append(&past, &[]).unwrap();
    std::fs::write(&policy, POLICY).unwrap();
    let gate = house.open().await;
    let desk = gate.desk(Seat::Supervisor);
    let session = house.session(&gate, "s2").await;
    let _asked = ask_beside(&gate, house.write(session, "c4", "src/d.rs", "x"));
    let item = wait_for(&desk, 1).await.remove(0);
    let scope = json!({ "who": "agent", "on": { "folder": house.workspace.join("src") }, "expires_in_ms": 60_000 });
    let preview = desk.call("grants.preview", json!({ "approval": item["id"], "scope": scope })).await.unwrap();
    let examples = preview["examples"].as_array().unwrap();
    assert_eq!((preview["matched"].as_u64(), examples.len()), (Some(2), 2), "{preview}");
    gate.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_grant_lets_the_like_through_until_it_is_revoked_and_never_after() {
    let house = House::new();
    let gate = house.open().await;
    let desk = gate.desk(Seat::Supervisor);
    let session = house.session(&gate, "s1").await;
    let asked = ask_beside(&gate, house.write(session, "c1", "src/a.rs", "x"));
    let also = ask_beside(&gate, house.write(session, "c2", "src/b.rs", "x"));
    let item = wait_for(&desk, 2).await.remove(0);
    let scope = json!({ "who": "session", "on": { "folder": house.workspace.join("src") }, "expires_in_ms": 60_000 });
    let preview = desk.call("grants.preview", json!({ "approval": item["id"], "scope": scope })).await.unwrap();
    assert_eq!(preview["also_pending"], 1, "{preview}");
    let answer = desk
        .call("approvals.approve", json!({ "id": item["id"], "digest": item["digest"], "grant": scope }))
        .await
        .unwrap();
    assert_eq!(answer["grant"]["sentence"], preview["sentence"]);
    assert_eq!(asked.await.unwrap().answer.decision, Decision::Allow);
    assert_eq!(also.await.unwrap().answer.decision, Decision::Allow, "what waited and matches is answered at once");
    let mut facts = gate.facts();
    let tight_loop = {
        let (gate, ask) = (gate.clone(), house.write(session, "", "src/c.rs", "x"));
        tokio::spawn(async move {
            let mut allowed = 0;
            loop {
                let ask = Ask { call_id: None, hold_ms: Some(0), ..ask.clone() };
                match gate.check(ask, None).await.unwrap().answer.decision {
                    Decision::Allow => allowed += 1,
                    Decision::Deny => return allowed,
                }
            }
        })
    };
    tokio::time::sleep(Duration::from_millis(200)).await;
    let revoked =
        desk.call("grants.revoke", json!({ "ids": [answer["grant"]["id"]], "note": "enough" })).await.unwrap();
    assert_eq!(revoked["outcomes"][0]["state"], "revoked");
    assert!(tight_loop.await.unwrap() > 0, "the grant let nothing through");
    let mut over = false;
    while let Ok(entry) = facts.try_recv() {
        match &entry.fact {
            Fact::GrantRevoked { .. } => over = true,
            Fact::CallAllowed { grants, .. } => assert!(!over || grants.is_empty(), "let through after the revoke"),
            _ => {}
        }
    }
    assert!(over);
    let list = desk.call("grants.list", json!({})).await.unwrap();
    assert_eq!(
        (&list["items"][0]["state"], &list["items"][0]["revoked"]["note"]),
        (&json!("revoked"), &json!("enough"))
    );
    gate.close().await;
}

const REWRITES: &str = r#"
default = "ask"

[[rule]]
name = "lists"
decide = "allow"
tool = ["list_files"]
action = ["list", "read", "search"]

[[rewrite]]
name = "lists stay short"
tool = ["list_files"]
clamp = { max_entries = 10 }
"#;

#[tokio::test(flavor = "multi_thread")]
async fn a_rewrite_makes_the_call_smaller_and_the_original_is_kept_or_the_client_is_told() {
    let house = House::new();
    std::fs::write(house.dir.path().join("config/policy.toml"), REWRITES).unwrap();
    let gate = house.open().await;
    let session = gate.session("builtin".parse().unwrap(), None, text(&house.workspace), None).await.unwrap();
    let input = json!({ "path": house.workspace, "max_entries": 100 });
    let told = gate.check(house.ask(session, "c1", "list_files", &input), None).await.unwrap();
    assert_eq!(told.answer.decision, Decision::Allow, "{}", told.answer.reason);
    assert_eq!(told.answer.input.unwrap()["max_entries"], 10);
    let rewritten = told.judged.facts.rewritten.unwrap();
    assert_eq!(rewritten.rewrites, ["lists stay short"]);
    assert_ne!(rewritten.original_sha256, told.judged.facts.raw_sha256);

    let cannot = Ask { can_rewrite: false, ..house.ask(session, "c2", "list_files", &input) };
    let told = gate.check(cannot, None).await.unwrap();
    assert_eq!(told.answer.decision, Decision::Deny);
    assert_eq!(told.answer.rule.as_deref(), Some("lists stay short"));
    assert!(told.answer.reason.contains("\"max_entries\":10"), "{}", told.answer.reason);
    gate.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_workspace_can_only_tighten_and_a_broken_file_of_it_asks_about_all() {
    let house = House::new();
    let own = house.workspace.join(".placet.toml");
    let rules = "[[rule]]\nname = \"all\"\ndecide = \"allow\"\n\n[[rule]]\nname = \"no main\"\ndecide = \"deny\"\n\
                 action = [\"read\"]\npath = [\"**/main.rs\"]\n";
    std::fs::write(&own, rules).unwrap();
    let gate = house.open().await;
    let session = house.session(&gate, "s1").await;
    let read =
        |call: &str| house.ask(session, call, "Read", &json!({ "file_path": house.workspace.join("src/main.rs") }));
    let told = gate.check(read("c1"), None).await.unwrap();
    assert_eq!(told.answer.rule.as_deref(), Some("no main"), "{}", told.answer.reason);
    let write = Ask { hold_ms: Some(1), ..house.write(session, "c2", "src/new.rs", "x") };
    assert!(gate.check(write, None).await.unwrap().pending, "what it allows is asked all the same");

    std::fs::write(&own, "[[rule]]\n").unwrap();
    let mut told = gate.check(Ask { hold_ms: Some(1), ..read("c3") }, None).await.unwrap();
    for call in 0..200 {
        if told.pending {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
        told = gate.check(Ask { hold_ms: Some(1), ..read(&format!("d{call}")) }, None).await.unwrap();
    }
    assert!(told.pending, "{}", told.answer.reason);

    std::fs::remove_file(&own).unwrap();
    for call in 0..200 {
        told = gate.check(Ask { hold_ms: Some(1), ..read(&format!("e{call}")) }, None).await.unwrap();
        if told.answer.decision == Decision::Allow {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(told.answer.decision, Decision::Allow, "{}", told.answer.reason);
    gate.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_asker_that_goes_at_any_moment_leaves_no_place_taken() {
    let house = House::new();
    let gate = house.open().await;
    let desk = gate.desk(Seat::Supervisor);
    for n in 0..60_u64 {
        let session = house.session(&gate, &format!("s{n}")).await;
        let asked = ask_beside(&gate, house.write(session, "c", &format!("src/{n}.rs"), "x"));
        tokio::time::sleep(Duration::from_micros(n * 150)).await;
        asked.abort();
    }
    tokio::time::sleep(Duration::from_millis(300)).await;
    let taken: Vec<Value> = pending(&desk).await.into_iter().filter(|item| item["waiting"] == true).collect();
    assert!(taken.is_empty(), "{} places are still taken", taken.len());
    gate.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_workspace_that_holds_everything_does_not_open_the_keys_in_it() {
    let house = House::new();
    std::fs::write(house.dir.path().join("config/policy.toml"), placet_domain::Policy::default_text()).unwrap();
    let gate = house.open().await;
    let session = gate.session("claude-code".parse().unwrap(), None, PathText::from("/"), None).await.unwrap();
    for path in ["/etc/shadow", "/home/ana/.ssh/id_ed25519", "/etc/sudoers"] {
        let ask = house.ask(session, path, "Read", &json!({ "file_path": path }));
        let told = gate.check(Ask { hold_ms: Some(1), ..ask }, None).await.unwrap();
        assert_eq!(told.answer.decision, Decision::Deny, "{path}");
    }
    gate.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn whose_sub_agent_calls_is_shown_and_kept_and_is_no_other_call() {
    let house = House::new();
    let gate = house.open().await;
    let desk = gate.desk(Seat::Supervisor);
    let session = house.session(&gate, "s1").await;
    let plain = house.write(session, "c1", "src/a.rs", "x");
    let asked = ask_beside(&gate, Ask { parent: Some("explorer-7".to_owned()), ..plain });
    let item = wait_for(&desk, 1).await.remove(0);
    let detail = desk.call("approvals.get", json!({ "id": item["id"] })).await.unwrap();
    assert_eq!(detail["parent"], "explorer-7");
    let without = ask_beside(&gate, house.write(session, "c2", "src/a.rs", "x"));
    let items = wait_for(&desk, 2).await;
    assert_eq!(items[0]["digest"], items[1]["digest"], "who asks is no part of what would run");
    for item in &items {
        desk.call("approvals.deny", json!({ "id": item["id"] })).await.unwrap();
    }
    asked.await.unwrap();
    without.await.unwrap();
    gate.close().await;
    let gate = house.open().await;
    let detail = gate.desk(Seat::Supervisor).call("approvals.get", json!({ "id": item["id"] })).await.unwrap();
    assert_eq!(detail["parent"], "explorer-7", "it is in the history");
    gate.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn settings_are_read_changed_and_kept_and_the_bounds_of_what_waits_are_the_policys() {
    let house = House::new();
    let gate = house.open_as(Host::Window).await;
    let desk = gate.desk(Seat::Window);
    let settings = desk.call("settings.get", Value::Null).await.unwrap();
    let quiet = json!({"on": false, "from": "22:00", "to": "07:00"});
    assert_eq!(settings["notifications"], json!({"on": true, "gather_over": 3, "sound": false, "quiet": quiet}));
    assert_eq!(settings["waiting"], json!({"per_session": 20, "in_all": 10_000}));
    assert_eq!(settings["when_no_gate"], "deny");
    assert!(settings["start_at_login"].is_null(), "these are not the person's own places");
    let change = json!({
        "notifications": {"on": false, "quiet": {"on": true, "to": "06:30"}},
        "when_no_gate": "client",
        "waiting": {"per_session": 2},
    });
    let settings = desk.call("settings.put", change).await.unwrap();
    let quiet = json!({"on": true, "from": "22:00", "to": "06:30"});
    assert_eq!(settings["notifications"], json!({"on": false, "gather_over": 3, "sound": false, "quiet": quiet}));
    assert_eq!(settings["waiting"], json!({"per_session": 2, "in_all": 10_000}));
    assert_eq!(settings["when_no_gate"], "client");
    let policy = std::fs::read_to_string(house.dir.path().join("config/policy.toml")).unwrap();
    assert_eq!(policy.replace("waiting_per_session = 2\n", ""), POLICY, "nothing else of it is another");
    for wrong in [
        json!({"waiting": {"in_all": 0}}),
        json!({"start_at_login": true}),
        json!({"notifications": {"gather_over": 0}}),
        json!({"notifications": {"quiet": {"from": "6:30"}}}),
        json!({"allow": true}),
    ] {
        assert_eq!(desk.call("settings.put", wrong.clone()).await.unwrap_err().word(), "invalid_params", "{wrong}");
    }
    assert_eq!(gate.desk(Seat::Agents).call("settings.put", json!({})).await.unwrap_err().word(), "unknown_method");
    gate.close().await;

    let gate = house.open_as(Host::Window).await;
    let again = gate.desk(Seat::Window).call("settings.get", Value::Null).await.unwrap();
    assert_eq!(again, settings);
    std::fs::write(house.dir.path().join("config/settings.toml"), "notifications = 3\n").unwrap();
    let broken = gate.desk(Seat::Window).call("settings.get", Value::Null).await.unwrap();
    assert!(broken["problem"].as_str().unwrap().contains("settings.toml"), "{broken}");
    assert_eq!(broken["when_no_gate"], "deny");
    let refused = gate.desk(Seat::Window).call("settings.put", json!({"when_no_gate": "start"})).await.unwrap_err();
    assert_eq!(refused.word(), "not_written");
    gate.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_filtered_is_written_out_in_each_form_and_can_be_stopped() {
    use std::ops::ControlFlow;
    let house = House::new();
    let gate = house.open_as(Host::Window).await;
    let session = house.session(&gate, "s").await;
    for (call, file) in [("1", "src/main.rs"), ("2", "tests/a.rs"), ("3", "tests/b.rs")] {
        gate.check(house.ask(session, call, "Read", &json!({"file_path": house.workspace.join(file)})), None)
            .await
            .unwrap();
    }
    let desk = gate.desk(Seat::Window);
    let export = |format: &str, filter: Value| {
        let export = desk.export(json!({"format": format, "filter": filter})).unwrap();
        let mut out = Vec::new();
        let lines = export.write(&mut out, &mut |_| ControlFlow::Continue(())).unwrap();
        (lines, String::from_utf8(out).unwrap())
    };
    let under = json!({"under": house.workspace.join("tests")});
    for (format, lines) in [("csv", 2), ("audit_log", 2), ("ocsf", 2)] {
        let (written, text) = export(format, under.clone());
        assert_eq!(written, lines, "{format}");
        assert!(text.contains("a.rs") && text.contains("b.rs") && !text.contains("main.rs"), "{format}: {text}");
    }
    assert_eq!(export("session_summaries", json!({})).0, 1);
    let (facts, text) = export("facts", json!({}));
    assert_eq!(usize::try_from(facts).unwrap(), text.lines().count());
    assert!(text.lines().all(|line| line.starts_with("{\"prev\":")), "{text}");
    // The first word of progress comes before the end: whoever says stop gets what is written so far.
    let mut heard = 0;
    let whole = desk.export(json!({"format": "csv"})).unwrap();
    whole
        .write(&mut Vec::new(), &mut |lines| {
            heard = lines;
            ControlFlow::Break(())
        })
        .unwrap();
    assert_eq!(heard, 3);
    for wrong in [json!({}), json!({"format": "xml"}), json!({"format": "csv", "filter": {"path": "/"}})] {
        assert_eq!(desk.export(wrong.clone()).unwrap_err().word(), "invalid_params", "{wrong}");
    }
    gate.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_that_is_described_otherwise_after_a_restart_is_asked_about_whatever_a_rule_says() {
    let policy = "default = \"ask\"\n[[rule]]\nname = \"tracker\"\ndecide = \"allow\"\ntool = [\"mcp__tracker__*\"]\n";
    let house = House::new();
    std::fs::write(house.dir.path().join("config/policy.toml"), policy).unwrap();
    let gate = house.open().await;
    let described = |number: u8| Some(Digest::new([number; 32]));
    let session = house.session(&gate, "s1").await;
    let call = |id: &str, number| Ask {
        definition: described(number),
        ..house.ask(session, id, "mcp__tracker__shout", &json!({"text": "hi"}))
    };
    assert_eq!(gate.check(call("c1", 1), None).await.unwrap().answer.decision, Decision::Allow);
    // The person lets it through as it is described now.
    let asked = ask_beside(&gate, call("c2", 2));
    let desk = gate.desk(Seat::Supervisor);
    let item = wait_for(&desk, 1).await.remove(0);
    desk.call("approvals.approve", json!({"id": item["id"], "digest": item["digest"]})).await.unwrap();
    assert_eq!(asked.await.unwrap().answer.decision, Decision::Allow);
    gate.close().await;

    let gate = house.open().await;
    assert_eq!(
        gate.check(call("c3", 2), None).await.unwrap().answer.decision,
        Decision::Allow,
        "it is as it was let through"
    );
    let asked = ask_beside(&gate, call("c4", 1));
    let desk = gate.desk(Seat::Supervisor);
    let item = wait_for(&desk, 1).await.remove(0);
    assert!(item["flags"].to_string().contains("tool_changed"), "{item}");
    desk.call("approvals.deny", json!({"id": item["id"]})).await.unwrap();
    assert_eq!(asked.await.unwrap().answer.decision, Decision::Deny);
    gate.close().await;
}

/// A collector that the person turned on hears of what is decided, and of nothing that came before it was turned on.
#[tokio::test(flavor = "multi_thread")]
async fn a_collector_is_told_what_was_decided() {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    const SECRET: &str = "hunter-22-and-more";
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/v1/logs", listener.local_addr().unwrap());
    let house = House::new();
    let gate = house.open().await;
    let session = house.session(&gate, "s1").await;
    gate.check(house.write(session, "c1", "tests/before.rs", "x"), None).await.unwrap();
    std::fs::write(house.dir.path().join("config/settings.toml"), format!("[history]\notlp = {url:?}\n")).unwrap();
    // The next fact finds it turned on; what comes after that is sent.
    gate.check(house.write(session, "c2", "tests/turned-on.rs", "x"), None).await.unwrap();
    let cursor = house.dir.path().join("data/otlp.sent");
    for _ in 0..500 {
        if cursor.exists() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    gate.check(house.write(session, "c3", "tests/after.env", &format!("API_TOKEN={SECRET}\n")), None).await.unwrap();
    let mut told = String::new();
    while !told.contains("after.env") {
        let (mut stream, _) = tokio::time::timeout(Duration::from_secs(20), listener.accept()).await.unwrap().unwrap();
        let mut asked = Vec::new();
        while !asked.ends_with(b"}]}]}") {
            assert!(stream.read_buf(&mut asked).await.unwrap() > 0, "{}", String::from_utf8_lossy(&asked));
        }
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}").await.unwrap();
        told.push_str(&String::from_utf8(asked).unwrap());
    }
    assert!(told.contains("placet.call_denied"), "{told}");
    assert!(!told.contains("before.rs") && !told.contains(SECRET), "{told}");
    gate.close().await;
}

/// The chain walked at the desk: how far it is, stopped, and held against anchors outside the file.
#[tokio::test(flavor = "multi_thread")]
async fn a_walk_says_how_far_it_is_can_be_stopped_and_holds_the_chain_against_the_anchors() {
    let house = House::new();
    let anchors = house.dir.path().join("anchors.jsonl");
    let settings = format!("[history]\nanchor_file = {:?}\n", anchors.display().to_string());
    std::fs::write(house.places().config.join("settings.toml"), settings).unwrap();
    let gate = house.open().await;
    let desk = gate.desk(Seat::Supervisor);
    let session = house.session(&gate, "s1").await;
    // More facts than are walked in one step.
    for number in 0..1_100 {
        let input = json!({ "file_path": house.workspace.join(format!("src/{number}.rs")) });
        let told = gate.check(house.ask(session, &format!("c{number}"), "Read", &input), None).await.unwrap();
        assert_eq!(told.answer.decision, Decision::Allow);
    }

    let walk = |go_on: bool| {
        let walk = desk.walk(json!({})).unwrap();
        tokio::task::spawn_blocking(move || {
            let mut heard = Vec::new();
            let answer = walk.walk(&mut |rows, of| {
                heard.push((rows, of));
                if go_on { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            });
            (answer.unwrap(), heard)
        })
    };
    let (whole, heard) = walk(true).await.unwrap();
    assert!(heard.len() > 1 && heard.iter().all(|(rows, of)| rows <= of), "{heard:?}");
    assert!(heard.windows(2).all(|pair| pair[0].0 < pair[1].0), "{heard:?}");
    assert_eq!(heard.last().map(|(rows, _)| json!(rows)), Some(whole["rows"].clone()));
    assert_eq!((&whole["intact"], &whole["key"], &whole["stopped"]), (&json!(true), &json!("file"), &Value::Null));

    let (part, heard) = walk(false).await.unwrap();
    assert_eq!(heard.len(), 1);
    assert_eq!((&part["intact"], &part["stopped"]), (&json!(false), &json!(true)), "what was not walked is not intact");
    assert!(part["rows"].as_u64() < whole["rows"].as_u64() && part["broken"].is_null(), "{part}");

    // An anchor that the chain holds, and one that it does not.
    let last = &whole["head"];
    std::fs::write(&anchors, format!("{}\n", json!({ "at_ms": 1, "seq": last["seq"], "hash": last["hash"] }))).unwrap();
    let held = desk.call("history.verify", json!({})).await.unwrap();
    assert_eq!((&held["intact"], &held["anchors"]), (&json!(true), &json!(1)), "{held}");
    let other = json!({ "at_ms": 1, "seq": 3, "hash": last["hash"] });
    std::fs::write(&anchors, format!("{other}\n")).unwrap();
    let broken = desk.call("history.verify", json!({})).await.unwrap();
    assert_eq!((&broken["intact"], &broken["broken"]), (&json!(false), &json!({ "seq": 3, "kind": "anchor" })));
    gate.close().await;
}
