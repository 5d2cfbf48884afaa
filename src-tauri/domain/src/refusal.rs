//! Why a command was not carried out.

use serde::{Deserialize, Serialize};

use crate::{At, Digest};

/// A command refused: nothing happened. The code is to branch on, the sentence to read.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct Refusal {
    /// To branch on.
    pub code: RefusalCode,
    /// What, why, and what to do.
    pub message: String,
}

/// The closed set of refusals, with what goes beside them on the wire.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "code", rename_all = "snake_case")]
pub enum RefusalCode {
    /// No approval of that id.
    NoSuchApproval,
    /// No grant of that id.
    NoSuchGrant,
    /// No session of that id.
    NoSuchSession,
    /// Somebody was faster.
    AlreadySettled {
        /// The state that won.
        state: String,
        /// For what reason.
        reason: Option<String>,
        /// When.
        at_ms: At,
        /// On whose word.
        by: Option<String>,
    },
    /// The card has changed; it stays pending.
    StaleDigest {
        /// The digest it has now.
        digest: Digest,
    },
    /// A rule forbids it.
    DeniedByPolicy {
        /// Which.
        rule: String,
    },
    /// Only "once" is possible, or not this form.
    NotGrantable,
    /// Wider than the call it is given for.
    ScopeTooWide,
    /// Shorter than a second or longer than 30 days, or longer than it was.
    BadExpiry,
    /// The gate is paused.
    Paused,
    /// The answer came before the card could have been read.
    NotArmed,
    /// The client takes no changed input.
    NotEditable,
    /// The history could not be written; nothing was allowed.
    NotWritten,
    /// The history could not be read.
    NotRead,
    /// The gate could not be opened.
    NotOpen,
    /// The message has not the right shape.
    InvalidParams,
    /// No such method.
    UnknownMethod,
    /// The gate is closing.
    Closing,
    /// Another version of the protocol.
    ProtocolMismatch,
}

impl RefusalCode {
    /// The word on the wire.
    pub fn word(&self) -> &'static str {
        match self {
            Self::NoSuchApproval => "no_such_approval",
            Self::NoSuchGrant => "no_such_grant",
            Self::NoSuchSession => "no_such_session",
            Self::AlreadySettled { .. } => "already_settled",
            Self::StaleDigest { .. } => "stale_digest",
            Self::DeniedByPolicy { .. } => "denied_by_policy",
            Self::NotGrantable => "not_grantable",
            Self::ScopeTooWide => "scope_too_wide",
            Self::BadExpiry => "bad_expiry",
            Self::Paused => "paused",
            Self::NotArmed => "not_armed",
            Self::NotEditable => "not_editable",
            Self::NotWritten => "not_written",
            Self::NotRead => "not_read",
            Self::NotOpen => "not_open",
            Self::InvalidParams => "invalid_params",
            Self::UnknownMethod => "unknown_method",
            Self::Closing => "closing",
            Self::ProtocolMismatch => "protocol_mismatch",
        }
    }

    /// The code with its sentence.
    pub fn because(self, message: impl Into<String>) -> Refusal {
        Refusal { code: self, message: message.into() }
    }
}
