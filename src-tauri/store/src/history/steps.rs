//! Counts what SQLite does for a page. Steps, unlike seconds, are the same on every machine, so that a query that
//! begins to look through the table is noticed in every test run.

use std::cell::Cell;

use placet_domain::{At, Entry};
use rusqlite::{Statement, StatementStatus};
use serde_json::json;

use crate::{Bucket, CallDecision, ChainKey, HistoryFilter, Opened, Store};

thread_local! {
    static STEPS: Cell<i32> = const { Cell::new(0) };
}

pub(super) fn note(statement: &Statement<'_>) {
    STEPS.set(STEPS.get() + statement.reset_status(StatementStatus::VmStep));
}

fn id(n: u64) -> String {
    format!("01930000-0000-7000-8000-{n:012x}")
}

fn sha256(n: u64) -> String {
    crate::Body::new(n.to_be_bytes().to_vec()).sha256.to_string()
}

fn entry(seq: u64) -> Entry {
    let at_ms = 1_790_000_000_000 + seq * 60_000;
    if seq <= 3 {
        let agent = ["claude-code", "codex", "gemini-cli"][usize::try_from(seq - 1).unwrap_or(0)];
        let started = json!({"seq": seq, "at_ms": at_ms, "kind": "session_started", "session": id(seq), "agent": agent,
            "workspace": "/w"});
        return serde_json::from_value(started).expect("a fact");
    }
    let tool = ["Read", "Write", "Bash"][usize::try_from(seq % 3).unwrap_or(0)];
    let name = format!("/w/part{}/file{seq}.rs", seq % 7);
    let call = json!({"tool": tool, "cwd": "/w",
        "action": "read", "flags": [], "digest": sha256(seq), "action_digest": sha256(seq), "raw_sha256": sha256(seq),
        "grantable": [], "subjects": [{"kind": "path", "action": "read", "asked": name, "normalized": name,
            "resolved": name, "exists": true, "inside_workspace": true}]});
    // One of the first calls is denied, and none after it: the rare thing is far down.
    let fact = if seq == 10 {
        json!({"seq": seq, "at_ms": at_ms, "kind": "call_denied", "session": id(1 + seq / 2 % 3), "call": call,
            "by": {"who": "default"}, "reason": "rare reason", "policy": sha256(0)})
    } else {
        json!({"seq": seq, "at_ms": at_ms, "kind": "call_allowed", "session": id(1 + seq / 2 % 3), "call": call,
            "rules": ["reading"], "policy": sha256(0)})
    };
    serde_json::from_value(fact).expect("a fact")
}

fn fill(opened: &mut Opened, through: u64) {
    let entries: Vec<Entry> = (opened.store.head().seq + 1..=through).map(entry).collect();
    opened.store.append(&entries, &[]).expect("written");
    while opened.store.index_some(1_000).expect("indexed") {}
}

fn filters() -> Vec<HistoryFilter> {
    let any = HistoryFilter { limit: 10, ..HistoryFilter::default() };
    let agent = Some("codex".parse().expect("a name"));
    let denied = vec![CallDecision::DeniedByDefault];
    vec![
        any.clone(),
        HistoryFilter { after: Some(150), ..any.clone() },
        HistoryFilter { agent: agent.clone(), ..any.clone() },
        HistoryFilter { tool: Some("Bash".to_owned()), ..any.clone() },
        HistoryFilter { agent: agent.clone(), tool: Some("Bash".to_owned()), ..any.clone() },
        HistoryFilter { decisions: denied.clone(), ..any.clone() },
        HistoryFilter { agent, decisions: denied.clone(), ..any.clone() },
        HistoryFilter { tool: Some("Write".to_owned()), decisions: denied, ..any.clone() },
        HistoryFilter { under: Some("/w/part3".into()), ..any.clone() },
        HistoryFilter { under: Some("/w/part3/file10.rs".into()), ..any.clone() },
        HistoryFilter { under: Some("/nowhere".into()), ..any.clone() },
        HistoryFilter { host: Some("example.com".to_owned()), ..any.clone() },
        HistoryFilter { session: Some(id(2).parse().expect("an id")), ..any.clone() },
        HistoryFilter { text: Some("rare reason".to_owned()), ..any.clone() },
        HistoryFilter { text: Some("part3 .rs".to_owned()), ..any.clone() },
        HistoryFilter { text: Some(sha256(20)), ..any.clone() },
        HistoryFilter { from_ms: Some(At(1_790_000_000_000)), to_ms: Some(At(1_790_003_600_000)), ..any },
    ]
}

#[test]
fn no_page_costs_more_in_a_longer_history() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut opened = Store::open(&folder.path().join("history.db"), ChainKey::new([7; 32])).expect("opened");
    let measure = |opened: &Opened| -> Vec<(usize, i32)> {
        let page = |filter: &HistoryFilter| {
            STEPS.set(0);
            let rows = opened.reader.history(filter).expect("a page").items.len();
            (rows, STEPS.get())
        };
        filters().iter().map(page).collect()
    };
    fill(&mut opened, 400);
    let short = measure(&opened);
    fill(&mut opened, 6_000);
    let long = measure(&opened);
    for ((filter, (_, before)), (rows, after)) in filters().iter().zip(short).zip(long) {
        assert!(after > 0 || rows == 0, "nothing was counted: {filter:?}");
        assert!(after <= before + before / 2 + 200, "{before} steps became {after} for {rows} rows: {filter:?}");
    }
    let stats = opened.reader.stats(At(0), At(i64::MAX), Bucket::Day).expect("figures");
    assert_eq!(stats.calls, 6_000 - 3);
}
