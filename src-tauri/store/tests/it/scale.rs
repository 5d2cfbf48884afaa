//! Nothing that is asked for often grows with the table. That is tested by the steps that SQLite takes; how long they take
//! is measured by hand: `cargo test -p placet-store --release -- --ignored --nocapture scale`. Size: `PLACET_SCALE`, in calls.
#![allow(clippy::disallowed_methods)]

use std::{
    ops::ControlFlow,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use placet_domain::{Action, Entry, Fact};
use placet_store::{Bucket, CallDecision, HistoryFilter, Store};

use crate::world::*;

fn fill(w: &mut World, calls: u64, apart_ms: i64) {
    let tools = ["Read", "Write", "Bash", "WebFetch", "Grep"];
    let mut entries = Vec::new();
    for (seq, n) in (w.head.seq + 1..).zip(0..calls) {
        let mixed = n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20;
        let tool = tools[usize::try_from(mixed % 5).unwrap()];
        let what = path(Action::Read, &format!("/w/src/part{}/file{n}.rs", mixed % 97));
        w.now = w.now.plus_ms(apart_ms);
        let fact = if mixed.is_multiple_of(10_007) {
            let by = placet_domain::DeniedBy::Default;
            let call = call(tool, vec![what], n);
            Fact::CallDenied { session: session(1), call, by, reason: "rare reason".to_owned(), policy: digest(1) }
        } else {
            allowed(1 + mixed % 3, call(tool, vec![what], n), vec![])
        };
        entries.push(Entry { seq, at_ms: w.now, fact });
        if entries.len() == 5_000 || n + 1 == calls {
            w.head = w.opened.store.append(&entries, &[]).unwrap();
            entries.clear();
        }
    }
}

/// What a person asks for, newest first.
fn filters(newest: u64) -> Vec<(&'static str, HistoryFilter)> {
    let filter = |change: fn(&mut HistoryFilter)| {
        let mut filter = HistoryFilter::default();
        change(&mut filter);
        filter
    };
    let mut filters = vec![
        ("newest page", filter(|_| {})),
        ("agent", filter(|f| f.agent = Some(agent("codex")))),
        ("agent and tool", filter(|f| (f.agent, f.tool) = (Some(agent("codex")), Some("Bash".to_owned())))),
        ("rare decision", filter(|f| f.decisions = vec![CallDecision::DeniedByDefault])),
        (
            "agent, tool and rare decision",
            filter(|f| {
                (f.agent, f.tool) = (Some(agent("claude-code")), Some("Bash".to_owned()));
                f.decisions = vec![CallDecision::DeniedByDefault];
            }),
        ),
        ("none such", filter(|f| (f.agent, f.decisions) = (Some(agent("codex")), vec![CallDecision::Denied]))),
        ("under a folder", filter(|f| f.under = Some("/w/src/part13".into()))),
        ("rare word", filter(|f| f.text = Some("file777.rs".to_owned()))),
        ("common word", filter(|f| f.text = Some("src/part".to_owned()))),
        ("two words", filter(|f| f.text = Some("part13 file".to_owned()))),
        ("digest", filter(|f| f.text = Some(format!("sha256:{}", &digest(77).hex()[..12])))),
        ("session", filter(|f| f.session = Some(session(2)))),
        (
            "half an hour",
            filter(|f| (f.from_ms, f.to_ms) = (Some(START.plus_ms(1_800_000)), Some(START.plus_ms(3_600_000)))),
        ),
    ];
    let deep = HistoryFilter { after: Some(newest / 3), ..Default::default() };
    filters.push(("a page deep down", deep));
    filters
}

fn median(mut work: impl FnMut()) -> Duration {
    let mut times: Vec<Duration> = (0..15)
        .map(|_| {
            let start = Instant::now();
            work();
            start.elapsed()
        })
        .collect();
    times.sort();
    times[7]
}

#[test]
#[ignore = "measures; run by hand"]
fn pages_cost_the_same_at_ten_times_the_size() {
    let calls: u64 = std::env::var("PLACET_SCALE").ok().and_then(|n| n.parse().ok()).unwrap_or(100_000);
    let mut w = World::new();
    w.write(
        (1..=3)
            .map(|n| started(n, ["claude-code", "codex", "gemini-cli"][usize::try_from(n - 1).unwrap()], "/w"))
            .collect(),
    )
    .unwrap();
    for calls in [calls / 10, calls - calls / 10] {
        let start = Instant::now();
        fill(&mut w, calls, 700);
        let filled = start.elapsed();
        let start = Instant::now();
        while w.opened.store.index_some(5_000).unwrap() {}
        println!("{calls} more calls in {filled:?}, indexed in {:?}", start.elapsed());
        let newest = w.head.seq;
        let filters = filters(newest);
        for (name, filter) in filters {
            let mut rows = 0;
            let time = median(|| rows = w.opened.reader.history(&filter).unwrap().items.len());
            println!("  {name}: {time:?} ({rows} rows)");
        }
        let stats = median(|| drop(w.opened.reader.stats(START, w.now, Bucket::Day).unwrap()));
        println!("  figures: {stats:?}");
        let start = Instant::now();
        let verified = w.opened.reader.verify(None, &mut |_| ControlFlow::Continue(())).unwrap();
        println!("  verify: {} rows in {:?}", verified.rows, start.elapsed());
        assert!(verified.intact);
        let size = std::fs::metadata(w.file()).unwrap().len();
        println!("  {} bytes a call", size / w.head.seq);
        let start = Instant::now();
        let elsewhere = tempfile::tempdir().unwrap();
        let small = Store::open(&elsewhere.path().join("x.db"), key()).unwrap();
        println!("  opening an empty one: {:?}", start.elapsed());
        drop(std::mem::replace(&mut w.opened, small));
        let start = Instant::now();
        w.opened = Store::open(&w.file(), key()).unwrap();
        println!("  opening this one: {:?}", start.elapsed());
    }
}

/// The steps of SQLite for each of what a person asks for, of a history of so many calls.
fn steps(calls: u64) -> Vec<(&'static str, u64)> {
    let mut w = World::new();
    let agents = ["claude-code", "codex", "gemini-cli"];
    w.write((1..=3).map(|n| started(n, agents[usize::try_from(n - 1).unwrap()], "/w")).collect()).unwrap();
    fill(&mut w, calls, 7_000);
    while w.opened.store.index_some(5_000).unwrap() {}
    let reader = &w.opened.reader;
    let counted = Arc::new(AtomicU64::new(0));
    reader.count_steps(1, &counted).unwrap();
    let count = |work: &dyn Fn()| {
        let before = counted.load(Ordering::Relaxed);
        work();
        counted.load(Ordering::Relaxed) - before
    };
    let mut all: Vec<_> = filters(w.head.seq)
        .into_iter()
        .map(|(name, filter)| (name, count(&|| drop(reader.history(&filter).unwrap()))))
        .collect();
    all.push(("the life of a call", count(&|| drop(reader.call(w.head.seq / 2).unwrap()))));
    all.push(("the newest facts", count(&|| drop(reader.facts(w.head.seq - 20, 20).unwrap()))));
    let alike = || assert_eq!(reader.alike(digest(1_000_077), START).unwrap().approved, 0);
    all.push(("calls alike", count(&alike)));
    let hour = START.plus_ms(3_600_000);
    all.push(("figures of an hour", count(&|| drop(reader.stats(START, hour, Bucket::Hour).unwrap()))));
    all
}

#[test]
fn what_a_person_asks_for_takes_no_more_steps_in_a_larger_history() {
    let (small, large) = (steps(7_500), steps(30_000));
    for ((name, of_small), (_, of_large)) in small.into_iter().zip(large) {
        assert!(of_small > 0, "{name} was not counted");
        // A search of words looks into more parts of its index now and then; to look at each call would be four times more.
        assert!(
            of_large <= of_small * 3 / 2,
            "{name}: {of_small} steps, and {of_large} in a history four times as large"
        );
    }
}
