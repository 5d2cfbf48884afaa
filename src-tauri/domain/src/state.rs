//! What is the case now: what the facts add up to.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque},
    sync::Arc,
};

use serde_json::Value;

use crate::{
    AgentName, Approval, ApprovalId, ApprovalState, At, By, CallFacts, Card, Digest, Entry, Fact, Grant, GrantId,
    GrantState, Judged, PathText, Policy, Session, SessionId, Subject,
    card::{Reach, Undo},
    counted::Counted,
    definitions::Definitions,
    fact::DeniedBy,
    grant::{Effect, GrantIndex, On},
};

/// Three denials of one action by the person silence it for this long.
pub(crate) const SILENCED_MS: i64 = 5 * 60 * 1_000;
/// How many grants that have ended are remembered, to explain why one did not match.
const ENDED_KEPT: usize = 100;

/// How many closed approvals are remembered, so that a late or repeated question gets the same answer.
const SETTLED_KEPT: usize = 10_000;

/// Everything `decide` looks at. Only `apply` changes it, and what the gate sets about the present: the policy in
/// force and who is connected.
#[derive(Clone, Debug, Default)]
pub struct State {
    /// The policy in force.
    pub policy: Arc<Policy>,
    /// Sessions by id.
    pub sessions: HashMap<SessionId, Session>,
    /// Sessions by the client's own id.
    pub by_client: HashMap<(AgentName, String), SessionId>,
    /// Open approvals, pending or approved, oldest first (ids are ordered by time).
    pub approvals: BTreeMap<ApprovalId, Approval>,
    /// Closed ones, the last ten thousand.
    pub settled: HashMap<ApprovalId, Settled>,
    settled_order: VecDeque<ApprovalId>,
    /// Grants that are active.
    pub grants: BTreeMap<GrantId, Grant>,
    /// Whether everything is denied.
    pub paused: bool,
    /// When the person denied an action in a session, the latest last, at most three.
    pub denials: HashMap<(SessionId, Digest), Vec<At>>,
    /// Approvals that somebody is connected for right now. Not history: the gate sets it.
    pub attended: HashSet<ApprovalId>,
    /// What is due next.
    pub due: BTreeSet<(At, Due)>,
    /// Finds grants without looking at all of them.
    pub index: GrantIndex,
    /// Grants that ended, the last hundred.
    pub ended: VecDeque<Grant>,
    /// Device and inode of folders as they are right now. Not history: the gate sets those that
    /// [`State::roots_to_look_at`] names before a `Check`, and that of a scope's folder before an `Approve`.
    pub roots: HashMap<PathText, (u64, u64)>,
    /// The version of the rules by which subjects are read here. Not history: the gate sets it.
    pub normalizer: String,
    /// When sessions made calls that were let through or asked about, for the policy's limits.
    counted: HashMap<SessionId, Counted>,
    /// How tools of MCP servers were described when they were last let through.
    definitions: Definitions,
}

/// What the clock will change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Due {
    /// An approval expires or lapses.
    Approval(ApprovalId),
    /// A grant ends.
    Grant(GrantId),
}

/// What became of a call that is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recalled {
    /// It was let through.
    Allowed,
    /// It was asked about.
    Asked,
    /// Its yes was handed over.
    Consumed,
}

/// What is remembered of a closed approval.
#[derive(Clone, Debug)]
pub struct Settled {
    /// Whose.
    pub session: SessionId,
    /// The client's id of the call.
    pub call_id: Option<String>,
    /// What was asked.
    pub action_digest: Digest,
    /// The input's bytes.
    pub raw_sha256: Digest,
    /// How it ended.
    pub state: ApprovalState,
}

impl State {
    /// A state as loaded from a store's projections.
    pub fn of(sessions: Vec<Session>, approvals: Vec<Approval>, grants: Vec<Grant>, paused: bool) -> Self {
        let mut state = Self { paused, ..Self::default() };
        for session in sessions {
            state.put_session(session);
        }
        for approval in approvals {
            state.put_approval(approval);
        }
        for grant in grants {
            state.put_grant(grant);
        }
        state
    }

    /// Adds closings of before, oldest first, so that a late or repeated question gets the same answer after a restart.
    pub fn remember(&mut self, settled: Vec<(ApprovalId, Settled)>) {
        for (id, settled) in settled {
            self.keep_settled(id, settled);
        }
    }

    /// When something is due next.
    pub fn next_due(&self) -> Option<At> {
        self.due.first().map(|(at, _)| *at)
    }

    /// How many wait.
    pub fn pending(&self) -> usize {
        self.approvals.values().filter(|a| a.state == ApprovalState::Pending).count()
    }

    /// The folders whose device and inode must be known to judge this call: the roots of grants it leads to.
    pub fn roots_to_look_at(&self, call: &CallFacts, session: SessionId) -> Vec<PathText> {
        let Some(session) = self.sessions.get(&session) else { return Vec::new() };
        let near = |subject| self.index.near(Effect::Allow, session, call, subject);
        let mut folders: Vec<PathText> = call
            .subjects
            .iter()
            .flat_map(near)
            .filter_map(|id| self.grants.get(&id))
            .filter(|grant| grant.root.is_some())
            .filter_map(|grant| grant.scope.on.folder().cloned())
            .collect();
        folders.sort();
        folders.dedup();
        folders
    }

    /// Whether what a grant was given for is known to be gone, seen from this subject.
    pub(crate) fn is_dead(&self, grant: &Grant, subject: &Subject) -> bool {
        match (&grant.scope.on, subject) {
            (On::Folder(folder), _) => {
                grant.root.is_some_and(|root| self.roots.get(folder).is_some_and(|now| *now != root))
            }
            (On::McpTool(_) | On::Exact(_), Subject::Mcp(mcp)) => {
                mcp.definition.is_some() && mcp.definition != grant.definition
            }
            _ => false,
        }
    }

    /// The yeses that rest on other rules of reading subjects than those in force. A no stays: it is read widely, and
    /// dropping it would give.
    pub fn outdated_grants(&self) -> Vec<GrantId> {
        let rests_on_others = |grant: &&Grant| grant.effect == Effect::Allow && grant.normalizer != self.normalizer;
        self.grants.values().filter(rests_on_others).map(|grant| grant.id).collect()
    }

    /// How many calls a session has made after this moment, of the tools that `is_of` names and on something that
    /// `is_about` says.
    pub(crate) fn calls_since(
        &self,
        session: SessionId,
        since: At,
        is_of: impl Fn(&str) -> bool,
        is_about: impl Fn(&Subject) -> bool,
    ) -> usize {
        self.counted.get(&session).map_or(0, |counted| counted.since(since, is_of, is_about))
    }

    /// Takes over how tools were described when they were last let through, after the calls of late were recalled.
    pub fn remember_definitions(&mut self, known: Vec<crate::KnownDefinition>) {
        for one in known {
            self.definitions.remember(one);
        }
    }

    /// Whether a tool of this call is described otherwise than when this agent was last let use it here.
    pub(crate) fn tool_changed(&self, session: SessionId, call: &CallFacts) -> bool {
        self.sessions.get(&session).is_some_and(|session| self.definitions.changed(session, call))
    }

    /// Whether this is a tool that is described otherwise than when the session's agent was last let use it here.
    pub(crate) fn is_changed_tool(&self, session: &Session, subject: &Subject) -> bool {
        self.definitions.is_changed(session, subject)
    }

    /// Counts a call towards the policy's limits and marks its session as tainted where it brings content in from
    /// outside. `apply` does this; a store that loads projections instead of replaying does it for the facts
    /// `call_allowed`, `approval_asked` (`asked`) and `approval_consumed` of the last 24 hours.
    pub fn recall(&mut self, session: SessionId, call: &CallFacts, at_ms: At, what: Recalled) {
        if matches!(what, Recalled::Allowed | Recalled::Asked) {
            self.counted.entry(session).or_default().add(call, at_ms);
        }
        if matches!(what, Recalled::Allowed | Recalled::Consumed)
            && let Some(session) = self.sessions.get_mut(&session)
        {
            session.tainted |= call.brings_content_in();
            self.definitions.allowed(session, call);
        }
    }

    /// Adds one fact. `judged` is the call of an `ApprovalAsked` or `ApprovalRefreshed`, whose input and card are kept
    /// apart from the history; without it (replay) they are empty.
    pub fn apply(&mut self, entry: &Entry, judged: Option<&Judged>) {
        let at_ms = entry.at_ms;
        match &entry.fact {
            Fact::SessionStarted { session, agent, client_session, workspace, parent, context } => {
                self.put_session(Session {
                    id: *session,
                    agent: agent.clone(),
                    client_session: client_session.clone(),
                    workspace: workspace.clone(),
                    parent: *parent,
                    context: context.clone(),
                    started_at_ms: at_ms,
                    stopped_at_ms: None,
                    calls: 0,
                    tainted: false,
                });
            }
            Fact::SessionResumed { session } => {
                if let Some(session) = self.sessions.get_mut(session) {
                    session.stopped_at_ms = None;
                }
            }
            Fact::SessionStopped { session, .. } => {
                if let Some(session) = self.sessions.get_mut(session) {
                    session.stopped_at_ms = Some(at_ms);
                }
                // What an agent's side can do at will must not lift a limit or a silence, so only what is over goes.
                self.denials.retain(|_, times| times.last().is_some_and(|last| at_ms.ms_since(*last) < SILENCED_MS));
            }
            Fact::CallAllowed { session, grants, call, .. } => {
                self.count_call(*session);
                self.recall(*session, call, at_ms, Recalled::Allowed);
                for grant in grants {
                    self.use_grant(*grant, at_ms);
                }
            }
            Fact::CallDenied { session, by, .. } => {
                if !matches!(by, DeniedBy::NobodyToAsk) || self.sessions.contains_key(session) {
                    self.count_call(*session);
                }
            }
            Fact::ApprovalAsked {
                approval,
                session,
                call,
                number,
                rule,
                reason,
                expires_at_ms,
                waiter,
                can_edit,
                ..
            } => {
                self.count_call(*session);
                self.recall(*session, call, at_ms, Recalled::Asked);
                let mut judged = judged.cloned().unwrap_or_else(|| Judged {
                    facts: call.clone(),
                    input: Arc::new(Value::Null),
                    card: Arc::new(empty_card()),
                });
                // Deciding may have found something odd that looking at the call alone could not.
                judged.facts.flags.clone_from(&call.flags);
                self.put_approval(Approval {
                    id: *approval,
                    session: *session,
                    judged,
                    number: *number,
                    rule: rule.clone(),
                    reason: reason.clone(),
                    asked_at_ms: at_ms,
                    expires_at_ms: *expires_at_ms,
                    waiter: *waiter,
                    can_edit: *can_edit,
                    state: ApprovalState::Pending,
                });
            }
            Fact::ApprovalAttached { approval, waiter } => {
                if let Some(approval) = self.approvals.get_mut(approval) {
                    approval.waiter = *waiter;
                }
            }
            Fact::ApprovalRefreshed { approval, call, .. } => {
                if let Some(approval) = self.approvals.get_mut(approval) {
                    approval.judged.facts = call.clone();
                    if let Some(judged) = judged {
                        approval.judged = judged.clone();
                        approval.judged.facts.flags.clone_from(&call.flags);
                    }
                }
            }
            Fact::ApprovalApproved { approval, by, note, digest, also, .. } => {
                if let By::Grant { grant } = by {
                    self.use_grant(*grant, at_ms);
                }
                for grant in also {
                    self.use_grant(*grant, at_ms);
                }
                self.settle(
                    *approval,
                    ApprovalState::Approved { at_ms, by: by.clone(), note: note.clone(), digest: *digest },
                );
            }
            Fact::ApprovalDenied { approval, by, note } => {
                if matches!(by, By::User | By::Supervisor)
                    && let Some(denied) = self.approvals.get(approval)
                {
                    let times = self.denials.entry((denied.session, denied.judged.facts.action_digest)).or_default();
                    times.push(at_ms);
                    if times.len() > 3 {
                        times.remove(0);
                    }
                }
                self.settle(*approval, ApprovalState::Denied { at_ms, by: by.clone(), note: note.clone() });
            }
            Fact::ApprovalExpired { approval } => self.settle(*approval, ApprovalState::Expired { at_ms }),
            Fact::ApprovalCancelled { approval, reason, note, .. } => {
                self.settle(*approval, ApprovalState::Cancelled { at_ms, reason: *reason, note: note.clone() });
            }
            Fact::ApprovalConsumed { approval } => {
                let by = self.approved_by(*approval);
                let fetched = self.approvals.get(approval).map(|a| (a.session, a.judged.facts.clone()));
                if let Some((session, call)) = fetched {
                    self.recall(session, &call, at_ms, Recalled::Consumed);
                }
                self.settle(*approval, ApprovalState::Consumed { at_ms, by });
            }
            Fact::ApprovalLapsed { approval } => {
                let by = self.approved_by(*approval);
                self.settle(*approval, ApprovalState::Lapsed { at_ms, by });
            }
            Fact::ApprovalVoided { approval, changed } => {
                let by = self.approved_by(*approval);
                self.settle(*approval, ApprovalState::Void { at_ms, by, changed: changed.clone() });
            }
            Fact::GrantIssued { grant } => self.put_grant(grant.clone()),
            Fact::GrantEnded { grant, how } => self.end_grant(*grant, *how),
            Fact::GrantRevoked { grant, .. } => self.end_grant(*grant, GrantState::Revoked),
            Fact::GrantShortened { grant, expires_at_ms } => {
                if let Some(mut grant) = self.take_grant(*grant) {
                    grant.expires_at_ms = *expires_at_ms;
                    self.put_grant(grant);
                }
            }
            Fact::Paused { .. } => self.paused = true,
            Fact::Resumed { .. } => self.paused = false,
            Fact::AppStarted { .. }
            | Fact::AppStopped {}
            | Fact::CallRan { .. }
            | Fact::PolicyLoaded { .. }
            | Fact::PolicyRefused { .. }
            | Fact::HookFailed { .. }
            | Fact::AlertRaised { .. } => {}
        }
    }

    fn put_session(&mut self, session: Session) {
        if let Some(client) = &session.client_session {
            self.by_client.insert((session.agent.clone(), client.clone()), session.id);
        }
        self.sessions.insert(session.id, session);
    }

    fn put_approval(&mut self, approval: Approval) {
        if let Some(at) = approval.due_at() {
            self.due.insert((at, Due::Approval(approval.id)));
        }
        self.approvals.insert(approval.id, approval);
    }

    fn put_grant(&mut self, grant: Grant) {
        if grant.state == GrantState::Active {
            self.due.insert((grant.expires_at_ms, Due::Grant(grant.id)));
            self.index.put(&grant);
            self.grants.insert(grant.id, grant);
        }
    }

    fn take_grant(&mut self, id: GrantId) -> Option<Grant> {
        let grant = self.grants.remove(&id)?;
        self.due.remove(&(grant.expires_at_ms, Due::Grant(id)));
        self.index.remove(&grant);
        Some(grant)
    }

    fn end_grant(&mut self, id: GrantId, how: GrantState) {
        let Some(mut grant) = self.take_grant(id) else { return };
        grant.state = how;
        self.ended.push_back(grant);
        if self.ended.len() > ENDED_KEPT {
            self.ended.pop_front();
        }
    }

    fn count_call(&mut self, session: SessionId) {
        if let Some(session) = self.sessions.get_mut(&session) {
            session.calls = session.calls.saturating_add(1);
        }
    }

    fn use_grant(&mut self, grant: GrantId, at_ms: At) {
        if let Some(grant) = self.grants.get_mut(&grant) {
            grant.used = grant.used.saturating_add(1);
            grant.last_used_at_ms = Some(at_ms);
            if let Some(left) = &mut grant.uses_left {
                *left = left.saturating_sub(1);
            }
        }
    }

    fn approved_by(&self, approval: ApprovalId) -> By {
        self.approvals.get(&approval).and_then(|a| a.state.by().cloned()).unwrap_or(By::User)
    }

    fn settle(&mut self, id: ApprovalId, state: ApprovalState) {
        let Some(mut approval) = self.approvals.remove(&id) else { return };
        if let Some(at) = approval.due_at() {
            self.due.remove(&(at, Due::Approval(id)));
        }
        approval.state = state;
        if approval.due_at().is_some() {
            self.put_approval(approval);
            return;
        }
        let settled = Settled {
            session: approval.session,
            call_id: approval.judged.facts.call_id,
            action_digest: approval.judged.facts.action_digest,
            raw_sha256: approval.judged.facts.raw_sha256,
            state: approval.state,
        };
        self.keep_settled(id, settled);
    }

    fn keep_settled(&mut self, id: ApprovalId, settled: Settled) {
        if self.settled.insert(id, settled).is_none() {
            self.settled_order.push_back(id);
            if self.settled_order.len() > SETTLED_KEPT
                && let Some(oldest) = self.settled_order.pop_front()
            {
                self.settled.remove(&oldest);
            }
        }
    }
}

/// A card with nothing on it, for an approval whose card is not kept any more.
pub fn empty_card() -> Card {
    Card {
        headline: String::new(),
        shown: Vec::new(),
        subjects: Vec::new(),
        commands: Vec::new(),
        content: Vec::new(),
        says: Vec::new(),
        undo: Undo::No,
        reach: Reach::Outside,
        grave: true,
    }
}
