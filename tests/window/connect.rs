//! A client's settings changed from the window, in a home of its own: only as shown, and back again.

use std::fs;

use placet_tests::ground::Ground;
use placet_tests::hands::key;
use placet_tests::window::Window;

use crate::ASK_EVERYTHING;

fn state(window: &Window, client: &str) -> String {
    let state =
        window.script(&format!("return document.querySelector('[data-client=\"{client}\"]')?.dataset.state ?? ''"));
    state.as_str().unwrap_or_default().to_owned()
}

fn until_state(window: &Window, client: &str, wanted: &str) {
    placet_tests::program::eventually(std::time::Duration::from_secs(20), &format!("{client} {wanted}"), || {
        (state(window, client) == wanted).then_some(())
    });
}

#[test]
fn a_client_is_connected_as_shown_and_taken_out_again_with_all_else_in_place() {
    let ground = Ground::at_home(Some(ASK_EVERYTHING));
    let settings = ground.home().join(".claude/settings.json");
    fs::create_dir_all(settings.parent().unwrap()).unwrap();
    let before = "{\n  // mine\n  \"model\": \"opus\"\n}\n";
    fs::write(&settings, before).unwrap();
    let window = Window::open_at_home(&ground);
    window.click("place-agents");
    until_state(&window, "claude-code", "not_connected");
    // The first one listed is Claude Code.
    window.click("client-connect");
    window.until_count("sheet-client", 1);
    assert!(window.text("client-diff").contains("hook claude-code"), "{}", window.text("client-diff"));
    assert_eq!(fs::read_to_string(&settings).unwrap(), before, "nothing is written before it is confirmed");
    window.until_attribute("client-confirm", "aria-disabled", None);
    window.click("client-confirm");
    until_state(&window, "claude-code", "connected");
    let connected = fs::read_to_string(&settings).unwrap();
    assert!(connected.contains("hook claude-code") && connected.contains("// mine"), "{connected}");

    window.click("client-disconnect");
    window.until_count("sheet-client", 1);
    window.until_attribute("client-confirm", "aria-disabled", None);
    window.click("client-confirm");
    until_state(&window, "claude-code", "not_connected");
    assert_eq!(fs::read_to_string(&settings).unwrap(), before);
}

#[test]
fn settings_that_changed_since_they_were_shown_are_left_as_they_are() {
    let ground = Ground::at_home(Some(ASK_EVERYTHING));
    let settings = ground.home().join(".claude/settings.json");
    let window = Window::open_at_home(&ground);
    window.click("place-agents");
    until_state(&window, "claude-code", "not_connected");
    window.click("client-connect");
    window.until_count("sheet-client", 1);
    fs::create_dir_all(settings.parent().unwrap()).unwrap();
    fs::write(&settings, "{\"model\": \"opus\"}\n").unwrap();
    window.until_attribute("client-confirm", "aria-disabled", None);
    window.click("client-confirm");
    window.until_count("client-error", 1);
    assert!(window.text("client-error").contains("changed"), "{}", window.text("client-error"));
    assert_eq!(fs::read_to_string(&settings).unwrap(), "{\"model\": \"opus\"}\n");
}

#[test]
fn a_client_is_connected_by_keyboard_alone() {
    let ground = Ground::at_home(Some(ASK_EVERYTHING));
    let window = Window::open_at_home(&ground);
    window.until_count("nothing-waits", 1);
    window.press("4");
    until_state(&window, "claude-code", "not_connected");
    window.tab_to("client-connect");
    window.press(key::ENTER);
    window.until_count("sheet-client", 1);
    window.until_attribute("client-confirm", "aria-disabled", None);
    window.press_with(key::CONTROL, key::ENTER);
    until_state(&window, "claude-code", "connected");
    assert!(fs::read_to_string(ground.home().join(".claude/settings.json")).unwrap().contains("hook claude-code"));
}
