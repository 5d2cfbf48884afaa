//! The calls of late, for limits that count them.

use placet_domain::{At, CallFacts, Fact, SessionId, state::Recalled};
use rusqlite::params;

use crate::{Reader, StoreError, chain, reader::corrupt_at, stats};

/// How many calls are handed over at most, the newest.
const AT_MOST: u32 = 50_000;

/// A call that was let through or asked about.
#[derive(Clone, Debug, PartialEq)]
pub struct RecentCall {
    /// Whose.
    pub session: SessionId,
    /// What.
    pub call: CallFacts,
    /// When.
    pub at_ms: At,
    /// Which of the two.
    pub what: Recalled,
}

impl Reader {
    /// The calls since then that were let through or asked about, oldest first; the newest 50,000 where there are more.
    pub fn recent_calls(&self, since_ms: At) -> Result<Vec<RecentCall>, StoreError> {
        self.with_calls(|conn| {
            let Some((first, _)) = stats::range(conn, Some(since_ms), None)? else { return Ok(Vec::new()) };
            let mut statement = conn.prepare_cached(
                "SELECT f.seq, f.at_ms, f.kind, f.body, f.prev, f.hash FROM calls c CROSS JOIN facts f ON f.seq = c.seq
                 WHERE c.seq >= ?1 AND c.at_ms >= ?2 AND f.kind IN ('call_allowed', 'approval_asked')
                 ORDER BY c.seq DESC LIMIT ?3",
            )?;
            let mut rows = statement.query(params![chain::row_id(first), since_ms.0, AT_MOST])?;
            let mut recent = Vec::new();
            while let Some(row) = rows.next()? {
                let entry = chain::Row::read(row, 0).map_err(|e| corrupt_at("facts", first, e))?.entry()?;
                let at_ms = entry.at_ms;
                if let Fact::CallAllowed { session, call, .. } = entry.fact {
                    recent.push(RecentCall { session, call, at_ms, what: Recalled::Allowed });
                } else if let Fact::ApprovalAsked { session, call, .. } = entry.fact {
                    recent.push(RecentCall { session, call, at_ms, what: Recalled::Asked });
                }
            }
            recent.reverse();
            Ok(recent)
        })
    }
}
