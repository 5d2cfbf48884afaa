//! A run of the built-in agent: the driver that does what the turn machine says.

use std::{
    collections::{BTreeMap, VecDeque},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use placet_domain::{AgentName, Refusal, SessionId};
use tokio::time::Instant;

use crate::{
    bus::{Bus, Watched},
    calls::{Caller, Counts, Halt, Results},
    context::Context,
    corridor::Corridor,
    hooks::{Audit, Chain, Clamp, Clamps, Hook, HookError, Mask, Moment},
    journal::{Beginning, Beneath, Journal, JournalError, Line, OpenCalls, Recalled},
    machine::{Budget, Effect, Ending, Event, Machine, Point},
    message::{Message, Reply, Usage},
    provider::{Backoff, Provider, ProviderError, Request},
    stop::Stop,
    sub_agent::SubAgent,
    summary::Summary,
    tools::{ExtraTool, Toolbox, Workspace},
};

/// What the system says to the model when the operator says nothing else.
const SYSTEM: &str = "You are a coding agent. You work in one folder, with the tools you are given and no others. \
    Every call is checked first. A result that begins with BLOCKED: was not carried out; it says why and what to do \
    instead. Never work around a block.";

/// How a run is to be.
#[derive(Clone)]
pub struct Options {
    /// The agent's name at the gate; `builtin` for our own.
    pub agent: AgentName,
    /// Where it works.
    pub workspace: PathBuf,
    /// What it is to do.
    pub task: String,
    /// Instead of the built-in words of the system.
    pub system: Option<String>,
    /// Who answers.
    pub provider: Arc<dyn Provider>,
    /// How often it is asked again.
    pub backoff: Backoff,
    /// How far it may go.
    pub budget: Budget,
    /// The person's hooks, beside the built-in ones.
    pub hooks: Vec<Arc<dyn Hook>>,
    /// Bounds of arguments.
    pub clamps: Vec<Clamp>,
    /// The tools of the agent's profile; all where there is none.
    pub tools: Option<Vec<String>>,
    /// Tools beside the built-in ones: those of MCP servers.
    pub extra_tools: Vec<Arc<dyn ExtraTool>>,
    /// What the operator vouches for, for the hooks; the policy has its own.
    pub attributes: BTreeMap<String, String>,
    /// The session that starts this one.
    pub parent: Option<SessionId>,
    /// The call that starts this one, in whose run.
    pub beneath: Option<Beneath>,
    /// The folder for journals; without one the run cannot be taken up again.
    pub journals: Option<PathBuf>,
    /// Where `audit_log.jsonl` is written live, if wanted.
    pub audit_log: Option<PathBuf>,
    /// Where `session_summaries.jsonl` is written live, if wanted.
    pub session_summaries: Option<PathBuf>,
    /// How deep sub-agents may go; 0 for none.
    pub sub_agents: u32,
}

impl Options {
    /// A plain run.
    pub fn new(agent: AgentName, workspace: PathBuf, task: String, provider: Arc<dyn Provider>) -> Self {
        Self {
            agent,
            workspace,
            task,
            system: None,
            provider,
            backoff: Backoff::default(),
            budget: Budget::default(),
            hooks: Vec::new(),
            clamps: Vec::new(),
            tools: None,
            extra_tools: Vec::new(),
            attributes: BTreeMap::new(),
            parent: None,
            beneath: None,
            journals: None,
            audit_log: None,
            session_summaries: None,
            sub_agents: 0,
        }
    }
}

/// Why a run could not begin or be taken up.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The workspace cannot be opened.
    #[error("the workspace {path} cannot be opened: {source}")]
    Workspace {
        /// Which.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// The gate took no session.
    #[error("the gate took no session: {0}")]
    Refused(#[from] Refusal),
    /// The journal cannot be used.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// No random bytes.
    #[error("the run could not be given an id: {0}")]
    NoId(std::io::Error),
    /// It is over already.
    #[error("the run {0} is over already")]
    Over(String),
    /// It worked somewhere else.
    #[error("the run worked in {0}; start it again from there")]
    OtherWorkspace(String),
}

/// Runs until the end. What happens can be watched on `bus`; `stop` ends it at any time.
pub async fn run(gate: impl Into<Corridor>, options: Options, bus: Bus, stop: Stop) -> Result<Summary, RunError> {
    let id = crate::tools::workspace::random_hex().map_err(RunError::NoId)?;
    let workspace = open(&options.workspace)?;
    let journal = match &options.journals {
        Some(folder) => {
            std::fs::create_dir_all(folder).map_err(JournalError::from)?;
            let began = Beginning {
                run: id.clone(),
                workspace: workspace.path().to_string_lossy().into_owned(),
                tools: options.tools.clone(),
                budget: Some(options.budget),
                beneath: options.beneath.clone(),
            };
            Some(Journal::create(&folder.join(format!("{id}.jsonl")), began)?)
        }
        None => None,
    };
    let machine = Machine::new(options.budget, options.task.clone());
    let start = Start { id, workspace, journal, machine, open: OpenCalls::default() };
    begin(gate.into(), options, bus, stop, start).await
}

/// Takes up a run that did not come to its own end: the conversation as it was, its approvals still waiting. It has the
/// tools that it began with and no more, and its bounds unless `options` says so with a `budget` of its own.
pub async fn resume(
    gate: impl Into<Corridor>,
    mut options: Options,
    budget: Option<Budget>,
    journal: &Path,
    bus: Bus,
    stop: Stop,
) -> Result<Summary, RunError> {
    let (journal, recalled) = Journal::recall(journal)?;
    let is_over = recalled.is_over();
    let Recalled { began, messages, turn, usage, ending: _, open: calls } = recalled;
    if is_over {
        return Err(RunError::Over(began.run));
    }
    let workspace = open(&options.workspace)?;
    if workspace.path().to_string_lossy() != began.workspace {
        return Err(RunError::OtherWorkspace(began.workspace));
    }
    options.budget = budget.or(began.budget).unwrap_or(options.budget);
    options.beneath = began.beneath;
    options.tools = match (began.tools, options.tools) {
        (Some(before), Some(now)) => Some(before.into_iter().filter(|name| now.contains(name)).collect()),
        (before, now) => before.or(now),
    };
    let machine = if messages.is_empty() {
        Machine::new(options.budget, options.task.clone())
    } else {
        bus.tell(Watched::TakenUp { turn, messages: messages.iter().map(Message::masked).collect() });
        Machine::resumed(options.budget, messages, turn, usage)
    };
    let start = Start { id: began.run, workspace, journal: Some(journal), machine, open: calls };
    begin(gate.into(), options, bus, stop, start).await
}

fn open(path: &Path) -> Result<Arc<Workspace>, RunError> {
    let opened = Workspace::open(path).map_err(|source| RunError::Workspace { path: path.to_owned(), source })?;
    Ok(Arc::new(opened))
}

/// What a run begins with.
struct Start {
    id: String,
    workspace: Arc<Workspace>,
    journal: Option<Journal>,
    machine: Machine,
    open: OpenCalls,
}

async fn begin(gate: Corridor, options: Options, bus: Bus, stop: Stop, start: Start) -> Result<Summary, RunError> {
    let Start { id, workspace, journal, machine, open } = start;
    let session = gate.session(options.agent.clone(), Some(id.clone()), workspace.path_text(), options.parent).await?;
    bus.tell(Watched::SessionStarted { session });
    let context = Arc::new(Context::new(
        session,
        options.agent.clone(),
        workspace.path_text(),
        options.parent,
        options.attributes.clone(),
    ));
    let mask = Arc::new(Mask::default());
    let audit = Arc::new(Audit::new(options.audit_log.clone(), options.session_summaries.clone()));
    let chain = chain(&gate, &bus, &options, &mask, &audit);
    let toolbox = toolbox(&gate, &options, &bus, &stop, workspace, &id);
    let caller = Caller {
        gate: gate.clone(),
        chain,
        toolbox,
        context: Arc::clone(&context),
        journal,
        bus,
        counts: Mutex::new(Counts::default()),
    };
    let until = Instant::now() + Duration::from_millis(options.budget.max_ms);
    let mut driver = Driver { caller: Arc::new(caller), options, machine, open: Some(open), stop, until };
    driver.remember_task()?;
    let ending = driver.drive().await;
    let summary = driver.summary(id, ending, &mask, &audit);
    driver.close(&summary).await;
    Ok(summary)
}

/// Clamps first, then the person's hooks; masking before the audit, so that the audit holds what the model saw.
fn chain(gate: &Corridor, bus: &Bus, options: &Options, mask: &Arc<Mask>, audit: &Arc<Audit>) -> Chain {
    let mut chain = Chain::new(gate.clone(), bus.clone());
    chain.install(Arc::new(Clamps(options.clamps.clone())));
    for hook in &options.hooks {
        chain.install(Arc::clone(hook));
    }
    chain.finish_with(Arc::clone(mask) as Arc<dyn Hook>);
    chain.finish_with(Arc::clone(audit) as Arc<dyn Hook>);
    chain
}

fn toolbox(
    gate: &Corridor,
    options: &Options,
    bus: &Bus,
    stop: &Stop,
    workspace: Arc<Workspace>,
    run: &str,
) -> Toolbox {
    let mut toolbox = Toolbox::new(workspace);
    for tool in &options.extra_tools {
        toolbox.add(Arc::clone(tool));
    }
    if options.sub_agents > 0 {
        toolbox.add(Arc::new(SubAgent::new(gate.clone(), options.clone(), bus.clone(), stop.clone(), run.to_owned())));
    }
    if let Some(names) = &options.tools {
        toolbox.only(names);
    }
    toolbox
}

struct Driver {
    caller: Arc<Caller>,
    options: Options,
    machine: Machine,
    /// What is known of the calls that were open when the run was taken up.
    open: Option<OpenCalls>,
    stop: Stop,
    until: Instant,
}

impl Driver {
    async fn drive(&mut self) -> Ending {
        let mut events = VecDeque::from([Event::Begun]);
        while let Some(event) = events.pop_front() {
            for effect in self.machine.step(event) {
                match effect {
                    Effect::RunHooks(point) => events.push_back(self.hooks(point).await),
                    Effect::AskProvider => events.push_back(self.ask().await),
                    Effect::RunCalls(calls) => {
                        let open = self.open.take().unwrap_or_default();
                        let results = Results::default();
                        let event = tokio::select! {
                            biased;
                            ending = self.cut() => Err(ending),
                            ran = self.caller.run(calls, open, &results) => ran.map_err(halted),
                        };
                        let results = std::mem::take(&mut *results.lock().unwrap_or_else(PoisonError::into_inner));
                        events.push_back(match event {
                            Ok(()) => Event::Answered(results),
                            Err(ending) => Event::Cut { ending, results },
                        });
                    }
                    Effect::Remember(message) => {
                        let (turn, usage) = (self.machine.turn(), self.machine.usage());
                        if let Err(error) = self.note(&Line::Said { message, turn, usage }) {
                            events.push_front(cut_by(halted(Halt::Journal(error))));
                        }
                    }
                    Effect::End(ending) => return ending,
                }
            }
        }
        // Every path through the machine ends with an end.
        Ending::Done
    }

    async fn hooks(&self, point: Point) -> Event {
        let turn = self.machine.turn();
        if point == Point::BeforeTurn {
            self.caller.bus.tell(Watched::TurnStarted { turn });
        }
        let moment = Moment { point, context: &self.caller.context, turn, messages: self.machine.messages() };
        tokio::select! {
            biased;
            ending = self.cut() => cut_by(ending),
            passed = self.caller.chain.at(moment) => match passed {
                Ok(()) => Event::Passed(point),
                Err((hook, HookError(message))) => cut_by(Ending::HookFailed { hook, message }),
            },
        }
    }

    async fn ask(&self) -> Event {
        let request = Request {
            system: self.options.system.clone().unwrap_or_else(|| self.system()),
            messages: self.machine.messages().to_vec(),
            tools: self.caller.toolbox.specs(),
        };
        tokio::select! {
            biased;
            ending = self.cut() => cut_by(ending),
            reply = self.reply(&request) => match reply {
                Ok(reply) => {
                    self.caller.bus.tell(Watched::Usage { usage: self.machine.usage().plus(reply.usage) });
                    Event::Replied(reply)
                }
                Err(error) => cut_by(Ending::ProviderFailed { message: error.message }),
            },
        }
    }

    fn system(&self) -> String {
        format!("{SYSTEM}\nThe folder is {}.", self.caller.toolbox.workspace().path().display())
    }

    async fn reply(&self, request: &Request) -> Result<Reply, ProviderError> {
        let bus = &self.caller.bus;
        let on_text = |text: &str| bus.tell(Watched::Text { text: text.to_owned() });
        for tries in 1.. {
            match self.options.provider.reply(request, &on_text).await {
                Ok(reply) => return Ok(reply),
                Err(error) => {
                    let Some(wait) = self.options.backoff.after(tries, &error) else { return Err(error) };
                    let after_ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
                    bus.tell(Watched::ProviderRetried { message: error.message, after_ms });
                    tokio::time::sleep(wait).await;
                }
            }
        }
        unreachable!("the tries are bounded")
    }

    /// Ends when the run is to be cut short, and says why.
    async fn cut(&self) -> Ending {
        tokio::select! {
            () = self.stop.wanted() => Ending::Aborted,
            () = tokio::time::sleep_until(self.until) => Ending::TimeOver,
        }
    }

    /// The task is the first thing said. A run that is taken up has it in its journal.
    fn remember_task(&self) -> Result<(), JournalError> {
        match self.machine.messages() {
            [task] if self.machine.turn() == 0 => {
                self.note(&Line::Said { message: task.clone(), turn: 0, usage: Usage::default() })
            }
            _ => Ok(()),
        }
    }

    fn note(&self, line: &Line) -> Result<(), JournalError> {
        self.caller.journal.as_ref().map_or(Ok(()), |journal| journal.write(line))
    }

    fn summary(&self, run: String, ending: Ending, mask: &Mask, audit: &Audit) -> Summary {
        let Counts { mut tally, approvals, waited_ms } = self.caller.counted();
        tally.masked = mask.results();
        tally.audited = audit.seen();
        Summary {
            run,
            ending,
            turns: self.machine.turn(),
            usage: self.machine.usage(),
            tally,
            approvals,
            waited_ms,
            ended_at_ms: self.caller.gate.now(),
            last_words: self.machine.last_words().to_owned(),
        }
    }

    /// The session ends, unless the run is only suspended. Ending it withdraws what it still asks.
    async fn close(&self, summary: &Summary) {
        let caller = &self.caller;
        if summary.ending != Ending::Suspended {
            caller.chain.at_stop(&caller.context, summary).await;
            let line = summary.line(&caller.context).to_string();
            if let Err(refusal) = caller.gate.end_session(caller.context.session(), Some(line)).await {
                tracing::warn!(%refusal, "the session's end was not written");
            }
        }
        if let Err(error) = self.note(&Line::RunEnded { ending: summary.ending.clone() }) {
            tracing::warn!(%error, "the run's end was not written to its journal");
        }
        caller.bus.tell(Watched::Ended { ending: summary.ending.clone(), tally: summary.tally });
    }
}

fn cut_by(ending: Ending) -> Event {
    Event::Cut { ending, results: vec![] }
}

fn halted(halt: Halt) -> Ending {
    match halt {
        Halt::HookFailed { hook, message } => Ending::HookFailed { hook, message },
        Halt::Closing => Ending::Suspended,
        Halt::Journal(error) => Ending::HookFailed { hook: "journal".to_owned(), message: error.to_string() },
    }
}
