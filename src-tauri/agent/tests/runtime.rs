//! The runtime over a real gate: what each test holds is its name.
#![allow(clippy::unwrap_used, missing_docs)]

mod house;

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicU32, Ordering},
};

use house::{House, approve, pending, results, run, until, wait_for};
use placet_agent::{
    Budget, Bus, Ending, Later, SUB_AGENT, Stop, Summary, Watched,
    hooks::{Call, Clamp, Cost, Fate, Hook, HookError, Moment, Pre},
    message::{ModelCall, Reply, Usage},
    provider::scripted::{calls, says},
    tools::{ExtraTool, Output, ToolSpec},
};
use placet_gate::{Cleared, Host};
use serde_json::{Value, json};

type Says = Box<dyn Fn(&Call) -> Result<Pre, HookError> + Send + Sync>;

/// A hook that notes when it is called and answers as it is told.
struct Noting {
    name: &'static str,
    cost: Cost,
    pre: Says,
    post: Option<&'static str>,
    notes: Arc<Mutex<Vec<String>>>,
}

impl Noting {
    fn new(name: &'static str, notes: &Arc<Mutex<Vec<String>>>) -> Self {
        Self { name, cost: Cost::Cheap, pre: Box::new(|_| Ok(Pre::Pass)), post: None, notes: Arc::clone(notes) }
    }

    fn saying(mut self, pre: impl Fn(&Call) -> Result<Pre, HookError> + Send + Sync + 'static) -> Arc<dyn Hook> {
        self.pre = Box::new(pre);
        Arc::new(self)
    }

    fn note(&self, what: &str) {
        self.notes.lock().unwrap().push(format!("{} {what}", self.name));
    }
}

impl Hook for Noting {
    fn name(&self) -> &str {
        self.name
    }
    fn cost(&self) -> Cost {
        self.cost
    }
    fn before_tool<'a>(&'a self, call: &'a Call) -> Later<'a, Result<Pre, HookError>> {
        self.note("pre");
        Box::pin(std::future::ready((self.pre)(call)))
    }
    fn after_tool<'a>(&'a self, _: &'a Call, fate: &'a Fate, output: Output) -> Later<'a, Result<Output, HookError>> {
        self.note(&format!("post {}", fate.decision.word()));
        let answer = self.post.map_or(Ok(output), |message| Err(HookError(message.to_owned())));
        Box::pin(std::future::ready(answer))
    }
    fn at_stop<'a>(&'a self, _: &'a placet_agent::Context, _: &'a Summary) -> Later<'a, Result<(), HookError>> {
        self.note("stop");
        let answer = self.post.map_or(Ok(()), |message| Err(HookError(message.to_owned())));
        Box::pin(std::future::ready(answer))
    }
    fn at<'a>(&'a self, moment: Moment<'a>) -> Later<'a, Result<(), HookError>> {
        self.note(&format!("{:?}", moment.point));
        Box::pin(std::future::ready(Ok(())))
    }
}

/// Lets nobody through before all are here: it ends only if they run at the same time.
struct Gathering(tokio::sync::Barrier, AtomicU32);
impl Hook for Gathering {
    fn name(&self) -> &'static str {
        "gathering"
    }
    fn before_tool<'a>(&'a self, _: &'a Call) -> Later<'a, Result<Pre, HookError>> {
        Box::pin(async {
            self.1.fetch_add(1, Ordering::Relaxed);
            self.0.wait().await;
            Ok(Pre::Pass)
        })
    }
}

fn notes() -> Arc<Mutex<Vec<String>>> {
    Arc::default()
}

fn taken(notes: &Arc<Mutex<Vec<String>>>) -> Vec<String> {
    std::mem::take(&mut *notes.lock().unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_denied_call_has_no_side_effect_and_says_why_under_its_own_id() {
    let house = House::new();
    let gate = house.open(Host::Serve).await;
    let (options, provider) = house.options(vec![
        calls("c", &[("write_file", json!({"path": "tests/main.rs", "content": "assert!(false)"}))]),
        says("done"),
    ]);
    let summary = run(&gate, options).await;
    assert_eq!(house.text("tests/main.rs"), "assert!(true)\n");
    let results = results(&provider);
    assert_eq!((results[0].call_id.as_str(), results[0].is_error), ("c_0", true));
    assert!(results[0].text.starts_with("BLOCKED: "), "{}", results[0].text);
    assert!(results[0].text.contains("Tests are protected: change the code, not the tests."));
    assert_eq!((summary.ending, summary.tally.denied, summary.tally.blocked_protected), (Ending::Done, 1, 1));
    gate.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_allowed_call_goes_through() {
    let house = House::new();
    let gate = house.open(Host::Serve).await;
    let (options, provider) = house.options(vec![
        calls("c", &[("write_file", json!({"path": "notes/deep/a.md", "content": "hello\n"}))]),
        calls("d", &[("edit_file", json!({"path": "notes/deep/a.md", "old_string": "hello", "new_string": "bye"}))]),
        calls("f", &[("delete_file", json!({"path": "notes/deep/a.md"}))]),
        says("done"),
    ]);
    let summary = run(&gate, options).await;
    let results = results(&provider);
    assert_eq!(results[0].text, "Wrote 6 bytes to notes/deep/a.md.\n");
    assert_eq!(results[1].text, "Replaced 1 place in notes/deep/a.md.\n");
    assert!(!house.workspace.join("notes/deep/a.md").exists(), "{results:#?}");
    assert_eq!((summary.tally.allowed, summary.tally.denied), (3, 0));
    gate.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_gets_nothing_of_the_persons_environment_and_ends_at_its_limit_with_all_it_started() {
    let house = House::new();
    let gate = house.open(Host::Supervised).await;
    let (options, provider) = house.options(vec![
        calls("c", &[("run_command", json!({"command": "env; pwd; echo trouble >&2; exit 3"}))]),
        calls("d", &[("run_command", json!({"command": "sleep 600 & echo $! > notes/pid; wait", "timeout_ms": 300}))]),
        says("done"),
    ]);
    let running = tokio::spawn({
        let gate = gate.clone();
        async move { run(&gate, options).await }
    });
    while !running.is_finished() {
        for item in pending(&gate).await {
            approve(&gate, &item).await;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    running.await.unwrap();
    let results = results(&provider);
    let mut names: Vec<&str> =
        results[0].text.lines().filter_map(|line| line.split_once('=').map(|(name, _)| name)).collect();
    names.sort_unstable();
    names.retain(|name| !["_", "PWD", "SHLVL", "OLDPWD"].contains(name));
    assert_eq!(names, ["HOME", "LANG", "PATH", "TERM"], "{}", results[0].text);
    assert!(results[0].text.contains(house.workspace.to_str().unwrap()));
    assert!(
        results[0].is_error && results[0].text.ends_with("stderr:\ntrouble\n(exit code 3)\n"),
        "{}",
        results[0].text
    );
    assert!(results[1].is_error && results[1].text.contains("timed_out"), "{}", results[1].text);
    let stat = format!("/proc/{}/stat", house.text("notes/pid").trim());
    // Who was ended and not yet buried counts as ended.
    let is_gone = async || std::fs::read_to_string(&stat).map_or(true, |stat| stat.contains(") Z "));
    until("what the command left behind was ended too", is_gone).await;
    gate.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_commands_output_is_cut_in_its_middle_and_what_it_leaves_behind_does_not_hold_it_up() {
    let house = House::with_policy(&format!(
        "{}\n[[rule]]\nname = \"scripts\"\ndecide = \"allow\"\ncommand = [\"sh src/loud.sh\", \"sh src/slow.sh\"]\n",
        house::POLICY
    ));
    house.put("src/loud.sh", "echo first; head -c 30000000 /dev/zero | tr '\\000' x; echo last\nsleep 600 &\n");
    house.put("src/slow.sh", "echo begun; sleep 600\n");
    let gate = house.open(Host::Serve).await;
    let (options, provider) = house.options(vec![
        calls("c", &[("run_command", json!({"command": "sh src/loud.sh"}))]),
        calls("d", &[("run_command", json!({"command": "sh src/slow.sh", "timeout_ms": 1000}))]),
        says("done"),
    ]);
    tokio::time::timeout(std::time::Duration::from_secs(60), run(&gate, options)).await.unwrap();
    let results = results(&provider);
    let text = &results[0].text;
    assert!(!results[0].is_error && text.starts_with("first\nxxx") && text.ends_with("xxxlast\n"), "{}", text.len());
    assert!(text.len() < 300_000 && text.contains(" bytes left out …"), "{}", text.len());
    assert!(results[1].is_error && results[1].text.contains("Until then it said: begun"), "{}", results[1].text);
    gate.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_ask_without_a_person_is_a_denial_that_says_so() {
    let house = House::new();
    let gate = house.open(Host::Serve).await;
    let (options, provider) =
        house.options(vec![calls("c", &[("write_file", json!({"path": "src/new.rs", "content": "x"}))]), says("done")]);
    let summary = run(&gate, options).await;
    assert!(results(&provider)[0].text.contains("would have been asked"), "{}", results(&provider)[0].text);
    assert!(!house.workspace.join("src/new.rs").exists());
    assert_eq!((summary.tally.asked, summary.tally.denied, summary.approvals), (1, 1, 0));
    gate.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_ask_with_a_person_waits_and_what_was_approved_is_done() {
    let house = House::new();
    let gate = house.open(Host::Supervised).await;
    let (options, provider) =
        house.options(vec![calls("c", &[("write_file", json!({"path": "src/new.rs", "content": "x"}))]), says("done")]);
    let running = tokio::spawn({
        let gate = gate.clone();
        async move { run(&gate, options).await }
    });
    let items = wait_for(&gate, 1).await;
    assert!(!house.workspace.join("src/new.rs").exists());
    approve(&gate, &items[0]).await;
    let summary = running.await.unwrap();
    assert_eq!(house.text("src/new.rs"), "x");
    assert_eq!((summary.tally.asked, summary.approvals), (1, 1), "{:?}", results(&provider));
    gate.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_list_is_clamped_and_the_original_is_kept() {
    let house = House::new();
    for n in 0..30 {
        house.put(&format!("src/f{n:02}.rs"), "");
    }
    let gate = house.open(Host::Serve).await;
    let notes = notes();
    let (mut options, provider) =
        house.options(vec![calls("c", &[("list_files", json!({"path": "src", "max_entries": 100}))]), says("done")]);
    options.clamps = vec![Clamp { tool: "list_files".into(), field: "max_entries".into(), most: 10 }];
    options.hooks = vec![Noting::new("look", &notes).saying(|call| {
        assert_eq!((&call.input["max_entries"], &call.original["max_entries"]), (&json!(10), &json!(100)));
        Ok(Pre::Pass)
    })];
    let log = house.dir.path().join("audit_log.jsonl");
    options.audit_log = Some(log.clone());
    let summary = run(&gate, options).await;
    let line: Value = serde_json::from_str(std::fs::read_to_string(log).unwrap().trim()).unwrap();
    assert_eq!((&line["input"]["max_entries"], &line["original"]["max_entries"]), (&json!(10), &json!(100)));
    let text = &results(&provider)[0].text;
    assert_eq!(text.lines().count(), 11, "{text}");
    assert!(text.ends_with("… and 21 more\n"), "{text}");
    assert_eq!(summary.tally.clamped, 1);
    gate.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn cheap_hooks_go_first_rewrites_compose_and_the_first_denial_ends_the_chain() {
    let house = House::new();
    let gate = house.open(Host::Serve).await;
    let notes = notes();
    let add = |piece: &'static str| {
        move |call: &Call| {
            let path = format!("{}{piece}", call.input["path"].as_str().unwrap());
            Ok(Pre::Rewrite(json!({"path": path, "content": "x"})))
        }
    };
    let (mut options, provider) =
        house.options(vec![calls("c", &[("write_file", json!({"path": "notes/a", "content": "x"}))]), says("done")]);
    let mut dear = Noting::new("dear", &notes);
    dear.cost = Cost::Process;
    options.hooks = vec![
        dear.saying(|call| Ok(Pre::Deny(format!("not {}", call.input["path"].as_str().unwrap())))),
        Noting::new("first", &notes).saying(add("b")),
        Noting::new("second", &notes).saying(add("c")),
        {
            let mut never = Noting::new("third, never called before the tool", &notes);
            never.cost = Cost::Process;
            Arc::new(never)
        },
    ];
    run(&gate, options).await;
    assert!(results(&provider)[0].text.starts_with("BLOCKED: not notes/abc "), "{}", results(&provider)[0].text);
    let seen: Vec<String> =
        taken(&notes).into_iter().filter(|note| note.contains("pre") || note.contains("post")).collect();
    assert_eq!(
        seen,
        [
            "first pre",
            "second pre",
            "dear pre",
            "first post denied",
            "second post denied",
            "dear post denied",
            "third, never called before the tool post denied",
        ]
    );
    assert_eq!(std::fs::read_dir(house.workspace.join("notes")).unwrap().count(), 0);
    gate.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_secret_is_masked_in_the_result_and_stays_on_disk() {
    let house = House::new();
    house.put("src/mail.toml", "host = \"a\"\npassword = \"hunter2hunter2\"\n");
    let gate = house.open(Host::Serve).await;
    let (mut options, provider) =
        house.options(vec![calls("c", &[("read_file", json!({"path": "src/mail.toml"}))]), says("done")]);
    options.journals = Some(house.journals());
    options.audit_log = Some(house.dir.path().join("audit_log.jsonl"));
    let summary = run(&gate, options).await;
    assert_eq!(results(&provider)[0].text, "host = \"a\"\npassword = \"[masked: 14 characters]\"\n");
    assert!(house.text("src/mail.toml").contains("hunter2hunter2"));
    assert_eq!(summary.tally.masked, 1);
    for file in [house.journal(), house.dir.path().join("audit_log.jsonl")] {
        assert!(!std::fs::read_to_string(file).unwrap().contains("hunter2"));
    }
    gate.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_batch_of_reads_goes_through_the_hooks_at_the_same_time_and_keeps_its_order() {
    let house = House::new();
    for n in 0..5 {
        house.put(&format!("src/f{n}"), &n.to_string());
    }
    let gate = house.open(Host::Serve).await;
    let batch: Vec<(&str, Value)> = (0..5).map(|n| ("read_file", json!({"path": format!("src/f{n}")}))).collect();
    let (mut options, provider) = house.options(vec![calls("c", &batch), says("done")]);
    let hook = Arc::new(Gathering(tokio::sync::Barrier::new(5), AtomicU32::new(0)));
    options.hooks = vec![Arc::clone(&hook) as _];
    let running = run(&gate, options);
    tokio::time::timeout(std::time::Duration::from_secs(20), running).await.unwrap();
    assert_eq!(hook.1.load(Ordering::Relaxed), 5);
    let texts: Vec<String> = results(&provider).into_iter().map(|result| result.text).collect();
    assert_eq!(texts, ["0", "1", "2", "3", "4"]);
    gate.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failing_pre_hook_halts_the_run_and_is_named() {
    let house = House::new();
    let gate = house.open(Host::Serve).await;
    let notes = notes();
    let (mut options, provider) = house.options(vec![
        calls("c", &[("write_file", json!({"path": "notes/a", "content": "x"})), ("list_files", json!({"path": "."}))]),
        says("never said"),
    ]);
    options.hooks = vec![Noting::new("fragile", &notes).saying(|_| Err(HookError("no disk".into())))];
    let summary = run(&gate, options).await;
    assert_eq!(summary.ending, Ending::HookFailed { hook: "fragile".into(), message: "no disk".into() });
    assert_eq!(provider.asked().len(), 1);
    assert!(!house.workspace.join("notes/a").exists());
    assert!(taken(&notes).contains(&"fragile post failed".to_owned()), "the post chain saw it");
    gate.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn failing_post_and_stop_hooks_do_not_halt_the_run_and_are_told_of() {
    let house = House::new();
    let gate = house.open(Host::Serve).await;
    let notes = notes();
    let (mut options, provider) =
        house.options(vec![calls("c", &[("read_file", json!({"path": "src/main.rs"}))]), says("done")]);
    let mut hook = Noting::new("fragile", &notes);
    hook.post = Some("no disk");
    options.hooks = vec![Arc::new(hook)];
    let bus = Bus::default();
    let mut watching = bus.watch();
    let summary = placet_agent::run(gate.clone(), options, bus, Stop::default()).await.unwrap();
    assert_eq!(summary.ending, Ending::Done);
    assert_eq!(results(&provider)[0].text, "fn main() {}\n");
    let mut failed = Vec::new();
    while let Ok(watched) = watching.try_recv() {
        if let Watched::HookFailed { hook, point, .. } = &watched.watched {
            failed.push(format!("{hook} {point}"));
        }
    }
    assert_eq!(failed, ["fragile after_tool", "fragile stop"]);
    gate.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hook_installed_twice_runs_once() {
    let house = House::new();
    let gate = house.open(Host::Serve).await;
    let notes = notes();
    let (mut options, _) =
        house.options(vec![calls("c", &[("read_file", json!({"path": "src/main.rs"}))]), says("done")]);
    options.hooks = vec![Arc::new(Noting::new("wrapper", &notes)), Arc::new(Noting::new("wrapper", &notes))];
    run(&gate, options).await;
    let seen = taken(&notes);
    assert_eq!(seen.iter().filter(|note| *note == "wrapper pre").count(), 1, "{seen:?}");
    assert_eq!(seen.iter().filter(|note| *note == "wrapper post allowed").count(), 1, "{seen:?}");
    gate.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_points_of_the_loop_come_in_order_and_stop_comes_last() {
    let house = House::new();
    let gate = house.open(Host::Serve).await;
    let notes = notes();
    let (mut options, _) =
        house.options(vec![calls("c", &[("read_file", json!({"path": "src/main.rs"}))]), says("done")]);
    options.hooks = vec![Arc::new(Noting::new("h", &notes))];
    run(&gate, options).await;
    assert_eq!(
        taken(&notes),
        [
            "h BeforeTurn",
            "h BeforeProvider",
            "h pre",
            "h post allowed",
            "h AfterTurn",
            "h BeforeTurn",
            "h BeforeProvider",
            "h AfterTurn",
            "h stop",
        ]
    );
    gate.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hook_may_answer_in_a_tools_place() {
    let house = House::new();
    let gate = house.open(Host::Serve).await;
    let notes = notes();
    let (mut options, provider) =
        house.options(vec![calls("c", &[("write_file", json!({"path": "notes/a", "content": "x"}))]), says("done")]);
    options.hooks =
        vec![Noting::new("mock", &notes).saying(|_| Ok(Pre::Answer(Output { text: "as if".into(), is_error: false })))];
    let summary = run(&gate, options).await;
    assert_eq!(results(&provider)[0].text, "as if");
    assert!(!house.workspace.join("notes/a").exists());
    assert_eq!((summary.tally.allowed, summary.tally.audited), (0, 1));
    gate.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_that_is_not_offered_cannot_be_called_and_broken_arguments_run_nothing() {
    let house = House::new();
    let gate = house.open(Host::Serve).await;
    let broken = ModelCall { id: "b".into(), tool: "write_file".into(), arguments: "{\"path\": \"notes/a".into() };
    let (mut options, provider) = house.options(vec![
        calls("c", &[("run_command", json!({"command": "touch notes/x"}))]),
        Reply { text: String::new(), calls: vec![broken], usage: Usage::default() },
        says("done"),
    ]);
    options.tools = Some(vec!["read_file".into(), "write_file".into()]);
    let summary = run(&gate, options).await;
    let results = results(&provider);
    let code = |at: usize| serde_json::from_str::<Value>(&results[at].text).unwrap()["code"].clone();
    assert_eq!((code(0), code(1)), (json!("unknown_tool"), json!("bad_arguments")));
    assert_eq!(provider.asked()[0].tools.len(), 2, "the model is told of two tools");
    assert_eq!(std::fs::read_dir(house.workspace.join("notes")).unwrap().count(), 0);
    assert_eq!((summary.tally.calls, summary.tally.audited), (2, 2));
    gate.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_abort_withdraws_what_waits_and_leaves_a_whole_conversation() {
    let house = House::new();
    let gate = house.open(Host::Supervised).await;
    let (mut options, _) = house.options(vec![
        calls(
            "c",
            &[("read_file", json!({"path": "src/main.rs"})), ("write_file", json!({"path": "src/x", "content": ""}))],
        ),
        says("never"),
    ]);
    options.journals = Some(house.journals());
    let stop = Stop::default();
    let running = tokio::spawn(placet_agent::run(gate.clone(), options, Bus::default(), stop.clone()));
    wait_for(&gate, 1).await;
    stop.now();
    let summary = running.await.unwrap().unwrap();
    assert_eq!(summary.ending, Ending::Aborted);
    wait_for(&gate, 0).await;
    let journal = std::fs::read_to_string(house.journal()).unwrap();
    assert!(journal.contains("fn main() {}") && journal.contains("the person stopped the run"), "{journal}");
    gate.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn wall_time_is_bounded_even_while_a_person_is_asked() {
    let house = House::new();
    let gate = house.open(Host::Supervised).await;
    let (mut options, _) =
        house.options(vec![calls("c", &[("write_file", json!({"path": "src/x", "content": ""}))]), says("never")]);
    options.budget = Budget { max_ms: 300, ..Budget::default() };
    assert_eq!(run(&gate, options).await.ending, Ending::TimeOver);
    wait_for(&gate, 0).await;
    gate.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sub_agents_calls_walk_the_same_corridor_and_carry_its_lineage() {
    let house = House::new();
    let gate = house.open(Host::Serve).await;
    // Parent and child share the script: the child's first answer is the parent's first as well, one level deeper,
    // until no more sub-agents are to be had.
    let (mut options, _) = house.options(vec![
        calls("c", &[(SUB_AGENT, json!({"task": "go on"})), ("write_file", json!({"path": "tests/x", "content": ""}))]),
        says("done"),
    ]);
    options.sub_agents = 2;
    let summary = run(&gate, options).await;
    assert_eq!(summary.ending, Ending::Done);
    let (depths, stopped) = gate.look(|state| {
        let depth = |mut parent: Option<placet_domain::SessionId>| {
            let mut depth = 0;
            while let Some(id) = parent {
                depth += 1;
                parent = state.sessions[&id].parent;
            }
            depth
        };
        let mut depths: Vec<u32> = state.sessions.values().map(|session| depth(session.parent)).collect();
        depths.sort_unstable();
        (depths, state.sessions.values().filter(|session| session.stopped_at_ms.is_some()).count())
    });
    assert_eq!((depths, stopped), (vec![0, 1, 2], 3));
    assert!(!house.workspace.join("tests/x").exists());
    gate.close().await;
}

/// A tool that an MCP server, or the host, adds.
struct Counting(&'static str, Arc<AtomicU32>);

impl ExtraTool for Counting {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: self.0.to_owned(),
            description: "Counts its calls.".to_owned(),
            schema: json!({"type": "object"}),
            reads_only: false,
        }
    }
    fn run(&self, _: Cleared) -> Later<'_, Output> {
        self.1.fetch_add(1, Ordering::Relaxed);
        Box::pin(std::future::ready(Output { text: "ran".to_owned(), is_error: false }))
    }
}

/// The hour of the day where this machine is.
async fn hour_here() -> u32 {
    let date = tokio::process::Command::new("date").arg("+%H").output().await.unwrap();
    String::from_utf8(date.stdout).unwrap().trim().parse().unwrap()
}

const ARTICLE: &str = r#"
default = "ask"

[[context]]
agent = ["*"]
set = { user = "u_004", tier = "TIER" }

[[rule]]
name = "the desk may"
decide = "allow"
tool = ["prepare_case_file", "lookup_user"]

[[rule]]
name = "no new cases during the weekly deployment"
decide = "deny"
tool = ["prepare_case_file"]
days = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
between = "BETWEEN"
reason = "A deployment is running. Try again later."

[[rule]]
name = "free tier creates no cases"
decide = "deny"
tool = ["prepare_case_file"]
when = 'context.tier == "free"'
reason = "Free-tier users cannot create case files. Suggest an upgrade or the general FAQ."

[[rule]]
name = "only one's own record"
decide = "deny"
tool = ["lookup_user"]
when = 'input.user_id != context.user'
"#;

async fn article(tier: &str, between: &str, tool: &'static str, input: Value) -> (u32, String) {
    let house = House::with_policy(&ARTICLE.replace("TIER", tier).replace("BETWEEN", between));
    let gate = house.open(Host::Serve).await;
    let ran = Arc::new(AtomicU32::new(0));
    let (mut options, provider) = house.options(vec![calls("c", &[(tool, input)]), says("done")]);
    options.extra_tools = vec![Arc::new(Counting(tool, Arc::clone(&ran)))];
    run(&gate, options).await;
    gate.close().await;
    (ran.load(Ordering::Relaxed), results(&provider)[0].text.clone())
}

#[tokio::test(flavor = "multi_thread")]
async fn the_deployment_window_the_free_tier_and_the_foreign_user_are_refused_by_policy() {
    // One of the two windows is open now, the other an hour at least away.
    let noon_is_near = {
        let hour = hour_here().await;
        (6..18).contains(&hour)
    };
    let (open, shut) = if noon_is_near { ("05:00-19:00", "20:00-04:00") } else { ("17:00-07:00", "08:00-16:00") };
    let case = json!({"case": "c1"});
    let (ran, text) = article("paid", open, "prepare_case_file", case.clone()).await;
    assert!(ran == 0 && text.contains("A deployment is running."), "{ran} {text}");
    let (ran, text) = article("free", shut, "prepare_case_file", case).await;
    assert!(ran == 0 && text.contains("Suggest an upgrade or the general FAQ."), "{ran} {text}");
    let (ran, text) = article("paid", shut, "lookup_user", json!({"user_id": "u_005"})).await;
    assert!(ran == 0 && text.starts_with("BLOCKED: "), "{ran} {text}");
    // What the model says of who it is changes nothing.
    let lie = json!({"user_id": "u_005", "context": {"user": "u_005"}, "user": "u_005"});
    assert_eq!(article("paid", shut, "lookup_user", lie).await.0, 0);
    let (ran, text) = article("paid", shut, "lookup_user", json!({"user_id": "u_004"})).await;
    assert_eq!((ran, text.as_str()), (1, "ran"));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_exports_hold_a_line_for_each_call_denied_ones_included_and_one_for_the_session() {
    let house = House::new();
    let gate = house.open(Host::Serve).await;
    let (mut options, _) = house.options(vec![
        calls(
            "c",
            &[("read_file", json!({"path": "src/main.rs"})), ("write_file", json!({"path": "tests/x", "content": ""}))],
        ),
        says("done"),
    ]);
    let (log, sessions) = (house.dir.path().join("audit_log.jsonl"), house.dir.path().join("session_summaries.jsonl"));
    options.audit_log = Some(log.clone());
    options.session_summaries = Some(sessions.clone());
    run(&gate, options).await;
    let lines = |path| -> Vec<Value> {
        std::fs::read_to_string(path).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let log = lines(log);
    assert_eq!(log.len(), 2);
    assert_eq!(
        (&log[0]["tool"], &log[0]["is_error"], &log[0]["decision"]),
        (&json!("read_file"), &json!(false), &json!("allowed"))
    );
    assert_eq!(
        (&log[1]["tool"], &log[1]["is_error"], &log[1]["decision"]),
        (&json!("write_file"), &json!(true), &json!("denied"))
    );
    let sessions = lines(sessions);
    assert_eq!(sessions.len(), 1);
    assert_eq!(
        (&sessions[0]["calls"], &sessions[0]["denials"], &sessions[0]["outcome"]["ending"]),
        (&json!(2), &json!(1), &json!("done"))
    );
    gate.close().await;
}
