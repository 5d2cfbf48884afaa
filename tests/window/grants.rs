//! A grant through the window: given in the scope sheet, used by real hooks, revoked with a click.

use std::time::Duration;

use placet_tests::ground::Ground;
use placet_tests::hook::Hook;
use placet_tests::window::Window;
use serde_json::json;

use crate::{ASK_EVERYTHING, decisions};

const SOON: Duration = Duration::from_secs(20);

#[test]
fn a_grant_is_given_used_and_revoked_and_the_next_call_is_asked_again() {
    let ground = Ground::new(Some(ASK_EVERYTHING));
    let window = Window::open(&ground);
    let input = json!({"file_path": ground.workspace().join("a.txt"), "content": "x"});
    let ask = |call: &str| Hook::before(&ground, "s1", call, "Write", &input);
    let first = ask("c1");
    window.until_count("queue-row", 1);
    window.until_attribute("approve-for", "aria-disabled", None);
    window.click("approve-for");
    assert!(window.text("scope-sentence").contains("Write"), "{}", window.text("scope-sentence"));
    window.until_attribute("scope-confirm", "aria-disabled", None);
    window.click("scope-confirm");
    assert_eq!(first.answer(SOON).decision(), "allow");
    assert_eq!(ask("c2").answer(SOON).decision(), "allow");

    window.click("place-grants");
    window.until_count("grant", 1);
    window.click("revoke");
    window.type_into("revoke-why", "enough");
    window.until_attribute("revoke-confirm", "aria-disabled", None);
    window.click("revoke-confirm");
    window.until_count("grant-ended", 1);

    let mut third = ask("c3");
    window.click("place-inbox");
    window.until_count("queue-row", 1);
    assert!(third.waits());
    window.until_attribute("deny", "aria-disabled", None);
    window.click("deny");
    assert_eq!(third.answer(SOON).decision(), "deny");
    assert_eq!(decisions(&ground), ["denied by user", "allowed_by_grant by grant", "consumed by user"]);
}

#[test]
fn a_no_of_the_past_is_made_a_rule_that_decides_the_next_call_unasked() {
    let ground = Ground::new(Some(ASK_EVERYTHING));
    let window = Window::open(&ground);
    let input = json!({"file_path": ground.workspace().join("a.txt"), "content": "x"});
    let ask = |call: &str| Hook::before(&ground, "s1", call, "Write", &input);
    let first = ask("c1");
    window.until_count("queue-row", 1);
    window.until_attribute("deny", "aria-disabled", None);
    window.click("deny");
    assert_eq!(first.answer(SOON).decision(), "deny");
    window.click("place-history");
    window.until_count("history-row", 1);
    window.click("history-open");
    window.until_count("life-rule", 1);
    window.click("life-rule");
    window.until_count("sheet-policy", 1);
    assert!(window.text("policy-change").contains("deny"), "{}", window.text("policy-change"));
    let before = std::fs::read_to_string(ground.config().join("policy.toml")).unwrap();
    assert_eq!(before, ASK_EVERYTHING, "nothing is in the file before it was saved");
    window.until_attribute("policy-save-confirm", "aria-disabled", None);
    window.click("policy-save-confirm");
    window.until_count("sheet-policy", 0);
    window.until_attribute("policy-state", "data-in-force", Some("true"));
    assert_eq!(ask("c2").answer(SOON).decision(), "deny");
    assert_eq!(decisions(&ground).len(), 2);
    assert!(decisions(&ground)[0].starts_with("denied_by_rule"), "{:?}", decisions(&ground));
}

#[test]
fn an_edited_call_is_what_runs() {
    let ground = Ground::new(Some(ASK_EVERYTHING));
    let window = Window::open(&ground);
    let file = ground.workspace().join("a.txt");
    let hook = Hook::before(&ground, "s1", "c1", "Write", &json!({"file_path": file, "content": "bad"}));
    window.until_count("queue-row", 1);
    window.until_attribute("edit", "aria-disabled", None);
    window.click("edit");
    window.click("edit-content");
    for key in " but good now".chars() {
        window.press(&key.to_string());
    }
    window.until_attribute("edit-confirm", "aria-disabled", None);
    window.click("edit-confirm");
    let answer = hook.answer(SOON);
    assert_eq!(answer.decision(), "allow");
    assert!(answer.stdout.contains("good now"), "{answer:?}");
}
