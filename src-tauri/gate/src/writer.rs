//! The one writer: takes all waiting commands, decides each, writes what follows in one commit, and only then tells.
//!
//! It owns the state that decisions are made on. Everybody else sees the published one, which holds nothing that is
//! not on disk. It also owns the waiters, so that an answer can never be published before its waiter is there.

use std::{
    collections::HashMap,
    sync::{Arc, PoisonError, RwLock, mpsc},
};

use placet_domain::{
    ApprovalId, At, Command, Entry, Fact, Judged, PathText, Refusal, RefusalCode, State, decide,
    decide::{Decided, Outcome, spoken},
};
use placet_store::{Body, Store};
use tokio::sync::{broadcast, oneshot, watch};

use crate::clock::Clock;

/// At most this many commands share one commit.
const BATCH: usize = 1_024;

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

/// Starts the writer's thread. It ends, and gives the store back, when told to stop.
pub(crate) fn start(
    store: Store,
    state: State,
    next_seq: u64,
    clock: Arc<Clock>,
) -> std::io::Result<(Writer, std::thread::JoinHandle<Store>)> {
    let (send, receive) = mpsc::channel();
    let (facts, _) = broadcast::channel(4_096);
    let (due, next_due) = watch::channel(state.next_due());
    let published = Arc::new(RwLock::new(state.clone()));
    let writer =
        Writer { send, state: Arc::clone(&published), facts: facts.clone(), next_due, clock: Arc::clone(&clock) };
    let mut desk = Bench { store, working: state, published, waiters: HashMap::new(), next_seq, clock, facts, due };
    let thread = std::thread::Builder::new().name("writer".to_owned()).spawn(move || {
        desk.work(&receive);
        desk.store
    })?;
    Ok((writer, thread))
}

struct Bench {
    store: Store,
    working: State,
    published: Arc<RwLock<State>>,
    waiters: HashMap<ApprovalId, Waiting>,
    next_seq: u64,
    clock: Arc<Clock>,
    facts: broadcast::Sender<Arc<Entry>>,
    due: watch::Sender<Option<At>>,
}

/// Commands decided together, to be written in one commit.
#[derive(Default)]
struct Batch {
    entries: Vec<(Arc<Entry>, Option<Judged>)>,
    bodies: Vec<Body>,
    replies: Vec<Reply>,
    policy: Option<Arc<placet_domain::Policy>>,
}

struct Reply {
    to: oneshot::Sender<Result<Outcome, Refusal>>,
    with: Result<Outcome, Refusal>,
    waiter: Option<Waiting>,
}

impl Bench {
    fn work(&mut self, receive: &mpsc::Receiver<Message>) {
        loop {
            let Ok(first) = receive.recv() else { return };
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
        }
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

    fn decide(&mut self, job: Job, batch: &mut Batch) {
        let now = self.clock.now();
        // What is overdue ends before anything new is decided, however late the timer is.
        if self.working.next_due().is_some_and(|due| due <= now)
            && let Ok(overdue) = decide(&self.working, &Command::Tick, now)
        {
            self.apply(overdue.facts, None, now, batch);
        }
        self.working.roots = job.roots;
        let decided = decide(&self.working, &job.command, now);
        self.working.roots = Roots::new();
        let with = match decided {
            Ok(Decided { facts, outcome }) => {
                if !facts.is_empty() {
                    batch.bodies.extend(job.bodies);
                }
                let judged = judged_of(&job.command);
                self.apply(facts, judged, now, batch);
                if let Command::LoadPolicy(policy) = &job.command {
                    self.working.policy = Arc::clone(policy);
                    batch.policy = Some(Arc::clone(policy));
                }
                if let Outcome::Waits(id) | Outcome::Ready(id) = &outcome {
                    self.working.attended.insert(*id);
                }
                Ok(outcome)
            }
            Err(refusal) => Err(refusal),
        };
        batch.replies.push(Reply { to: job.reply, with, waiter: job.waiter });
    }

    fn apply(&mut self, facts: Vec<Fact>, judged: Option<&Judged>, now: At, batch: &mut Batch) {
        for fact in facts {
            let entry = Entry { seq: self.next_seq, at_ms: now, fact };
            self.next_seq += 1;
            let about_a_call = matches!(&entry.fact, Fact::ApprovalAsked { .. } | Fact::ApprovalRefreshed { .. });
            let judged = judged.filter(|_| about_a_call).cloned();
            self.working.apply(&entry, judged.as_ref());
            batch.entries.push((Arc::new(entry), judged));
        }
    }

    fn commit(&mut self, batch: Batch) {
        let entries: Vec<Entry> = batch.entries.iter().map(|(entry, _)| Entry::clone(entry)).collect();
        if !entries.is_empty()
            && let Err(error) = self.store.append(&entries, &batch.bodies)
        {
            tracing::error!(%error, facts = entries.len(), "the history could not be written; nothing was allowed");
            self.take_back(&entries, batch.replies);
            return;
        }
        self.published_mut(|state| {
            for (entry, judged) in &batch.entries {
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

    /// Nothing of the batch happened: the working state is again what is on disk, and everybody hears a no.
    fn take_back(&mut self, entries: &[Entry], replies: Vec<Reply>) {
        self.working = self.published.read().unwrap_or_else(PoisonError::into_inner).clone();
        self.next_seq = entries.first().map_or(self.next_seq, |entry| entry.seq);
        for reply in replies {
            let refusal = RefusalCode::NotWritten
                .because("Placet could not write this to its history, so it is denied. Is the disk full?");
            let _ = reply.to.send(Err(refusal));
        }
    }

    fn tell(&mut self, entries: &[(Arc<Entry>, Option<Judged>)], replies: Vec<Reply>) {
        let mut told = Vec::with_capacity(replies.len());
        for mut reply in replies {
            if let (Ok(Outcome::Waits(id) | Outcome::Ready(id)), Some(waiter)) = (&reply.with, reply.waiter.take()) {
                let id = *id;
                self.published_mut(|state| {
                    state.attended.insert(id);
                });
                self.waiters.insert(id, waiter);
                // An approval may have been settled later in the same batch, or may be ready already.
                self.wake(id);
            }
            told.push(reply);
        }
        for (entry, _) in entries {
            if let Some(id) = entry.fact.approval() {
                self.wake(id);
            }
            let _ = self.facts.send(Arc::clone(entry));
        }
        for reply in told {
            let _ = reply.to.send(reply.with);
        }
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
