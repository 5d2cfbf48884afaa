//! The demo of the runtime itself: one scripted run of our own agent that meets each kind of answer once.

use std::sync::Arc;

use placet_gate::{Flags, Host};
use serde_json::json;

use super::{DemoError, Home, make_workspace};
use crate::{
    Bus, Options, Stop, Summary,
    corridor::Gate,
    hooks::Clamp,
    message::Reply,
    provider::scripted::{Scripted, calls, says},
    run::run,
};

/// Runs the demo with a gate of its own, in a temporary folder, under the default policy and one more rule. Nobody is
/// there to ask: what would be asked is denied, saying so.
pub async fn terminal(bus: Bus, stop: Stop) -> Result<Summary, DemoError> {
    let home = Home::new()?;
    let places = home.places(&Flags::default())?;
    let version = env!("CARGO_PKG_VERSION").to_owned();
    let gate = placet_gate::open(placet_gate::Options { places, host: Host::Serve, version }).await?;
    let summary = play(gate.clone(), bus, stop).await;
    gate.close().await;
    home.remove();
    summary
}

/// Runs the demo on a gate that is open, in a workspace of its own. Where somebody sits at the desk they are asked.
pub async fn play(gate: Gate, bus: Bus, stop: Stop) -> Result<Summary, DemoError> {
    let (folder, root) = make_workspace()?;
    // Whoever's policy holds here, the workspace's own takes away what the demo is about.
    std::fs::write(root.join(".placet.toml"), WORKSPACE_POLICY)?;
    let agent = "builtin".parse().map_err(|_| std::io::Error::from(std::io::ErrorKind::InvalidInput))?;
    let provider = Arc::new(Scripted::new(script()));
    let task = "Orders are refused with 429 too early. Raise the limits.".to_owned();
    let mut options = Options::new(agent, root, task, provider);
    options.clamps = vec![Clamp { tool: "list_files".to_owned(), field: "max_entries".to_owned(), most: 10 }];
    let summary = run(gate, options, bus, stop).await?;
    folder.close()?;
    Ok(summary)
}

/// As a workspace brings it along: it can only take away.
const WORKSPACE_POLICY: &str = r#"# A workspace's own rules can take away, never give.
[[rule]]
name = "the workspace's tests"
decide = "deny"
action = ["write", "delete"]
path = ["${workspace}/tests/**"]
reason = "Tests are protected: change the code, not the tests."
"#;

fn script() -> Vec<Reply> {
    vec![
        calls(
            "demo_look",
            &[
                ("list_files", json!({"path": ".", "recursive": true, "max_entries": 100})),
                ("read_file", json!({"path": "src/limits.ts"})),
                ("read_file", json!({"path": "config/live/mail.toml"})),
            ],
        ),
        calls(
            "demo_cheat",
            &[(
                "edit_file",
                json!({
                    "path": "tests/limits.test.ts",
                    "old_string": "assert.equal(withinLimits(\"192.0.2.1\", 1_000), false);",
                    "new_string": "assert.ok(true);",
                }),
            )],
        ),
        calls(
            "demo_change",
            &[
                (
                    "edit_file",
                    json!({
                        "path": "config/current/limits.toml",
                        "old_string": "per_minute = 120",
                        "new_string": "per_minute = 240",
                    }),
                ),
                ("fetch_url", json!({"url": "https://nodejs.org/api/http.html"})),
            ],
        ),
        says(
            "The tests are protected, so I left them alone. Raising the limits and reading the documentation each need \
             a person's word.",
        ),
    ]
}
