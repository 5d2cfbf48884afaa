//! Strict validators of what each provider takes, written from their references: what a server would refuse fails here.
#![allow(clippy::unwrap_used, dead_code, unreachable_pub, missing_docs)]

pub mod server;

use serde_json::Value;

/// OpenAI's chat completions: every `tool_calls` entry is answered by exactly one `tool` message before anything else.
pub fn openai(body: &Value) {
    only(body, &["model", "messages", "stream", "stream_options", "tools"]);
    assert!(body["model"].as_str().is_some_and(|model| !model.is_empty()));
    let mut open: Vec<String> = Vec::new();
    for (at, message) in body["messages"].as_array().unwrap().iter().enumerate() {
        match message["role"].as_str().unwrap() {
            "system" => {
                only(message, &["role", "content"]);
                assert_eq!(at, 0, "the system speaks first");
            }
            "user" => {
                only(message, &["role", "content"]);
                assert!(open.is_empty(), "unanswered calls {open:?} before a user message");
            }
            "assistant" => {
                only(message, &["role", "content", "tool_calls"]);
                assert!(open.is_empty(), "unanswered calls {open:?} before an assistant message");
                for call in message.get("tool_calls").map(|calls| calls.as_array().unwrap()).into_iter().flatten() {
                    only(call, &["id", "type", "function"]);
                    assert_eq!(call["type"], "function");
                    only(&call["function"], &["name", "arguments"]);
                    let arguments: Value =
                        serde_json::from_str(call["function"]["arguments"].as_str().unwrap()).unwrap();
                    assert!(arguments.is_object(), "arguments are the text of a JSON object");
                    name(&call["function"]["name"]);
                    id(&call["id"]);
                    assert!(!open.contains(&call["id"].as_str().unwrap().to_owned()), "ids are unique");
                    open.push(call["id"].as_str().unwrap().to_owned());
                }
                if let Some(calls) = message.get("tool_calls") {
                    assert!(!calls.as_array().unwrap().is_empty(), "an empty tool_calls is refused");
                }
            }
            "tool" => {
                only(message, &["role", "tool_call_id", "content"]);
                assert!(message["content"].is_string());
                let id = message["tool_call_id"].as_str().unwrap();
                let at = open.iter().position(|open| open == id).unwrap_or_else(|| panic!("{id} answers no open call"));
                open.remove(at);
            }
            role => panic!("unknown role {role}"),
        }
    }
    assert!(open.is_empty(), "unanswered calls {open:?} at the end");
    for tool in body.get("tools").map(|tools| tools.as_array().unwrap()).into_iter().flatten() {
        name(&tool["function"]["name"]);
        assert_eq!(tool["function"]["parameters"]["type"], "object");
    }
}

/// Anthropic's messages: roles alternate, no block is empty, and the message after `tool_use` blocks begins with
/// exactly their `tool_result` blocks.
pub fn anthropic(body: &Value) {
    only(body, &["model", "max_tokens", "system", "messages", "stream", "tools"]);
    assert!(body["max_tokens"].as_u64().unwrap() > 0);
    let mut open: Vec<String> = Vec::new();
    for (at, message) in body["messages"].as_array().unwrap().iter().enumerate() {
        only(message, &["role", "content"]);
        let expected = if at % 2 == 0 { "user" } else { "assistant" };
        assert_eq!(message["role"], expected, "roles alternate, the user's first");
        let blocks = message["content"].as_array().unwrap();
        assert!(!blocks.is_empty(), "no message is empty");
        let mut answered = Vec::new();
        for block in blocks {
            match (block["type"].as_str().unwrap(), expected) {
                ("text", _) => {
                    only(block, &["type", "text"]);
                    assert!(!block["text"].as_str().unwrap().trim().is_empty(), "no text block is empty");
                }
                ("tool_use", "assistant") => {
                    only(block, &["type", "id", "name", "input"]);
                    assert!(block["input"].is_object());
                    id(&block["id"]);
                    name(&block["name"]);
                    assert!(!open.contains(&block["id"].as_str().unwrap().to_owned()), "ids are unique");
                    open.push(block["id"].as_str().unwrap().to_owned());
                }
                ("tool_result", "user") => {
                    only(block, &["type", "tool_use_id", "content", "is_error"]);
                    assert!(block["content"].is_string() && block["is_error"].is_boolean());
                    answered.push(block["tool_use_id"].as_str().unwrap().to_owned());
                }
                (kind, role) => panic!("a {kind} block in a message of {role}"),
            }
        }
        if expected == "user" {
            assert_eq!(answered, open, "every tool_use has its tool_result in the very next message");
            open.clear();
        }
    }
    assert!(open.is_empty(), "unanswered {open:?} at the end");
    for tool in body.get("tools").map(|tools| tools.as_array().unwrap()).into_iter().flatten() {
        only(tool, &["name", "description", "input_schema"]);
        name(&tool["name"]);
        assert_eq!(tool["input_schema"]["type"], "object");
    }
}

fn only(value: &Value, fields: &[&str]) {
    for field in value.as_object().unwrap().keys() {
        assert!(fields.contains(&field.as_str()), "unknown field {field} in {value}");
    }
}

fn name(name: &Value) {
    let name = name.as_str().unwrap();
    let fits = name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
    assert!(fits && (1..=64).contains(&name.len()), "{name:?} is no tool's name");
}

fn id(id: &Value) {
    let id = id.as_str().unwrap();
    assert!(!id.is_empty() && id.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-'), "{id:?}");
}
