//! `placet run`: the built-in agent in the terminal.

use std::{path::PathBuf, process::ExitCode};

use placet_agent::{Bus, Corridor, Ending, Order, Stop, Summary, Told, Watched, demo, order};
use placet_gate::{Host, Places, ReachError, Remote};
use serde_json::json;
use tokio::sync::broadcast::{Receiver, error::RecvError};

use crate::{
    exit,
    say::{self, Form, line, visible},
    serve::{self, Open, runtime, told_to_end},
};

/// What is to be run, and how.
#[derive(Debug, clap::Args)]
pub(crate) struct Run {
    /// What the agent is to do; the demo knows
    #[arg(required_unless_present_any = ["resume", "provider"])]
    task: Option<String>,
    /// Where it works; the current folder, without it
    #[arg(long, value_name = "DIR")]
    workspace: Option<PathBuf>,
    /// Who answers it; the one that agent.toml names, without it
    #[arg(long, value_enum)]
    provider: Option<Provider>,
    /// Read this instead of agent.toml in the configuration directory
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Which profile of agent.toml it has
    #[arg(long)]
    profile: Option<String>,
    /// At most so many turns; as agent.toml says, without it
    #[arg(long, value_name = "N")]
    max_turns: Option<u32>,
    /// At most so many tokens
    #[arg(long, value_name = "N")]
    max_tokens: Option<u64>,
    /// At most so long
    #[arg(long, value_name = "MINUTES")]
    max_minutes: Option<u64>,
    /// Take up a run that did not come to its own end, from the folder it worked in
    #[arg(long, value_name = "RUN", conflicts_with = "task", value_parser = run_id)]
    resume: Option<String>,
}

/// Who answers the agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Provider {
    /// A script that meets each kind of answer once, in a folder and with a gate of its own
    Demo,
    /// Chat completions of OpenAI, or of any server that speaks them
    Openai,
    /// Anthropic's messages
    Anthropic,
}

fn run_id(text: &str) -> Result<String, String> {
    let is_id = text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_id { Ok(text.to_owned()) } else { Err("a run's id has 32 hexadecimal digits".to_owned()) }
}

/// Why nothing came of it.
enum Failed {
    /// What is asked for cannot be.
    Usage(String),
    /// It did not begin, or broke off.
    No(String),
    /// There is a gate, and it cannot be asked.
    Unreachable(String),
}

/// `run`. With JSON a line for each thing that happens, and the tally as the last.
pub(crate) fn run(places: &Places, what: Run, form: Form) -> ExitCode {
    let runtime = match runtime() {
        Ok(runtime) => runtime,
        Err(code) => return code,
    };
    let (bus, stop) = (Bus::default(), Stop::default());
    let mut watcher = bus.watch();
    let ended = runtime.block_on(async {
        let telling = tokio::spawn(async move {
            tell(&mut watcher, form).await;
        });
        let stopping = stop.clone();
        tokio::spawn(async move {
            told_to_end().await;
            stopping.now();
        });
        let summary = match what.provider {
            Some(Provider::Demo) => demo::terminal(bus, stop).await.map_err(|error| Failed::No(error.to_string())),
            Some(Provider::Openai | Provider::Anthropic) | None => real(places, what, form, bus, stop).await,
        };
        // The last watcher ends with the bus, which the run has dropped.
        let _ = tokio::time::timeout(std::time::Duration::from_secs(1), telling).await;
        summary
    });
    runtime.shutdown_background();
    match ended {
        Ok(summary) => {
            counted(&summary, form);
            if summary.ending == Ending::Done { exit::DONE } else { exit::no() }
        }
        Err(Failed::Usage(error)) => {
            say::trouble(error);
            exit::usage()
        }
        Err(Failed::No(error)) => {
            say::trouble(error);
            exit::no()
        }
        Err(Failed::Unreachable(error)) => {
            say::trouble(error);
            exit::unreachable()
        }
    }
}

fn counted(summary: &Summary, form: Form) {
    let tally = summary.tally;
    if form == Form::Json {
        say::json(&json!({ "tally": tally }));
        return;
    }
    line(format_args!(
        "\n{} calls: {} ran, {} did not; a person was asked about {}, or would have been; {} tried to change what is \
         protected, {} were held within bounds, in {} a secret was masked.",
        tally.calls, tally.allowed, tally.denied, tally.asked, tally.blocked_protected, tally.clamped, tally.masked
    ));
    if let Some(why) = why(&summary.ending) {
        line(format_args!("{} Take it up with placet run --resume {}", visible(&why), summary.run));
    }
}

/// Why a run did not come to its own end.
fn why(ending: &Ending) -> Option<String> {
    Some(match ending {
        Ending::Done => return None,
        Ending::MaxTurns => "It has taken all its turns.".to_owned(),
        Ending::MaxTokens => "It has used all its tokens.".to_owned(),
        Ending::TimeOver => "Its time is over.".to_owned(),
        Ending::Aborted => "It was stopped.".to_owned(),
        Ending::Suspended => "Placet was closed.".to_owned(),
        Ending::HookFailed { hook, message } => format!("The check {hook} failed: {message}."),
        Ending::ProviderFailed { message } => message.clone(),
    })
}

/// A run with a provider of the person's: through the gate that is open, else with one of its own that asks nobody.
async fn real(places: &Places, what: Run, form: Form, bus: Bus, stop: Stop) -> Result<Summary, Failed> {
    let usage = |error: &dyn std::fmt::Display| Failed::Usage(error.to_string());
    let workspace =
        std::path::absolute(what.workspace.unwrap_or_else(|| PathBuf::from("."))).map_err(|error| usage(&error))?;
    let kind = what.provider.map(|provider| if provider == Provider::Openai { "openai" } else { "anthropic" });
    let order = Order {
        workspace: Some(workspace),
        provider: kind.map(str::to_owned),
        // A run that is taken up has its task in its journal.
        task: if what.resume.is_some() { Some("Go on.".to_owned()) } else { what.task },
        profile: what.profile,
        max_turns: what.max_turns,
        max_tokens: what.max_tokens,
        max_ms: what.max_minutes.map(|minutes| minutes.saturating_mul(60_000)),
    };
    let config = what.config.unwrap_or_else(|| places.config.join("agent.toml"));
    let journals = order::journals(&places.data);
    let options = order::options(&config, &journals, order.clone()).await.map_err(|error| usage(&error))?;
    let (corridor, own) = gate(places, form).await?;
    let ended = match what.resume {
        Some(run) => {
            let journal = journals.join(format!("{run}.jsonl"));
            let budget = order.budget(options.budget);
            placet_agent::resume(corridor, options, budget, &journal, bus, stop).await
        }
        None => placet_agent::run(corridor, options, bus, stop).await,
    };
    if let Some(own) = own {
        own.close().await;
    }
    ended.map_err(|error| Failed::No(error.to_string()))
}

/// The gate that is open; where none is, one of this run's own.
async fn gate(places: &Places, form: Form) -> Result<(Corridor, Option<Open>), Failed> {
    let (there, reached) = (places.clone(), Remote::reach);
    let reached = tokio::task::spawn_blocking(move || reached(&there)).await;
    match reached.map_err(|error| Failed::No(error.to_string()))? {
        Ok(remote) => return Ok((remote.into(), None)),
        Err(ReachError::Client(error)) if error.may_pass() => {}
        Err(error) => return Err(Failed::Unreachable(error.to_string())),
    }
    let own = serve::open(places.clone(), Host::Serve)
        .await
        .map_err(|_| Failed::No("The gate of this run could not be opened.".to_owned()))?;
    if form == Form::Text {
        line("No Placet is open: what a person would be asked about is denied.");
    }
    Ok((own.gate.clone().into(), Some(own)))
}

async fn tell(watcher: &mut Receiver<std::sync::Arc<Told>>, form: Form) {
    loop {
        match watcher.recv().await {
            Ok(event) if form == Form::Json => say::json(&*event),
            Ok(event) => told(&event.watched),
            Err(RecvError::Lagged(_)) => {}
            Err(RecvError::Closed) => return,
        }
    }
}

fn told(watched: &Watched) {
    match watched {
        Watched::Text { text } if text.trim().is_empty() => {}
        Watched::Text { text } => line(visible(text)),
        Watched::ToolStarted { tool, input, .. } => line(format_args!("→ {} {}", visible(tool), visible(input))),
        Watched::ToolWaits { .. } => line("  waits for a person to answer, in the window or by the supervisor"),
        Watched::ToolEnded { decision, text, .. } => {
            let first = text.lines().next().unwrap_or_default();
            line(format_args!("  {}: {}", visible(decision), visible(first)));
        }
        Watched::HookFailed { hook, message, .. } => {
            line(format_args!("! the hook {} failed: {}", visible(hook), visible(message)));
        }
        Watched::TakenUp { turn, messages } => {
            line(format_args!("It goes on in turn {turn}, after {} messages.", messages.len()));
        }
        Watched::Within { told: inner, .. } => told(inner),
        Watched::SessionStarted { .. }
        | Watched::TurnStarted { .. }
        | Watched::ProviderRetried { .. }
        | Watched::Usage { .. }
        | Watched::Ended { .. } => {}
    }
}
