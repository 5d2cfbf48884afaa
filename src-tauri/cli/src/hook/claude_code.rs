//! Claude Code (seen: 2.1.332).
//!
//! Every failure of a hook (another exit code than 2, no JSON, a time-out) leaves the call to the client's own
//! permission flow, so a denial is always said, with exit code 0. Its output may have 10,000 characters.

use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};

use super::dialect::{Call, Caller, Event, Output, Place, Report, Said, cut};

/// The most characters that the client takes from a hook.
const MOST_CHARACTERS: usize = 10_000;
/// The most characters of a reason: with escapes and frame it stays below the whole.
const MOST_REASON_CHARACTERS: usize = 4_000;

#[derive(Deserialize)]
struct Payload {
    session_id: Option<String>,
    cwd: Option<String>,
    tool_name: Option<String>,
    tool_input: Option<Box<RawValue>>,
    tool_use_id: Option<String>,
    tool_response: Option<Box<RawValue>>,
    error: Option<Box<RawValue>>,
    is_interrupt: Option<bool>,
    duration_ms: Option<f64>,
    agent_id: Option<String>,
    reason: Option<String>,
}

pub(super) fn read(event: &str, text: &str) -> serde_json::Result<Event> {
    use serde::de::Error as _;
    if !matches!(
        event,
        "PreToolUse" | "PermissionRequest" | "PostToolUse" | "PostToolUseFailure" | "SessionStart" | "SessionEnd"
    ) {
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
    let id = payload.tool_use_id;
    if matches!(event, "PreToolUse" | "PermissionRequest") {
        let confirms = event == "PermissionRequest";
        let call = Call { id, parent: payload.agent_id, can_edit: true, confirms, ..Call::of(tool, input) };
        return Ok(Event::Ask(caller, call));
    }
    let outcome = match (event, payload.is_interrupt) {
        ("PostToolUse", _) => "ok",
        (_, Some(true)) => "interrupted",
        (_, _) => "error",
    };
    let output = payload.tool_response.or(payload.error);
    let duration_ms = whole_ms(payload.duration_ms);
    Ok(Event::Report(caller, Report { tool, input, id, outcome, output, duration_ms }))
}

pub(super) fn render(place: &Place, said: &Said<'_>) -> Output {
    let output = match place.event.as_str() {
        "PreToolUse" => pre_tool_use(place, said),
        "PermissionRequest" => permission_request(said),
        _ => return Output::silence(),
    };
    if output.stdout.chars().count() <= MOST_CHARACTERS {
        return output;
    }
    let reason = "The answer was larger than Claude Code takes from a hook, so the call is denied. Call the tool with \
                  a smaller input, in several steps.";
    render(place, &Said::Deny { reason })
}

fn pre_tool_use(place: &Place, said: &Said<'_>) -> Output {
    let (decision, reason, input) = match said {
        // These two are questions to the person in the client's own window; an "allow" would answer them.
        Said::Allow { input: None, .. } if matches!(place.tool.as_str(), "AskUserQuestion" | "ExitPlanMode") => {
            return Output::silence();
        }
        Said::Allow { reason, input } => ("allow", reason, *input),
        Said::Deny { reason } => ("deny", reason, None),
    };
    let mut answer = json!({
        "hookEventName": "PreToolUse",
        "permissionDecision": decision,
        "permissionDecisionReason": cut(reason, MOST_REASON_CHARACTERS),
    });
    set_input(&mut answer, "updatedInput", input);
    Output::json(&json!({ "hookSpecificOutput": answer }))
}

fn permission_request(said: &Said<'_>) -> Output {
    let decision = match said {
        Said::Allow { input, .. } => {
            let mut decision = json!({ "behavior": "allow" });
            set_input(&mut decision, "updatedInput", *input);
            decision
        }
        Said::Deny { reason } => json!({ "behavior": "deny", "message": cut(reason, MOST_REASON_CHARACTERS) }),
    };
    Output::json(&json!({ "hookSpecificOutput": { "hookEventName": "PermissionRequest", "decision": decision } }))
}

/// Puts a changed input into an answer. It was judged as JSON, so it is JSON.
pub(super) fn set_input(answer: &mut Value, key: &str, input: Option<&RawValue>) {
    if let Some(value) = input.and_then(|input| serde_json::from_str::<Value>(input.get()).ok()) {
        answer[key] = value;
    }
}

/// Clients give milliseconds as JSON numbers of any kind.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
pub(super) fn whole_ms(ms: Option<f64>) -> u64 {
    // A cast from a float is bounded: negative and not-a-number become 0.
    ms.unwrap_or(0.0).round() as u64
}
