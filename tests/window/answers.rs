//! The answers, each given in the window and heard by a real hook process.

use std::time::Duration;

use placet_tests::ground::Ground;
use placet_tests::hook::Hook;
use placet_tests::window::Window;
use serde_json::json;

use crate::{ASK_EVERYTHING, decisions};

const SOON: Duration = Duration::from_secs(20);

fn write(ground: &Ground, call: &str, name: &str) -> Hook {
    let file = ground.workspace().join(name);
    Hook::before(ground, "s1", call, "Write", &json!({"file_path": file, "content": "hello\n"}))
}

#[test]
fn a_no_with_words_reaches_the_agent_and_the_history() {
    let ground = Ground::new(Some(ASK_EVERYTHING));
    let window = Window::open(&ground);
    let hook = write(&ground, "c1", "a.txt");
    window.until_count("queue-row", 1);
    window.until_attribute("deny-and-tell", "aria-disabled", None);
    window.click("deny-and-tell");
    window.type_into("tell-words", "put it under docs/");
    window.until_attribute("tell-send", "aria-disabled", None);
    window.click("tell-send");
    let answer = hook.answer(SOON);
    assert_eq!(answer.decision(), "deny");
    assert!(answer.reason().contains("put it under docs/"), "{answer:?}");
    assert_eq!(decisions(&ground), ["denied by user: put it under docs/"]);
    window.click("place-history");
    window.until_count("history-row", 1);
    let row = window.text("history-row");
    assert!(row.contains("a.txt") && row.contains("put it under docs/"), "{row}");
}

#[test]
fn a_selection_is_cancelled_at_once_and_the_rest_waits_on() {
    let ground = Ground::new(Some(ASK_EVERYTHING));
    let window = Window::open(&ground);
    let mut hooks = Vec::new();
    for n in 1..=3 {
        hooks.push(write(&ground, &format!("c{n}"), &format!("{n}.txt")));
        window.until_count("queue-row", n);
    }
    window.press("x");
    window.press("j");
    window.press("x");
    assert!(window.text("selected-count").contains('2'));
    window.click("cancel-selected");
    window.until_attribute("cancel-confirm", "aria-disabled", None);
    window.click("cancel-confirm");
    window.until_count("queue-row", 1);
    let mut third = hooks.pop().unwrap();
    for hook in hooks {
        let answer = hook.answer(SOON);
        assert_eq!(answer.decision(), "deny");
        assert!(answer.reason().contains("Cancelled"), "{answer:?}");
    }
    assert!(third.waits());
    assert_eq!(decisions(&ground), ["pending", "cancelled by user", "cancelled by user"]);
}

#[test]
fn what_nobody_answers_expires_and_is_not_called_a_persons_no() {
    let ground = Ground::new(Some(ASK_EVERYTHING));
    let window = Window::open(&ground);
    let file = ground.workspace().join("a.txt");
    let input = json!({"file_path": file, "content": "x"});
    // Ten seconds before the client's own time-out the hook must have answered: this leaves three.
    let hook = Hook::before_within(&ground, "s1", "c1", "Write", &input, 13_000);
    window.until_count("queue-row", 1);
    let answer = hook.answer(SOON);
    assert_eq!(answer.decision(), "deny");
    assert!(answer.reason().contains("Nobody answered"), "{answer:?}");
    window.until_count("queue-row", 0);
    assert_eq!(decisions(&ground), ["expired"]);
}

#[test]
fn all_of_it_goes_by_keyboard_and_a_key_in_flight_answers_nothing() {
    let ground = Ground::new(Some(ASK_EVERYTHING));
    let window = Window::open(&ground);
    window.until_count("nothing-waits", 1);
    let mut first = write(&ground, "c1", "a.txt");
    window.until_count("queue-row", 1);
    // The card has just appeared: what is pressed now was meant for something else.
    window.press("a");
    assert!(first.waits());
    window.until_attribute("answer", "data-phase", Some("ready"));
    window.press("a");
    assert_eq!(first.answer(SOON).decision(), "allow");
    let second = write(&ground, "c2", "b.txt");
    window.until_count("queue-row", 1);
    window.until_attribute("answer", "data-phase", Some("ready"));
    window.press("d");
    assert_eq!(second.answer(SOON).decision(), "deny");
    assert_eq!(decisions(&ground), ["denied by user", "consumed by user"]);
}

#[test]
fn a_file_that_changes_under_the_hand_gives_a_new_card_and_the_new_one_is_what_runs() {
    let ground = Ground::new(Some(ASK_EVERYTHING));
    std::fs::write(ground.workspace().join("a.txt"), "one\n").unwrap();
    let window = Window::open(&ground);
    let hook = write(&ground, "c1", "a.txt");
    window.until_count("queue-row", 1);
    let before = window.attribute("answer-digest", "data-digest");
    std::fs::write(ground.workspace().join("a.txt"), "two\n").unwrap();
    let changed = || (window.attribute("answer-digest", "data-digest") != before).then_some(());
    placet_tests::program::eventually(SOON, "another digest", changed);
    assert!(window.text("content").contains("two"));
    window.until_attribute("approve", "aria-disabled", None);
    window.click("approve");
    assert_eq!(hook.answer(SOON).decision(), "allow");
}

#[test]
fn a_broken_policy_is_said_in_the_window_and_the_last_good_one_stays() {
    let ground = Ground::new(Some(ASK_EVERYTHING));
    let window = Window::open(&ground);
    window.until_count("nothing-waits", 1);
    ground.write_policy("default = \"allow everything\"\n");
    window.until_count("open-policy", 1);
    window.click("open-policy");
    window.until_attribute("policy-state", "data-in-force", Some("false"));
    assert!(window.text("policy-error").contains("allow everything"), "{}", window.text("policy-error"));
    let mut hook = write(&ground, "c1", "a.txt");
    window.click("place-inbox");
    window.until_count("queue-row", 1);
    assert!(hook.waits());
    ground.write_policy("default = \"deny\"\n");
    assert_eq!(hook.answer(SOON).decision(), "deny");
}
