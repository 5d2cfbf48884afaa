//! Where ids are made: UUID version 7, so that they sort by time.

use placet_domain::{ApprovalId, GrantId, SessionId};
use uuid::Uuid;

#[expect(clippy::disallowed_methods, reason = "this is where ids are made")]
fn fresh() -> Uuid {
    Uuid::now_v7()
}

/// A new approval's id.
pub(crate) fn approval() -> ApprovalId {
    ApprovalId::new(fresh())
}

/// A new grant's id.
pub(crate) fn grant() -> GrantId {
    GrantId::new(fresh())
}

/// A new session's id.
pub(crate) fn session() -> SessionId {
    SessionId::new(fresh())
}
