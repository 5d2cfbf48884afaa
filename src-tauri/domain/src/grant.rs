//! A standing yes (or no): its scope, its end, its uses.

use serde::{Deserialize, Serialize};

use crate::{Action, AgentName, ApprovalId, At, By, Digest, GrantId, PathText, SessionId};

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
    /// The plain sentence shown before it was given.
    pub sentence: String,
    /// How it stands.
    pub state: GrantState,
}

/// A yes or a no.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
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

/// Whose calls a grant covers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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

/// The digest an exact grant is bound to.
pub type ExactDigest = Digest;
