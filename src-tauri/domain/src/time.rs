//! Moments. The gate's clock makes them; nothing here looks at one.

use serde::{Deserialize, Serialize};

/// A moment: Unix time in integer milliseconds, as the gate's clock counts it (it never runs backwards).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, Default)]
#[serde(transparent)]
pub struct At(pub i64);

impl At {
    /// The moment `ms` milliseconds later, or the last representable one.
    #[must_use]
    pub fn plus_ms(self, ms: i64) -> Self {
        Self(self.0.saturating_add(ms))
    }

    /// Milliseconds from `earlier` to this moment; negative if `earlier` is later.
    pub fn ms_since(self, earlier: Self) -> i64 {
        self.0.saturating_sub(earlier.0)
    }
}

/// How long an approved answer may lie before it lapses: 5 minutes.
pub const FETCH_WITHIN_MS: i64 = 5 * 60 * 1_000;
/// How long a person has when neither rule nor policy says: 30 minutes.
pub const DEFAULT_TIMEOUT_MS: i64 = 30 * 60 * 1_000;
/// The shortest time a policy may give a person: 5 seconds.
pub const MIN_TIMEOUT_MS: i64 = 5_000;
/// The longest time a policy may give a person: 24 hours.
pub const MAX_TIMEOUT_MS: i64 = 24 * 60 * 60 * 1_000;
/// The longest a grant may live: 30 days.
pub const MAX_GRANT_MS: i64 = 30 * 24 * 60 * 60 * 1_000;
/// The shortest a grant may live: a second.
pub const MIN_GRANT_MS: i64 = 1_000;
