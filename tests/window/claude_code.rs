//! The real Claude Code before the real window: its tool call is held, a person clicks, and the answer reaches it. The
//! model behind it is a scripted one on loopback. `cargo xtask test` and `cargo xtask test-clients` install the client
//! and run this.

use std::process::{Child, Command, Stdio};
use std::time::Duration;

use placet_tests::ground::Ground;
use placet_tests::house;
use placet_tests::program::{eventually, placet};
use placet_tests::window::Window;
use serde_json::Value;

use crate::{ASK_EVERYTHING, decisions};

const SOON: Duration = Duration::from_secs(90);

/// Starts the client with one scripted call and our hook before it.
fn client(ground: &Ground, scenario: &str) -> Child {
    let hook = format!("{} hook claude-code {}", placet().display(), ground.flags().join(" "));
    Command::new("python3")
        .arg(house::root().join("tests/clients/run.py"))
        .args(["claude-code", scenario, "--json", "--hook", &hook])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()
        .expect("python3 starts")
}

/// What the run left behind and what the model was told.
fn summary(mut client: Child) -> Value {
    eventually(SOON, "the end of the client", || client.try_wait().unwrap());
    let output = client.wait_with_output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().find_map(|line| serde_json::from_str(line).ok()).unwrap_or_else(|| panic!("no summary: {text}"))
}

#[test]
#[ignore = "needs the client: cargo xtask test-clients"]
fn claude_code_writes_its_file_after_a_click_and_not_before() {
    let ground = Ground::new(Some(ASK_EVERYTHING));
    let window = Window::open(&ground);
    window.until_count("nothing-waits", 1);
    let client = client(&ground, "none");
    eventually(SOON, "the call in the window", || (window.count("queue-row") == 1).then_some(()));
    window.until_attribute("approve", "aria-disabled", None);
    window.click("approve");
    let summary = summary(client);
    assert_eq!(summary["wrote"], "hi", "{summary}");
    assert_eq!(decisions(&ground), ["consumed by user"]);
}

#[test]
#[ignore = "needs the client: cargo xtask test-clients"]
fn claude_code_is_told_the_words_of_a_no() {
    let ground = Ground::new(Some(ASK_EVERYTHING));
    let window = Window::open(&ground);
    window.until_count("nothing-waits", 1);
    let client = client(&ground, "deny-allowed");
    eventually(SOON, "the call in the window", || (window.count("queue-row") == 1).then_some(()));
    window.until_attribute("deny-and-tell", "aria-disabled", None);
    window.click("deny-and-tell");
    window.type_into("tell-words", "use the test folder");
    window.until_attribute("tell-send", "aria-disabled", None);
    window.click("tell-send");
    let summary = summary(client);
    assert!(summary["wrote"].is_null(), "{summary}");
    assert!(summary["told_model"].to_string().contains("use the test folder"), "{summary}");
}
