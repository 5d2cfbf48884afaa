//! Asking the gate and waiting for its answer: through a restart of the gate, until the deadline, and no longer than
//! somebody is there to hear it.

use std::{path::Path, time::Duration};

use placet_domain::{ApprovalId, PathText, SessionId};
use placet_ipc::{
    Client as Connection, ClientError, ErrorBody, Moment, Places, Waited, Waker,
    message::{
        CallCheck, CallChecked, CallPending, CallReport, CallWithdraw, Done, SessionStart, SessionStarted, SessionStop,
        method,
    },
    result,
};

use crate::{
    hook::{Call, Caller, Report},
    start::{self, Starting, WhenNoGate},
};

/// How long a gate that was never reached is tried: with the rest of the program it stays within two seconds.
const REACH: Duration = Duration::from_millis(1_300);
/// How long a gate that was reached may take for what needs no person.
const PROMPT: Duration = Duration::from_secs(10);
/// Up to this many bytes of input are sent without waiting for the greeting's answer: a socket takes so much by itself,
/// so that a gate which does not read holds nothing up.
const AT_ONCE: usize = 64 * 1024;
/// How long taking a question back may take.
const FAREWELL: Duration = Duration::from_millis(500);
/// The gate is told a deadline a little before ours, so that it can say itself that time ran out.
const HEAD_START: Duration = Duration::from_secs(1);
/// The steps between two attempts.
const FIRST_STEP: Duration = Duration::from_millis(50);
const QUICK_STEP: Duration = Duration::from_millis(250);
const LAST_STEP: Duration = Duration::from_secs(1);
/// How many attempts are quick ones: about five seconds.
const QUICK_ATTEMPTS: u32 = 20;

/// Who asks, as the gate and the agent's reader know it.
#[derive(Clone, Debug)]
pub(crate) struct Asker {
    /// The agent's name in the history.
    pub(crate) agent: String,
    /// What the agent gives us time for: "its hook".
    pub(crate) gives_time_for: &'static str,
    /// The question stays open when our time is over, and the next call of the same kind finds it again: for agents
    /// that cannot wait for a person.
    pub(crate) comes_back: bool,
}

/// What may end or accompany a wait.
pub(crate) trait Watch {
    /// What to wake for.
    fn wakers(&self) -> Vec<Waker<'_>>;

    /// What the waker at this place means.
    fn rung(&self, place: usize) -> Rung;

    /// How often to be told that a person is still being asked.
    fn beat(&self) -> Option<Duration> {
        None
    }

    /// A person is being asked, or still is.
    fn waiting(&self) {}

    /// Waits for it to ring, at most until a moment.
    fn listen(&self, until: Moment) -> Option<Rung> {
        placet_ipc::wait_for(&self.wakers(), until).map(|place| self.rung(place))
    }
}

/// Why waiting has no sense any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rung {
    /// The client's time is over, or it was interrupted: it still reads what we say.
    Signal,
    /// Nobody reads it any more.
    ClientGone,
}

/// What a wait ended with.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// The gate's answer.
    Answered(Box<CallChecked>),
    /// No answer; why, as a sentence for the agent.
    Failed(String),
    /// There is no gate, and the person wants that left to the client's own rules.
    LeftToClient,
    /// The client ended it.
    Rung(Rung),
}

/// A question on its way.
pub(crate) struct Asking<'a> {
    pub(crate) places: &'a Places,
    pub(crate) asker: &'a Asker,
    pub(crate) caller: &'a Caller,
    pub(crate) watch: &'a dyn Watch,
    /// When our answer must be out.
    pub(crate) deadline: Moment,
    pub(crate) memory: Memory,
}

/// What is kept from one connection to the next.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    reached: bool,
    session: Option<SessionId>,
    approval: Option<ApprovalId>,
    connection: Option<Connection>,
}

impl Asking<'_> {
    /// Asks until there is an answer or no sense in waiting any more.
    pub(crate) fn ask(&mut self, call: &Call) -> Outcome {
        let mut first_by = Moment::in_(REACH).min(self.deadline);
        let mut attempt = 0;
        let mut starting = None;
        let mut looked_for_settings = false;
        loop {
            let error = match self.attempt(call) {
                Ok(outcome) => return outcome,
                Err(error) => error,
            };
            self.memory.connection = None;
            if !error.may_pass() {
                return Outcome::Failed(self.unanswered(&error));
            }
            if is_no_gate(&error) && !self.memory.reached && !std::mem::replace(&mut looked_for_settings, true) {
                match start::when_no_gate(self.places) {
                    WhenNoGate::Client => return Outcome::LeftToClient,
                    WhenNoGate::Deny => {}
                    WhenNoGate::Start => match Starting::begin(self.places) {
                        Ok(begun) => {
                            starting = Some(begun);
                            first_by = Moment::in_(start::PATIENCE).min(self.deadline);
                        }
                        Err(error) => return Outcome::Failed(could_not_start(&error)),
                    },
                }
            }
            if let Some(starting) = &mut starting {
                starting.look_after();
            }
            let limit = if self.memory.reached { self.deadline } else { first_by };
            let next = Moment::in_(step(attempt)).min(limit);
            attempt = if self.memory.reached { attempt + 1 } else { 0 };
            if let Some(rung) = self.watch.listen(next) {
                return Outcome::Rung(rung);
            }
            if limit.left().is_zero() {
                return Outcome::Failed(self.unanswered(&error));
            }
        }
    }

    /// Takes the question back, if there is one and a gate to hear it.
    pub(crate) fn withdraw(&mut self) {
        let Some(connection) = &mut self.memory.connection else { return };
        let until = Moment::in_(FAREWELL);
        // The question may have been put a moment ago, and its id be still on the way.
        while self.memory.approval.is_none() {
            match connection.wait(&[], until) {
                Ok(Waited::Notification(told)) if told.method == method::CALL_PENDING => {
                    let pending = serde_json::from_str::<CallPending>(told.params.get()).ok();
                    self.memory.approval = pending.map(|pending| pending.approval);
                }
                Ok(Waited::Notification(_)) => {}
                Ok(Waited::Response(_) | Waited::Woken(_) | Waited::Deadline) | Err(_) => return,
            }
        }
        let Some(approval) = self.memory.approval else { return };
        // A gate that does not hear it finds out by itself that this process has gone.
        let _ = connection.call::<_, Done>(method::CALL_WITHDRAW, &CallWithdraw { approval }, FAREWELL);
    }

    fn attempt(&mut self, call: &Call) -> Result<Outcome, ClientError> {
        let patience = if self.memory.reached { Duration::from_secs(2) } else { REACH };
        let agreed_by = Moment::in_(patience).min(self.deadline);
        let mut connection = knock(self.places, agreed_by)?;
        // Without an id of the client's own a second start would make a second session.
        let known = self.memory.session.filter(|_| self.caller.session.is_none());
        let start = match known {
            Some(_) => None,
            None => Some(connection.queue(method::SESSION_START, &session_start(&self.asker.agent, self.caller)?)?),
        };
        // All of it goes out at once, as long as the socket takes it without anybody's reading.
        if call.input.get().len() > AT_ONCE {
            connection.agree(agreed_by)?;
        }
        let mut check = self.check(known, call);
        let mut id = connection.queue(method::CALL_CHECK, &check)?;
        connection.agree(if call.input.get().len() > AT_ONCE { self.deadline } else { agreed_by })?;
        self.memory.reached = true;
        if let Some(start) = start {
            let started: SessionStarted = connection.answer_to(&start, self.deadline.min(Moment::in_(PROMPT)))?;
            self.memory.session = Some(started.session);
        }
        let connection = self.memory.connection.insert(connection);
        loop {
            let beat = self.watch.beat().filter(|_| self.memory.approval.is_some());
            let until = beat.map_or(self.deadline, |beat| Moment::in_(beat).min(self.deadline));
            match connection.wait(&self.watch.wakers(), until)? {
                Waited::Response(response) if response.id.as_ref() == Some(&id) => {
                    // A gate that is older than this program wants the session by its id.
                    let unnamed = response.error.as_ref().is_some_and(|error| error.word() == "invalid_params");
                    if unnamed && check.session.is_none() {
                        check.session = self.memory.session;
                        id = connection.send(method::CALL_CHECK, &check, self.deadline)?;
                        continue;
                    }
                    return result(response).map(|answer| Outcome::Answered(Box::new(answer)));
                }
                Waited::Notification(told) if told.method == method::CALL_PENDING => {
                    let pending: CallPending = serde_json::from_str(told.params.get())
                        .map_err(|error| ClientError::Malformed(error.to_string()))?;
                    self.memory.approval = Some(pending.approval);
                    self.watch.waiting();
                }
                Waited::Response(_) | Waited::Notification(_) => {}
                Waited::Woken(place) => return Ok(Outcome::Rung(self.watch.rung(place))),
                Waited::Deadline if !self.deadline.left().is_zero() => self.watch.waiting(),
                Waited::Deadline => return Ok(Outcome::Failed(self.nobody_answered())),
            }
        }
    }

    fn check(&self, session: Option<SessionId>, call: &Call) -> CallCheck {
        let left = self.deadline.left();
        let told = milliseconds(left.saturating_sub(HEAD_START).max(left / 2));
        let (deadline_ms, hold_ms) = if self.asker.comes_back { (None, Some(told)) } else { (Some(told), None) };
        CallCheck {
            session,
            call_id: call.id.clone(),
            approval: self.memory.approval,
            tool: call.tool.clone(),
            input: call.input.clone(),
            definition: call.definition,
            cwd: PathText::from(cwd(self.caller).as_str()),
            deadline_ms,
            hold_ms,
            can_edit: call.can_edit,
            can_rewrite: call.can_edit,
            confirms: call.confirms,
            doubt: None,
            parent: call.parent.clone(),
        }
    }

    fn unanswered(&self, error: &ClientError) -> String {
        if let ClientError::Refused(body) = error {
            return refused(body);
        }
        if self.memory.reached && self.deadline.left().is_zero() {
            return self.nobody_answered();
        }
        format!(
            "Placet denied this call because its gate cannot be asked: {error}. The person has to start Placet (the \
             window, or `placet serve`) before you try again."
        )
    }

    fn nobody_answered(&self) -> String {
        format!(
            "Nobody answered in the time that {} gives {}, so Placet denied the call. It is not a person's no: ask \
             the person, then call again.",
            self.asker.agent, self.asker.gives_time_for
        )
    }
}

/// Whether this says that nobody listens, rather than that whoever does is not to be asked.
fn is_no_gate(error: &ClientError) -> bool {
    matches!(error, ClientError::Unreachable { .. } | ClientError::Place(placet_ipc::PlaceError::Io { .. }))
}

fn could_not_start(error: &std::io::Error) -> String {
    format!(
        "Placet denied this call because no gate runs and none could be started: {error}. The person has to start \
         Placet before you try again."
    )
}

/// Tells the gate what became of a call. Nothing depends on it for the client, so nothing is said if it fails.
pub(crate) fn report(places: &Places, agent: &str, caller: &Caller, report: Report) -> Result<(), ClientError> {
    let deadline = Moment::in_(REACH);
    let mut connection = knock(places, deadline)?;
    let started = connection.queue(method::SESSION_START, &session_start(agent, caller)?)?;
    let mut report = CallReport {
        session: None,
        call_id: report.id,
        tool: report.tool,
        input: report.input,
        outcome: report.outcome.to_owned(),
        output: report.output,
        duration_ms: report.duration_ms,
    };
    let too_large = placet_ipc::MAX_LINE_BYTES / 2;
    if report.output.as_ref().is_some_and(|output| output.get().len() > too_large) {
        report.output = None;
    }
    let told = connection.queue(method::CALL_REPORT, &report)?;
    connection.agree(deadline)?;
    connection.answer_to::<SessionStarted>(&started, deadline)?;
    connection.answer_to::<Done>(&told, deadline).map(drop)
}

/// Tells the gate that a session begins.
pub(crate) fn begin(places: &Places, agent: &str, caller: &Caller) -> Result<(), ClientError> {
    begun(places, agent, caller, Moment::in_(REACH)).map(drop)
}

/// Tells the gate that a session ends.
pub(crate) fn end(places: &Places, agent: &str, caller: &Caller, summary: Option<String>) -> Result<(), ClientError> {
    let deadline = Moment::in_(REACH);
    let (mut connection, session) = begun(places, agent, caller, deadline)?;
    connection.call_until::<_, Done>(method::SESSION_STOP, &SessionStop { session, summary }, deadline).map(drop)
}

fn knock(places: &Places, deadline: Moment) -> Result<Connection, ClientError> {
    Connection::knock(places, "placet hook", env!("CARGO_PKG_VERSION"), deadline)
}

/// A connection over which the caller's session was begun.
fn begun(
    places: &Places,
    agent: &str,
    caller: &Caller,
    deadline: Moment,
) -> Result<(Connection, SessionId), ClientError> {
    let mut connection = knock(places, deadline)?;
    let id = connection.queue(method::SESSION_START, &session_start(agent, caller)?)?;
    connection.agree(deadline)?;
    let started: SessionStarted = connection.answer_to(&id, deadline)?;
    Ok((connection, started.session))
}

fn session_start(agent: &str, caller: &Caller) -> Result<SessionStart, ClientError> {
    use std::os::unix::ffi::OsStrExt as _;
    let agent =
        agent.parse().map_err(|e: placet_domain::session::NotAnAgentName| ClientError::Malformed(e.to_string()))?;
    let cwd = cwd(caller);
    let workspace = match std::fs::canonicalize(Path::new(&cwd)) {
        Ok(resolved) => PathText::from_bytes(resolved.as_os_str().as_bytes()),
        Err(_) => PathText::from(cwd.as_str()),
    };
    Ok(SessionStart { agent, client_session: caller.session.clone(), workspace, parent: None })
}

/// The folder the client says it is in; where it does not say, the one that it started us in.
fn cwd(caller: &Caller) -> String {
    caller.cwd.clone().unwrap_or_else(|| {
        std::env::current_dir().map_or_else(|_| "/".to_owned(), |dir| dir.to_string_lossy().into_owned())
    })
}

fn refused(body: &ErrorBody) -> String {
    format!("Placet denied this call: {}", body.sentence())
}

fn step(attempt: u32) -> Duration {
    if attempt >= QUICK_ATTEMPTS { LAST_STEP } else { (FIRST_STEP * (attempt + 1)).min(QUICK_STEP) }
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
