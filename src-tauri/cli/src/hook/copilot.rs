//! GitHub Copilot CLI (seen: 1.0.102).
//!
//! Its own events have camelCase names and payloads that do not always name the event, so `--event` does. Events
//! with names in `PascalCase` come with payloads like Claude Code's and take that client's answers.

use serde::Deserialize;
use serde_json::{json, value::RawValue};

use super::{
    claude_code::set_input,
    dialect::{Call, Caller, Event, Output, Place, Report, Said, cut, unquoted},
};

const MOST_REASON_CHARACTERS: usize = 4_000;

#[derive(Deserialize)]
struct Payload {
    #[serde(alias = "session_id")]
    #[serde(rename = "sessionId")]
    session: Option<String>,
    cwd: Option<String>,
    #[serde(alias = "tool_name")]
    #[serde(rename = "toolName")]
    tool: Option<String>,
    #[serde(alias = "toolInput", alias = "tool_input")]
    #[serde(rename = "toolArgs")]
    input: Option<Box<RawValue>>,
    #[serde(alias = "tool_result")]
    #[serde(rename = "toolResult")]
    result: Option<Box<RawValue>>,
    reason: Option<String>,
}

pub(super) fn read(event: &str, text: &str) -> serde_json::Result<Event> {
    use serde::de::Error as _;
    let asks = matches!(event, "preToolUse" | "PreToolUse" | "permissionRequest" | "PermissionRequest");
    let tells = matches!(event, "postToolUse" | "PostToolUse");
    let begins = matches!(event, "sessionStart" | "SessionStart");
    let ends = matches!(event, "sessionEnd" | "SessionEnd");
    if !(asks || tells || begins || ends) {
        return Ok(Event::Nothing);
    }
    let payload: Payload = serde_json::from_str(text)?;
    let caller = Caller { session: payload.session, cwd: payload.cwd };
    if begins {
        return Ok(Event::Begin(caller));
    }
    if ends {
        return Ok(Event::End(caller, payload.reason));
    }
    let tool = payload.tool.ok_or_else(|| serde_json::Error::missing_field("toolName"))?;
    let input = unquoted(payload.input.ok_or_else(|| serde_json::Error::missing_field("toolArgs"))?);
    if asks {
        let confirms = event.eq_ignore_ascii_case("permissionRequest");
        let call = Call { can_edit: event == "preToolUse", confirms, ..Call::of(tool, input) };
        return Ok(Event::Ask(caller, call));
    }
    let outcome = outcome_of(payload.result.as_deref());
    let report = Report { tool, input, id: None, outcome, output: payload.result, duration_ms: 0 };
    Ok(Event::Report(caller, report))
}

pub(super) fn render(place: &Place, said: &Said<'_>) -> Output {
    if let Said::Allow { input: Some(_), .. } = said
        && place.event != "preToolUse"
    {
        let reason = "Copilot takes no changed input at this point, so the call is denied. Call again as the person \
                      changed it.";
        return render(place, &Said::Deny { reason });
    }
    let (decision, reason, input) = match said {
        Said::Allow { reason, input } => ("allow", cut(reason, MOST_REASON_CHARACTERS), *input),
        Said::Deny { reason } => ("deny", cut(reason, MOST_REASON_CHARACTERS), None),
    };
    match place.event.as_str() {
        "preToolUse" => {
            let mut answer = json!({ "permissionDecision": decision, "permissionDecisionReason": reason });
            set_input(&mut answer, "modifiedArgs", input);
            Output::json(&answer)
        }
        "PreToolUse" => Output::json(&json!({ "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": decision,
            "permissionDecisionReason": reason,
        } })),
        "permissionRequest" | "PermissionRequest" => Output::json(&match said {
            Said::Allow { .. } => json!({ "behavior": "allow" }),
            Said::Deny { .. } => json!({ "behavior": "deny", "message": reason }),
        }),
        _ => Output::silence(),
    }
}

fn outcome_of(result: Option<&RawValue>) -> &'static str {
    #[derive(Deserialize)]
    struct Kind {
        #[serde(alias = "resultType")]
        result_type: Option<String>,
    }
    let kind = result.and_then(|raw| serde_json::from_str::<Kind>(raw.get()).ok()).and_then(|kind| kind.result_type);
    match kind.as_deref() {
        None | Some("success") => "ok",
        Some(_) => "error",
    }
}
