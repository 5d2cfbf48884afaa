//! What can be asked of the reader. Every filter's default is "everything", fifty at a time.

use placet_domain::{AgentName, ApprovalId, At, GrantId, PathText, SessionId, grant::GrantState};

use crate::CallDecision;

/// How many items a page has where nothing is said.
pub const PAGE: usize = 50;
/// How many items a page has at most.
pub const PAGE_AT_MOST: usize = 1_000;

/// Some of a list, and where it goes on.
#[derive(Clone, Debug, PartialEq)]
pub struct Page<T, K> {
    /// The items.
    pub items: Vec<T>,
    /// What to hand in as `after` for the next page; none where this was the last.
    pub next: Option<K>,
}

impl<T, K> Page<T, K> {
    /// Cuts `items`, of which one more than `limit` was asked for, to a page.
    pub(crate) fn cut(mut items: Vec<T>, limit: usize, key: impl Fn(&T) -> K) -> Self {
        let more = items.len() > limit;
        items.truncate(limit);
        let next = if more { items.last().map(key) } else { None };
        Self { items, next }
    }
}

/// Which approvals, oldest first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ApprovalFilter {
    /// In this state: a word of `ApprovalState::word`.
    pub state: Option<String>,
    /// Of this session.
    pub session: Option<SessionId>,
    /// Of this agent.
    pub agent: Option<AgentName>,
    /// Later ones than this.
    pub after: Option<ApprovalId>,
    /// How many at most; 0 stands for 50, and 1,000 is the most.
    pub limit: usize,
}

/// Which sessions, oldest first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SessionFilter {
    /// Of this agent.
    pub agent: Option<AgentName>,
    /// Only those that run, or only those that stopped.
    pub running: Option<bool>,
    /// Later ones than this.
    pub after: Option<SessionId>,
    /// How many at most; 0 stands for 50, and 1,000 is the most.
    pub limit: usize,
}

/// Which grants, oldest first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GrantFilter {
    /// In this state.
    pub state: Option<GrantState>,
    /// Later ones than this.
    pub after: Option<GrantId>,
    /// How many at most; 0 stands for 50, and 1,000 is the most.
    pub limit: usize,
}

/// Which calls of the history, newest first. Conditions add up.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HistoryFilter {
    /// Words that all occur in what is searched (tool, subjects, commands, hosts, rule, reason, notes), ASCII letters
    /// without regard to case; or `sha256:` and the beginning of a digest or action digest; or the id of a session, a grant or an approval.
    pub text: Option<String>,
    /// By this agent.
    pub agent: Option<AgentName>,
    /// With this tool.
    pub tool: Option<String>,
    /// With one of these decisions; empty for any.
    pub decisions: Vec<CallDecision>,
    /// That touched this path or something beneath it (first 32 levels).
    pub under: Option<PathText>,
    /// That touched this host or one beneath it.
    pub host: Option<String>,
    /// Not before.
    pub from_ms: Option<At>,
    /// Before this.
    pub to_ms: Option<At>,
    /// Of this session.
    pub session: Option<SessionId>,
    /// Answered by this grant, or with it.
    pub grant: Option<GrantId>,
    /// Older ones than this.
    pub after: Option<u64>,
    /// How many at most; 0 stands for 50, and 1,000 is the most.
    pub limit: usize,
}

/// How many rows have to be read for a page and the knowledge whether there is another.
pub(crate) fn rows_for(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX).saturating_add(1)
}

/// The size of a page as asked for.
pub(crate) fn page_size(limit: usize) -> usize {
    match limit {
        0 => PAGE,
        n => n.min(PAGE_AT_MOST),
    }
}
