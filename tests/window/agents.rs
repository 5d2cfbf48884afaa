//! The built-in agent from the window: started, asking in the inbox, answered, stopped.

use std::time::Duration;

use placet_tests::ground::Ground;
use placet_tests::program::eventually;
use placet_tests::window::Window;

use crate::{ASK_EVERYTHING, decisions};

const SOON: Duration = Duration::from_secs(20);

#[test]
fn the_built_in_agent_is_started_in_the_window_asks_is_answered_and_is_stopped() {
    let ground = Ground::new(Some(ASK_EVERYTHING));
    let window = Window::open(&ground);
    window.click("place-agents");
    window.click("agent-start");
    window.click("start-provider-openai");
    window.type_into("start-workspace", ground.workspace().to_str().unwrap());
    window.type_into("start-task", "Tidy up");
    window.click("start-confirm");
    window.until_count("start-error", 1);
    assert!(window.text("start-error").contains("agent.toml"), "{}", window.text("start-error"));

    window.click("start-provider-demo");
    window.click("start-confirm");
    window.until_count("session-panel", 1);
    assert!(window.text("session-panel").contains("builtin"), "{}", window.text("session-panel"));
    window.click("place-inbox");
    eventually(SOON, "a call of it waits", || (window.count("queue-row") > 0).then_some(()));
    window.until_attribute("deny", "aria-disabled", None);
    window.click("deny");
    eventually(SOON, "the denial is written", || {
        decisions(&ground).iter().any(|one| one == "denied by user").then_some(())
    });

    window.click("place-agents");
    window.until_count("session-panel", 1);
    window.click("session-stop");
    window.until_attribute("stop-confirm", "aria-disabled", None);
    window.click("stop-confirm");
    window.until_count("session", 0);
    window.click("agents-which-past");
    window.until_count("session", 1);
    window.until_count("session-stop", 0);
    window.click("place-inbox");
    window.until_count("queue-row", 0);
}
