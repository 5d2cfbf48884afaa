//! Settings and the exported history, in the real window: what is changed there stands in the files.

use std::time::Duration;

use placet_tests::ground::Ground;
use placet_tests::hook::Hook;
use placet_tests::program::eventually;
use placet_tests::window::Window;
use serde_json::{Value, json};

use crate::{ASK_EVERYTHING, decisions};

const SOON: Duration = Duration::from_secs(20);

#[test]
fn a_setting_is_in_its_file_when_it_was_changed_and_a_mistake_in_the_file_is_said_and_left_alone() {
    let ground = Ground::new(Some(ASK_EVERYTHING));
    let file = ground.config().join("settings.toml");
    std::fs::write(&file, "# mine\n[notifications]\nsound = true # loud\n").unwrap();
    let window = Window::open(&ground);
    window.click("place-settings");
    window.until_attribute("set-sound", "aria-checked", Some("true"));
    window.click("set-notify");
    window.until_attribute("set-notify", "aria-checked", Some("false"));
    window.click("set-no-gate-client");
    window.until_attribute("set-no-gate-client", "aria-checked", Some("true"));
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.contains("# mine") && text.contains("sound = true # loud"), "{text}");
    assert!(text.contains("on = false") && text.contains("when_no_gate = \"client\""), "{text}");
    // These are places of their own: there is no start at login for them.
    assert_eq!(window.count("set-login"), 0);

    std::fs::write(&file, "[notifications\n").unwrap();
    window.click("place-inbox");
    window.click("place-settings");
    window.until_count("settings-problem", 1);
    window.click("set-notify");
    window.until_count("setting-refused", 1);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "[notifications\n");
}

#[test]
fn the_history_is_exported_from_the_window_into_a_file() {
    let ground = Ground::new(Some("default = \"deny\"\n"));
    let folder = ground.path().join("exported");
    std::fs::create_dir(&folder).unwrap();
    let window = Window::open_with(&ground, &["--export-to", folder.to_str().unwrap()]);
    let input = json!({"file_path": ground.workspace().join("a.txt"), "content": "=1+1"});
    assert_eq!(Hook::before(&ground, "s1", "c1", "Write", &input).answer(SOON).decision(), "deny");
    eventually(SOON, "the denial is written", || (!decisions(&ground).is_empty()).then_some(()));
    window.click("place-history");
    window.until_count("history-row", 1);
    for (format, file) in [("csv", "placet-history.csv"), ("facts", "placet-history.jsonl")] {
        window.click("history-export");
        window.click(&format!("export-format-{format}"));
        window.click("export-write");
        window.until_count("sheet-export", 0);
        let text = std::fs::read_to_string(folder.join(file)).unwrap();
        assert!(text.contains("a.txt"), "{text}");
        if format == "facts" {
            let kinds: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
            assert!(kinds.len() >= 2, "{text}");
        }
    }
}
