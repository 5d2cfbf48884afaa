//! The payloads that real clients sent, explained: a change in what Placet makes of them shows here.
#![allow(clippy::unwrap_used, missing_docs)]

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use placet_domain::PathText;
use placet_subject::{Known, Programs, RawCall, explain, judge};
use serde_json::{Value, json};

/// A folder that is not there on any machine; nothing is read from it.
const HOME: &str = "/home/dev";

static KNOWN: LazyLock<Known> = LazyLock::new(|| {
    Known::new(HOME.into(), vec!["/home/dev/.local/share/placet".into()], Programs::builtin().unwrap())
});

fn clients() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/clients")
}

/// The tool, input and cwd in a hook's payload, whatever its dialect calls them.
fn call_of(payload: &Value) -> Option<(String, Value, String)> {
    let event = payload["hook_event_name"]
        .as_str()
        .or_else(|| payload["hookName"].as_str())
        .or_else(|| payload["event_type"].as_str());
    if event.is_some_and(|event| event.starts_with("Post") || event.starts_with("After"))
        || payload.get("toolResult").is_some()
    {
        return None;
    }
    let tool = payload["tool_name"]
        .as_str()
        .or_else(|| payload["toolName"].as_str())
        .or_else(|| payload["input"]["tool"].as_str())?;
    let input = ["tool_input", "toolInput", "toolArgs"]
        .iter()
        .find_map(|key| payload.get(*key))
        .or_else(|| payload["output"].get("args"))?;
    let cwd = payload["cwd"].as_str().or_else(|| payload["working_dir"].as_str()).unwrap_or("/home/dev/app");
    Some((tool.to_owned(), input.clone(), cwd.to_owned()))
}

#[test]
fn every_payload_of_a_client_before_a_tool() {
    let mut seen = 0;
    let mut folders: Vec<_> = std::fs::read_dir(clients()).unwrap().map(|entry| entry.unwrap().path()).collect();
    folders.sort();
    for folder in folders {
        let agent = folder.file_name().unwrap().to_str().unwrap().to_owned();
        let mut files: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.sort();
        for file in files {
            let payload: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
            let Some((tool, input, cwd)) = call_of(&payload) else { continue };
            let input = serde_json::to_vec(&input).unwrap();
            let cwd = PathText::from(cwd.as_str());
            let call = RawCall::in_folder(&agent, &tool, &input, &cwd);
            let mut explained = explain(&call, &KNOWN);
            let card = judge(&call, &KNOWN).card;
            // Which folder is the deepest that is there is the machine's, and with it the digest.
            let object = explained.as_object_mut().unwrap();
            assert!(object.remove("digest").unwrap().as_str().unwrap().starts_with("sha256:"));
            object.insert("headline".to_owned(), json!(card.headline));
            let name = file.file_stem().unwrap().to_str().unwrap();
            insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true, sort_maps => true }, {
                insta::assert_json_snapshot!(format!("{agent}-{name}"), explained);
            });
            seen += 1;
        }
    }
    assert!(seen > 30, "only {seen} payloads");
}
