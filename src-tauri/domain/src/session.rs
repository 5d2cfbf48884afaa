//! One run of an agent. What is fixed at its start never changes.

use std::{collections::BTreeMap, fmt};

use serde::{Deserialize, Serialize};

use crate::{At, PathText, SessionId};

/// The name of an agent: `claude-code`, `codex`, `builtin`, … 1 to 64 characters of `a-z A-Z 0-9 . _ -`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct AgentName(String);

/// A name that no agent may have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not an agent's name: {0:?}; use 1 to 64 letters, digits, dots, dashes or underscores")]
pub struct NotAnAgentName(pub String);

impl AgentName {
    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for AgentName {
    type Error = NotAnAgentName;
    fn try_from(text: String) -> Result<Self, NotAnAgentName> {
        let fits = (1..=64).contains(&text.len())
            && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-'));
        if fits { Ok(Self(text)) } else { Err(NotAnAgentName(text)) }
    }
}

impl std::str::FromStr for AgentName {
    type Err = NotAnAgentName;
    fn from_str(text: &str) -> Result<Self, NotAnAgentName> {
        Self::try_from(text.to_owned())
    }
}

impl From<AgentName> for String {
    fn from(name: AgentName) -> Self {
        name.0
    }
}

impl fmt::Display for AgentName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for AgentName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A session: who calls, from where. Built once from what the operator controls; nothing a model says changes it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Session {
    /// Its id.
    pub id: SessionId,
    /// Which agent.
    pub agent: AgentName,
    /// The client's own id of the session, where it gives one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_session: Option<String>,
    /// The folder it works in: the resolved cwd of its first event.
    pub workspace: PathText,
    /// The session that started it, where an agent started another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<SessionId>,
    /// What the operator vouches for (user, tier, …), from the policy's `[[context]]`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub context: BTreeMap<String, String>,
    /// When it started.
    pub started_at_ms: At,
    /// When it stopped, if it has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped_at_ms: Option<At>,
    /// How many calls it has made.
    #[serde(default)]
    pub calls: u32,
    /// It has taken in content from outside.
    #[serde(default)]
    pub tainted: bool,
}
