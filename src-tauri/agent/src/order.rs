//! What the person wants run, and what that comes to by `agent.toml`.

use std::path::{Path, PathBuf};

use placet_domain::AgentName;
use serde::Deserialize;

use crate::{
    Budget, Options, RunError,
    config::{Config, ConfigError},
    demo::DemoError,
};

/// The name of our own agent at the gate.
const BUILT_IN: &str = "builtin";

/// What a run is to be.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Order {
    /// Where it works. The demo makes a folder of its own.
    #[serde(default)]
    pub workspace: Option<PathBuf>,
    /// `demo`, or the kind of the provider that `agent.toml` names; that one, where nothing is said.
    #[serde(default)]
    pub provider: Option<String>,
    /// What it is to do. The demo knows.
    #[serde(default)]
    pub task: Option<String>,
    /// Which of the profiles in `agent.toml` it has; every tool, without one.
    #[serde(default)]
    pub profile: Option<String>,
    /// How many turns it may take; as `agent.toml` says, without it, and so with the next two.
    #[serde(default)]
    pub max_turns: Option<u32>,
    /// How many tokens it may use.
    #[serde(default)]
    pub max_tokens: Option<u64>,
    /// How long it may take, in milliseconds.
    #[serde(default)]
    pub max_ms: Option<u64>,
}

impl Order {
    /// The bounds of `usual`, and in their place those that the order names; none where it names none.
    pub fn budget(&self, usual: Budget) -> Option<Budget> {
        let named = self.max_turns.is_some() || self.max_tokens.is_some() || self.max_ms.is_some();
        named.then(|| Budget {
            max_turns: self.max_turns.unwrap_or(usual.max_turns),
            max_tokens: self.max_tokens.unwrap_or(usual.max_tokens),
            max_ms: self.max_ms.unwrap_or(usual.max_ms),
        })
    }
}

/// Why a run was not started.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The order lacks something.
    #[error("a run needs {0}")]
    Lacks(&'static str),
    /// `agent.toml`, or what it names, cannot be used.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// It could not begin.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The demo could not begin.
    #[error(transparent)]
    Demo(#[from] DemoError),
    /// It broke off before it had a session.
    #[error("the run ended before it began; the log says more")]
    BrokeOff,
}

/// Where runs are remembered.
pub fn journals(data: &Path) -> PathBuf {
    data.join("runs")
}

/// What an order comes to, by `agent.toml`.
pub async fn options(config: &Path, journals: &Path, order: Order) -> Result<Options, StartError> {
    let bounds = order.clone();
    let Order { workspace, provider, task, profile, .. } = order;
    let workspace =
        workspace.filter(|path| path.is_absolute()).ok_or(StartError::Lacks("the whole path of a workspace"))?;
    let task = task.filter(|task| !task.trim().is_empty()).ok_or(StartError::Lacks("a task"))?;
    let config = Config::read(config)?;
    if let Some(kind) = provider {
        config.must_be(&kind)?;
    }
    let agent: AgentName = BUILT_IN.parse().map_err(|_| StartError::BrokeOff)?;
    let mut options = config.options(agent, workspace, task, profile.as_deref()).await?;
    options.budget = bounds.budget(options.budget).unwrap_or(options.budget);
    options.journals = Some(journals.to_owned());
    Ok(options)
}
