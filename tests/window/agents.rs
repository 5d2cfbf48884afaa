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
    // The run is followed from its beginning: what it said before the panel was open, its calls, and the one that waits.
    eventually(SOON, "the run asks, as it is followed", || (window.count("run-answer") > 0).then_some(()));
    assert!(window.count("run-line") >= 2, "{}", window.text("run"));
    window.click("run-answer");
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

#[test]
fn the_demo_is_played_to_its_end_in_the_window_and_shows_what_became_of_its_calls() {
    let ground = Ground::new(None);
    let window = Window::open(&ground);
    window.click("place-agents");
    window.click("agent-start");
    window.click("start-confirm");
    window.until_count("session-panel", 1);
    // Whatever it asks is denied, until it is through.
    eventually(SOON * 2, "the demo comes to its end", || {
        if window.count("run-ended") == 1 {
            return Some(());
        }
        if window.count("run-answer") > 0 {
            window.click("run-answer");
            window.until_attribute("deny", "aria-disabled", None);
            window.click("deny");
            window.click("place-agents");
        }
        None
    });
    let tally = window.text("run-tally");
    assert!(tally.starts_with("6 calls: 3 ran, 3 did not. You were asked about 2"), "{tally}");
    assert!(
        tally.contains("1 tried to change what is protected.") && tally.contains("In 1 a secret was masked."),
        "{tally}"
    );
}

/// The settings are those of whoever runs this test, so nothing is confirmed here; `connect.rs` does it in another home.
#[test]
fn each_client_is_listed_and_the_change_of_its_settings_is_shown_before_it_is_made() {
    let ground = Ground::new(Some(ASK_EVERYTHING));
    let window = Window::open(&ground);
    window.click("place-agents");
    window.until_count("client", 7);
    assert_eq!(window.count("connect-error"), 0);
    let before = states(&window);
    assert!(before.iter().all(|one| !one.ends_with(' ')), "each has a state: {before:?}");
    if window.count("client-connect") == 0 {
        return;
    }
    window.click("client-connect");
    window.until_count("sheet-client", 1);
    assert!(window.text("client-diff").contains("hook"), "{}", window.text("client-diff"));
    // Where the window's own places were given, the hook is told them.
    let data = ground.data();
    assert!(window.text("client-diff").contains(data.to_str().unwrap()), "{}", window.text("client-diff"));
    window.until_attribute("client-confirm", "aria-disabled", None);
    window.click("client-back");
    window.until_count("sheet-client", 0);
    assert_eq!(states(&window), before);
}

/// Each client's name and state.
fn states(window: &Window) -> Vec<String> {
    let listed = window.script(
        "return [...document.querySelectorAll('[data-testid=client]')]
            .map((row) => `${row.dataset.client} ${row.dataset.state ?? ''}`)",
    );
    listed.as_array().unwrap().iter().map(|one| one.as_str().unwrap().to_owned()).collect()
}
