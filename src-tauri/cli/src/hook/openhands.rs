//! `OpenHands` (seen: SDK 1.58.2). Its answers are two fields at the top; Claude Code's frame would be ignored and the
//! call run.

use serde::Deserialize;
use serde_json::{json, value::RawValue};

use super::dialect::{Call, Caller, Event, Output, Place, Report, Said, cut};

const MOST_REASON_CHARACTERS: usize = 4_000;

#[derive(Deserialize)]
struct Payload {
    session_id: Option<String>,
    working_dir: Option<String>,
    tool_name: Option<String>,
    tool_input: Option<Box<RawValue>>,
    tool_response: Option<Box<RawValue>>,
}

pub(super) fn read(event: &str, text: &str) -> serde_json::Result<Event> {
    use serde::de::Error as _;
    if !matches!(event, "PreToolUse" | "PostToolUse" | "SessionStart" | "SessionEnd") {
        return Ok(Event::Nothing);
    }
    let payload: Payload = serde_json::from_str(text)?;
    let caller = Caller { session: payload.session_id, cwd: payload.working_dir };
    match event {
        "SessionStart" => return Ok(Event::Begin(caller)),
        "SessionEnd" => return Ok(Event::End(caller, None)),
        _ => {}
    }
    let tool = payload.tool_name.ok_or_else(|| serde_json::Error::missing_field("tool_name"))?;
    let input = payload.tool_input.ok_or_else(|| serde_json::Error::missing_field("tool_input"))?;
    if event == "PreToolUse" {
        return Ok(Event::Ask(caller, Call::of(tool, input)));
    }
    let outcome = if failed(payload.tool_response.as_deref()) { "error" } else { "ok" };
    let report = Report { tool, input, id: None, outcome, output: payload.tool_response, duration_ms: 0 };
    Ok(Event::Report(caller, report))
}

pub(super) fn render(place: &Place, said: &Said<'_>) -> Output {
    if place.event != "PreToolUse" {
        return Output::silence();
    }
    let (decision, reason) = match said {
        Said::Allow { reason, input: None } => ("allow", *reason),
        Said::Allow { input: Some(_), .. } => {
            ("deny", "OpenHands runs no changed input, so the call is denied. Call again as the person changed it.")
        }
        Said::Deny { reason } => ("deny", *reason),
    };
    Output::json(&json!({ "decision": decision, "reason": cut(reason, MOST_REASON_CHARACTERS) }))
}

fn failed(response: Option<&RawValue>) -> bool {
    #[derive(Deserialize)]
    struct Response {
        #[serde(default)]
        is_error: bool,
    }
    response.is_some_and(|raw| serde_json::from_str::<Response>(raw.get()).is_ok_and(|r| r.is_error))
}
