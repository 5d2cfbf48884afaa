//! A sub-agent as a tool: a run of its own, whose calls walk the same corridor and carry its lineage.

use std::path::PathBuf;

use placet_domain::SessionId;
use serde::Deserialize;
use serde_json::json;

use crate::{
    Later,
    bus::Bus,
    corridor::{Cleared, Corridor},
    journal::{Beneath, Journal, Recalled},
    machine::Ending,
    message::last_words,
    run::{self, Options, RunError},
    stop::Stop,
    summary::Summary,
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
    /// Whose call it is.
    run: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    task: String,
}

impl SubAgent {
    pub(crate) fn new(gate: Corridor, options: Options, bus: Bus, stop: Stop, run: String) -> Self {
        Self { gate, options, bus, stop, run }
    }

    async fn act(&self, cleared: Cleared) -> Output {
        let arguments: Arguments = match Arguments::deserialize(cleared.input()) {
            Ok(arguments) => arguments,
            Err(error) => return failed(ToolErrorCode::BadArguments, format!("The arguments do not fit: {error}.")),
        };
        let options = self.options(arguments.task, cleared.session(), cleared.call().call_id.clone());
        said(run::run(self.gate.clone(), options, self.bus.beneath(), self.stop.clone()).await)
    }

    fn options(&self, task: String, parent: SessionId, call_id: Option<String>) -> Options {
        Options {
            task,
            parent: Some(parent),
            beneath: call_id.map(|call_id| Beneath { run: self.run.clone(), call_id }),
            sub_agents: self.options.sub_agents.saturating_sub(1),
            ..self.options.clone()
        }
    }

    /// The run that this call began, and its journal.
    fn begun(&self, call_id: &str) -> Option<(PathBuf, Recalled)> {
        let entries = std::fs::read_dir(self.options.journals.as_ref()?).ok()?;
        entries.filter_map(|entry| entry.ok().map(|entry| entry.path())).find_map(|path| {
            let (recalled, _) = Journal::read(&path).ok()?;
            let beneath = recalled.began.beneath.as_ref()?;
            (beneath.run == self.run && beneath.call_id == call_id).then_some((path, recalled))
        })
    }
}

fn said(ended: Result<Summary, RunError>) -> Output {
    match ended {
        Ok(summary) => {
            let is_error = summary.ending != Ending::Done;
            let how = if is_error { format!("(ended: {:?})\n", summary.ending) } else { String::new() };
            Output { text: format!("{how}{}", summary.last_words), is_error }
        }
        Err(error) => failed(ToolErrorCode::Failed, error.to_string()),
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

    /// What a sub-agent did stands in its own journal: it goes on there, and nothing is done twice.
    fn take_up<'a>(&'a self, parent: SessionId, call_id: &'a str) -> Option<Later<'a, Output>> {
        let (journal, recalled) = self.begun(call_id)?;
        if recalled.is_over() {
            let text = last_words(&recalled.messages).to_owned();
            return Some(Box::pin(std::future::ready(Output { text, is_error: false })));
        }
        Some(Box::pin(async move {
            let options = self.options("Go on.".to_owned(), parent, Some(call_id.to_owned()));
            let (gate, bus, stop) = (self.gate.clone(), self.bus.beneath(), self.stop.clone());
            said(run::resume(gate, options, None, &journal, bus, stop).await)
        }))
    }
}

fn failed(code: ToolErrorCode, message: String) -> Output {
    ToolError { code, message, tool: SUB_AGENT.to_owned() }.into()
}
