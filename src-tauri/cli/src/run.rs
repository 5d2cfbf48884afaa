//! `placet run`: the built-in agent in the terminal.

use std::process::ExitCode;

use placet_agent::{Bus, Stop, Watched, demo};
use serde_json::json;
use tokio::sync::broadcast::{Receiver, error::RecvError};

use crate::{
    exit,
    say::{self, Form, line, visible},
    serve::{runtime, told_to_end},
};

/// Who answers the agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Provider {
    /// A script that meets each kind of answer once, in a folder and with a gate of its own
    Demo,
}

/// `run`. With JSON a line for each thing that happens, and the tally as the last.
pub(crate) fn run(provider: Provider, form: Form) -> ExitCode {
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
        let summary = match provider {
            Provider::Demo => demo::terminal(bus, stop).await,
        };
        // The last watcher ends with the bus, which the run has dropped.
        let _ = tokio::time::timeout(std::time::Duration::from_secs(1), telling).await;
        summary
    });
    runtime.shutdown_background();
    match ended {
        Ok(summary) if form == Form::Json => {
            say::json(&json!({ "tally": summary.tally }));
            exit::DONE
        }
        Ok(summary) => {
            let tally = summary.tally;
            line(format_args!(
                "\n{} calls: {} ran, {} did not; a person would have been asked about {}; {} tried to change what is \
                 protected, {} were held within bounds, in {} a secret was masked.",
                tally.calls,
                tally.allowed,
                tally.denied,
                tally.asked,
                tally.blocked_protected,
                tally.clamped,
                tally.masked
            ));
            exit::DONE
        }
        Err(error) => {
            say::trouble(error);
            exit::no()
        }
    }
}

async fn tell(watcher: &mut Receiver<std::sync::Arc<Watched>>, form: Form) {
    loop {
        match watcher.recv().await {
            Ok(event) if form == Form::Json => say::json(&*event),
            Ok(event) => told(&event),
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
        Watched::ToolEnded { decision, text, .. } => {
            let first = text.lines().next().unwrap_or_default();
            line(format_args!("  {}: {}", visible(decision), visible(first)));
        }
        Watched::HookFailed { hook, message, .. } => {
            line(format_args!("! the hook {} failed: {}", visible(hook), visible(message)));
        }
        Watched::SessionStarted { .. }
        | Watched::TurnStarted { .. }
        | Watched::ProviderRetried { .. }
        | Watched::Usage { .. }
        | Watched::Ended { .. } => {}
    }
}
