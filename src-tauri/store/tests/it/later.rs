//! What is only looked up follows after the commit that decides: it is always found, whatever came between.

use std::fs;

use placet_domain::{Action, At, Entry, Fact};
use placet_store::{Bucket, HistoryFilter, Reader, Store};
use rusqlite::Connection;

use crate::world::*;

fn read(n: u64) -> placet_domain::Fact {
    allowed(1, call("Read", vec![path(Action::Read, &format!("/w/src/file{n}.rs"))], n), vec![])
}

fn rows(file: &std::path::Path, table: &str) -> u32 {
    let sql = format!("SELECT count(*) FROM {table}");
    Connection::open(file).unwrap().query_row(&sql, [], |row| row.get(0)).unwrap()
}

fn found(reader: &Reader, filter: &HistoryFilter) -> usize {
    reader.history(filter).unwrap().items.len()
}

#[test]
fn a_commit_writes_what_is_decided_and_a_reader_finds_it_all_the_same() {
    let mut w = World::new();
    w.write(vec![started(1, "claude-code", "/w")]).unwrap();
    for n in 0..5 {
        w.write(vec![read(n)]).unwrap();
    }
    assert_eq!((rows(&w.file(), "calls"), rows(&w.file(), "texts")), (0, 0));
    assert_eq!(w.opened.store.behind(), 6);
    let under = HistoryFilter { under: Some("/w/src".into()), ..HistoryFilter::default() };
    let word = HistoryFilter { text: Some("file3.rs".to_owned()), ..HistoryFilter::default() };
    // Also by somebody who has no hold of the writer.
    let other = Reader::open(&w.file(), key()).unwrap();
    assert_eq!((found(&other, &under), found(&other, &word)), (5, 1));
    w.write(vec![read(5)]).unwrap();
    assert_eq!((found(&w.opened.reader, &under), found(&w.opened.reader, &word)), (6, 1));
    assert_eq!(w.opened.reader.stats(At(0), At(i64::MAX), Bucket::Day).unwrap().calls, 6);
    assert_eq!(w.opened.reader.session(session(1)).unwrap().unwrap().calls, 6);
    // What the reader did is not done again.
    assert!(!w.opened.store.follow_some(100).unwrap());
    assert_eq!((w.opened.store.behind(), rows(&w.file(), "calls")), (0, 6));
}

#[test]
fn after_a_crash_it_is_made_findable_once_and_in_order() {
    let mut w = World::new();
    w.write(vec![started(1, "claude-code", "/w")]).unwrap();
    let asks = judged(call("Write", vec![path(Action::Write, "/w/asked.txt")], 100));
    w.ask(100, 1, &asks).unwrap();
    w.write((0..7).map(read).collect()).unwrap();
    w.opened.store.follow_some(4).unwrap();
    w.write(vec![no(100)]).unwrap();
    // The files as they are on the disk at this moment, the log among them.
    let crashed = tempfile::tempdir().unwrap();
    let file = crashed.path().join("placet.db");
    fs::copy(w.file(), &file).unwrap();
    fs::copy(w.file().with_file_name("placet.db-wal"), crashed.path().join("placet.db-wal")).unwrap();
    let opened = Store::open(&file, key()).unwrap();
    assert_eq!((opened.broken, opened.head), (None, w.head));
    assert_eq!(opened.sessions, sessions_of(&w.state));
    let all = opened.reader.history(&HistoryFilter::default()).unwrap().items;
    assert_eq!(all, w.opened.reader.history(&HistoryFilter::default()).unwrap().items);
    assert_eq!(all.len(), 8);
    assert_eq!(all.last().unwrap().decision, placet_store::CallDecision::Denied);
}

#[test]
fn many_readers_at_once_make_it_findable_once() {
    let mut w = World::new();
    w.write(vec![started(1, "claude-code", "/w")]).unwrap();
    for round in 0..10 {
        w.write((0..30).map(|n| read(round * 30 + n)).collect()).unwrap();
        let readers: Vec<_> = (0..4)
            .map(|_| {
                let reader = w.opened.reader.clone();
                std::thread::spawn(move || reader.stats(At(0), At(i64::MAX), Bucket::Day).unwrap().calls)
            })
            .collect();
        w.opened.store.follow_some(10).unwrap();
        for reader in readers {
            assert_eq!(reader.join().unwrap(), 30 * (round + 1));
        }
    }
}

#[test]
fn a_fact_that_was_tampered_with_keeps_no_other_from_being_found() {
    let mut w = World::new();
    w.write(vec![started(1, "claude-code", "/w")]).unwrap();
    w.write((0..4).map(read).collect()).unwrap();
    Connection::open(w.file())
        .unwrap()
        .execute_batch(
            "DROP TRIGGER facts_are_never_changed;
             UPDATE facts SET body = replace(body, 'file1.rs', 'file9.rs') WHERE seq = 3;",
        )
        .unwrap();
    let names: Vec<String> =
        w.opened.reader.history(&HistoryFilter::default()).unwrap().items.into_iter().map(|c| c.subject_text).collect();
    assert_eq!(names, ["/w/src/file3.rs", "/w/src/file2.rs", "/w/src/file0.rs"]);
}

/// Made by the last version that knew schema 1: 26 facts, two of them questions, one of which is open.
#[test]
fn a_real_file_of_schema_1_is_brought_up_to_date() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("placet.db");
    fs::copy(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/files/schema-1.db"), &file).unwrap();
    // Read before it is brought up to date, it is as it was.
    assert_eq!(found(&Reader::open(&file, key()).unwrap(), &HistoryFilter::default()), 22);
    let mut opened = Store::open(&file, key()).unwrap();
    assert_eq!((opened.broken, opened.head.seq, opened.approvals.len()), (None, 25, 1));
    assert!(opened.ignored_approvals.is_empty());
    assert_eq!(opened.sessions.iter().map(|s| s.calls).sum::<u32>(), 22);
    let entry = Entry { seq: 26, at_ms: START.plus_ms(60_000), fact: read(77) };
    opened.store.append(&[entry], &[]).unwrap();
    let under = HistoryFilter { under: Some("/w/src".into()), ..HistoryFilter::default() };
    assert_eq!(found(&opened.reader, &under), 21);
    let word = HistoryFilter { text: Some("example.com".to_owned()), ..HistoryFilter::default() };
    assert_eq!(found(&opened.reader, &word), 1);
    let verified = opened.reader.verify(None, &mut |_| std::ops::ControlFlow::Continue(())).unwrap();
    assert_eq!((verified.intact, verified.rows), (true, 26));
}

/// Made by the last version that knew schema 2: calls of files and of an MCP server's tool, all let through by rules.
#[test]
fn a_real_file_of_schema_2_is_brought_up_to_date() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("placet.db");
    fs::copy(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/files/schema-2.db"), &file).unwrap();
    assert_eq!(found(&Reader::open(&file, key()).unwrap(), &HistoryFilter::default()), 7);
    let mut opened = Store::open(&file, key()).unwrap();
    assert_eq!((opened.broken, opened.head.seq, opened.sessions.len()), (None, 11, 1));
    assert_eq!(opened.definitions, [], "what was seen before is recalled of the last day's calls");
    let call = tool_of(digest(5));
    let fact =
        Fact::CallAllowed { session: opened.sessions[0].id, call, rules: vec![], grants: vec![], policy: digest(0) };
    opened.store.append(&[Entry { seq: 12, at_ms: opened.latest_ms.unwrap(), fact }], &[]).unwrap();
    assert_eq!(found(&opened.reader, &HistoryFilter::default()), 8);
    drop(opened);
    assert_eq!(Store::open(&file, key()).unwrap().definitions[0].definition, digest(5));
}

fn tool_of(definition: placet_domain::Digest) -> placet_domain::CallFacts {
    let mcp = placet_domain::subject::McpSubject {
        action: Action::Other,
        server: "tracker".into(),
        tool: "shout".into(),
        definition: Some(definition),
    };
    call("mcp__tracker__shout", vec![placet_domain::Subject::Mcp(mcp)], 1)
}

#[test]
fn how_a_tool_was_described_is_known_for_ever_by_whatever_let_it_through() {
    let mut w = World::new();
    w.write(vec![started(1, "claude-code", "/w"), started(2, "codex", "/w")]).unwrap();
    w.write(vec![allowed(1, tool_of(digest(1)), vec![])]).unwrap();
    let asked = judged(tool_of(digest(2)));
    w.ask(7, 2, &asked).unwrap();
    w.write(vec![yes(7, &asked)]).unwrap();
    w.reopen();
    assert_eq!(w.opened.definitions.len(), 1, "a yes that was not handed over let nothing through");
    w.write(vec![Fact::ApprovalConsumed { approval: approval(7) }]).unwrap();
    w.reopen();
    let known: Vec<_> = w.opened.definitions.iter().map(|k| (k.agent.as_str().to_owned(), k.definition)).collect();
    assert_eq!(known, [("claude-code".to_owned(), digest(1)), ("codex".to_owned(), digest(2))]);
    assert!(w.opened.definitions.iter().all(|k| k.tool == "tracker/shout" && k.workspace == "/w".into()));
    w.write(vec![allowed(1, tool_of(digest(3)), vec![])]).unwrap();
    w.reopen();
    assert_eq!(w.opened.definitions[0].definition, digest(3), "the last one counts");

    // What no fact bears out is not believed.
    let conn = rusqlite::Connection::open(w.file()).unwrap();
    conn.execute("UPDATE definitions SET definition = zeroblob(32) WHERE agent = 'codex'", []).unwrap();
    conn.execute("UPDATE definitions SET seq = 1 WHERE agent = 'claude-code'", []).unwrap();
    drop(conn);
    w.reopen();
    assert_eq!(w.opened.definitions, []);
}
