//! A sub-agent as a tool: a run of its own, whose calls walk the same corridor and carry its lineage.

use serde::Deserialize;
use serde_json::json;

use crate::{
    Later,
    bus::Bus,
    corridor::{Cleared, Corridor},
    machine::Ending,
    run::{self, Options},
    stop::Stop,
    tools::{ExtraTool, Output, ToolError, ToolErrorCode, ToolSpec},
};

/// The tool's name.
pub const SUB_AGENT: &str = "sub_agent";

/// Starts runs like the one it was made for, one level less deep.
pub(crate) struct SubAgent {
    gate: Corridor,
    options: Options,
    bus: Bus,
    stop: Stop,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    task: String,
}

impl SubAgent {
    pub(crate) fn new(gate: Corridor, options: Options, bus: Bus, stop: Stop) -> Self {
        Self { gate, options, bus, stop }
    }

    async fn act(&self, cleared: Cleared) -> Output {
        let arguments: Arguments = match Arguments::deserialize(cleared.input()) {
            Ok(arguments) => arguments,
            Err(error) => return failed(ToolErrorCode::BadArguments, format!("The arguments do not fit: {error}.")),
        };
        let options = Options {
            task: arguments.task,
            parent: Some(cleared.session()),
            sub_agents: self.options.sub_agents.saturating_sub(1),
            ..self.options.clone()
        };
        match run::run(self.gate.clone(), options, self.bus.clone(), self.stop.clone()).await {
            Ok(summary) => {
                let is_error = summary.ending != Ending::Done;
                let how = if is_error { format!("(ended: {:?})\n", summary.ending) } else { String::new() };
                Output { text: format!("{how}{}", summary.last_words), is_error }
            }
            Err(error) => failed(ToolErrorCode::Failed, error.to_string()),
        }
    }
}

impl ExtraTool for SubAgent {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: SUB_AGENT.to_owned(),
            description: "Gives a task to another agent with the same tools and gives back what it says in the end."
                .to_owned(),
            schema: json!({
                "type": "object", "properties": {"task": {"type": "string"}}, "required": ["task"],
                "additionalProperties": false,
            }),
            reads_only: false,
        }
    }

    fn run(&self, cleared: Cleared) -> Later<'_, Output> {
        Box::pin(self.act(cleared))
    }
}

fn failed(code: ToolErrorCode, message: String) -> Output {
    ToolError { code, message, tool: SUB_AGENT.to_owned() }.into()
}
