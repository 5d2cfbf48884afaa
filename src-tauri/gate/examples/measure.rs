//! What the rooms cost by themselves, for `cargo xtask bench`, and what a writer that commits every call by itself
//! costs: the peer that the gate's shared commits are compared with.
#![allow(clippy::print_stdout, clippy::unwrap_used, missing_docs, reason = "a measuring program")]
#![allow(clippy::disallowed_methods, reason = "it measures how long things take; nothing is decided by that time")]

#[path = "../tests/ground/mod.rs"]
mod ground;

use std::{
    fs::OpenOptions,
    hint::black_box,
    io::{BufRead as _, Write as _},
    ops::ControlFlow,
    os::unix::fs::OpenOptionsExt as _,
    path::Path,
    sync::{Barrier, Mutex},
    time::{Duration, Instant},
};

use ground::{NOW, WORKSPACE, check, grants, id, known, read, rules, state};
use placet_domain::{
    At, Digest, Entry, Fact, Grant, Judged, PathText, SessionId, command::Decision, decide, decide::Outcome,
};
use placet_store::{Body, Bucket, ChainKey, HistoryFilter, Opened, Store};
use placet_subject::{RawCall, canonical, explain, strict_json};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["alone"] => alone(),
        ["history", folder, rows] => history(Path::new(folder), rows.parse().unwrap()),
        ["commits", folder] => commits(Path::new(folder)),
        ["window", folder, rows, waiting] => window(Path::new(folder), rows.parse().unwrap(), waiting.parse().unwrap()),
        _ => {
            eprintln!("usage: measure alone | history FOLDER ROWS | commits FOLDER | window FOLDER ROWS WAITING");
            std::process::exit(2);
        }
    }
}

/// One line of the table; times in microseconds.
fn say(what: &str, ours: f64, against: &str, theirs: f64, at_most: f64) {
    println!("{}", json!({"what": what, "ours": ours, "against": against, "theirs": theirs, "at_most": at_most}));
}

/// The least time of one round, in microseconds, of each of the two, in turn.
fn in_turn(rounds: usize, mut one: impl FnMut(), mut other: impl FnMut()) -> (f64, f64) {
    let mut least = (f64::INFINITY, f64::INFINITY);
    for _ in 0..rounds {
        let began = Instant::now();
        one();
        let between = Instant::now();
        other();
        least.0 = least.0.min((between - began).as_secs_f64() * 1e6);
        least.1 = least.1.min(between.elapsed().as_secs_f64() * 1e6);
    }
    least
}

/// What needs no disk.
fn alone() {
    let call = read("file-7.txt", &known());
    let with = |policy: &str, grants: Vec<Grant>| {
        let state = state(policy, grants);
        let command = check(call.clone());
        let decided = decide(&state, &command, NOW).unwrap();
        let allowed = matches!(&decided.outcome, Outcome::Answered(answer) if answer.decision == Decision::Allow);
        assert!(allowed, "{:?}", decided.outcome);
        move || {
            for _ in 0..100 {
                black_box(decide(&state, &command, NOW).unwrap());
            }
        }
    };
    let asks = "default = \"ask\"\n";
    let (few, many) = (with(asks, grants(10)), with(asks, grants(100_000)));
    let (theirs, ours) = in_turn(200, few, many);
    say("a decision among 100,000 grants", ours / 100.0, "among 10 grants", theirs / 100.0, 3.0);
    let (few, many) = (with(&rules(100), Vec::new()), with(&rules(10_000), Vec::new()));
    let (theirs, ours) = in_turn(200, few, many);
    say("a decision with 10,000 rules", ours / 100.0, "with 100 rules", theirs / 100.0, 2.0);
    for (name, bytes, rounds) in [("1 kB", 1_000, 2_000), ("100 kB", 100_000, 200), ("10 MB", 10_000_000, 8)] {
        let text = input_of(bytes);
        let ours = || {
            let value = strict_json(text.as_bytes()).unwrap();
            black_box(canonical::sha256(canonical::canonical(&value).as_bytes()));
        };
        let theirs = || {
            black_box(serde_json::from_slice::<Value>(text.as_bytes()).unwrap());
            black_box(Sha256::digest(text.as_bytes()));
        };
        let (ours, theirs) = in_turn(rounds, ours, theirs);
        let what = format!("strict reading and canonical digest of {name}");
        say(&what, ours, "reading it as any JSON and SHA-256 of its bytes", theirs, 2.0);
    }
    explained();
}

/// All of what is made of a typical call, as a person is shown it.
fn explained() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.rs");
    let line = "let total = lines.iter().map(|line| line.len()).sum::<usize>();\n";
    std::fs::write(&file, format!("{}// here\n{}", line.repeat(200), line.repeat(200))).unwrap();
    let (known, cwd) = (known(), PathText::from(folder.path().to_str().unwrap()));
    let edit = json!({"file_path": &file, "old_string": "// here", "new_string": "// there\n// and here"});
    let command = json!({"command": "cd src && cat a.rs | head -20 && cargo test --workspace 2>&1 | tail -40"});
    for (name, tool, input) in
        [("an edit of a file of 400 lines", "Edit", edit), ("a line of commands", "Bash", command)]
    {
        let input = input.to_string();
        let ours = || {
            let call = RawCall::in_folder("claude-code", tool, input.as_bytes(), &cwd);
            black_box(explain(&call, &known).to_string());
        };
        let theirs = || {
            black_box(Sha256::digest(std::fs::read(&file).unwrap()));
        };
        let (ours, theirs) = in_turn(500, ours, theirs);
        say(&format!("explaining {name}"), ours, "reading that file and its SHA-256", theirs, f64::INFINITY);
    }
}

/// What the history takes once it is long.
fn history(folder: &Path, rows: u64) {
    let mut opened = Store::open(&folder.join("history.db"), ChainKey::new([7; 32])).unwrap();
    let call = read("file-0.txt", &known());
    fill(&mut opened, &call, rows);
    let reader = &opened.reader;
    let page = |filter: &HistoryFilter| {
        let page = reader.history(filter).unwrap();
        assert_eq!(page.items.len(), 50, "{filter:?}");
    };
    let newest = HistoryFilter::default();
    let deep = |place: u64| HistoryFilter { after: Some(rows / 20 * place), ..HistoryFilter::default() };
    let mut place = 0;
    let somewhere = || {
        place = place % 19 + 1;
        page(&deep(place));
    };
    let (ours, theirs) = in_turn(100, somewhere, || page(&newest));
    let of = format!("of {rows} calls");
    say(&format!("a page deep in the history, {of}"), ours, "its newest page", theirs, 5.0);
    let word = HistoryFilter { text: Some("file-77".into()), ..HistoryFilter::default() };
    let (ours, theirs) = in_turn(20, || page(&word), || page(&newest));
    say(&format!("the newest 50 with a part of a word, {of}"), ours, "its newest page", theirs, f64::INFINITY);
    let verify = || {
        let verified = reader.verify(None, &mut |_| ControlFlow::Continue(())).unwrap();
        assert!(verified.intact);
    };
    let scan = || {
        let mut after = 0;
        while let Some(last) = reader.facts(after, 1_000).unwrap().last() {
            after = last.seq;
        }
    };
    let (ours, theirs) = in_turn(2, verify, scan);
    say(&format!("verifying the chain {of}"), ours, "reading the same facts", theirs, 2.5);
    let figures = || {
        assert!(reader.stats(At(0), At(i64::MAX), Bucket::Day).unwrap().calls + 1 >= rows);
    };
    let (ours, theirs) = in_turn(20, figures, || page(&newest));
    say(&format!("figures of each day, {of}"), ours, "its newest page", theirs, f64::INFINITY);
    start(opened, folder, &call, &of);
}

/// Makes the history so long.
fn fill(opened: &mut Opened, call: &Judged, rows: u64) {
    let mut seq = opened.head.seq;
    while seq < rows {
        let facts = (0..1_000).map(|n| allowed(seq + n, call.clone())).collect::<Vec<_>>();
        seq += 1_000;
        opened.store.append(&facts, &[]).unwrap();
        while opened.store.index_some(1_000).unwrap() {}
    }
}

/// A data folder for the app to open: a history so long, and so many calls that wait.
fn window(folder: &Path, rows: u64, waiting: u64) {
    let mut key = OpenOptions::new().write(true).create_new(true).mode(0o600).open(folder.join("history.key")).unwrap();
    key.write_all(&[7; 32]).unwrap();
    let mut opened = Store::open(&folder.join("history.db"), ChainKey::new([7; 32])).unwrap();
    let call = read("file-0.txt", &known());
    fill(&mut opened, &call, rows.max(1));
    let head = opened.store.head().seq;
    let asks = (1..=waiting).map(|n| asked(head + n, n, call.clone())).collect::<Vec<_>>();
    opened.store.append(&asks, &[input(&call)]).unwrap();
}

/// What opening a long history takes, with 500 questions that wait.
fn start(mut opened: Opened, folder: &Path, call: &Judged, of: &str) {
    let head = opened.store.head().seq;
    if opened.approvals.is_empty() {
        let asks = (1..=500).map(|n| asked(head + n, n, call.clone())).collect::<Vec<_>>();
        opened.store.append(&asks, &[input(call)]).unwrap();
    }
    drop(opened);
    let open = |name: &str, waiting: usize| {
        let opened = Store::open(&folder.join(name), ChainKey::new([7; 32])).unwrap();
        assert_eq!(opened.approvals.len(), waiting);
    };
    let (ours, theirs) = in_turn(5, || open("history.db", 500), || open("empty.db", 0));
    say(&format!("opening the history {of}, 500 waiting"), ours, "opening an empty one", theirs, f64::INFINITY);
}

fn asked(seq: u64, number: u64, call: Judged) -> Entry {
    let sha256 = input(&call).sha256;
    let fact = Fact::ApprovalAsked {
        approval: id(number),
        session: id(1),
        call: call.facts,
        number: 1,
        input_sha256: sha256,
        card_sha256: Digest::new([0; 32]),
        rule: None,
        reason: "It waits.".to_owned(),
        expires_at_ms: At(i64::MAX),
        waiter: None,
        can_edit: false,
        policy: Digest::new([0; 32]),
    };
    Entry { seq, at_ms: NOW, fact }
}

/// Takes "ASKERS MILLISECONDS" by lines and says how many calls a second that many threads got written, each call in a
/// commit of its own, in turn: the same rows in the same file with the same durability.
fn commits(folder: &Path) {
    let opened = Store::open(&folder.join("commits.db"), ChainKey::new([7; 32])).unwrap();
    let call = read("file-0.txt", &known());
    let mut store = opened.store;
    if store.head().seq == 0 {
        store.append(&[allowed(0, call.clone())], &[]).unwrap();
    }
    let store = Mutex::new(store);
    println!("ready");
    for line in std::io::stdin().lock().lines().map_while(Result::ok) {
        let (askers, ms) = line.split_once(' ').unwrap();
        let askers: usize = askers.parse().unwrap();
        let length = Duration::from_millis(ms.parse().unwrap());
        let start = Barrier::new(askers + 1);
        let ask = || {
            start.wait();
            let (began, mut calls) = (Instant::now(), 0_u32);
            while began.elapsed() < length {
                let mut store = store.lock().unwrap();
                let fact = allowed(store.head().seq, call.clone());
                store.append(&[fact], &[input(&call)]).unwrap();
                calls += 1;
            }
            calls
        };
        let rate = std::thread::scope(|scope| {
            let all: Vec<_> = (0..askers).map(|_| scope.spawn(ask)).collect();
            start.wait();
            let began = Instant::now();
            let calls: u32 = all.into_iter().map(|thread| thread.join().unwrap()).sum();
            f64::from(calls) / began.elapsed().as_secs_f64()
        });
        println!("{rate}");
    }
}

fn input(judged: &Judged) -> Body {
    Body::new(serde_json::to_vec(&*judged.input).unwrap())
}

/// The fact behind the fact of this number: the session's start, and then a call with a name of its own.
fn allowed(head: u64, judged: Judged) -> Entry {
    let seq = head + 1;
    let session: SessionId = id(1);
    let fact = if head == 0 {
        let agent = "bench".parse().unwrap();
        let (context, workspace) = (std::collections::BTreeMap::new(), WORKSPACE.into());
        Fact::SessionStarted { session, agent, client_session: None, workspace, parent: None, context }
    } else {
        let mut call = judged.facts;
        let path = PathText::from(format!("{WORKSPACE}/file-{seq}.txt").as_str());
        if let Some(placet_domain::Subject::Path(subject)) = call.subjects.first_mut() {
            (subject.asked, subject.normalized, subject.resolved) = (path.clone(), path.clone(), path);
        }
        let digest = Digest::new(Sha256::digest(seq.to_be_bytes()).into());
        (call.digest, call.action_digest) = (digest, digest);
        Fact::CallAllowed { session, call, rules: vec!["all".into()], grants: Vec::new(), policy: digest }
    };
    Entry { seq, at_ms: NOW.plus_ms(i64::try_from(seq).unwrap()), fact }
}

/// An input of so many bytes: text for the most part, as written files are, and some structure.
fn input_of(bytes: usize) -> String {
    let line = "let total = lines.iter().map(|line| line.len()).sum::<usize>(); // with a \"quote\"\n";
    let edits: Vec<Value> = (0..bytes.div_ceil(2 * line.len() + 60))
        .map(|number| json!({"old_string": line, "new_string": line, "line": number}))
        .collect();
    json!({"file_path": "/nowhere/a.rs", "edits": edits}).to_string()
}
