//! opencode (seen: 1.18.33), which has no command hooks: the plugin that `placet install opencode` writes runs this
//! command and takes for a yes only the very answer below. It names the event by `--event` and runs it in the
//! project's folder, since the payload says neither.

use serde::Deserialize;
use serde_json::{json, value::RawValue};

use super::{
    claude_code::set_input,
    dialect::{Call, Caller, Event, Output, Place, Report, Said, cut},
};

const MOST_REASON_CHARACTERS: usize = 4_000;

#[derive(Deserialize)]
struct Payload {
    input: Input,
    output: Told,
}

#[derive(Deserialize)]
struct Input {
    tool: String,
    #[serde(rename = "sessionID")]
    session: Option<String>,
    #[serde(rename = "callID")]
    call: Option<String>,
    args: Option<Box<RawValue>>,
}

#[derive(Deserialize)]
struct Told {
    args: Option<Box<RawValue>>,
    output: Option<Box<RawValue>>,
}

pub(super) fn read(event: &str, text: &str) -> serde_json::Result<Event> {
    use serde::de::Error as _;
    if !matches!(event, "tool.execute.before" | "tool.execute.after") {
        return Ok(Event::Nothing);
    }
    let Payload { input, output } = serde_json::from_str(text)?;
    let caller = Caller { session: input.session, cwd: None };
    let missing = || serde_json::Error::missing_field("args");
    if event == "tool.execute.before" {
        let args = output.args.ok_or_else(missing)?;
        let call = Call { id: input.call, can_edit: true, ..Call::of(input.tool, args) };
        return Ok(Event::Ask(caller, call));
    }
    let args = input.args.ok_or_else(missing)?;
    let report =
        Report { tool: input.tool, input: args, id: input.call, outcome: "ok", output: output.output, duration_ms: 0 };
    Ok(Event::Report(caller, report))
}

pub(super) fn render(place: &Place, said: &Said<'_>) -> Output {
    if place.event != "tool.execute.before" {
        return Output::silence();
    }
    match said {
        Said::Allow { reason, input } => {
            let mut answer = json!({ "decision": "allow", "reason": cut(reason, MOST_REASON_CHARACTERS) });
            set_input(&mut answer, "args", *input);
            Output::json(&answer)
        }
        Said::Deny { reason } => {
            Output::json(&json!({ "decision": "deny", "reason": cut(reason, MOST_REASON_CHARACTERS) }))
        }
    }
}
