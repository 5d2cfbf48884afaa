//! The runs that the gate's host has under way: started by the person, stopped by them, taken up again after a quit.

use std::{
    collections::HashMap,
    fmt,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use placet_domain::{AgentName, Fact, SessionId};
use serde::Deserialize;
use tokio::sync::broadcast::error::RecvError;

use crate::{
    Bus, Ending, Later, Options, RunError, Stop, Summary, Watched,
    config::{Config, ConfigError},
    corridor::Gate,
    demo::{self, DemoError},
    journal::{Journal, JournalError, Recalled},
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

/// The runs of one gate. Cheap to clone.
#[derive(Clone)]
pub struct Runs {
    gate: Gate,
    config: PathBuf,
    journals: PathBuf,
    under_way: Arc<Mutex<HashMap<SessionId, Stop>>>,
}

impl fmt::Debug for Runs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Runs").field("under_way", &self.hold().keys()).finish_non_exhaustive()
    }
}

impl Runs {
    /// `config` is the folder of `agent.toml`, `data` the one in which runs are remembered (`runs/`).
    pub fn new(gate: Gate, config: &Path, data: &Path) -> Self {
        let (config, journals) = (config.join("agent.toml"), journals(data));
        Self { gate, config, journals, under_way: Arc::default() }
    }

    /// Starts a run; it is under way when this returns, and its session is given back.
    pub async fn start(&self, order: Order) -> Result<SessionId, StartError> {
        let (bus, stop, gate) = (Bus::default(), Stop::default(), self.gate.clone());
        if order.provider.as_deref() == Some("demo") {
            let (bus_of_run, stop_of_run) = (bus.clone(), stop.clone());
            let run = Box::pin(async move { Ok(demo::play(gate, bus_of_run, stop_of_run).await?) });
            return self.follow(run, &bus, stop).await;
        }
        let options = options(&self.config, &self.journals, order).await?;
        let (bus_of_run, stop_of_run) = (bus.clone(), stop.clone());
        let run = Box::pin(async move { Ok(crate::run(gate, options, bus_of_run, stop_of_run).await?) });
        self.follow(run, &bus, stop).await
    }

    /// Stops a run. False where there is none of this session.
    pub fn stop(&self, session: SessionId) -> bool {
        self.hold().get(&session).inspect(|stop| stop.now()).is_some()
    }

    /// Takes up the runs that a quit or a crash broke off while a person was asked: the question is still there, and
    /// its answer lets the run go on. Others are left as they lie; nothing is spent on what nobody waits for.
    pub async fn take_up(&self) -> Vec<SessionId> {
        let mut taken_up = Vec::new();
        for journal in waiting(&self.journals, &self.gate) {
            match self.take_up_one(&journal).await {
                Ok(session) => taken_up.push(session),
                Err(error) => tracing::warn!(%error, journal = %journal.display(), "a run could not be taken up"),
            }
        }
        taken_up
    }

    async fn take_up_one(&self, journal: &Path) -> Result<SessionId, StartError> {
        let (_, Recalled { workspace, .. }) = Journal::recall(journal).map_err(RunError::from)?;
        // The task stands in the journal.
        let order = Order { workspace: Some(workspace.into()), task: Some("Go on.".to_owned()), ..Order::default() };
        let options = options(&self.config, &self.journals, order).await?;
        let (bus, stop, gate, journal) = (Bus::default(), Stop::default(), self.gate.clone(), journal.to_owned());
        let (bus_of_run, stop_of_run) = (bus.clone(), stop.clone());
        let run = Box::pin(async move { Ok(crate::resume(gate, options, &journal, bus_of_run, stop_of_run).await?) });
        self.follow(run, &bus, stop).await
    }

    /// Lets a run go its way, from when it has a session until it is over.
    async fn follow(
        &self,
        run: Later<'static, Result<Summary, StartError>>,
        bus: &Bus,
        stop: Stop,
    ) -> Result<SessionId, StartError> {
        let mut watcher = bus.watch();
        let mut facts = self.gate.facts();
        let mut running = tokio::spawn(run);
        let session = loop {
            tokio::select! {
                biased;
                heard = watcher.recv() => match heard.as_deref() {
                    Ok(Watched::SessionStarted { session }) => break *session,
                    Err(RecvError::Closed) => return Err(StartError::BrokeOff),
                    Ok(_) | Err(RecvError::Lagged(_)) => {}
                },
                ended = &mut running => match ended {
                    Ok(Err(error)) => return Err(error),
                    Ok(Ok(_)) | Err(_) => return Err(StartError::BrokeOff),
                },
            }
        };
        self.hold().insert(session, stop.clone());
        let under_way = Arc::clone(&self.under_way);
        tokio::spawn(async move {
            loop {
                tokio::select! {
                    ended = &mut running => {
                        told(session, ended);
                        break;
                    }
                    // A session that the person ended has nothing more to do.
                    fact = facts.recv() => match fact.as_deref().map(|entry| &entry.fact) {
                        Ok(Fact::SessionStopped { session: stopped, .. }) if *stopped == session => stop.now(),
                        Ok(_) | Err(RecvError::Lagged(_)) => {}
                        Err(RecvError::Closed) => {
                            told(session, running.await);
                            break;
                        }
                    },
                }
            }
            under_way.lock().unwrap_or_else(PoisonError::into_inner).remove(&session);
        });
        Ok(session)
    }

    fn hold(&self) -> MutexGuard<'_, HashMap<SessionId, Stop>> {
        self.under_way.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn told(session: SessionId, ended: Result<Result<Summary, StartError>, tokio::task::JoinError>) {
    match ended {
        Ok(Ok(summary)) => tracing::info!(%session, ending = ?summary.ending, "a run is over"),
        Ok(Err(error)) => tracing::error!(%session, %error, "a run broke off"),
        Err(error) => tracing::error!(%session, %error, "a run broke off"),
    }
}

/// Where runs are remembered.
pub fn journals(data: &Path) -> PathBuf {
    data.join("runs")
}

/// What an order comes to, by `agent.toml`.
pub async fn options(config: &Path, journals: &Path, order: Order) -> Result<Options, StartError> {
    let Order { workspace, provider, task, profile } = order;
    let workspace =
        workspace.filter(|path| path.is_absolute()).ok_or(StartError::Lacks("the whole path of a workspace"))?;
    let task = task.filter(|task| !task.trim().is_empty()).ok_or(StartError::Lacks("a task"))?;
    let config = Config::read(config)?;
    if let Some(kind) = provider {
        config.must_be(&kind)?;
    }
    let agent: AgentName = BUILT_IN.parse().map_err(|_| StartError::BrokeOff)?;
    let mut options = config.options(agent, workspace, task, profile.as_deref()).await?;
    options.journals = Some(journals.to_owned());
    Ok(options)
}

/// The journals of runs that are not over and whose question is still open.
fn waiting(journals: &Path, gate: &Gate) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(journals) else { return Vec::new() };
    let mut paths: Vec<PathBuf> =
        entries.filter_map(|entry| entry.ok().map(|entry| entry.path())).filter(|path| path.is_file()).collect();
    paths.sort();
    paths.retain(|path| match Journal::recall(path) {
        Ok((_, recalled)) => {
            let over = recalled.ending.is_some_and(|ending| ending != Ending::Suspended);
            let asked = recalled.open.asked.values();
            !over && gate.look(|state| asked.into_iter().any(|approval| state.approvals.contains_key(approval)))
        }
        Err(JournalError::InUse) => false,
        Err(error) => {
            tracing::warn!(%error, journal = %path.display(), "a run's journal cannot be read");
            false
        }
    });
    paths
}
