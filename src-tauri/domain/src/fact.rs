//! The entries of the history, in the past tense. State is what facts add up to.
//!
//! This is a stored format: kinds and fields may be added, never renamed. A snapshot test freezes it.

use serde::{Deserialize, Serialize};

use crate::{ApprovalId, At, By, CallFacts, CancelReason, Digest, Grant, GrantId, PathText, SessionId, Waiter};
use std::collections::BTreeMap;

use crate::AgentName;

/// A fact with its place in the history.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// 1, 2, 3, … without gaps.
    pub seq: u64,
    /// When, by the gate's clock.
    pub at_ms: At,
    /// What happened.
    #[serde(flatten)]
    pub fact: Fact,
}

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Fact {
    /// A gate opened.
    AppStarted {
        /// Its version.
        version: String,
        /// `window`, `serve` or `supervised`.
        host: String,
    },
    /// A gate closed in order.
    AppStopped {},
    /// A session began.
    SessionStarted {
        /// Its id.
        session: SessionId,
        /// Which agent.
        agent: AgentName,
        /// The client's own id of it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        client_session: Option<String>,
        /// Where it works.
        workspace: PathText,
        /// Which session started it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        parent: Option<SessionId>,
        /// What the operator vouches for.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        context: BTreeMap<String, String>,
    },
    /// A session came back under the client's id after it had stopped.
    SessionResumed {
        /// Its id.
        session: SessionId,
    },
    /// A session ended.
    SessionStopped {
        /// Its id.
        session: SessionId,
        /// What the client said of its end; untrusted.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        summary: Option<String>,
    },
    /// A call was let through without asking.
    CallAllowed {
        /// Whose call.
        session: SessionId,
        /// What call.
        call: CallFacts,
        /// The rules that cover it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        rules: Vec<String>,
        /// The grants that cover it; each is used once by this.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        grants: Vec<GrantId>,
        /// Digest of the policy in force.
        policy: Digest,
    },
    /// A call was refused without asking.
    CallDenied {
        /// Whose call.
        session: SessionId,
        /// What call.
        call: CallFacts,
        /// On whose word.
        by: DeniedBy,
        /// Why, as the agent is told.
        reason: String,
        /// Digest of the policy in force.
        policy: Digest,
    },
    /// A question was put to the person.
    ApprovalAsked {
        /// Its id.
        approval: ApprovalId,
        /// Who asks.
        session: SessionId,
        /// What call.
        call: CallFacts,
        /// The call's number within its session.
        number: u32,
        /// Under which the input is kept.
        input_sha256: Digest,
        /// Under which the card is kept.
        card_sha256: Digest,
        /// The rule that says to ask.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rule: Option<String>,
        /// Why it is asked.
        reason: String,
        /// When it expires.
        expires_at_ms: At,
        /// Who waits.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        waiter: Option<Waiter>,
        /// Whether the client takes a changed input.
        #[serde(default)]
        can_edit: bool,
        /// Digest of the policy in force.
        policy: Digest,
    },
    /// Another process now waits for the answer.
    ApprovalAttached {
        /// Which.
        approval: ApprovalId,
        /// Who waits now.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        waiter: Option<Waiter>,
    },
    /// What would run changed while it was pending; the card is new.
    ApprovalRefreshed {
        /// Which.
        approval: ApprovalId,
        /// The call as it is now.
        call: CallFacts,
        /// Under which the new card is kept.
        card_sha256: Digest,
        /// What changed, in sentences.
        changed: Vec<String>,
    },
    /// A yes.
    ApprovalApproved {
        /// Which.
        approval: ApprovalId,
        /// On whose word.
        by: By,
        /// The digest that was on the screen.
        digest: Digest,
        /// Words.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<String>,
        /// The grant given with it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        grant: Option<GrantId>,
        /// Where a grant's word was not enough: the others that cover the rest of the call, each used once by this.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        also: Vec<GrantId>,
    },
    /// A no.
    ApprovalDenied {
        /// Which.
        approval: ApprovalId,
        /// On whose word.
        by: By,
        /// Words for the agent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<String>,
    },
    /// Nobody answered in time.
    ApprovalExpired {
        /// Which.
        approval: ApprovalId,
    },
    /// Taken back before it was answered.
    ApprovalCancelled {
        /// Which.
        approval: ApprovalId,
        /// For what reason.
        reason: CancelReason,
        /// On whose word, where it was somebody's.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<By>,
        /// Words for the agent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<String>,
    },
    /// The yes was written to a live waiter.
    ApprovalConsumed {
        /// Which.
        approval: ApprovalId,
    },
    /// The yes was not fetched in time.
    ApprovalLapsed {
        /// Which.
        approval: ApprovalId,
    },
    /// What would run changed after the yes.
    ApprovalVoided {
        /// Which.
        approval: ApprovalId,
        /// What changed, in sentences.
        changed: Vec<String>,
    },
    /// A standing answer was given.
    GrantIssued {
        /// The whole of it.
        grant: Grant,
    },
    /// A grant ended by itself: `expired`, `exhausted` or `dead`.
    GrantEnded {
        /// Which.
        grant: GrantId,
        /// How.
        how: crate::GrantState,
    },
    /// A grant was taken back.
    GrantRevoked {
        /// Which.
        grant: GrantId,
        /// On whose word.
        by: By,
        /// Words.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<String>,
    },
    /// A grant's end was brought forward.
    GrantShortened {
        /// Which.
        grant: GrantId,
        /// The new end.
        expires_at_ms: At,
    },
    /// The post hook told what became of a call.
    CallRan {
        /// Whose call.
        session: SessionId,
        /// The client's id of the call.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        call_id: Option<String>,
        /// Which tool.
        tool: String,
        /// `ok`, `error`, or the client's own word.
        outcome: String,
        /// How long it took.
        duration_ms: u64,
        /// SHA-256 of the output.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        output_sha256: Option<Digest>,
        /// The action digest of what was run.
        action_digest: Digest,
        /// The approval it belongs to, where there is one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        approval: Option<ApprovalId>,
    },
    /// A policy came into force.
    PolicyLoaded {
        /// SHA-256 of its text.
        policy: Digest,
    },
    /// A policy was refused; the last good one stays.
    PolicyRefused {
        /// What, why, and what to do.
        message: String,
        /// Where, from 1.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        line: Option<u32>,
        /// Where, from 1.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        column: Option<u32>,
    },
    /// A hook failed.
    HookFailed {
        /// Whose call, where known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session: Option<SessionId>,
        /// Which hook.
        hook: String,
        /// What happened.
        message: String,
    },
    /// Everything is denied from now on.
    Paused {
        /// On whose word.
        by: By,
    },
    /// The pause was lifted.
    Resumed {
        /// On whose word.
        by: By,
    },
    /// Something the person should look at.
    AlertRaised {
        /// To branch on.
        alert: String,
        /// To read.
        message: String,
    },
}

/// On whose word a call was refused without asking.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "who", rename_all = "snake_case")]
pub enum DeniedBy {
    /// A rule.
    Policy {
        /// Its name.
        rule: String,
    },
    /// The policy's default, where no rule matched.
    Default,
    /// A deny grant.
    Grant {
        /// Which.
        grant: GrantId,
    },
    /// The pause switch.
    Pause,
    /// Before any rule: what it names cannot be judged.
    Refused {
        /// The code.
        code: crate::RefusedCode,
    },
    /// Nobody is there to ask.
    NobodyToAsk,
    /// Three denials of the same action by the person, a moment ago.
    RepeatedDenial,
    /// Too many wait already.
    TooManyWaiting,
}

impl Fact {
    /// The word on the wire and in the database.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::AppStarted { .. } => "app_started",
            Self::AppStopped {} => "app_stopped",
            Self::SessionStarted { .. } => "session_started",
            Self::SessionResumed { .. } => "session_resumed",
            Self::SessionStopped { .. } => "session_stopped",
            Self::CallAllowed { .. } => "call_allowed",
            Self::CallDenied { .. } => "call_denied",
            Self::ApprovalAsked { .. } => "approval_asked",
            Self::ApprovalAttached { .. } => "approval_attached",
            Self::ApprovalRefreshed { .. } => "approval_refreshed",
            Self::ApprovalApproved { .. } => "approval_approved",
            Self::ApprovalDenied { .. } => "approval_denied",
            Self::ApprovalExpired { .. } => "approval_expired",
            Self::ApprovalCancelled { .. } => "approval_cancelled",
            Self::ApprovalConsumed { .. } => "approval_consumed",
            Self::ApprovalLapsed { .. } => "approval_lapsed",
            Self::ApprovalVoided { .. } => "approval_voided",
            Self::GrantIssued { .. } => "grant_issued",
            Self::GrantEnded { .. } => "grant_ended",
            Self::GrantRevoked { .. } => "grant_revoked",
            Self::GrantShortened { .. } => "grant_shortened",
            Self::CallRan { .. } => "call_ran",
            Self::PolicyLoaded { .. } => "policy_loaded",
            Self::PolicyRefused { .. } => "policy_refused",
            Self::HookFailed { .. } => "hook_failed",
            Self::Paused { .. } => "paused",
            Self::Resumed { .. } => "resumed",
            Self::AlertRaised { .. } => "alert_raised",
        }
    }

    /// The approval it is about, where it is about one.
    pub fn approval(&self) -> Option<ApprovalId> {
        match self {
            Self::ApprovalAsked { approval, .. }
            | Self::ApprovalAttached { approval, .. }
            | Self::ApprovalRefreshed { approval, .. }
            | Self::ApprovalApproved { approval, .. }
            | Self::ApprovalDenied { approval, .. }
            | Self::ApprovalExpired { approval }
            | Self::ApprovalCancelled { approval, .. }
            | Self::ApprovalConsumed { approval }
            | Self::ApprovalLapsed { approval }
            | Self::ApprovalVoided { approval, .. } => Some(*approval),
            Self::CallRan { approval, .. } => *approval,
            Self::AppStarted { .. }
            | Self::AppStopped {}
            | Self::SessionStarted { .. }
            | Self::SessionResumed { .. }
            | Self::SessionStopped { .. }
            | Self::CallAllowed { .. }
            | Self::CallDenied { .. }
            | Self::GrantIssued { .. }
            | Self::GrantEnded { .. }
            | Self::GrantRevoked { .. }
            | Self::GrantShortened { .. }
            | Self::PolicyLoaded { .. }
            | Self::PolicyRefused { .. }
            | Self::HookFailed { .. }
            | Self::Paused { .. }
            | Self::Resumed { .. }
            | Self::AlertRaised { .. } => None,
        }
    }
}
