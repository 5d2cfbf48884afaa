//! The shapes that the person's side hears. Fields may be added, never renamed.

use placet_domain::{
    Action, AgentName, Approval, ApprovalId, At, CallFacts, Card, Digest, Flag, GrantId, PathText, Session, SessionId,
    Span, State, Subject, call::OnForm, card::ShownSubject,
};
use serde::Serialize;
use serde_json::Value;

/// A page of a list.
#[derive(Debug, Serialize)]
pub struct List<T> {
    /// The items.
    pub items: Vec<T>,
    /// To hand in as `after` for the next page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<Value>,
}

/// A row of the queue.
#[derive(Debug, Serialize)]
pub struct ApprovalItem {
    /// Its id.
    pub id: ApprovalId,
    /// Its state.
    pub state: &'static str,
    /// For what reason it is in that state.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<&'static str>,
    /// On whose word.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<&'static str>,
    /// What would run.
    pub digest: Digest,
    /// What is asked for.
    pub action_digest: Digest,
    /// The tool as the client sent it.
    pub tool: String,
    /// The strongest action.
    pub action: Action,
    /// Which agent.
    pub agent: AgentName,
    /// Which session.
    pub session: SessionId,
    /// Where it works.
    pub workspace: PathText,
    /// What it acts on.
    pub subjects: Vec<Subject>,
    /// What is odd.
    pub flags: Vec<Flag>,
    /// When it was asked.
    pub created_at_ms: At,
    /// When it expires.
    pub expires_at_ms: At,
    /// Whether somebody is connected for the answer right now.
    pub waiting: bool,
    /// The call's number within its session.
    pub number: u32,
    /// What would happen, after the verb.
    pub headline: String,
    /// The quiet leading part of the subject.
    pub lead: Vec<Span>,
    /// The part to look at.
    pub main: Vec<Span>,
    /// What follows.
    pub rest: Vec<Span>,
    /// Answered only after holding.
    pub grave: bool,
}

/// Everything the inbox shows.
#[derive(Debug, Serialize)]
pub struct ApprovalDetail {
    /// The row.
    #[serde(flatten)]
    pub item: ApprovalItem,
    /// What the person is shown.
    pub card: Card,
    /// The input, for editing.
    pub input: Value,
    /// Where the client says it is.
    pub cwd: PathText,
    /// The client's id of the call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call_id: Option<String>,
    /// The sub-agent that makes it, as the client names it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// The rule that says to ask.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// Why it is asked.
    pub rule_reason: String,
    /// The oddities, in words.
    pub flags_explained: Vec<FlagExplained>,
    /// Which process waits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub process: Option<Process>,
    /// When its session started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_started_at_ms: Option<At>,
    /// The client's own id of the session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_session: Option<String>,
    /// The last few calls of the session, newest first.
    pub recent: Vec<Recent>,
    /// What was decided on the like in 7 days.
    pub alike: Alike,
    /// The forms a grant may take.
    pub grantable: Vec<OnForm>,
    /// Whether the client takes a changed input.
    pub can_edit: bool,
    /// Words that came with the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// When it was settled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub settled_at_ms: Option<At>,
}

/// An oddity in words.
#[derive(Debug, Serialize)]
pub struct FlagExplained {
    /// The word on the wire.
    pub flag: Flag,
    /// Two or three words.
    pub label: &'static str,
    /// A line.
    pub sentence: &'static str,
}

/// A waiting process.
#[derive(Debug, Serialize)]
pub struct Process {
    /// Its id.
    pub pid: i32,
    /// Its name, where it can be seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<Vec<Span>>,
}

/// An earlier call of a session.
#[derive(Debug, Serialize)]
pub struct Recent {
    /// When.
    pub at_ms: At,
    /// What it did.
    pub action: Action,
    /// What became of it.
    pub decision: &'static str,
    /// On what.
    pub main: Vec<Span>,
}

/// What a person said to the like before.
#[derive(Debug, Serialize)]
pub struct Alike {
    /// Yes.
    pub approved: u64,
    /// No.
    pub denied: u64,
    /// When last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_at_ms: Option<At>,
}

/// What became of each item of a selection.
#[derive(Debug, Serialize)]
pub struct Outcomes {
    /// In the order of the ids.
    pub outcomes: Vec<OutcomeItem>,
}

/// What became of one.
#[derive(Debug, Serialize)]
pub struct OutcomeItem {
    /// Which.
    pub id: String,
    /// The state it is in now.
    pub state: Option<String>,
    /// Whether this changed it.
    pub changed: bool,
}

/// A line of the history: a call and what became of it.
#[derive(Debug, Serialize)]
pub struct HistoryItem {
    /// The number of the fact that opened it.
    pub seq: u64,
    /// When it came.
    pub at_ms: At,
    /// Whose.
    pub session: SessionId,
    /// Which agent.
    pub agent: AgentName,
    /// Where its session works.
    pub workspace: PathText,
    /// The tool as the client sent it.
    pub tool: String,
    /// What it did.
    pub action: Action,
    /// On what, in one line.
    pub subject: Vec<Span>,
    /// What became of it.
    pub decision: &'static str,
    /// On whose word.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// The words that came with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The rule that decided or said to ask.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// The grant that decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grant: Option<GrantId>,
    /// The approval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approval: Option<ApprovalId>,
    /// The call's number within its session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub number: Option<u32>,
    /// How long it waited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waited_ms: Option<i64>,
    /// What would run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub digest: Option<Digest>,
    /// What was asked for.
    pub action_digest: Digest,
    /// How it ran.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<String>,
    /// How long it ran.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// What was odd.
    pub flags: Vec<Flag>,
}

/// A session.
#[derive(Debug, Serialize)]
pub struct SessionItem {
    /// Its id.
    pub id: SessionId,
    /// Which agent.
    pub agent: AgentName,
    /// The client's own id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_session: Option<String>,
    /// Where it works.
    pub workspace: PathText,
    /// Which session started it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<SessionId>,
    /// When it started.
    pub started_at_ms: At,
    /// When it stopped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stopped_at_ms: Option<At>,
    /// How many calls.
    pub calls: u32,
    /// How many wait.
    pub waiting: usize,
}

/// The policy file and whether it is in force.
#[derive(Debug, Serialize)]
pub struct PolicyState {
    /// The file's text.
    pub text: String,
    /// Where it lies.
    pub path: String,
    /// SHA-256 of the text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub digest: Option<Digest>,
    /// The digest of the policy in force.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_force: Option<Digest>,
    /// Whether the file is what is in force.
    pub ok: bool,
    /// Why it is not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<PolicyProblem>,
}

/// A mistake in a policy, with its place.
#[derive(Debug, Serialize)]
pub struct PolicyProblem {
    /// What, why, what to do.
    pub message: String,
    /// From 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// From 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
}

/// What a window loads first.
#[derive(Debug, Serialize)]
pub struct Snapshot {
    /// The program's version.
    pub version: String,
    /// Whether everything is denied.
    pub paused: bool,
    /// The policy.
    pub policy: PolicyState,
    /// How many wait.
    pub waiting: usize,
    /// How many expired while no gate ran.
    pub expired_while_away: usize,
    /// The number of the last fact: facts after it are news.
    pub seq: u64,
    /// The gate's clock.
    pub now_ms: At,
    /// The person's home, to shorten paths.
    pub home: PathText,
    /// What was raised since the gate opened, oldest first, the last 20 of them.
    pub alerts: Vec<AlertItem>,
}

/// Something the person should look at.
#[derive(Debug, Serialize)]
pub struct AlertItem {
    /// The number of its fact.
    pub seq: u64,
    /// When it was raised.
    pub at_ms: At,
    /// To branch on.
    pub alert: String,
    /// To read.
    pub message: String,
}

impl ApprovalItem {
    /// A row of an approval.
    pub(crate) fn of(approval: &Approval, session: Option<&Session>, waiting: bool) -> Self {
        let facts = &approval.judged.facts;
        let card = &approval.judged.card;
        let (lead, main, rest) = shown(card);
        Self {
            id: approval.id,
            state: approval.state.word(),
            reason: approval.state.reason(),
            by: approval.state.by().map(placet_domain::By::word),
            digest: facts.digest,
            action_digest: facts.action_digest,
            tool: facts.tool.clone(),
            action: facts.action,
            agent: session.map_or_else(unknown_agent, |s| s.agent.clone()),
            session: approval.session,
            workspace: session.map_or_else(|| facts.cwd.clone(), |s| s.workspace.clone()),
            subjects: facts.subjects.clone(),
            flags: facts.flags.clone(),
            created_at_ms: approval.asked_at_ms,
            expires_at_ms: approval.expires_at_ms,
            waiting,
            number: approval.number,
            headline: card.headline.clone(),
            lead,
            main,
            rest,
            grave: card.grave,
        }
    }
}

/// The one line by which a call is known.
fn shown(card: &Card) -> (Vec<Span>, Vec<Span>, Vec<Span>) {
    if let Some(first) = card.commands.first() {
        let more = card.commands.len() - 1;
        let rest = if more == 0 { Vec::new() } else { vec![Span::text(format!(" +{more} more"))] };
        return (Vec::new(), first.words.clone(), rest);
    }
    match card.subjects.first() {
        Some(ShownSubject { lead, main, rest, .. }) => {
            let more = card.subjects.len() - 1;
            let mut rest = rest.clone();
            if more > 0 {
                rest.push(Span::text(format!(" +{more} more")));
            }
            (lead.clone(), main.clone(), rest)
        }
        None => (Vec::new(), card.shown.clone(), Vec::new()),
    }
}

impl SessionItem {
    /// A session with how many of its calls wait.
    pub(crate) fn of(session: Session, state: &State) -> Self {
        let waiting = state
            .approvals
            .values()
            .filter(|a| a.session == session.id && a.state == placet_domain::ApprovalState::Pending)
            .count();
        Self {
            id: session.id,
            agent: session.agent,
            client_session: session.client_session,
            workspace: session.workspace,
            parent: session.parent,
            started_at_ms: session.started_at_ms,
            stopped_at_ms: session.stopped_at_ms,
            calls: session.calls,
            waiting,
        }
    }
}

pub(crate) fn explained(facts: &CallFacts) -> Vec<FlagExplained> {
    facts
        .flags
        .iter()
        .map(|flag| FlagExplained { flag: *flag, label: flag.label(), sentence: flag.sentence() })
        .collect()
}

fn unknown_agent() -> AgentName {
    #[expect(clippy::expect_used, reason = "the literal is a valid name")]
    "unknown".parse().expect("a valid name")
}
