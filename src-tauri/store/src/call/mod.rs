//! A call in the history: one row for each, whatever became of it.

mod read;
mod write;

pub(crate) use read::{COLUMNS, read_row};
pub(crate) use write::{allowed, asked, denied, key, moved, ran, refreshed};

use placet_domain::{Action, AgentName, ApprovalId, At, Digest, Entry, Flag, GrantId, PathText, SessionId};

/// What became of a call, in one word of the history.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CallDecision {
    /// Let through by rules, without asking.
    AllowedByRule,
    /// Let through by at least one grant, without asking.
    AllowedByGrant,
    /// Refused by a rule.
    DeniedByRule,
    /// Refused by a deny grant.
    DeniedByGrant,
    /// Refused since no rule matches and the policy's default is to deny.
    DeniedByDefault,
    /// Refused since Placet was paused.
    DeniedByPause,
    /// Refused before any rule: what it names cannot be judged.
    Refused,
    /// It would have been asked, but nobody was there.
    NobodyToAsk,
    /// Refused since the person denied the same three times a moment before.
    RepeatedDenial,
    /// Refused since too many waited.
    TooManyWaiting,
    /// Waits for an answer.
    Pending,
    /// A yes that was not fetched yet.
    Approved,
    /// A yes that was handed over.
    Consumed,
    /// A yes that was not fetched in time.
    Lapsed,
    /// A yes that fell since what would run changed.
    Void,
    /// A no to what was asked.
    Denied,
    /// Nobody answered in time.
    Expired,
    /// Taken back before it was answered.
    Cancelled,
    /// A post hook told of a call that nobody had asked about.
    Unasked,
}

impl CallDecision {
    /// Every one there is.
    pub const ALL: [Self; 19] = [
        Self::AllowedByRule,
        Self::AllowedByGrant,
        Self::DeniedByRule,
        Self::DeniedByGrant,
        Self::DeniedByDefault,
        Self::DeniedByPause,
        Self::Refused,
        Self::NobodyToAsk,
        Self::RepeatedDenial,
        Self::TooManyWaiting,
        Self::Pending,
        Self::Approved,
        Self::Consumed,
        Self::Lapsed,
        Self::Void,
        Self::Denied,
        Self::Expired,
        Self::Cancelled,
        Self::Unasked,
    ];

    /// The word on the wire and in the database.
    pub fn word(self) -> &'static str {
        match self {
            Self::AllowedByRule => "allowed_by_rule",
            Self::AllowedByGrant => "allowed_by_grant",
            Self::DeniedByRule => "denied_by_rule",
            Self::DeniedByGrant => "denied_by_grant",
            Self::DeniedByDefault => "denied_by_default",
            Self::DeniedByPause => "denied_by_pause",
            Self::Refused => "refused",
            Self::NobodyToAsk => "nobody_to_ask",
            Self::RepeatedDenial => "repeated_denial",
            Self::TooManyWaiting => "too_many_waiting",
            Self::Pending => "pending",
            Self::Approved => "approved",
            Self::Consumed => "consumed",
            Self::Lapsed => "lapsed",
            Self::Void => "void",
            Self::Denied => "denied",
            Self::Expired => "expired",
            Self::Cancelled => "cancelled",
            Self::Unasked => "unasked",
        }
    }

    /// Whether it was put to a person.
    pub fn was_asked(self) -> bool {
        match self {
            Self::Pending
            | Self::Approved
            | Self::Consumed
            | Self::Lapsed
            | Self::Void
            | Self::Denied
            | Self::Expired
            | Self::Cancelled => true,
            Self::AllowedByRule
            | Self::AllowedByGrant
            | Self::DeniedByRule
            | Self::DeniedByGrant
            | Self::DeniedByDefault
            | Self::DeniedByPause
            | Self::Refused
            | Self::NobodyToAsk
            | Self::RepeatedDenial
            | Self::TooManyWaiting
            | Self::Unasked => false,
        }
    }

    /// Whether the agent heard a yes or a no; none where it has heard neither.
    pub fn is_yes(self) -> Option<bool> {
        match self {
            Self::AllowedByRule | Self::AllowedByGrant | Self::Approved | Self::Consumed => Some(true),
            Self::DeniedByRule
            | Self::DeniedByGrant
            | Self::DeniedByDefault
            | Self::DeniedByPause
            | Self::Refused
            | Self::NobodyToAsk
            | Self::RepeatedDenial
            | Self::TooManyWaiting
            | Self::Lapsed
            | Self::Void
            | Self::Denied
            | Self::Expired
            | Self::Cancelled => Some(false),
            Self::Pending | Self::Unasked => None,
        }
    }

    /// The decision of a word; none where it is none of them.
    pub fn of_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|d| d.word() == word)
    }
}

/// A call with what became of it.
#[derive(Clone, Debug, PartialEq)]
pub struct CallRow {
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
    /// The tool's name as the client sent it: untrusted text.
    pub tool: String,
    /// The strongest of its actions.
    pub action: Action,
    /// The first subject as one line in which nothing is hidden; at most 500 characters.
    pub subject_text: String,
    /// The folder the client said it was in.
    pub cwd: PathText,
    /// What became of it.
    pub decision: CallDecision,
    /// Whose word it was: `user`, `supervisor`, `grant`, `policy`, `command`; none where nobody's.
    pub by: Option<String>,
    /// The words that came with the answer, or the reason of a refusal.
    pub note: Option<String>,
    /// The rule that decided or said to ask.
    pub rule: Option<String>,
    /// The grant that decided.
    pub grant: Option<GrantId>,
    /// The approval, where it was asked.
    pub approval: Option<ApprovalId>,
    /// The call's number within its session, where it was asked.
    pub number: Option<u32>,
    /// How long it waited for its answer, where it has one.
    pub waited_ms: Option<i64>,
    /// What would run; none for a call that was only reported.
    pub digest: Option<Digest>,
    /// What was asked for.
    pub action_digest: Digest,
    /// What the post hook said: `ok`, `error`, or the client's word.
    pub outcome: Option<String>,
    /// How long it ran.
    pub duration_ms: Option<u64>,
    /// What was odd about it.
    pub flags: Vec<Flag>,
}

/// A fact as it stands in the chain.
#[derive(Clone, Debug, PartialEq)]
pub struct ChainedEntry {
    /// The fact.
    pub entry: Entry,
    /// The keyed hash of its row.
    pub hash: Digest,
}

/// The whole life of a call.
#[derive(Clone, Debug, PartialEq)]
pub struct CallLife {
    /// What became of it.
    pub row: CallRow,
    /// Its facts, oldest first: judged or asked, attached, refreshed, answered, handed over, run.
    pub facts: Vec<ChainedEntry>,
    /// What the person was shown last, where it was asked and the card is still kept.
    pub card: Option<placet_domain::Card>,
}
