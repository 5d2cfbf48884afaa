//! What an opened store hands over, so that the gate can go on where it was.

use placet_domain::{
    Approval, ApprovalId, At, Digest, Grant, GrantId, KnownDefinition, Session, SessionId, state::Settled,
};

use crate::{Broken, Reader, Store};

/// The last fact of the history: its number and the keyed hash of its row. Before the first one: 0 and zeros.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// Its number.
    pub seq: u64,
    /// Its hash.
    pub hash: Digest,
}

/// A store and what its projections say is the case.
#[derive(Debug)]
pub struct Opened {
    /// The writer.
    pub store: Store,
    /// For reading.
    pub reader: Reader,
    /// Every session.
    pub sessions: Vec<Session>,
    /// The open ones, pending and approved, with input and card where these are still kept.
    pub approvals: Vec<Approval>,
    /// The active ones.
    pub grants: Vec<Grant>,
    /// The last 1,000 closings, in the order in which they happened.
    pub settled: Vec<(ApprovalId, Settled)>,
    /// A person's denials in the five minutes before `latest_ms`, oldest first.
    pub denials: Vec<(SessionId, Digest, At)>,
    /// How tools of MCP servers were described when they were last let through.
    pub definitions: Vec<KnownDefinition>,
    /// Whether everything is denied.
    pub paused: bool,
    /// When the last fact happened.
    pub latest_ms: Option<At>,
    /// The last fact.
    pub head: Head,
    /// Grants that stand in the table as active but are not vouched for: each deserves an
    /// alert. They are `dead` from now on.
    pub ignored_grants: Vec<IgnoredGrant>,
    /// Approvals that stand in the table as open but whose facts say otherwise: not loaded, each deserves an alert.
    pub ignored_approvals: Vec<ApprovalId>,
    /// What is broken among the newest 1,000 facts or at the end of the chain; it deserves an alert.
    pub broken: Option<Broken>,
}

/// A grant that was not loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IgnoredGrant {
    /// Which; none where the row has no readable id.
    pub id: Option<GrantId>,
    /// Why, in a sentence.
    pub why: String,
}
