//! Nothing that is asked for often grows with the table. Measures, so it is run by hand:
//! `cargo test -p placet-store --release -- --ignored --nocapture scale`. Size: `PLACET_SCALE`, in calls.
#![allow(clippy::disallowed_methods)]

use std::{
    ops::ControlFlow,
    time::{Duration, Instant},
};

use placet_domain::{Action, Entry, Fact};
use placet_store::{Bucket, CallDecision, HistoryFilter, Store};

use crate::world::*;

fn fill(w: &mut World, calls: u64) {
    let tools = ["Read", "Write", "Bash", "WebFetch", "Grep"];
    let mut entries = Vec::new();
    for (seq, n) in (w.head.seq + 1..).zip(0..calls) {
        let mixed = n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20;
        let tool = tools[usize::try_from(mixed % 5).unwrap()];
        let what = path(Action::Read, &format!("/w/src/part{}/file{n}.rs", mixed % 97));
        w.now = w.now.plus_ms(700);
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
        fill(&mut w, calls);
        let filled = start.elapsed();
        let start = Instant::now();
        while w.opened.store.index_some(5_000).unwrap() {}
        println!("{calls} more calls in {filled:?}, indexed in {:?}", start.elapsed());
        let newest = w.head.seq;
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
                "an hour",
                filter(|f| (f.from_ms, f.to_ms) = (Some(START.plus_ms(3_600_000)), Some(START.plus_ms(7_200_000)))),
            ),
        ];
        let deep = HistoryFilter { after: Some(newest / 3), ..Default::default() };
        filters.push(("a page deep down", deep));
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
