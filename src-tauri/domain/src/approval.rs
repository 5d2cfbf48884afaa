//! A persisted question and the states it goes through.

use serde::{Deserialize, Serialize};

use crate::{ApprovalId, At, Digest, GrantId, Judged, SessionId, time::FETCH_WITHIN_MS};

/// A question put to the person, with everything needed to ask and to judge it again.
#[derive(Clone, Debug, PartialEq)]
pub struct Approval {
    /// Its id.
    pub id: ApprovalId,
    /// Who asks.
    pub session: SessionId,
    /// What is asked.
    pub judged: Judged,
    /// The call's number within its session, from 1.
    pub number: u32,
    /// The rule that says to ask; none where no rule matched.
    pub rule: Option<String>,
    /// Why it is asked, in a sentence.
    pub reason: String,
    /// When it was asked.
    pub asked_at_ms: At,
    /// When it expires unanswered.
    pub expires_at_ms: At,
    /// The process that waits for the answer.
    pub waiter: Option<Waiter>,
    /// Whether the client takes a changed input.
    pub can_edit: bool,
    /// What became of it.
    pub state: ApprovalState,
}

impl Approval {
    /// When the clock will change it next: its deadline while pending, its lapse while approved.
    pub fn due_at(&self) -> Option<At> {
        match &self.state {
            ApprovalState::Pending => Some(self.expires_at_ms),
            ApprovalState::Approved { at_ms, .. } => Some(at_ms.plus_ms(FETCH_WITHIN_MS)),
            ApprovalState::Consumed { .. }
            | ApprovalState::Lapsed { .. }
            | ApprovalState::Void { .. }
            | ApprovalState::Denied { .. }
            | ApprovalState::Expired { .. }
            | ApprovalState::Cancelled { .. } => None,
        }
    }
}

/// A process that waits, told apart from a later one with the same pid by its start time (clock ticks since boot).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waiter {
    /// Process id.
    pub pid: i32,
    /// Field 22 of `/proc/PID/stat`.
    pub start: u64,
}

/// What became of an approval. `Pending` and `Approved` are open; every other state is final.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ApprovalState {
    /// Nobody answered yet.
    Pending,
    /// A yes that waits to be fetched.
    Approved {
        /// When.
        at_ms: At,
        /// On whose word.
        by: By,
        /// What was said with it.
        note: Option<String>,
        /// The digest that was approved.
        digest: Digest,
    },
    /// The yes was written to a live waiter.
    Consumed {
        /// When.
        at_ms: At,
        /// On whose word it was approved.
        by: By,
    },
    /// The yes was not fetched in time.
    Lapsed {
        /// When.
        at_ms: At,
        /// On whose word it was approved.
        by: By,
    },
    /// What would run changed before it ran.
    Void {
        /// When.
        at_ms: At,
        /// On whose word it was approved.
        by: By,
        /// What changed, in sentences.
        changed: Vec<String>,
    },
    /// A no.
    Denied {
        /// When.
        at_ms: At,
        /// On whose word.
        by: By,
        /// Words for the agent.
        note: Option<String>,
    },
    /// Nobody answered in time.
    Expired {
        /// When.
        at_ms: At,
    },
    /// Taken back before it was answered.
    Cancelled {
        /// When.
        at_ms: At,
        /// For what reason.
        reason: CancelReason,
        /// Words for the agent.
        note: Option<String>,
    },
}

impl ApprovalState {
    /// The word on the wire and in the database.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Approved { .. } => "approved",
            Self::Consumed { .. } => "consumed",
            Self::Lapsed { .. } => "lapsed",
            Self::Void { .. } => "void",
            Self::Denied { .. } => "denied",
            Self::Expired { .. } => "expired",
            Self::Cancelled { .. } => "cancelled",
        }
    }

    /// When it got into this state; none while pending.
    pub fn at(&self) -> Option<At> {
        match self {
            Self::Pending => None,
            Self::Approved { at_ms, .. }
            | Self::Consumed { at_ms, .. }
            | Self::Lapsed { at_ms, .. }
            | Self::Void { at_ms, .. }
            | Self::Denied { at_ms, .. }
            | Self::Expired { at_ms }
            | Self::Cancelled { at_ms, .. } => Some(*at_ms),
        }
    }

    /// Whose word it was; none where it was nobody's.
    pub fn by(&self) -> Option<&By> {
        match self {
            Self::Approved { by, .. }
            | Self::Consumed { by, .. }
            | Self::Lapsed { by, .. }
            | Self::Void { by, .. }
            | Self::Denied { by, .. } => Some(by),
            Self::Pending | Self::Expired { .. } | Self::Cancelled { .. } => None,
        }
    }

    /// The `reason` of the contract: `user`, `timeout`, `batch`, `stale`, …; none while pending.
    pub fn reason(&self) -> Option<&'static str> {
        match self {
            Self::Pending => None,
            Self::Approved { by, .. }
            | Self::Consumed { by, .. }
            | Self::Lapsed { by, .. }
            | Self::Denied { by, .. } => Some(by.word()),
            Self::Void { .. } => Some("stale"),
            Self::Expired { .. } => Some("timeout"),
            Self::Cancelled { reason, .. } => Some(reason.word()),
        }
    }
}

/// On whose word.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "who", rename_all = "snake_case")]
pub enum By {
    /// The person at the window.
    User,
    /// A program that supervises `placet serve`.
    Supervisor,
    /// A grant.
    Grant {
        /// Which.
        grant: GrantId,
    },
    /// A rule of the policy.
    Policy {
        /// Its name.
        rule: String,
    },
    /// A take-away command on the agents' side: it can only deny, cancel, revoke or pause.
    Command,
}

impl By {
    /// The word on the wire.
    pub fn word(&self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Supervisor => "supervisor",
            Self::Grant { .. } => "grant",
            Self::Policy { .. } => "policy",
            Self::Command => "command",
        }
    }
}

/// Why an approval was cancelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CancelReason {
    /// With others, by the person.
    Batch,
    /// Alone, by the person.
    User,
    /// The asking process is gone.
    AgentGone,
    /// The asking process took it back.
    Withdrawn,
    /// It was answered in the client's own prompt.
    AnsweredElsewhere,
}

impl CancelReason {
    /// The word on the wire and in the database.
    pub fn word(self) -> &'static str {
        match self {
            Self::Batch => "batch",
            Self::User => "user",
            Self::AgentGone => "agent_gone",
            Self::Withdrawn => "withdrawn",
            Self::AnsweredElsewhere => "answered_elsewhere",
        }
    }
}
