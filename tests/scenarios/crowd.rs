//! Many at once.

use std::collections::HashMap;
use std::thread;
use std::time::Duration;

use placet_tests::desk::Desk;
use placet_tests::ground::Ground;
use placet_tests::hook::Hook;
use serde_json::json;

use crate::ASK_EVERYTHING;

const SESSIONS: usize = 20;
const CALLS_EACH: usize = 10;
const WITHIN: Duration = Duration::from_secs(120);
/// The kinds of fact by which an approval stops being pending.
const CLOSING: [&str; 4] = ["approval_approved", "approval_denied", "approval_expired", "approval_cancelled"];

#[test]
fn two_hundred_hooks_of_twenty_sessions_get_one_answer_each() {
    let ground = Ground::new(Some(ASK_EVERYTHING));
    let mut desk = Desk::open(&ground);
    let (decisions, pending) = thread::scope(|scope| {
        let hooks: Vec<_> = (0..SESSIONS * CALLS_EACH)
            .map(|number| {
                let ground = &ground;
                scope.spawn(move || {
                    let file = ground.workspace().join(format!("{number}.txt"));
                    let input = json!({"file_path": file, "content": format!("{number}\n")});
                    let session = format!("session-{}", number % SESSIONS);
                    let hook = Hook::before(ground, &session, &format!("call-{number}"), "Write", &input);
                    (number, hook.answer(WITHIN).decision())
                })
            })
            .collect();
        let pending = desk.until_pending(SESSIONS * CALLS_EACH, WITHIN);
        // Every other one is approved; which one was which is asked of the approvals themselves below.
        for (at, approval) in pending.iter().enumerate() {
            if at % 2 == 0 {
                desk.approve(approval)
            } else {
                desk.deny(approval, "every other one")
            };
        }
        let decisions: HashMap<usize, &str> = hooks.into_iter().map(|hook| hook.join().unwrap()).collect();
        (decisions, pending)
    });

    assert_eq!(decisions.len(), SESSIONS * CALLS_EACH);
    for (at, approval) in pending.iter().enumerate() {
        let path = approval["subjects"][0]["resolved"].as_str().unwrap();
        let number: usize = path.rsplit('/').next().unwrap().trim_end_matches(".txt").parse().unwrap();
        assert_eq!(decisions[&number], if at % 2 == 0 { "allow" } else { "deny" }, "{path}");
    }
    let sessions: std::collections::HashSet<&str> =
        pending.iter().map(|approval| approval["session"].as_str().unwrap()).collect();
    assert_eq!(sessions.len(), SESSIONS);

    let mut closed: HashMap<String, usize> = HashMap::new();
    for fact in desk.facts().iter().filter(|fact| CLOSING.iter().any(|kind| fact["kind"] == *kind)) {
        *closed.entry(fact["approval"].as_str().unwrap().to_owned()).or_default() += 1;
    }
    assert_eq!(closed.len(), SESSIONS * CALLS_EACH);
    assert!(closed.values().all(|count| *count == 1), "one closing fact for each");
    let told: Vec<u64> = desk.facts().iter().map(|fact| fact["seq"].as_u64().unwrap()).collect();
    assert!(told.windows(2).all(|pair| pair[1] == pair[0] + 1), "facts are told in order and without a gap");
    assert_eq!(desk.ask("history.verify", &json!({}))["intact"], true);
}
