//! Qwen Code (seen: 0.24.4). It speaks as Claude Code does, but runs the original input whatever a hook changes, and
//! gives up on a hook after a minute whatever is configured.

use serde_json::json;

use super::{
    claude_code,
    dialect::{Event, Output, Place, Said, cut},
};

const MOST_REASON_CHARACTERS: usize = 4_000;

pub(super) fn read(event: &str, text: &str) -> serde_json::Result<Event> {
    if event == "PermissionRequest" {
        return Ok(Event::Nothing);
    }
    Ok(match claude_code::read(event, text)? {
        Event::Ask(caller, call) => Event::Ask(caller, super::dialect::Call { can_edit: false, ..call }),
        other @ (Event::Report(..) | Event::Begin(_) | Event::End(..) | Event::Nothing | Event::Unknown) => other,
    })
}

pub(super) fn render(place: &Place, said: &Said<'_>) -> Output {
    if place.event != "PreToolUse" {
        return Output::silence();
    }
    let (decision, reason) = match said {
        Said::Allow { reason, input: None } => ("allow", *reason),
        Said::Allow { input: Some(_), .. } => {
            ("deny", "Qwen Code runs no changed input, so the call is denied. Call again as the person changed it.")
        }
        Said::Deny { reason } => ("deny", *reason),
    };
    Output::json(&json!({ "hookSpecificOutput": {
        "hookEventName": "PreToolUse",
        "permissionDecision": decision,
        "permissionDecisionReason": cut(reason, MOST_REASON_CHARACTERS),
    } }))
}
