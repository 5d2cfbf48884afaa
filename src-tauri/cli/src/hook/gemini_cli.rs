//! Gemini CLI (seen: 0.61.0).
//!
//! Plain text or silence lets a call run, whatever the exit code was meant to say, so every answer is JSON with exit
//! code 0. A changed input is merged into the one that was asked about: what was left out of it would come back.

use serde::Deserialize;
use serde_json::{Map, Value, json, value::RawValue};

use super::dialect::{Call, Caller, Event, Output, Place, Report, Said, cut};

const MOST_REASON_CHARACTERS: usize = 4_000;

#[derive(Deserialize)]
struct Payload {
    session_id: Option<String>,
    cwd: Option<String>,
    tool_name: Option<String>,
    tool_input: Option<Box<RawValue>>,
    tool_response: Option<Box<RawValue>>,
    reason: Option<String>,
}

pub(super) fn read(event: &str, text: &str) -> serde_json::Result<Event> {
    use serde::de::Error as _;
    if !matches!(event, "BeforeTool" | "AfterTool" | "SessionStart" | "SessionEnd") {
        return Ok(Event::Nothing);
    }
    let payload: Payload = serde_json::from_str(text)?;
    let caller = Caller { session: payload.session_id, cwd: payload.cwd };
    match event {
        "SessionStart" => return Ok(Event::Begin(caller)),
        "SessionEnd" => return Ok(Event::End(caller, payload.reason)),
        _ => {}
    }
    let tool = payload.tool_name.ok_or_else(|| serde_json::Error::missing_field("tool_name"))?;
    let input = payload.tool_input.ok_or_else(|| serde_json::Error::missing_field("tool_input"))?;
    if event == "BeforeTool" {
        return Ok(Event::Ask(caller, Call { can_edit: true, ..Call::of(tool, input) }));
    }
    let outcome = if has_error(payload.tool_response.as_deref()) { "error" } else { "ok" };
    let report = Report { tool, input, id: None, outcome, output: payload.tool_response, duration_ms: 0 };
    Ok(Event::Report(caller, report))
}

pub(super) fn render(place: &Place, call: Option<&Call>, said: &Said<'_>) -> Output {
    if place.event != "BeforeTool" {
        return Output::silence();
    }
    match said {
        Said::Allow { reason, input: None } => {
            Output::json(&json!({ "decision": "allow", "reason": cut(reason, MOST_REASON_CHARACTERS) }))
        }
        Said::Allow { reason, input: Some(input) } => match call.and_then(|call| merged(&call.input, input)) {
            Some(input) => Output::json(&json!({
                "decision": "allow",
                "reason": cut(reason, MOST_REASON_CHARACTERS),
                "hookSpecificOutput": { "hookEventName": "BeforeTool", "tool_input": input },
            })),
            None => render(
                place,
                call,
                &Said::Deny {
                    reason: "Gemini CLI adds a changed input to the one it asked about, so a field that the person \
                             took away would still be used; the call is denied. Call again without that field.",
                },
            ),
        },
        Said::Deny { reason } => {
            Output::json(&json!({ "decision": "deny", "reason": cut(reason, MOST_REASON_CHARACTERS) }))
        }
    }
}

/// The changed input, if merging it into the asked one gives just it: no field of the asked one is missing in it.
fn merged(asked: &RawValue, changed: &RawValue) -> Option<Map<String, Value>> {
    let asked: Map<String, Value> = serde_json::from_str(asked.get()).ok()?;
    let changed: Map<String, Value> = serde_json::from_str(changed.get()).ok()?;
    asked.keys().all(|key| changed.contains_key(key)).then_some(changed)
}

fn has_error(response: Option<&RawValue>) -> bool {
    #[derive(Deserialize)]
    struct Response {
        error: Option<serde::de::IgnoredAny>,
    }
    response.is_some_and(|raw| serde_json::from_str::<Response>(raw.get()).is_ok_and(|r| r.error.is_some()))
}
