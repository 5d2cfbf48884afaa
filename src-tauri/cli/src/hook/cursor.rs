//! Cursor, from its documentation and other programs' adapters: it could not be run where this was written.
//!
//! An answer is always JSON: silence is a denial in the editor and a yes in its command line. Its shell and MCP
//! events come without a tool name of their own; they are given one here.

use serde::Deserialize;
use serde_json::{json, value::RawValue};

use super::{
    claude_code::set_input,
    dialect::{Call, Caller, Event, Output, Place, Said, cut, unquoted},
};

const MOST_REASON_CHARACTERS: usize = 4_000;

#[derive(Deserialize)]
struct Payload {
    conversation_id: Option<String>,
    #[serde(default)]
    workspace_roots: Vec<String>,
    cwd: Option<String>,
    tool_name: Option<String>,
    tool_input: Option<Box<RawValue>>,
    command: Option<Box<RawValue>>,
    file_path: Option<Box<RawValue>>,
}

pub(super) fn read(event: &str, text: &str) -> serde_json::Result<Event> {
    use serde::de::Error as _;
    if !matches!(event, "beforeShellExecution" | "beforeMCPExecution" | "beforeReadFile" | "preToolUse") {
        return Ok(Event::Nothing);
    }
    let payload: Payload = serde_json::from_str(text)?;
    let cwd = payload.cwd.filter(|cwd| !cwd.is_empty()).or_else(|| payload.workspace_roots.into_iter().next());
    let caller = Caller { session: payload.conversation_id, cwd };
    let missing = serde_json::Error::missing_field;
    let (tool, input) = match event {
        "beforeShellExecution" => {
            let command = payload.command.ok_or_else(|| missing("command"))?;
            ("Bash".to_owned(), RawValue::from_string(format!("{{\"command\":{}}}", command.get()))?)
        }
        "beforeReadFile" => {
            let path = payload.file_path.ok_or_else(|| missing("file_path"))?;
            ("Read".to_owned(), RawValue::from_string(format!("{{\"file_path\":{}}}", path.get()))?)
        }
        _ => {
            let name = payload.tool_name.ok_or_else(|| missing("tool_name"))?;
            // The server behind it is not named, only how it is started.
            let tool = if event == "beforeMCPExecution" { format!("mcp__cursor__{name}") } else { name };
            (tool, unquoted(payload.tool_input.ok_or_else(|| missing("tool_input"))?))
        }
    };
    Ok(Event::Ask(caller, Call { can_edit: event == "preToolUse", ..Call::of(tool, input) }))
}

pub(super) fn render(place: &Place, said: &Said<'_>) -> Output {
    if !matches!(place.event.as_str(), "beforeShellExecution" | "beforeMCPExecution" | "beforeReadFile" | "preToolUse")
    {
        return Output::silence();
    }
    match said {
        Said::Allow { input: Some(_), .. } if place.event != "preToolUse" => {
            let reason = "Cursor takes no changed input at this point, so the call is denied. Call again as the \
                          person changed it.";
            render(place, &Said::Deny { reason })
        }
        Said::Allow { input, .. } => {
            let mut answer = json!({ "permission": "allow" });
            set_input(&mut answer, "updated_input", *input);
            Output::json(&answer)
        }
        Said::Deny { reason } => {
            let reason = cut(reason, MOST_REASON_CHARACTERS);
            Output::json(&json!({ "permission": "deny", "user_message": reason, "agent_message": reason }))
        }
    }
}
