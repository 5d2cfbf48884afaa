//! A real gate on a temporary folder, with somebody at the desk or nobody.
#![allow(clippy::unwrap_used, dead_code, unreachable_pub, missing_docs)]

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use placet_agent::{
    Bus, Options, Stop, Summary, Told, Watched,
    message::{Message, Reply, ToolResult},
    provider::scripted::Scripted,
};
use placet_gate::{Flags, Gate, Host, Places, Seat};
use serde_json::{Value, json};
use tokio::sync::broadcast::Receiver;

pub const POLICY: &str = r#"
default = "ask"

[[rule]]
name = "reading in the workspace"
decide = "allow"
action = ["none", "read", "list", "search"]
path = ["${workspace}/**"]

[[rule]]
name = "the client's own"
decide = "allow"
action = ["none"]

[[rule]]
name = "notes may be written"
decide = "allow"
action = ["write", "delete"]
path = ["${workspace}/notes/**"]

[[rule]]
name = "these commands may run"
decide = "allow"
tool = ["run_command"]
action = ["execute", "read", "write", "list", "search"]

[[rule]]
name = "tests are the yardstick"
decide = "deny"
action = ["write", "delete"]
path = ["${workspace}/tests/**"]
reason = "Tests are protected: change the code, not the tests."
"#;

pub struct House {
    pub dir: tempfile::TempDir,
    pub workspace: PathBuf,
    policy: String,
}

impl House {
    pub fn new() -> Self {
        Self::with_policy(POLICY)
    }

    pub fn with_policy(policy: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let workspace = dir.path().join("app");
        for folder in ["src", "tests", "notes"] {
            std::fs::create_dir_all(workspace.join(folder)).unwrap();
        }
        std::fs::write(workspace.join("src/main.rs"), "fn main() {}\n").unwrap();
        std::fs::write(workspace.join("tests/main.rs"), "assert!(true)\n").unwrap();
        std::fs::create_dir_all(dir.path().join("config")).unwrap();
        std::fs::write(dir.path().join("config/policy.toml"), policy).unwrap();
        let workspace = workspace.canonicalize().unwrap();
        Self { dir, workspace, policy: policy.to_owned() }
    }

    pub fn places(&self) -> Places {
        let flags = Flags {
            data_dir: Some(self.dir.path().join("data")),
            config_dir: Some(self.dir.path().join("config")),
            socket: None,
        };
        Places::new(&flags).unwrap()
    }

    pub async fn open(&self, host: Host) -> Gate {
        let options = placet_gate::Options { places: self.places(), host, version: "0".to_owned() };
        placet_gate::open(options).await.unwrap()
    }

    pub fn put(&self, path: &str, content: &str) {
        std::fs::write(self.workspace.join(path), content).unwrap();
    }

    pub fn text(&self, path: &str) -> String {
        std::fs::read_to_string(self.workspace.join(path)).unwrap()
    }

    pub fn options(&self, replies: Vec<Reply>) -> (Options, Arc<Scripted>) {
        let provider = Arc::new(Scripted::new(replies));
        let agent = "builtin".parse().unwrap();
        let options = Options::new(agent, self.workspace.clone(), "do it".to_owned(), Arc::clone(&provider) as _);
        (options, provider)
    }

    pub fn journals(&self) -> PathBuf {
        self.dir.path().join("runs")
    }

    pub fn journal(&self) -> PathBuf {
        std::fs::read_dir(self.journals()).unwrap().next().unwrap().unwrap().path()
    }
}

pub async fn run(gate: &Gate, options: Options) -> Summary {
    placet_agent::run(gate.clone(), options, Bus::default(), Stop::default()).await.unwrap()
}

/// All results of a run, as the model last saw them.
pub fn results(provider: &Scripted) -> Vec<ToolResult> {
    let asked = provider.asked();
    let messages = &asked.last().unwrap().messages;
    let results = messages.iter().filter_map(|message| match message {
        Message::Results { results } => Some(results.clone()),
        Message::User { .. } | Message::Assistant { .. } => None,
    });
    results.flatten().collect()
}

pub async fn pending(gate: &Gate) -> Vec<Value> {
    let list = gate.desk(Seat::Supervisor).call("approvals.list", json!({"state": "pending"})).await.unwrap();
    list["items"].as_array().unwrap().clone()
}

pub async fn wait_for(gate: &Gate, count: usize) -> Vec<Value> {
    for _ in 0..1_000 {
        let items = pending(gate).await;
        if items.len() == count {
            return items;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("{:#?} wait, not {count}", pending(gate).await);
}

/// How many questions were put since the receiver was made.
pub fn questions(facts: &mut Receiver<Arc<placet_domain::Entry>>) -> usize {
    let asked = |entry: &Arc<placet_domain::Entry>| matches!(entry.fact, placet_domain::Fact::ApprovalAsked { .. });
    std::iter::from_fn(|| facts.try_recv().ok()).filter(asked).count()
}

/// Looks until it is so, or gives up after ten seconds.
pub async fn until(what: &str, mut is_so: impl AsyncFnMut() -> bool) {
    for _ in 0..1_000 {
        if is_so().await {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("it never came to this: {what}");
}

/// Waits until a run tells of something.
pub async fn told(watching: &mut Receiver<Arc<Told>>, what: impl Fn(&Watched) -> bool) -> Watched {
    let wait = async {
        loop {
            let told = watching.recv().await.unwrap();
            if what(&told.watched) {
                return told.watched.clone();
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(20), wait).await.unwrap()
}

pub async fn approve(gate: &Gate, item: &Value) {
    let params = json!({"id": item["id"], "digest": item["digest"]});
    let desk = gate.desk(Seat::Supervisor);
    desk.call("approvals.approve", params).await.unwrap();
}

pub async fn deny(gate: &Gate, item: &Value, note: &str) {
    let desk = gate.desk(Seat::Supervisor);
    desk.call("approvals.deny", json!({"id": item["id"], "note": note})).await.unwrap();
}

pub fn exists(path: &Path) -> bool {
    path.exists()
}
