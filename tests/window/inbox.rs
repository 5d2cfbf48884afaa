//! The inbox: what waits is shown, and a click answers it.

use std::time::Duration;

use placet_tests::ground::Ground;
use placet_tests::hook::Hook;
use placet_tests::window::Window;
use serde_json::json;

use crate::ASK_EVERYTHING;

const SOON: Duration = Duration::from_secs(20);

#[test]
fn a_call_waits_in_the_window_and_a_click_lets_it_run_once() {
    let ground = Ground::new(Some(ASK_EVERYTHING));
    let window = Window::open(&ground);
    window.until_count("queue-row", 0);
    let file = ground.workspace().join("hello.txt");
    let mut hook = Hook::before(&ground, "s1", "call-1", "Write", &json!({"file_path": file, "content": "hello\n"}));
    window.until_count("queue-row", 1);
    assert!(window.text("subject").contains("hello.txt"));
    assert!(hook.waits());
    window.until_attribute("approve", "aria-disabled", None);
    window.click("approve");
    let answer = hook.answer(SOON);
    assert_eq!(answer.decision(), "allow", "{answer:?}");
    window.until_count("queue-row", 0);
}
