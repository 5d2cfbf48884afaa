//! What can be asked of the gate. Ids are made by the caller.

use std::sync::Arc;

use crate::{
    AgentName, ApprovalId, At, By, CallFacts, CancelReason, Digest, GrantId, Judged, PathText, Policy, Scope,
    SessionId, Waiter,
};

/// Something to decide on. `decide` answers with the facts that follow from it.
#[derive(Clone, Debug)]
pub enum Command {
    /// A gate opens: what is past its deadline expires before anything else.
    StartApp {
        /// Its version.
        version: String,
        /// `window`, `serve` or `supervised`.
        host: String,
        /// How far the wall clock is behind the latest time seen: over 24 hours, everything open ends.
        clock_behind_ms: i64,
    },
    /// A gate closes in order.
    StopApp,
    /// A session begins or is found again.
    StartSession {
        /// Its id, if it is new.
        session: SessionId,
        /// Which agent.
        agent: AgentName,
        /// The client's own id.
        client_session: Option<String>,
        /// Where.
        workspace: PathText,
        /// Which session started it.
        parent: Option<SessionId>,
    },
    /// A session ends; what it asked is withdrawn.
    StopSession {
        /// Which.
        session: SessionId,
        /// What the client says.
        summary: Option<String>,
    },
    /// A call wants to run.
    Check(Box<Check>),
    /// What would run changed while it was pending.
    Refresh {
        /// Which.
        approval: ApprovalId,
        /// As it is now.
        judged: Box<Judged>,
        /// Under which the new card is kept.
        card_sha256: Digest,
        /// What changed.
        changed: Vec<String>,
    },
    /// The person says yes.
    Approve {
        /// Which.
        approval: ApprovalId,
        /// What was on the screen.
        digest: Digest,
        /// On whose word.
        by: By,
        /// Words.
        note: Option<String>,
        /// A grant with it, under this id.
        grant: Option<(GrantId, Scope)>,
        /// The call as edited by the person, judged anew, and under which its card is kept.
        edited: Option<(Box<Judged>, Digest)>,
    },
    /// Somebody says no.
    Deny {
        /// Which.
        approval: ApprovalId,
        /// On whose word.
        by: By,
        /// Words for the agent.
        note: Option<String>,
        /// A deny grant with it, under this id.
        grant: Option<(GrantId, Scope)>,
    },
    /// Several are taken back at once.
    Cancel {
        /// Which.
        selection: Selection,
        /// Why.
        reason: CancelReason,
        /// On whose word.
        by: Option<By>,
        /// Words for the agents.
        note: Option<String>,
    },
    /// The yes was written to a live waiter.
    Consume {
        /// Which.
        approval: ApprovalId,
    },
    /// The asker was told to come back: nobody's process stands for it any more, and it lives on.
    Leave {
        /// Which.
        approval: ApprovalId,
    },
    /// What would run changed after the yes.
    Void {
        /// Which.
        approval: ApprovalId,
        /// What changed.
        changed: Vec<String>,
    },
    /// Time went by: what is due ends.
    Tick,
    /// Grants are taken back.
    Revoke {
        /// Which.
        grants: Vec<GrantId>,
        /// On whose word.
        by: By,
        /// Words.
        note: Option<String>,
    },
    /// What these grants were given for is not there any more.
    Bury {
        /// Which.
        grants: Vec<GrantId>,
    },
    /// A grant ends earlier.
    Shorten {
        /// Which.
        grant: GrantId,
        /// The new end.
        expires_at_ms: At,
    },
    /// The post hook tells what became of a call.
    Report {
        /// Whose.
        session: SessionId,
        /// The call as it ran.
        call: Box<CallFacts>,
        /// `ok`, `error`, or the client's word.
        outcome: String,
        /// How long.
        duration_ms: u64,
        /// SHA-256 of the output.
        output_sha256: Option<Digest>,
    },
    /// A policy comes into force; what waits is judged by it.
    LoadPolicy(Arc<Policy>),
    /// A policy is refused.
    RefusePolicy {
        /// What, why, what to do.
        message: String,
        /// Where.
        line: Option<u32>,
        /// Where.
        column: Option<u32>,
    },
    /// Deny everything from now on.
    Pause {
        /// On whose word.
        by: By,
    },
    /// Lift the pause.
    Resume {
        /// On whose word.
        by: By,
    },
    /// Raise an alert.
    Alert {
        /// To branch on.
        alert: String,
        /// To read.
        message: String,
    },
}

/// A call that wants to run.
#[derive(Clone, Debug)]
pub struct Check {
    /// The approval's id, should it be asked.
    pub approval: ApprovalId,
    /// Whose call.
    pub session: SessionId,
    /// The call.
    pub judged: Judged,
    /// Under which its input is kept.
    pub input_sha256: Digest,
    /// Under which its card is kept.
    pub card_sha256: Digest,
    /// The approval that the asker was waiting for before it reconnected.
    pub again: Option<ApprovalId>,
    /// How long the client can wait.
    pub deadline_ms: Option<i64>,
    /// Who waits.
    pub waiter: Option<Waiter>,
    /// Whether anybody could answer: a window or a supervisor.
    pub somebody_to_ask: bool,
    /// Whether the client takes a changed input.
    pub can_edit: bool,
    /// A rewrite of the policy that the client cannot take: the rule, and what the agent is told.
    pub refused_rewrite: Option<(String, String)>,
}

/// Which approvals.
#[derive(Clone, Debug, PartialEq)]
pub enum Selection {
    /// These.
    Ids(Vec<ApprovalId>),
    /// All that a session waits for.
    Session(SessionId),
    /// All that an agent waits for.
    Agent(AgentName),
    /// All.
    All,
}

/// What the asker of a `Check` hears.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// Whether the call may run.
    pub decision: Decision,
    /// Why, in the words the agent is told.
    pub reason: String,
    /// The rule that decided.
    pub rule: Option<String>,
    /// The grant that decided.
    pub grant: Option<GrantId>,
    /// The approval behind it.
    pub approval: Option<ApprovalId>,
    /// The input to run, where the person edited it or a rule rewrote it.
    pub input: Option<Arc<serde_json::Value>>,
    /// What was judged.
    pub digest: Digest,
}

/// The two words an agent can hear.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// It may run, once.
    Allow,
    /// It may not.
    Deny,
}
