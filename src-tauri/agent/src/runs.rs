//! The runs that the gate's host has under way: started by the person, stopped by them, taken up again after a quit.

use std::{
    collections::{BTreeSet, HashMap, VecDeque},
    fmt,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use placet_domain::{Fact, SessionId};
use tokio::sync::broadcast::error::RecvError;

use crate::{
    Bus, Followed, Later, Order, RunError, StartError, Stop, Summary, Watched,
    corridor::Gate,
    demo,
    journal::{Journal, JournalError},
    order::{journals, options},
};

/// The runs of one gate. Cheap to clone.
#[derive(Clone)]
pub struct Runs {
    gate: Gate,
    config: PathBuf,
    journals: PathBuf,
    known: Arc<Mutex<Known>>,
}

/// The runs that are under way, and what the last ones told.
#[derive(Default)]
struct Known {
    under_way: HashMap<SessionId, (Stop, Bus)>,
    /// Newest last.
    over: VecDeque<(SessionId, Bus)>,
}

/// Of so many runs that are over, what they told can still be read.
const KEPT: usize = 16;

impl Known {
    fn ended(&mut self, session: SessionId) {
        if let Some((_, bus)) = self.under_way.remove(&session) {
            self.over.retain(|(known, _)| *known != session);
            self.over.push_back((session, bus));
            if self.over.len() > KEPT {
                self.over.pop_front();
            }
        }
    }
}

impl fmt::Debug for Runs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Runs").field("under_way", &self.hold().under_way.keys()).finish_non_exhaustive()
    }
}

impl Runs {
    /// `config` is the folder of `agent.toml`, `data` the one in which runs are remembered (`runs/`).
    pub fn new(gate: Gate, config: &Path, data: &Path) -> Self {
        let (config, journals) = (config.join("agent.toml"), journals(data));
        Self { gate, config, journals, known: Arc::default() }
    }

    /// Starts a run; it is under way when this returns, and its session is given back.
    pub async fn start(&self, order: Order) -> Result<SessionId, StartError> {
        let (bus, stop, gate) = (Bus::remembering(), Stop::default(), self.gate.clone());
        if order.provider.as_deref() == Some("demo") {
            let (bus_of_run, stop_of_run) = (bus.clone(), stop.clone());
            let run = Box::pin(async move { Ok(demo::play(gate, bus_of_run, stop_of_run).await?) });
            return self.let_go(run, &bus, stop).await;
        }
        let options = options(&self.config, &self.journals, order).await?;
        let (bus_of_run, stop_of_run) = (bus.clone(), stop.clone());
        let run = Box::pin(async move { Ok(crate::run(gate, options, bus_of_run, stop_of_run).await?) });
        self.let_go(run, &bus, stop).await
    }

    /// Stops a run. False where there is none of this session.
    pub fn stop(&self, session: SessionId) -> bool {
        self.hold().under_way.get(&session).inspect(|(stop, _)| stop.now()).is_some()
    }

    /// What a run told so far, and a watcher of what comes next. None where there is no run of this session, or it is
    /// long over.
    pub fn follow(&self, session: SessionId) -> Option<Followed> {
        let known = self.hold();
        let over = || known.over.iter().find(|(known, _)| *known == session).map(|(_, bus)| bus);
        known.under_way.get(&session).map(|(_, bus)| bus).or_else(over).map(Bus::follow)
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
        let (recalled, _) = Journal::read(journal).map_err(RunError::from)?;
        let workspace = recalled.began.workspace;
        // The task stands in the journal.
        let order = Order { workspace: Some(workspace.into()), task: Some("Go on.".to_owned()), ..Order::default() };
        let options = options(&self.config, &self.journals, order).await?;
        let (bus, stop, gate, journal) = (Bus::remembering(), Stop::default(), self.gate.clone(), journal.to_owned());
        let (bus_of_run, stop_of_run) = (bus.clone(), stop.clone());
        let run =
            Box::pin(async move { Ok(crate::resume(gate, options, None, &journal, bus_of_run, stop_of_run).await?) });
        self.let_go(run, &bus, stop).await
    }

    /// Lets a run go its way, from when it has a session until it is over.
    async fn let_go(
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
                heard = watcher.recv() => match heard.as_deref().map(|told| &told.watched) {
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
        self.hold().under_way.insert(session, (stop.clone(), bus.clone()));
        let known = Arc::clone(&self.known);
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
            known.lock().unwrap_or_else(PoisonError::into_inner).ended(session);
        });
        Ok(session)
    }

    fn hold(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn told(session: SessionId, ended: Result<Result<Summary, StartError>, tokio::task::JoinError>) {
    match ended {
        Ok(Ok(summary)) => tracing::info!(%session, ending = ?summary.ending, "a run is over"),
        Ok(Err(error)) => tracing::error!(%session, %error, "a run broke off"),
        Err(error) => tracing::error!(%session, %error, "a run broke off"),
    }
}

/// The journals of runs that broke off and whose question is still open, each once. Where a sub-agent's question is, the
/// run that it is part of is taken up, and lets it go on.
fn waiting(journals: &Path, gate: &Gate) -> BTreeSet<PathBuf> {
    let Ok(entries) = std::fs::read_dir(journals) else { return BTreeSet::new() };
    let mut broken_off = HashMap::new();
    for path in entries.filter_map(|entry| entry.ok().map(|entry| entry.path())).filter(|path| path.is_file()) {
        match Journal::read(&path) {
            Ok((recalled, _)) if recalled.broke_off() => {
                broken_off.insert(recalled.began.run.clone(), (path, recalled));
            }
            Ok(_) => {}
            Err(error) => tracing::warn!(%error, journal = %path.display(), "a run's journal cannot be read"),
        }
    }
    let is_open = |approval| gate.look(|state| state.approvals.contains_key(approval));
    let asking = broken_off.values().filter(|(_, recalled)| recalled.open.asked.values().any(is_open));
    let roots = asking.map(|(path, recalled)| {
        let (mut path, mut recalled) = (path, recalled);
        // However a journal was meddled with, this ends.
        for _ in 0..broken_off.len() {
            let Some(beneath) = &recalled.began.beneath else { break };
            let Some((above, it)) = broken_off.get(&beneath.run) else { break };
            (path, recalled) = (above, it);
        }
        path.clone()
    });
    roots.filter(|path| !matches!(Journal::recall(path), Err(JournalError::InUse))).collect()
}
