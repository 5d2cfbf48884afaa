//! The app dies in the middle of it: what waited still waits, with the time it had left.

use std::time::Duration;

use placet_tests::ground::Ground;
use placet_tests::hook::Hook;
use placet_tests::window::Window;
use serde_json::json;

use crate::{ASK_EVERYTHING, decisions};

const SOON: Duration = Duration::from_secs(20);

#[test]
fn three_wait_the_app_is_killed_and_each_still_gets_its_own_answer() {
    let ground = Ground::new(Some(ASK_EVERYTHING));
    let window = Window::open(&ground);
    let ask = |call: &str, client_ms: u64| {
        let file = ground.workspace().join(format!("{call}.txt"));
        Hook::before_within(&ground, "s1", call, "Write", &json!({"file_path": file, "content": "x"}), client_ms)
    };
    let yes = ask("yes", 600_000);
    window.until_count("queue-row", 1);
    let no = ask("no", 600_000);
    window.until_count("queue-row", 2);
    let late = ask("late", 30_000);
    window.until_count("queue-row", 3);
    let overdue = ask("overdue", 12_500);
    window.until_count("queue-row", 4);
    window.crash();
    std::thread::sleep(Duration::from_secs(3));

    let window = Window::open(&ground);
    window.until_count("queue-row", 3);
    let answer = overdue.answer(SOON);
    assert_eq!(answer.decision(), "deny");
    assert_eq!(decisions(&ground), ["expired", "pending", "pending", "pending"]);

    // Oldest first: the one to approve is judged, then the one to deny.
    assert!(window.text("subject").contains("yes.txt"));
    window.until_attribute("approve", "aria-disabled", None);
    window.click("approve");
    assert_eq!(yes.answer(SOON).decision(), "allow");
    window.until_count("queue-row", 2);
    assert!(window.text("subject").contains("no.txt"));
    window.until_attribute("deny", "aria-disabled", None);
    window.click("deny");
    assert_eq!(no.answer(SOON).decision(), "deny");
    let answer = late.answer(Duration::from_secs(30));
    assert_eq!(answer.decision(), "deny");
    assert!(answer.reason().contains("Nobody answered"), "{answer:?}");
    window.until_count("queue-row", 0);
    assert_eq!(decisions(&ground), ["expired", "expired", "denied by user", "consumed by user"]);
}
