//! The one writer: takes all waiting commands, decides each, writes what follows in one commit, and only then tells.
//!
//! It owns the state that decisions are made on. Everybody else sees the published one, which holds nothing that is
//! not on disk. It also owns the waiters, so that an answer can never be published before its waiter is there.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError, RwLock, mpsc},
    time::Duration,
};

use placet_domain::{
    ApprovalId, At, Command, Entry, Fact, Judged, PathText, Refusal, RefusalCode, State, decide,
    decide::{Decided, Outcome, spoken},
    redacted,
};
use placet_store::{Body, Store, StoreError};
use tokio::sync::{broadcast, oneshot, watch};

use crate::{clock::Clock, upkeep::Upkeep};

/// At most this many commands share one commit.
const BATCH: usize = 1_024;
/// With nothing else to do for this long, the writer makes some of what it wrote findable.
const IDLE: Duration = Duration::from_millis(40);
/// So many alerts are kept for a window that opens later; the history has them all.
const ALERTS: usize = 20;
/// Where there is always something to do, no more facts than this wait to become findable.
const BEHIND: u64 = 4_096;
/// So many at a time: a command that comes meanwhile waits no longer than that takes.
const INDEXED_AT_ONCE: usize = 200;

/// What a waiter hears.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Heard {
    /// A yes, to be handed over.
    Approved,
    /// It ended without a yes; in the words for the agent.
    Ended(String),
}

/// A command with everything that goes with it.
pub(crate) struct Job {
    pub(crate) command: Command,
    pub(crate) bodies: Vec<Body>,
    /// Registered for the approval that the command waits for, before anything is told.
    pub(crate) waiter: Option<Waiting>,
    /// Device and inode of the folders that the decision looks at, as they are now.
    pub(crate) roots: Roots,
    pub(crate) reply: oneshot::Sender<Result<Outcome, Refusal>>,
}

/// Folders with their device and inode; zeros where there is no such folder any more.
pub(crate) type Roots = HashMap<PathText, (u64, u64)>;

/// What goes with a command.
#[derive(Default)]
pub(crate) struct With {
    pub(crate) bodies: Vec<Body>,
    pub(crate) waiter: Option<Waiting>,
    pub(crate) roots: Roots,
}

/// A connection that waits. Its number tells it from a later one for the same approval: the end of the old connection
/// must not send the new one away.
#[derive(Debug)]
pub(crate) struct Waiting {
    pub(crate) number: u64,
    pub(crate) tell: oneshot::Sender<Heard>,
}

/// What the writer takes.
pub(crate) enum Message {
    Decide(Box<Job>),
    /// The connection of this number does not wait for this approval any more. Said back once that is so.
    Detach(ApprovalId, u64, oneshot::Sender<()>),
    /// Write what is waiting and end.
    Stop,
}

/// What the others hold of the writer.
#[derive(Clone)]
pub(crate) struct Writer {
    pub(crate) send: mpsc::Sender<Message>,
    pub(crate) state: Arc<RwLock<State>>,
    pub(crate) facts: broadcast::Sender<Arc<Entry>>,
    /// What was raised since the gate opened, the newest last: a window that opens later is told of it as well.
    pub(crate) alerts: Arc<Mutex<Vec<Arc<Entry>>>>,
    pub(crate) next_due: watch::Receiver<Option<At>>,
    pub(crate) clock: Arc<Clock>,
}

impl Writer {
    /// Hands a command over and waits until what follows from it is on disk.
    pub(crate) async fn decide(&self, command: Command) -> Result<Outcome, Refusal> {
        self.decide_with(command, With::default()).await
    }

    pub(crate) async fn decide_with(&self, command: Command, with: With) -> Result<Outcome, Refusal> {
        let (reply, heard) = oneshot::channel();
        let With { bodies, waiter, roots } = with;
        let job = Box::new(Job { command, bodies, waiter, roots, reply });
        self.send.send(Message::Decide(job)).map_err(|_| closing())?;
        let outcome = heard.await.map_err(|_| closing())??;
        if let Outcome::Refused(refusal) = outcome { Err(refusal) } else { Ok(outcome) }
    }

    /// What is given back ends once the approval is seen to be unattended.
    pub(crate) fn detach(&self, approval: ApprovalId, number: u64) -> oneshot::Receiver<()> {
        let (done, detached) = oneshot::channel();
        // A writer that is gone has no waiters either.
        let _ = self.send.send(Message::Detach(approval, number, done));
        detached
    }

    /// Looks at the published state.
    pub(crate) fn look<T>(&self, look: impl FnOnce(&State) -> T) -> T {
        look(&self.state.read().unwrap_or_else(PoisonError::into_inner))
    }
}

fn closing() -> Refusal {
    RefusalCode::Closing.because("Placet is closing; nothing was allowed. It can be asked again once it is back.")
}

/// A store and the state that its projections add up to.
pub(crate) struct Loaded {
    pub(crate) store: Store,
    pub(crate) state: State,
    pub(crate) next_seq: u64,
}

/// Opens the store anew, after a write whose outcome is not known.
pub(crate) type Reopen = Box<dyn Fn() -> Result<Loaded, StoreError> + Send>;

/// Starts the writer's thread. It ends, and closes the store, when told to stop.
pub(crate) fn start(
    loaded: Loaded,
    reopen: Reopen,
    clock: Arc<Clock>,
    upkeep: Upkeep,
) -> std::io::Result<(Writer, std::thread::JoinHandle<()>)> {
    let Loaded { store, state, next_seq } = loaded;
    let (send, receive) = mpsc::channel();
    let (facts, _) = broadcast::channel(4_096);
    let (due, next_due) = watch::channel(state.next_due());
    let published = Arc::new(RwLock::new(state.clone()));
    let alerts = Arc::new(Mutex::default());
    let writer = Writer {
        send,
        state: Arc::clone(&published),
        facts: facts.clone(),
        alerts: Arc::clone(&alerts),
        next_due,
        clock: Arc::clone(&clock),
    };
    let mut bench = Bench {
        store,
        reopen,
        working: state,
        published,
        waiters: HashMap::new(),
        next_seq,
        clock,
        facts,
        alerts,
        due,
        to_index: true,
        upkeep,
    };
    let thread = std::thread::Builder::new().name("writer".to_owned()).spawn(move || bench.work(&receive))?;
    Ok((writer, thread))
}

struct Bench {
    store: Store,
    reopen: Reopen,
    working: State,
    published: Arc<RwLock<State>>,
    waiters: HashMap<ApprovalId, Waiting>,
    next_seq: u64,
    clock: Arc<Clock>,
    facts: broadcast::Sender<Arc<Entry>>,
    alerts: Arc<Mutex<Vec<Arc<Entry>>>>,
    due: watch::Sender<Option<At>>,
    /// Some facts are not findable yet, or not indexed for text search.
    to_index: bool,
    upkeep: Upkeep,
}

/// Whether any of the facts needs the body. A call that was settled without asking names its input alone: nobody saw
/// its card, so the card is not kept.
fn is_named(body: &Body, facts: &[Fact]) -> bool {
    facts.iter().any(|fact| {
        let (Fact::CallAllowed { call, .. } | Fact::CallDenied { call, .. }) = fact else { return true };
        let masked = call.masked.as_deref().cloned().unwrap_or_default();
        let original = call.rewritten.as_ref().map(|from| from.original_sha256);
        // Nobody will be asked, so what holds secrets is kept with these masked alone.
        [masked.input.or(Some(call.raw_sha256)), masked.original.or(original)].contains(&Some(body.sha256))
    })
}

/// Commands decided together, to be written in one commit.
#[derive(Default)]
struct Batch {
    entries: Vec<Written>,
    bodies: Vec<Body>,
    replies: Vec<Reply>,
    policy: Option<Arc<placet_domain::Policy>>,
}

/// A fact as decisions are made on it, and as it is kept: with its secrets masked.
struct Written {
    entry: Arc<Entry>,
    kept: Arc<Entry>,
    judged: Option<Judged>,
}

struct Reply {
    job: Job,
    with: Result<Outcome, Refusal>,
}

impl Bench {
    fn work(&mut self, receive: &mpsc::Receiver<Message>) {
        loop {
            let Some(first) = self.next(receive) else { return };
            let mut batch = Batch::default();
            let mut stop = self.take(first, &mut batch);
            while !stop && batch.replies.len() < BATCH {
                let Ok(message) = receive.try_recv() else { break };
                stop = self.take(message, &mut batch);
            }
            self.commit(batch);
            if stop {
                return;
            }
            self.keep_up();
        }
    }

    /// Whoever was answered has been told; the next ones wait for no more than a few facts to become findable.
    fn keep_up(&mut self) {
        if self.store.behind() > BEHIND
            && let Err(error) = self.store.follow_some(INDEXED_AT_ONCE as u64)
        {
            tracing::warn!(%error, "the history will make its newest facts findable when it is read");
        }
    }

    /// The next message; none when nobody is left to send one. Time without one is used to make findable what was
    /// written, and then to copy the log back, so that no commit has to.
    fn next(&mut self, receive: &mpsc::Receiver<Message>) -> Option<Message> {
        while self.to_index {
            match receive.recv_timeout(IDLE) {
                Ok(message) => return Some(message),
                Err(mpsc::RecvTimeoutError::Disconnected) => return None,
                Err(mpsc::RecvTimeoutError::Timeout) => match self.store.index_some(INDEXED_AT_ONCE) {
                    Ok(true) => {}
                    Ok(false) if self.upkeep.step(&mut self.store, self.clock.now()) => {}
                    Ok(false) => {
                        self.to_index = false;
                        if let Err(error) = self.store.checkpoint() {
                            tracing::warn!(%error, "the history's log is copied back by a later commit");
                        }
                    }
                    Err(error) => {
                        tracing::warn!(%error, "text search will look at more rows than it should");
                        self.to_index = false;
                    }
                },
            }
        }
        receive.recv().ok()
    }

    /// True when it is time to stop.
    fn take(&mut self, message: Message, batch: &mut Batch) -> bool {
        match message {
            Message::Decide(job) => {
                self.decide(*job, batch);
                false
            }
            Message::Detach(approval, number, done) => {
                // Who was woken already is not among the waiters, and attends nothing any more.
                if self.waiters.get(&approval).is_none_or(|waiting| waiting.number == number) {
                    self.waiters.remove(&approval);
                    self.working.attended.remove(&approval);
                    self.published_mut(|state| {
                        state.attended.remove(&approval);
                    });
                }
                let _ = done.send(());
                false
            }
            Message::Stop => true,
        }
    }

    fn decide(&mut self, mut job: Job, batch: &mut Batch) {
        let now = self.clock.now();
        // What is overdue ends before anything new is decided, however late the timer is.
        if self.working.next_due().is_some_and(|due| due <= now)
            && let Ok(overdue) = decide(&self.working, &Command::Tick, now)
        {
            self.apply(overdue.facts, None, now, batch);
        }
        self.working.roots = std::mem::take(&mut job.roots);
        let decided = decide(&self.working, &job.command, now);
        job.roots = std::mem::take(&mut self.working.roots);
        let with = decided.map(|Decided { facts, outcome }| {
            batch.bodies.extend(job.bodies.iter().filter(|body| is_named(body, &facts)).cloned());
            self.apply(facts, judged_of(&job.command), now, batch);
            if let Command::LoadPolicy(policy) = &job.command {
                self.working.policy = Arc::clone(policy);
                batch.policy = Some(Arc::clone(policy));
            }
            if let Outcome::Waits(id) | Outcome::Ready(id) = &outcome {
                self.working.attended.insert(*id);
            }
            outcome
        });
        batch.replies.push(Reply { job, with });
    }

    fn apply(&mut self, facts: Vec<Fact>, judged: Option<&Judged>, now: At, batch: &mut Batch) {
        for fact in facts {
            let entry = Entry { seq: self.next_seq, at_ms: now, fact };
            self.next_seq += 1;
            let about_a_call = matches!(&entry.fact, Fact::ApprovalAsked { .. } | Fact::ApprovalRefreshed { .. });
            let judged = judged.filter(|_| about_a_call).cloned();
            self.working.apply(&entry, judged.as_ref());
            let kept = redacted::fact(&entry.fact).map(|fact| Arc::new(Entry { fact, ..entry }));
            let entry = Arc::new(entry);
            batch.entries.push(Written { kept: kept.unwrap_or_else(|| Arc::clone(&entry)), entry, judged });
        }
    }

    fn commit(&mut self, batch: Batch) {
        let entries: Vec<Entry> = batch.entries.iter().map(|written| Entry::clone(&written.kept)).collect();
        if !entries.is_empty() {
            if let Err(error) = self.store.append(&entries, &batch.bodies) {
                tracing::error!(%error, facts = entries.len(), "the history could not be written; nothing was allowed");
                self.take_back(&entries, &error);
                self.one_by_one(batch.replies);
                return;
            }
            self.to_index = true;
        }
        self.published_mut(|state| {
            for Written { entry, judged, .. } in &batch.entries {
                state.apply(entry, judged.as_ref());
            }
            if let Some(policy) = &batch.policy {
                state.policy = Arc::clone(policy);
            }
        });
        self.tell(&batch.entries, batch.replies);
        let next = self.working.next_due();
        self.due.send_if_modified(|due| std::mem::replace(due, next) != next);
    }

    /// Nothing of the batch happened: the working state is again what is on disk.
    fn take_back(&mut self, entries: &[Entry], error: &StoreError) {
        self.working = self.published.read().unwrap_or_else(PoisonError::into_inner).clone();
        self.next_seq = entries.first().map_or(self.next_seq, |entry| entry.seq);
        if matches!(error, StoreError::Conflict { .. } | StoreError::DiskFull) {
            return;
        }
        // Whether the write came to the disk may not be known: what is there decides.
        match (self.reopen)() {
            Ok(Loaded { store, mut state, next_seq }) => {
                state.policy = Arc::clone(&self.working.policy);
                state.attended = std::mem::take(&mut self.working.attended);
                self.store = store;
                self.next_seq = next_seq;
                self.working = state.clone();
                self.published_mut(|published| *published = state);
            }
            Err(error) => {
                tracing::error!(%error, "the history could not be opened again; everything is denied until it can");
            }
        }
    }

    /// One command that cannot be written must not take others with it: each is decided again by itself, and the one
    /// that fails alone hears a no.
    fn one_by_one(&mut self, mut replies: Vec<Reply>) {
        if replies.len() == 1
            && let Some(reply) = replies.pop()
        {
            let refusal = RefusalCode::NotWritten
                .because("Placet could not write this to its history, so it is denied. Is the disk full?");
            let _ = reply.job.reply.send(Err(refusal));
        }
        for reply in replies {
            let mut batch = Batch::default();
            self.decide(reply.job, &mut batch);
            self.commit(batch);
        }
    }

    fn tell(&mut self, entries: &[Written], replies: Vec<Reply>) {
        let mut told = Vec::with_capacity(replies.len());
        for Reply { mut job, with } in replies {
            if let (Ok(Outcome::Waits(id) | Outcome::Ready(id)), Some(waiter)) = (&with, job.waiter.take()) {
                let id = *id;
                self.published_mut(|state| {
                    state.attended.insert(id);
                });
                self.waiters.insert(id, waiter);
                // An approval may have been settled later in the same batch, or may be ready already.
                self.wake(id);
            }
            told.push((job.reply, with));
        }
        for Written { kept: entry, .. } in entries {
            if let Some(id) = entry.fact.approval() {
                self.wake(id);
            }
            if let Fact::AlertRaised { .. } = &entry.fact {
                self.keep_alert(entry);
            }
            let _ = self.facts.send(Arc::clone(entry));
        }
        for (to, with) in told {
            let _ = to.send(with);
        }
    }

    fn keep_alert(&self, entry: &Arc<Entry>) {
        let mut alerts = self.alerts.lock().unwrap_or_else(PoisonError::into_inner);
        if alerts.len() == ALERTS {
            alerts.remove(0);
        }
        alerts.push(Arc::clone(entry));
    }

    /// Tells the waiter of an approval that is not pending any more.
    fn wake(&mut self, id: ApprovalId) {
        let heard = if let Some(approval) = self.working.approvals.get(&id) {
            if approval.state == placet_domain::ApprovalState::Pending {
                return;
            }
            Heard::Approved
        } else {
            match self.working.settled.get(&id).and_then(|settled| spoken(&settled.state)) {
                Some(reason) => Heard::Ended(reason),
                None => return,
            }
        };
        if let Some(waiter) = self.waiters.remove(&id) {
            // Whoever is gone is detached by its connection's end.
            let _ = waiter.tell.send(heard);
        }
    }

    fn published_mut(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.published.write().unwrap_or_else(PoisonError::into_inner));
    }
}

fn judged_of(command: &Command) -> Option<&Judged> {
    if let Command::Check(check) = command {
        Some(&check.judged)
    } else if let Command::Refresh { judged, .. } = command {
        Some(judged)
    } else if let Command::Approve { edited: Some((judged, _)), .. } = command {
        Some(judged)
    } else {
        None
    }
}
