//! The three keys: whatever runs in a window's page, it can call nothing that its window has no key to.

use std::collections::BTreeMap;

use placet_tests::ground::Ground;
use placet_tests::house::{text, texts};
use placet_tests::window::Window;
use serde_json::Value;

use crate::ASK_EVERYTHING;

/// The commands that each key opens, as the build is told.
fn keys() -> BTreeMap<String, Vec<String>> {
    let key = |path: &str| path.rsplit('/').next().unwrap().strip_suffix(".toml").map(str::to_owned);
    let commands = |text: &str| {
        let (_, list) = text.split_once("commands.allow = [").unwrap();
        list.split('"').skip(1).step_by(2).map(str::to_owned).collect::<Vec<_>>()
    };
    texts("src-tauri/permissions").iter().filter_map(|file| Some((key(&file.path)?, commands(&file.text)))).collect()
}

/// What the page hears that calls this: whether it was let through to the command, and what then was said.
fn call(window: &Window, command: &str, params: &str) -> (bool, Value) {
    let said = window.script_async(&format!(
        "const done = arguments[arguments.length - 1];
         window.__TAURI_INTERNALS__.invoke('{command}', {{ params: {params} }})
           .then((value) => done({{ value }}), (thrown) => done({{ thrown }}));"
    ));
    let refused = said["thrown"].as_str().is_some_and(|error| error.contains("not allowed"));
    (!refused, said)
}

#[test]
fn a_window_without_a_key_is_refused_every_command_of_it() {
    let keys = keys();
    assert_eq!(keys.keys().collect::<Vec<_>>(), ["configure", "decide", "look"]);
    for (held, of) in [("none", &[][..]), ("look", &["look"]), ("decide", &["look", "decide"])] {
        let ground = Ground::new(Some(ASK_EVERYTHING));
        let window = Window::open_with(&ground, &["--keys", held]);
        let without = keys.iter().filter(|(key, _)| !of.contains(&key.as_str()));
        let commands: Vec<&String> = without.flat_map(|(_, commands)| commands).collect();
        assert!(commands.len() > 5, "{held}: {commands:?}");
        for command in commands {
            let (through, said) = call(&window, command, "{}");
            assert!(!through, "{command} from a window with {held}: {said}");
        }
        assert_eq!(call(&window, "window_snapshot", "{}").0, of.contains(&"look"));
        let (paused, said) = call(&window, "pause", "{}");
        assert_eq!(paused, of.contains(&"decide"), "{said}");
    }
}

#[test]
fn a_window_with_all_keys_reaches_its_commands_and_nothing_that_came_with_a_library() {
    let ground = Ground::new(Some(ASK_EVERYTHING));
    let window = Window::open(&ground);
    for (key, commands) in keys() {
        for command in commands.iter().filter(|command| !command.starts_with("clients_")) {
            // What no command takes: it was let through, and changed nothing.
            let (through, said) = call(&window, command, "{ nonsense: 1 }");
            assert!(through, "{command} of {key}: {said}");
        }
    }
    for command in [
        "plugin:dialog|save",
        "plugin:dialog|open",
        "plugin:fs|write_file",
        "plugin:event|emit",
        "plugin:window|set_title",
        "plugin:webview|create_webview_window",
        "plugin:app|version",
        "plugin:path|resolve_directory",
    ] {
        let (_, said) = call(&window, command, "{}");
        let error = said["thrown"].as_str().unwrap_or_default();
        assert!(error.contains("not allowed") || error.contains("not found"), "{command}: {said}");
    }
    let policy = text("src-tauri/capabilities/main.json").unwrap();
    assert!(!policy.contains("remote"), "only what was built in has keys");
}
