//! A standing yes (or no): its scope, its end, its uses.

mod cover;
mod index;
mod near_miss;
mod preview;
pub(crate) mod scope;
pub(crate) mod sentence;

pub use preview::{Past, Preview, preview};

pub(crate) use cover::{Covers, allows, denies};
pub use index::GrantIndex;
pub(crate) use near_miss::near_miss;
pub(crate) use scope::grant_of;

use serde::{Deserialize, Serialize};

use crate::{Action, AgentName, ApprovalId, At, By, Digest, GrantId, PathText, Session, SessionId, Subject};

/// A grant as it is stored: the row from which its sentence is made and by which it matches.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Grant {
    /// Its id.
    pub id: GrantId,
    /// A yes or a no.
    pub effect: Effect,
    /// As the person gave it.
    pub scope: Scope,
    /// Whose calls, made concrete when it was given.
    pub who: GrantWho,
    /// The tool it was given for, or none where it covers the kind of action.
    pub tool: Option<String>,
    /// The action it was given for; a grant never covers a stronger one.
    pub action: Action,
    /// The approval it was given with.
    pub from_approval: ApprovalId,
    /// On whose word.
    pub by: By,
    /// When it was given.
    pub issued_at_ms: At,
    /// When it ends.
    pub expires_at_ms: At,
    /// How many more calls it may let through; none for any number.
    pub uses_left: Option<u32>,
    /// How many it has let through.
    pub used: u32,
    /// When it last did.
    pub last_used_at_ms: Option<At>,
    /// Device and inode of its root folder when it was given.
    pub root: Option<(u64, u64)>,
    /// For `exact`: the action digest it is bound to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action_digest: Option<Digest>,
    /// For `command`: the folder it ran in, and what else it touched; the same words elsewhere touch other things.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ran_in: Option<PathText>,
    /// For `command`: see `ran_in`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub beside: Vec<Subject>,
    /// For a tool of an MCP server: SHA-256 of its definition when it was given, where it was seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub definition: Option<Digest>,
    /// The version of the rules by which its subjects were read when it was given. A yes that rests on other rules than
    /// those in force is dead: the same words may mean another thing now.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub normalizer: String,
    /// The plain sentence shown before it was given.
    pub sentence: String,
    /// How it stands.
    pub state: GrantState,
}

/// A yes or a no.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// Lets through what would be asked.
    Allow,
    /// Refuses without asking.
    Deny,
}

/// How a grant stands; every state but `active` is final.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GrantState {
    /// It answers.
    Active,
    /// Its time is over.
    Expired,
    /// Its uses are used up.
    Exhausted,
    /// It was taken back.
    Revoked,
    /// What it was given for is not there any more: folder replaced, tool changed, normalizer outdated.
    Dead,
}

impl Grant {
    /// Whether it still answers at this moment. Time is looked at here, whatever a timer says.
    pub fn answers_at(&self, now: At) -> bool {
        self.state == GrantState::Active && now < self.expires_at_ms && self.uses_left != Some(0)
    }
}

impl GrantWho {
    /// Whether a session's calls are meant.
    pub fn is(&self, session: &Session) -> bool {
        match self {
            Self::Session { session: id } => *id == session.id,
            Self::AgentInWorkspace { agent, workspace } => *agent == session.agent && *workspace == session.workspace,
            Self::Agent { agent } => *agent == session.agent,
            Self::Workspace { workspace } => *workspace == session.workspace,
        }
    }

    /// Everyone a session belongs to.
    pub(crate) fn all_of(session: &Session) -> [Self; 4] {
        [
            Self::Session { session: session.id },
            Self::AgentInWorkspace { agent: session.agent.clone(), workspace: session.workspace.clone() },
            Self::Agent { agent: session.agent.clone() },
            Self::Workspace { workspace: session.workspace.clone() },
        ]
    }
}

/// Whose calls a grant covers.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum GrantWho {
    /// One session.
    Session {
        /// Which.
        session: SessionId,
    },
    /// One agent in one workspace.
    AgentInWorkspace {
        /// Which agent.
        agent: AgentName,
        /// Where.
        workspace: PathText,
    },
    /// One agent anywhere.
    Agent {
        /// Which.
        agent: AgentName,
    },
    /// Any agent in one workspace.
    Workspace {
        /// Where.
        workspace: PathText,
    },
}

/// A scope as it comes over the desk.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scope {
    /// Whose calls.
    pub who: ScopeWho,
    /// This tool, or this kind of action.
    #[serde(default)]
    pub action: ScopeAction,
    /// On what.
    pub on: On,
    /// For how long, at least 1,000 and at most 30 days.
    pub expires_in_ms: i64,
    /// How many calls after the approving one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uses: Option<u32>,
}

/// Whose calls, as the person says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ScopeWho {
    /// This session.
    Session,
    /// This agent in this workspace.
    AgentInWorkspace,
    /// This agent anywhere.
    Agent,
    /// Any agent in this workspace.
    Workspace,
}

/// What kind of call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ScopeAction {
    /// This tool.
    #[default]
    Tool,
    /// This kind of action.
    Kind,
}

/// On what.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum On {
    /// Exactly this input, by its action digest.
    Exact(True),
    /// This path.
    Path(PathText),
    /// Everything under this folder.
    Folder(PathText),
    /// This URL.
    Url(String),
    /// This URL's path and what lies beneath.
    UrlPrefix(String),
    /// Scheme, host and port.
    Origin(String),
    /// This exact command.
    Command(String),
    /// Commands that begin with these words.
    CommandPrefix(Vec<String>),
    /// This tool of this MCP server: `server/tool`.
    McpTool(String),
}

impl On {
    /// The folder, where it is one.
    pub fn folder(&self) -> Option<&PathText> {
        match self {
            Self::Folder(folder) => Some(folder),
            Self::Exact(_)
            | Self::Path(_)
            | Self::Url(_)
            | Self::UrlPrefix(_)
            | Self::Origin(_)
            | Self::Command(_)
            | Self::CommandPrefix(_)
            | Self::McpTool(_) => None,
        }
    }
}

/// Only `true`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "bool", into = "bool")]
pub struct True;

impl From<True> for bool {
    fn from(_: True) -> Self {
        true
    }
}

impl TryFrom<bool> for True {
    type Error = &'static str;
    fn try_from(value: bool) -> Result<Self, Self::Error> {
        if value { Ok(Self) } else { Err("exact can only be true") }
    }
}

#[cfg(test)]
mod tests;
