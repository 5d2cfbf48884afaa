//! Whatever is done to the rows behind our back, the walk names the first one, and nothing false is believed.

use std::ops::ControlFlow;

use placet_domain::{Action, By, Fact};
use placet_store::{Break, Broken, Store, Verified};
use rusqlite::Connection;

use crate::world::*;

fn ten_facts() -> World {
    let mut w = World::new();
    w.write(vec![started(1, "claude-code", "/w")]).unwrap();
    for n in 0..9 {
        w.write(vec![allowed(1, call("Read", vec![path(Action::Read, "/w/a.txt")], n), vec![])]).unwrap();
    }
    w
}

/// Opens the file as somebody would who knows SQL, without what protects the rows from bugs.
fn raw(w: &World) -> Connection {
    let conn = Connection::open(w.file()).unwrap();
    conn.execute_batch(
        "DROP TRIGGER facts_are_never_changed; DROP TRIGGER facts_are_never_removed; DROP TRIGGER facts_follow_each_other;",
    )
    .unwrap();
    conn
}

fn verify(w: &World) -> Verified {
    w.opened.reader.verify(None, &mut |_| ControlFlow::Continue(())).unwrap()
}

fn check(tampering: &str, seq: u64, kind: Break) {
    let mut w = ten_facts();
    assert!(verify(&w).intact);
    raw(&w).execute_batch(tampering).unwrap();
    assert_eq!(verify(&w).broken, Some(Broken { seq, kind }), "{tampering}");
    w.reopen();
    assert_eq!(w.opened.broken, Some(Broken { seq, kind }), "at start: {tampering}");
    // The history goes on, and what is broken stays to be seen.
    w.write(vec![Fact::AppStopped {}]).unwrap();
    let after = verify(&w).broken.unwrap();
    assert_eq!(after.seq, seq, "afterwards: {tampering}");
}

#[test]
fn each_kind_of_tampering_is_named_with_its_row() {
    check("UPDATE facts SET body = replace(body, 'a.txt', 'b.txt') WHERE seq = 4", 4, Break::Hash);
    check("UPDATE facts SET hash = zeroblob(32) WHERE seq = 4", 4, Break::Hash);
    check("UPDATE facts SET prev = zeroblob(32) WHERE seq = 4", 4, Break::Hash);
    check("DELETE FROM facts WHERE seq = 4", 4, Break::Gap);
    check("DELETE FROM facts WHERE seq = 1", 1, Break::Gap);
    check(
        "UPDATE facts SET seq = 1004 WHERE seq = 4; UPDATE facts SET seq = 4 WHERE seq = 5;
         UPDATE facts SET seq = 5 WHERE seq = 1004",
        4,
        Break::Order,
    );
    check(
        "DELETE FROM facts WHERE seq = 4; INSERT INTO facts SELECT 4, at_ms, kind, body, prev, hash FROM facts WHERE seq = 7",
        4,
        Break::Order,
    );
    check("UPDATE facts SET at_ms = at_ms + 1 WHERE seq = 4", 4, Break::Columns);
    check("UPDATE facts SET kind = 'app_started' WHERE seq = 4", 4, Break::Columns);
    check("DELETE FROM facts WHERE seq >= 9", 9, Break::Truncated);
}

#[test]
fn a_row_put_in_at_the_end_shows() {
    let mut w = ten_facts();
    raw(&w)
        .execute_batch("INSERT INTO facts SELECT 11, at_ms, kind, replace(body, '\"seq\":10', '\"seq\":11'), hash, hash FROM facts WHERE seq = 10")
        .unwrap();
    assert_eq!(verify(&w).broken, Some(Broken { seq: 11, kind: Break::Hash }));
    w.reopen();
    assert_eq!(w.opened.broken, Some(Broken { seq: 11, kind: Break::Hash }));
}

#[test]
fn a_missing_seal_shows() {
    let w = ten_facts();
    raw(&w).execute_batch("DELETE FROM seal").unwrap();
    assert_eq!(verify(&w).broken.map(|b| b.kind), Some(Break::Seal));
}

#[test]
fn another_key_opens_nothing_as_true() {
    let mut w = ten_facts();
    w.write(vec![Fact::GrantIssued { grant: grant(500, 1, w.now, None) }]).unwrap();
    let file = w.file();
    drop(w.opened);
    let opened = Store::open(&file, placet_store::ChainKey::new([8; 32])).unwrap();
    assert_eq!(opened.broken, Some(Broken { seq: 1, kind: Break::Hash }));
    assert!(opened.grants.is_empty());
    assert_eq!(opened.ignored_grants.len(), 1);
}

#[test]
fn the_walk_can_begin_later_and_be_stopped() {
    let w = ten_facts();
    let later = w.opened.reader.verify(Some(7), &mut |_| ControlFlow::Continue(())).unwrap();
    assert_eq!((later.intact, later.rows, later.head), (true, 4, w.head));
    let mut heard = Vec::new();
    let whole = w.opened.reader.verify(None, &mut |rows| {
        heard.push(rows);
        ControlFlow::Break(())
    });
    assert_eq!((whole.unwrap().rows, heard), (10, vec![10]));
}

#[test]
fn facts_and_stubs_cannot_be_changed_by_mistake() {
    let w = ten_facts();
    let conn = Connection::open(w.file()).unwrap();
    for sql in [
        "UPDATE facts SET at_ms = 0 WHERE seq = 1",
        "DELETE FROM facts WHERE seq = 1",
        "DELETE FROM facts",
        "INSERT INTO facts SELECT 12, at_ms, kind, body, prev, hash FROM facts WHERE seq = 1",
    ] {
        let refused = conn.execute(sql, []).unwrap_err().to_string();
        assert!(refused.contains("facts "), "{sql}: {refused}");
    }
    assert!(verify(&w).intact);
}

fn with_grants() -> World {
    let mut w = ten_facts();
    let (a, b) = (grant(500, 1, w.now, Some(2)), grant(501, 1, w.now, None));
    w.write(vec![Fact::GrantIssued { grant: a }, Fact::GrantIssued { grant: b }]).unwrap();
    w
}

#[test]
fn a_grant_edited_behind_our_back_is_not_loaded() {
    for edit in [
        r#"UPDATE grants SET body = replace(body, '"uses_left":2', '"uses_left":9') WHERE id LIKE '%1f4'"#,
        "UPDATE grants SET row_mac = zeroblob(32) WHERE id LIKE '%1f4'",
        "UPDATE grants SET body = '{}' WHERE id LIKE '%1f4'",
    ] {
        let mut w = with_grants();
        raw(&w).execute_batch(edit).unwrap();
        w.reopen();
        let ignored: Vec<_> = w.opened.ignored_grants.iter().filter_map(|g| g.id).collect();
        assert!(ignored.contains(&grant_id(500)), "{edit}");
        assert!(w.opened.grants.iter().all(|g| g.id != grant_id(500)), "{edit}");
        // And it stays out.
        w.write(vec![Fact::AppStopped {}]).unwrap();
        w.reopen();
        assert!(w.opened.grants.iter().all(|g| g.id != grant_id(500)), "{edit}");
        assert_eq!(w.opened.broken, None);
    }
}

#[test]
fn a_revoked_grant_put_back_from_an_older_copy_is_not_loaded() {
    let mut w = with_grants();
    let conn = raw(&w);
    conn.execute_batch("CREATE TABLE copy AS SELECT * FROM grants WHERE id LIKE '%1f4'").unwrap();
    w.write(vec![Fact::GrantRevoked { grant: grant_id(500), by: By::User, note: None }]).unwrap();
    conn.execute_batch(
        "DELETE FROM grants WHERE id LIKE '%1f4'; INSERT INTO grants SELECT * FROM copy; DROP TABLE copy",
    )
    .unwrap();
    w.reopen();
    assert!(w.opened.grants.is_empty());
    assert_eq!(w.opened.ignored_grants.len(), 2);
    w.write(vec![Fact::AppStopped {}]).unwrap();
    w.reopen();
    assert!(w.opened.grants.is_empty());
}

#[test]
fn a_grant_that_no_fact_issued_is_not_loaded() {
    let mut w = with_grants();
    raw(&w).execute_batch("UPDATE grants SET issued_seq = 3 WHERE id LIKE '%1f4'").unwrap();
    w.reopen();
    assert_eq!(w.opened.ignored_grants.iter().filter_map(|g| g.id).collect::<Vec<_>>(), [grant_id(500)]);
    assert_eq!(w.opened.grants.iter().map(|g| g.id).collect::<Vec<_>>(), [grant_id(501)]);
}

#[test]
fn a_yes_that_nobody_gave_is_not_loaded() {
    let mut w = ten_facts();
    let judged = judged(call("Write", vec![path(Action::Write, "/w/a.txt")], 1));
    w.ask(100, 1, &judged).unwrap();
    w.ask(101, 1, &judged).unwrap();
    w.write(vec![yes(101, &judged)]).unwrap();
    let forge = "UPDATE approvals SET state = 'approved', state_at_ms = asked_at_ms, approved_seq = 13,
        approved_digest = zeroblob(32), decided_by = '{\"who\":\"user\"}' WHERE id LIKE '%64'";
    raw(&w).execute_batch(forge).unwrap();
    w.reopen();
    assert_eq!(w.opened.ignored_approvals, [approval(100)]);
    assert_eq!(w.opened.approvals.iter().map(|a| a.id).collect::<Vec<_>>(), [approval(101)]);
    // Nor is a yes that was used already and set back.
    w.write(vec![Fact::ApprovalConsumed { approval: approval(101) }]).unwrap();
    let back = "UPDATE approvals SET state = 'approved', settled_seq = NULL WHERE id LIKE '%65'";
    Connection::open(w.file()).unwrap().execute_batch(back).unwrap();
    w.reopen();
    assert_eq!(w.opened.ignored_approvals, [approval(100), approval(101)]);
}

#[test]
fn an_impossible_row_is_named() {
    let mut w = ten_facts();
    let judged = judged(call("Write", vec![path(Action::Write, "/w/a.txt")], 1));
    w.ask(100, 1, &judged).unwrap();
    raw(&w).execute_batch("UPDATE bodies SET bytes = x'7b7d'").unwrap();
    let said = w.opened.reader.approval(approval(100)).unwrap_err().to_string();
    assert!(said.contains("bodies") && said.contains("sha256:"), "{said}");
}

#[test]
fn what_cannot_be_read_does_not_keep_the_gate_shut() {
    let mut w = ten_facts();
    let judged = judged(call("Write", vec![path(Action::Write, "/w/a.txt")], 1));
    for n in 100..103 {
        w.ask(n, 1, &judged).unwrap();
    }
    w.write(vec![no(102)]).unwrap();
    // Neither an unreadable question nor an unreadable answer of before.
    raw(&w).execute_batch("UPDATE facts SET body = '{' WHERE seq IN (11, 13)").unwrap();
    w.reopen();
    assert_eq!(w.opened.ignored_approvals, [approval(100)]);
    assert_eq!(w.opened.approvals.iter().map(|a| a.id).collect::<Vec<_>>(), [approval(101)]);
    assert!(w.opened.settled.is_empty());
    assert_eq!(w.opened.broken, Some(Broken { seq: 11, kind: Break::Hash }));
    let said = w.opened.reader.approval(approval(100)).unwrap_err().to_string();
    assert!(said.contains("facts, 11"), "{said}");
}
