//! Events that a client's dialect does not know: whether a call waits at one.
//!
//! Versions move, and a client may ask at an event that it did not have when its dialect was written. What is about a
//! tool and is not told afterwards is taken for such a question and blocked, with the exit code that all of these
//! clients take for a no; at any other, silence lets nothing run.

use serde::{Deserialize, de::IgnoredAny};
use serde_json::value::RawValue;

use super::dialect::{Client, Output};

/// Events at which no call waits, though some of them tell of a tool.
const TELLING: [&str; 9] = [
    "stop",
    "notification",
    "permissiondenied",
    "subagentstart",
    "subagentstop",
    "sessionstart",
    "sessionend",
    "agentstop",
    "erroroccurred",
];

#[derive(Deserialize)]
struct About {
    #[serde(alias = "toolName", alias = "tool")]
    tool_name: Option<IgnoredAny>,
    #[serde(alias = "toolInput", alias = "toolArgs", alias = "tool_args")]
    tool_input: Option<IgnoredAny>,
    input: Option<Box<RawValue>>,
}

/// opencode's frame around a call.
#[derive(Deserialize)]
struct Framed {
    tool: Option<IgnoredAny>,
}

/// Whether a call may wait for the answer at this event, of which the dialect made nothing.
pub(super) fn may_ask(client: Client, event: &str, text: &str) -> bool {
    let name = event.to_ascii_lowercase();
    // Qwen Code asks at `PreToolUse` first, so that what comes here is decided; its own prompt follows.
    let decided = client == Client::QwenCode && name == "permissionrequest";
    let afterwards =
        ["post", "after"].iter().any(|first| name.starts_with(first)) || name.split('.').next_back() == Some("after");
    if decided || afterwards || TELLING.contains(&name.as_str()) {
        return false;
    }
    match serde_json::from_str::<About>(text) {
        Ok(about) => {
            let framed = about.input.and_then(|input| serde_json::from_str::<Framed>(input.get()).ok());
            about.tool_name.or(about.tool_input).or(framed.and_then(|framed| framed.tool)).is_some()
        }
        // What names its tool twice names one.
        Err(_) => true,
    }
}

/// A no in the words that every client takes.
pub(super) fn block(client: Client, event: &str) -> Output {
    let event: String = event.chars().take(64).flat_map(char::escape_debug).collect();
    let stderr = format!(
        "Placet does not know the event \"{event}\" of {}, at which a call seems to wait, so it is blocked. Take the \
         event out of the hook's entry, or update Placet.",
        client.name()
    );
    Output { stdout: String::new(), stderr, code: super::BLOCK }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_about_a_tool_and_not_told_afterwards_may_ask() {
        let tool = r#"{"tool_name":"Bash","tool_input":{}}"#;
        for (client, event, text, expected) in [
            (Client::ClaudeCode, "PreToolUseAgain", tool, true),
            (Client::ClaudeCode, "PostToolBatch", tool, false),
            (Client::ClaudeCode, "PermissionDenied", tool, false),
            (Client::ClaudeCode, "UserPromptSubmit", r#"{"prompt":"x"}"#, false),
            (Client::GeminiCli, "BeforeModel", r#"{"llm_request":{}}"#, false),
            (Client::GeminiCli, "BeforeToolSelection", r#"{"llm_request":{}}"#, false),
            (Client::Copilot, "preToolUse2", r#"{"toolName":"bash"}"#, true),
            (Client::Copilot, "errorOccurred", r#"{"error":{}}"#, false),
            (Client::QwenCode, "PermissionRequest", tool, false),
            (Client::Openhands, "PermissionRequest", tool, true),
            (Client::Opencode, "tool.execute.around", r#"{"input":{"tool":"bash"},"output":{}}"#, true),
            (Client::Opencode, "event", r#"{"input":"text"}"#, false),
            (Client::Cursor, "beforeSubmitPrompt", r#"{"prompt":"x","attachments":[]}"#, false),
            (Client::Codex, "New", r#"{"tool_name":"a","tool_name":"b"}"#, true),
        ] {
            assert_eq!(may_ask(client, event, text), expected, "{} {event}", client.name());
        }
    }

    #[test]
    fn what_is_blocked_is_said_without_control_characters() {
        let output = block(Client::Codex, "New\u{1b}[2J\n");
        assert_eq!(output.code, 2);
        assert!(output.stdout.is_empty() && !output.stderr.chars().any(char::is_control), "{output:?}");
    }
}
