//! Codex (seen: 0.171.0).
//!
//! `PreToolUse` can hold and deny; its "allow" is silence, since older versions take the word for an error and newer
//! ones still ask by their own rules. `PermissionRequest` is where a yes settles it. Unknown fields make an answer
//! void, so none but these are said. A changed input must hold `command` as a text and nothing else counts.

use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};

use super::{
    claude_code::whole_ms,
    dialect::{Call, Caller, Event, Output, Place, Report, Said, cut},
};

const MOST_REASON_CHARACTERS: usize = 4_000;

#[derive(Deserialize)]
struct Payload {
    session_id: Option<String>,
    cwd: Option<String>,
    tool_name: Option<String>,
    tool_input: Option<Box<RawValue>>,
    tool_use_id: Option<String>,
    tool_response: Option<Box<RawValue>>,
    duration_ms: Option<f64>,
    agent_id: Option<String>,
}

pub(super) fn read(event: &str, text: &str) -> serde_json::Result<Event> {
    use serde::de::Error as _;
    if !matches!(event, "PreToolUse" | "PermissionRequest" | "PostToolUse" | "SessionStart") {
        return Ok(Event::Nothing);
    }
    let payload: Payload = serde_json::from_str(text)?;
    let caller = Caller { session: payload.session_id, cwd: payload.cwd };
    if event == "SessionStart" {
        return Ok(Event::Begin(caller));
    }
    let tool = payload.tool_name.ok_or_else(|| serde_json::Error::missing_field("tool_name"))?;
    let input = payload.tool_input.ok_or_else(|| serde_json::Error::missing_field("tool_input"))?;
    let id = payload.tool_use_id;
    if event == "PostToolUse" {
        let duration_ms = whole_ms(payload.duration_ms);
        let report = Report { tool, input, id, outcome: "ok", output: payload.tool_response, duration_ms };
        return Ok(Event::Report(caller, report));
    }
    let can_edit = event == "PreToolUse" && command_alone(&input).is_some();
    let confirms = event == "PermissionRequest";
    Ok(Event::Ask(caller, Call { id, parent: payload.agent_id, can_edit, confirms, ..Call::of(tool, input) }))
}

pub(super) fn render(place: &Place, said: &Said<'_>) -> Output {
    match place.event.as_str() {
        "PreToolUse" => before_a_call(said),
        "PermissionRequest" => at_its_own_question(said),
        _ => Output::silence(),
    }
}

fn before_a_call(said: &Said<'_>) -> Output {
    match said {
        Said::Allow { input: None, .. } => Output::silence(),
        Said::Allow { input: Some(input), .. } => match command_alone(input) {
            Some(command) => pre_tool_use("allow", "updatedInput", &json!({ "command": command })),
            None => before_a_call(&Said::Deny {
                reason: "Codex takes a changed command only; the approved input has more than that.",
            }),
        },
        Said::Deny { reason } => {
            // Without a reason the denial would not count.
            let reason = if reason.trim().is_empty() { "Denied by Placet." } else { reason };
            pre_tool_use("deny", "permissionDecisionReason", &json!(cut(reason, MOST_REASON_CHARACTERS)))
        }
    }
}

fn at_its_own_question(said: &Said<'_>) -> Output {
    let message = match said {
        Said::Allow { input: None, .. } => return permission_request(&json!({ "behavior": "allow" })),
        Said::Allow { input: Some(_), .. } => {
            "Codex takes no changed input at this point, so the call is denied. Call again as the person changed it."
        }
        Said::Deny { reason } => reason,
    };
    permission_request(&json!({ "behavior": "deny", "message": cut(message, MOST_REASON_CHARACTERS) }))
}

fn pre_tool_use(decision: &str, key: &str, value: &Value) -> Output {
    let answer = json!({ "hookEventName": "PreToolUse", "permissionDecision": decision, key: value });
    Output::json(&json!({ "hookSpecificOutput": answer }))
}

fn permission_request(decision: &Value) -> Output {
    Output::json(&json!({ "hookSpecificOutput": { "hookEventName": "PermissionRequest", "decision": decision } }))
}

/// The command, if the input holds one as a text and nothing else.
fn command_alone(input: &RawValue) -> Option<String> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Alone {
        command: String,
    }
    serde_json::from_str::<Alone>(input.get()).ok().map(|alone| alone.command)
}
