//! What survives a crash.

use std::thread::sleep;
use std::time::Duration;

use placet_tests::desk::Desk;
use placet_tests::ground::Ground;
use placet_tests::hook::Hook;
use serde_json::{Value, json};

use crate::ASK_EVERYTHING;

const SOON: Duration = Duration::from_secs(20);

fn write(ground: &Ground, name: &str) -> Value {
    json!({"file_path": ground.workspace().join(name), "content": "hello\n"})
}

#[test]
fn three_that_wait_survive_a_crash_and_each_gets_its_own_answer() {
    let ground = Ground::new(Some(ASK_EVERYTHING));
    let mut desk = Desk::open(&ground);
    let approved = Hook::before(&ground, "s1", "call-1", "Write", &write(&ground, "approved.txt"));
    let first = desk.until_pending(1, SOON);
    let denied = Hook::before(&ground, "s1", "call-2", "Write", &write(&ground, "denied.txt"));
    desk.until_pending(2, SOON);
    // The client of this one waits 25 s, so its hook must have an answer for it by 15.
    let expiring = Hook::before_within(&ground, "s2", "call-3", "Write", &write(&ground, "expired.txt"), 25_000);
    let before = desk.until_pending(3, SOON);
    assert_eq!(before[0]["id"], first[0]["id"], "oldest first");
    desk.crash();

    let mut desk = Desk::open(&ground);
    let after = desk.until_pending(3, SOON);
    for (before, after) in before.iter().zip(&after) {
        for kept in ["id", "digest", "action_digest", "session", "created_at_ms", "expires_at_ms"] {
            assert_eq!(before[kept], after[kept], "{kept}");
        }
    }
    desk.approve(&after[0]);
    desk.deny(&after[1], "not this file");

    let answer = approved.answer(SOON);
    assert_eq!(answer.decision(), "allow", "{answer:?}");
    let answer = denied.answer(SOON);
    assert_eq!(answer.decision(), "deny");
    assert!(answer.reason().contains("not this file"), "{answer:?}");
    let answer = expiring.answer(Duration::from_secs(30));
    assert_eq!(answer.decision(), "deny");

    let state = |desk: &mut Desk, at: usize| desk.ask("approvals.get", &json!({"id": after[at]["id"]}));
    assert_eq!(state(&mut desk, 0)["state"], "consumed");
    assert_eq!(state(&mut desk, 1)["state"], "denied");
    assert_eq!(state(&mut desk, 2)["state"], "expired");
    assert_eq!(desk.ask("history.verify", &json!({}))["intact"], true);
    assert_eq!(desk.close(), Some(0));
}

#[test]
fn what_ran_out_while_nobody_was_there_is_expired_before_anything_new_is_taken() {
    let ground = Ground::new(Some("default = \"ask\"\ntimeout = \"5s\"\n"));
    let mut desk = Desk::open(&ground);
    let late = Hook::before(&ground, "s1", "call-1", "Write", &write(&ground, "late.txt"));
    let pending = desk.until_pending(1, SOON);
    desk.crash();
    sleep(Duration::from_secs(6));

    let mut desk = Desk::open(&ground);
    let got = desk.ask("approvals.get", &json!({"id": pending[0]["id"]}));
    assert_eq!(got["state"], "expired");
    let refused = desk.try_ask("approvals.approve", &json!({"id": pending[0]["id"], "digest": pending[0]["digest"]}));
    assert_eq!(refused.unwrap_err()["code"], "already_settled");
    assert_eq!(late.answer(SOON).decision(), "deny");
}

#[test]
fn of_two_answers_one_wins_and_the_other_is_told_who_and_when() {
    let ground = Ground::new(Some(ASK_EVERYTHING));
    let mut desk = Desk::open(&ground);
    let hook = Hook::before(&ground, "s1", "call-1", "Write", &write(&ground, "a.txt"));
    let pending = desk.until_pending(1, SOON);
    desk.deny(&pending[0], "no");
    let lost = desk.try_ask("approvals.approve", &json!({"id": pending[0]["id"], "digest": pending[0]["digest"]}));
    let lost = lost.unwrap_err();
    assert_eq!(lost["code"], "already_settled");
    assert_eq!(lost["state"], "denied");
    assert_eq!(lost["by"], "supervisor");
    assert!(lost["at_ms"].as_u64().is_some(), "{lost}");
    assert_eq!(hook.answer(SOON).decision(), "deny");
}

#[test]
fn an_answer_to_what_is_no_longer_shown_is_refused_and_it_stays_pending() {
    let ground = Ground::new(Some(ASK_EVERYTHING));
    let mut desk = Desk::open(&ground);
    let mut hook = Hook::before(&ground, "s1", "call-1", "Write", &write(&ground, "a.txt"));
    let pending = desk.until_pending(1, SOON);
    let other = format!("sha256:{}", "0".repeat(64));
    let stale = desk.try_ask("approvals.approve", &json!({"id": pending[0]["id"], "digest": other}));
    let stale = stale.unwrap_err();
    assert_eq!(stale["code"], "stale_digest");
    assert_eq!(stale["digest"], pending[0]["digest"]);
    assert!(hook.waits());
    assert_eq!(desk.approvals("pending").len(), 1);
    desk.approve(&pending[0]);
    assert_eq!(hook.answer(SOON).decision(), "allow");
}

#[test]
fn hooks_that_are_gone_take_their_questions_with_them() {
    let ground = Ground::new(Some(ASK_EVERYTHING));
    let mut desk = Desk::open(&ground);
    let ask = |number: usize| {
        let input = write(&ground, &format!("{number}.txt"));
        Hook::before(&ground, "s1", &format!("call-{number}"), "Write", &input)
    };
    let hooks: Vec<Hook> = (0..12).map(ask).collect();
    let pending = desk.until_pending(12, SOON);
    // Ended so fast that some are gone before the gate has seen their connections close, and some after.
    drop(hooks);
    desk.until_pending(0, SOON);
    for approval in &pending {
        let got = desk.ask("approvals.get", &json!({"id": approval["id"]}));
        assert_eq!((&got["state"], &got["reason"]), (&json!("cancelled"), &json!("agent_gone")));
    }
}

#[test]
fn a_selection_is_cancelled_at_once_with_an_outcome_for_each() {
    let ground = Ground::new(Some(ASK_EVERYTHING));
    let mut desk = Desk::open(&ground);
    let hooks: Vec<Hook> = (0..3)
        .map(|number| {
            let name = format!("{number}.txt");
            let hook = Hook::before(&ground, "s1", &format!("call-{number}"), "Write", &write(&ground, &name));
            desk.until_pending(number + 1, SOON);
            hook
        })
        .collect();
    let pending = desk.approvals("pending");
    let ids = json!([pending[0]["id"], pending[2]["id"]]);
    let outcomes = desk.ask("approvals.cancel", &json!({"ids": ids, "note": "not now"}))["outcomes"].clone();
    for (outcome, id) in outcomes.as_array().unwrap().iter().zip(ids.as_array().unwrap()) {
        assert_eq!((&outcome["id"], &outcome["state"], &outcome["changed"]), (id, &json!("cancelled"), &json!(true)));
    }
    let left = desk.approvals("pending");
    assert_eq!(left.len(), 1);
    assert_eq!(left[0]["id"], pending[1]["id"]);
    desk.approve(&left[0]);
    let decisions: Vec<&str> = hooks.into_iter().map(|hook| hook.answer(SOON).decision()).collect();
    assert_eq!(decisions, ["deny", "allow", "deny"]);
}
