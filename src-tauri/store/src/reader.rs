//! Reading. Calls block; a reader can be cloned and used from several threads.

use std::ops::ControlFlow;

use placet_domain::{Approval, ApprovalId, At, By, Digest, Entry, Grant, GrantId, Session, SessionId};

use crate::{
    Alike, ApprovalFilter, Bucket, CallLife, CallRow, GrantFilter, Head, HistoryFilter, Page, SessionFilter, Stats,
    StoreError, Verified,
};

/// Reads what was written.
#[derive(Clone, Debug)]
pub struct Reader {}

/// A grant with how it was taken back, if it was.
#[derive(Clone, Debug, PartialEq)]
pub struct GrantRow {
    /// The grant as it stands.
    pub grant: Grant,
    /// How it was taken back.
    pub revoked: Option<Revoked>,
}

/// How a grant was taken back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Revoked {
    /// When.
    pub at_ms: At,
    /// On whose word.
    pub by: By,
    /// Words.
    pub note: Option<String>,
}

impl Reader {
    /// An approval in any state, with card and input where these are still kept.
    pub fn approval(&self, id: ApprovalId) -> Result<Option<Approval>, StoreError> {
        let _ = id;
        Err(StoreError::Poisoned)
    }
    /// Approvals, oldest first.
    pub fn approvals(&self, filter: &ApprovalFilter) -> Result<Page<Approval, ApprovalId>, StoreError> {
        let _ = filter;
        Err(StoreError::Poisoned)
    }
    /// A session.
    pub fn session(&self, id: SessionId) -> Result<Option<Session>, StoreError> {
        let _ = id;
        Err(StoreError::Poisoned)
    }
    /// Sessions, oldest first.
    pub fn sessions(&self, filter: &SessionFilter) -> Result<Page<Session, SessionId>, StoreError> {
        let _ = filter;
        Err(StoreError::Poisoned)
    }
    /// A grant in any state.
    pub fn grant(&self, id: GrantId) -> Result<Option<GrantRow>, StoreError> {
        let _ = id;
        Err(StoreError::Poisoned)
    }
    /// Grants, oldest first.
    pub fn grants(&self, filter: &GrantFilter) -> Result<Page<GrantRow, GrantId>, StoreError> {
        let _ = filter;
        Err(StoreError::Poisoned)
    }
    /// Calls, newest first.
    pub fn history(&self, filter: &HistoryFilter) -> Result<Page<CallRow, u64>, StoreError> {
        let _ = filter;
        Err(StoreError::Poisoned)
    }
    /// The whole life of the call that the fact `seq` opened or belongs to.
    pub fn call(&self, seq: u64) -> Result<Option<CallLife>, StoreError> {
        let _ = seq;
        Err(StoreError::Poisoned)
    }
    /// The whole life of the call that this approval is about.
    pub fn call_of(&self, approval: ApprovalId) -> Result<Option<CallLife>, StoreError> {
        let _ = approval;
        Err(StoreError::Poisoned)
    }
    /// Facts after this number, oldest first.
    pub fn facts(&self, after_seq: u64, limit: usize) -> Result<Vec<Entry>, StoreError> {
        let _ = (after_seq, limit);
        Err(StoreError::Poisoned)
    }
    /// The last fact that is written.
    pub fn head(&self) -> Result<Head, StoreError> {
        Err(StoreError::Poisoned)
    }
    /// How many calls had which decision, by hour or day (UTC), and by agent and tool.
    pub fn stats(&self, from_ms: At, to_ms: At, bucket: Bucket) -> Result<Stats, StoreError> {
        let _ = (from_ms, to_ms, bucket);
        Err(StoreError::Poisoned)
    }
    /// What the person said to the same action since then.
    pub fn alike(&self, action_digest: Digest, since_ms: At) -> Result<Alike, StoreError> {
        let _ = (action_digest, since_ms);
        Err(StoreError::Poisoned)
    }
    /// Walks the chain from the fact `from` (or the oldest kept) and names the first broken row. `progress` hears how
    /// many rows are done and can stop the walk.
    pub fn verify(
        &self,
        from: Option<u64>,
        progress: &mut dyn FnMut(u64) -> ControlFlow<()>,
    ) -> Result<Verified, StoreError> {
        let _ = (from, progress);
        Err(StoreError::Poisoned)
    }
}
