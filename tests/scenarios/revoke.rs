//! A grant lets a tight loop of real hooks through, until the moment it is revoked and never after.

use std::sync::mpsc;
use std::time::{Duration, Instant};

use placet_tests::desk::Desk;
use placet_tests::ground::Ground;
use placet_tests::hook::Hook;
use serde_json::json;

use crate::ASK_EVERYTHING;

const SOON: Duration = Duration::from_secs(20);

#[test]
fn a_loop_runs_on_a_grant_until_it_is_revoked_and_never_after() {
    let ground = Ground::new(Some(ASK_EVERYTHING));
    let mut desk = Desk::open(&ground);
    let input = json!({"file_path": ground.workspace().join("a.txt"), "content": "x"});
    let first = Hook::before(&ground, "s1", "c0", "Write", &input);
    let asked = desk.until_pending(1, SOON).remove(0);
    let scope = json!({"who": "session", "on": {"exact": true}, "expires_in_ms": 600_000});
    let given = desk.ask("approvals.approve", &json!({"id": asked["id"], "digest": asked["digest"], "grant": scope}));
    assert_eq!(first.answer(SOON).decision(), "allow");

    let (tell, heard) = mpsc::channel();
    std::thread::scope(|threads| {
        let ground = &ground;
        let input = &input;
        threads.spawn(move || {
            for n in 1.. {
                let started = Instant::now();
                // What is asked after the revoke waits two seconds for nobody.
                let hook = Hook::before_within(ground, "s1", &format!("c{n}"), "Write", input, 12_000);
                let decision = hook.answer(SOON).decision();
                tell.send((started, decision)).unwrap();
                if decision == "deny" {
                    return;
                }
            }
        });
        std::thread::sleep(Duration::from_secs(2));
        let revoked = desk.ask("grants.revoke", &json!({"ids": [given["grant"]["id"]], "note": "enough"}));
        let answered = Instant::now();
        assert_eq!(revoked["outcomes"][0]["state"], "revoked");
        let calls: Vec<(Instant, &str)> = heard.iter().collect();
        let allowed = calls.iter().filter(|(_, decision)| *decision == "allow").count();
        assert!(allowed >= 3, "the grant let {allowed} calls through");
        assert_eq!(calls.last().unwrap().1, "deny");
        let late = calls.iter().filter(|(started, decision)| *decision == "allow" && *started > answered).count();
        assert_eq!(late, 0, "calls that began after the revoke had answered were let through");
    });
    let list = desk.ask("grants.list", &json!({}));
    assert_eq!(
        (&list["items"][0]["state"], &list["items"][0]["revoked"]["note"]),
        (&json!("revoked"), &json!("enough"))
    );
}
