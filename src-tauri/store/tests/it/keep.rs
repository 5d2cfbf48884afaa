//! What is kept, copied and handed on: pruning, backup, export.

use std::{ops::ControlFlow, os::unix::fs::PermissionsExt as _};

use placet_domain::{Action, At, By, Fact};
use placet_store::{Format, HistoryFilter, SessionFilter, Store, StoreError};
use serde_json::Value;
use sha2::Sha256;

use crate::world::*;

fn go_on(_: u64) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// Forty calls, one an hour, half of them asked and answered.
fn forty() -> World {
    let mut w = World::new();
    w.write(vec![started(1, "claude-code", "/w")]).unwrap();
    for n in 0..40 {
        w.now = w.now.plus_ms(3_600_000);
        let facts = call("Write", vec![path(Action::Write, &format!("/w/file{n}.txt")), url("example.com", "/")], n);
        if n % 2 == 0 {
            w.write(vec![allowed(1, facts, vec![])]).unwrap();
        } else {
            let judged = judged(facts);
            w.ask(n, 1, &judged).unwrap();
            w.write(vec![if n % 4 == 1 { no(n) } else { yes(n, &judged) }]).unwrap();
            if n % 4 == 3 {
                w.write(vec![Fact::ApprovalConsumed { approval: approval(n) }]).unwrap();
            }
        }
        if n == 30 {
            while w.opened.store.index_some(100).unwrap() {}
        }
    }
    w
}

fn found(w: &World, text: &str) -> usize {
    let filter = HistoryFilter { text: Some(text.to_owned()), ..Default::default() };
    w.opened.reader.history(&filter).unwrap().items.len()
}

#[test]
fn what_is_pruned_is_gone_and_the_rest_still_verifies() {
    let mut w = forty();
    let all = w.head.seq;
    let until = START.plus_ms(20 * 3_600_000);
    let now = w.now;
    let mut rounds = 0;
    while let Some(pruned) = w.opened.store.prune(until, 10, now).unwrap() {
        rounds += 1;
        assert!(pruned.stub.rows <= 10);
        assert!(w.opened.reader.verify(None, &mut go_on).unwrap().intact);
        if !pruned.more {
            break;
        }
    }
    assert!(rounds > 2);
    assert_eq!(w.opened.store.prune(until, 10, now).unwrap(), None);
    let oldest = w.opened.reader.facts(0, 1).unwrap()[0].clone();
    assert!(oldest.at_ms >= until && oldest.seq > 1);
    let verified = w.opened.reader.verify(None, &mut go_on).unwrap();
    assert_eq!((verified.intact, verified.rows), (true, all - oldest.seq + 1));
    // What was indexed, what was not, and where calls were: the old is gone, the new is there.
    assert_eq!((found(&w, "file3.txt"), found(&w, "file25.txt"), found(&w, "file39.txt")), (0, 1, 1));
    let under = |folder: &str| HistoryFilter { under: Some(folder.into()), ..Default::default() };
    assert_eq!(w.opened.reader.history(&under("/w/file3.txt")).unwrap().items.len(), 0);
    assert_eq!(w.opened.reader.history(&under("/w")).unwrap().items.len(), 21);
    assert_eq!(w.opened.reader.approval(approval(3)).unwrap(), None);
    assert!(w.opened.reader.approval(approval(39)).unwrap().is_some());
    w.reopen();
    assert_eq!((w.opened.broken, w.opened.head.seq), (None, all));
    w.write(vec![Fact::AppStopped {}]).unwrap();
    assert!(w.opened.reader.verify(None, &mut go_on).unwrap().intact);
}

#[test]
fn what_something_open_rests_on_is_not_pruned() {
    let mut w = forty();
    let judged = judged(call("Write", vec![path(Action::Write, "/w/a.txt")], 900));
    w.ask(900, 1, &judged).unwrap();
    let asked = w.head.seq;
    w.write(vec![Fact::GrantIssued { grant: grant(901, 900, w.now, None) }]).unwrap();
    let issued = w.head.seq;
    w.write(vec![Fact::AppStopped {}]).unwrap();
    let now = w.now;
    let prune = |w: &mut World| w.opened.store.prune(At(i64::MAX), 10_000, now).unwrap().map(|p| p.stub.through_seq);
    assert_eq!(prune(&mut w), Some(asked - 1));
    assert_eq!(prune(&mut w), None);
    w.write(vec![no(900)]).unwrap();
    assert_eq!(prune(&mut w), Some(issued - 1));
    w.write(vec![Fact::GrantRevoked { grant: grant_id(901), by: By::User, note: None }]).unwrap();
    let last = w.head.seq;
    assert_eq!(prune(&mut w), Some(last - 1));
    assert_eq!(w.opened.reader.grant(grant_id(901)).unwrap(), None);
    w.reopen();
    assert_eq!((w.opened.broken, w.opened.head.seq), (None, last));
}

#[test]
fn a_broken_stretch_is_kept_and_a_forged_stub_shows() {
    let mut w = forty();
    let conn = rusqlite::Connection::open(w.file()).unwrap();
    conn.execute_batch("DROP TRIGGER facts_are_never_changed; DROP TRIGGER stubs_are_never_changed").unwrap();
    conn.execute_batch("UPDATE facts SET body = replace(body, 'not that', 'now that') WHERE seq = 4").unwrap();
    let now = w.now;
    let refused = w.opened.store.prune(At(i64::MAX), 10_000, now);
    assert!(matches!(&refused, Err(StoreError::Corrupt { table: "facts", id, .. }) if id == "4"), "{refused:?}");
    assert_eq!(w.opened.reader.facts(0, 1).unwrap()[0].seq, 1);
    conn.execute_batch("UPDATE facts SET body = replace(body, 'now that', 'not that') WHERE seq = 4").unwrap();
    assert_eq!(w.opened.store.prune(At(i64::MAX), 10, now).unwrap().unwrap().stub.through_seq, 10);
    conn.execute_batch("UPDATE stubs SET rows = 3").unwrap();
    let broken = w.opened.reader.verify(None, &mut go_on).unwrap().broken.unwrap();
    assert_eq!((broken.seq, broken.kind.word()), (10, "stub"));
}

#[test]
fn a_backup_is_the_whole_history_of_its_moment() {
    let mut w = forty();
    let to = w.folder.path().join("copy/placet.db");
    let mut heard = 0;
    let writer = &mut w.opened.store;
    let seq = w.head.seq;
    let done = w.opened.reader.backup(&to, &mut |copied, all| {
        heard += 1;
        assert!(copied <= all);
        // Somebody writes meanwhile.
        let entry = placet_domain::Entry { seq: seq + heard, at_ms: w.now, fact: Fact::AppStopped {} };
        writer.append(&[entry], &[]).unwrap();
        ControlFlow::Continue(())
    });
    assert!(done.unwrap());
    assert_eq!(std::fs::metadata(&to).unwrap().permissions().mode() & 0o777, 0o600);
    let copy = Store::open(&to, key()).unwrap();
    assert_eq!((copy.head, copy.broken), (w.head, None));
    assert!(copy.reader.verify(None, &mut go_on).unwrap().intact);
    assert_eq!(copy.sessions, w.opened.reader.sessions(&SessionFilter::default()).unwrap().items);
    // One that is there is not written over.
    assert!(matches!(w.opened.reader.backup(&to, &mut |_, _| ControlFlow::Continue(())), Err(StoreError::Io { .. })));
}

#[test]
fn a_backup_that_is_stopped_leaves_nothing() {
    let w = forty();
    let to = w.folder.path().join("copy.db");
    let stopped = w.opened.reader.backup(&to, &mut |_, _| ControlFlow::Break(())).unwrap();
    assert_eq!(stopped, to.exists());
}

fn export(w: &World, format: Format, filter: &HistoryFilter) -> (u64, String) {
    let mut out = Vec::new();
    let rows = w.opened.reader.export(format, filter, &mut out, &mut go_on).unwrap();
    (rows, String::from_utf8(out).unwrap())
}

/// As somebody would verify an export who has nothing but the file and the key.
fn verify_lines(text: &str) -> usize {
    use hmac::{Hmac, KeyInit as _, Mac as _};
    let mut before: Option<String> = None;
    let mut rows = 0;
    for line in text.lines() {
        let parsed: Value = serde_json::from_str(line).unwrap();
        if let Some(stub) = parsed.get("stub") {
            before = stub["hash"].as_str().map(str::to_owned);
            continue;
        }
        let (prev, hash) = (parsed["prev"].as_str().unwrap(), parsed["hash"].as_str().unwrap());
        assert_eq!(before.as_deref().unwrap_or(&"0".repeat(64)), prev);
        let fact = &line[line.find("\"fact\":").unwrap() + 7..line.len() - 1];
        let bytes: Vec<u8> = (0..64).step_by(2).map(|n| u8::from_str_radix(&prev[n..n + 2], 16).unwrap()).collect();
        let mut mac = Hmac::<Sha256>::new_from_slice(&[7; 32]).unwrap();
        mac.update(b"placet fact/1\0");
        mac.update(&bytes);
        mac.update(fact.as_bytes());
        let own = placet_domain::Digest::new(mac.finalize().into_bytes().into()).hex();
        assert_eq!(own, hash);
        before = Some(own);
        rows += 1;
    }
    rows
}

#[test]
fn exported_facts_can_be_verified_by_others() {
    let mut w = forty();
    let (rows, text) = export(&w, Format::Facts, &HistoryFilter::default());
    assert_eq!((rows, verify_lines(&text) as u64), (w.head.seq, w.head.seq));
    w.opened.store.prune(At(i64::MAX), 30, w.now).unwrap();
    let (rows, text) = export(&w, Format::Facts, &HistoryFilter::default());
    assert_eq!((rows, verify_lines(&text) as u64), (w.head.seq - 30, w.head.seq - 30));
}

#[test]
fn exported_calls_say_what_the_history_says() {
    let mut w = forty();
    let odd = call("=cmd|'/c calc'!A1", vec![path(Action::Write, "/w/\u{202e}a,\"b\".txt")], 900);
    w.write(vec![allowed(1, odd, vec![])]).unwrap();
    let (rows, csv) = export(&w, Format::Csv, &HistoryFilter::default());
    assert_eq!((rows, csv.matches("\r\n").count()), (41, 42));
    assert!(csv.contains("\"'=cmd|'/c calc'!A1\"") && csv.contains("\"/w/\\u{202E}a,\"\"b\"\".txt\""), "{csv}");
    let denied = HistoryFilter { text: Some("that file".to_owned()), ..Default::default() };
    let (rows, lines) = export(&w, Format::AuditLog, &denied);
    let lines: Vec<Value> = lines.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    assert_eq!((rows, lines.len()), (10, 10));
    for line in &lines {
        assert_eq!((line["decision"].as_str(), line["reason"].as_str()), (Some("denied"), Some("not that file")));
        assert!(line["time"].as_str().unwrap().starts_with("2026-"), "{line}");
    }
    let (rows, summaries) = export(&w, Format::SessionSummaries, &HistoryFilter::default());
    let summary: Value = serde_json::from_str(&summaries).unwrap();
    assert_eq!((rows, &summary["calls"], &summary["asked"]), (1, &41.into(), &20.into()));
    assert_eq!((&summary["allowed"], &summary["denied"]), (&31.into(), &10.into()));
    assert_eq!((&summary["decisions"]["consumed"], &summary["tools"]["Write"]), (&10.into(), &40.into()));
    let (rows, ocsf) = export(&w, Format::Ocsf, &denied);
    let event: Value = serde_json::from_str(ocsf.lines().next().unwrap()).unwrap();
    assert_eq!((rows, &event["type_uid"], &event["action_id"]), (10, &600_303.into(), &2.into()));
    assert_eq!(event["disposition_id"], 25);
}
