//! How tools of MCP servers were described when they were last let through.

use std::collections::HashMap;

use crate::{AgentName, CallFacts, Digest, Flag, PathText, Session, Subject, subject::McpSubject};

/// By whose tool it is: a server of the same name may be another one for another agent or elsewhere.
#[derive(Clone, Debug, Default)]
pub(crate) struct Definitions(HashMap<(AgentName, PathText, String), Digest>);

/// How a tool of an MCP server was described when it was last let through.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownDefinition {
    /// For whom.
    pub agent: AgentName,
    /// Where.
    pub workspace: PathText,
    /// Which, as `server/tool`.
    pub tool: String,
    /// SHA-256 of its definition.
    pub definition: Digest,
}

/// The tools of MCP servers in a call whose definitions were seen, as `server/tool`, with the definitions' digests.
pub fn definitions_in(call: &CallFacts) -> Vec<(String, Digest)> {
    call.subjects.iter().filter_map(defined).map(|(mcp, definition)| (named(mcp), definition)).collect()
}

impl Definitions {
    /// What was known before this state was made.
    pub(crate) fn remember(&mut self, known: KnownDefinition) {
        let KnownDefinition { agent, workspace, tool, definition } = known;
        self.0.insert((agent, workspace, tool), definition);
    }

    /// A call was let through.
    pub(crate) fn allowed(&mut self, session: &Session, call: &CallFacts) {
        for (mcp, definition) in call.subjects.iter().filter_map(defined) {
            self.0.insert(key(session, mcp), definition);
        }
    }

    /// Whether a tool of this call is described otherwise than when it was last let through.
    pub(crate) fn changed(&self, session: &Session, call: &CallFacts) -> bool {
        call.subjects.iter().any(|subject| self.is_changed(session, subject))
    }

    /// Whether this subject is such a tool.
    pub(crate) fn is_changed(&self, session: &Session, subject: &Subject) -> bool {
        defined(subject).is_some_and(|(mcp, now)| self.0.get(&key(session, mcp)).is_some_and(|then| *then != now))
    }
}

/// The call with the flag that its tool changed, for the person to see.
pub(crate) fn flagged(call: &CallFacts) -> CallFacts {
    let mut call = call.clone();
    if !call.flags.contains(&Flag::ToolChanged) {
        call.flags.push(Flag::ToolChanged);
    }
    call
}

fn defined(subject: &Subject) -> Option<(&McpSubject, Digest)> {
    match subject {
        Subject::Mcp(mcp) => mcp.definition.map(|definition| (mcp, definition)),
        Subject::Path(_) | Subject::Url(_) | Subject::Command(_) | Subject::Tool(_) => None,
    }
}

fn key(session: &Session, mcp: &McpSubject) -> (AgentName, PathText, String) {
    (session.agent.clone(), session.workspace.clone(), named(mcp))
}

fn named(mcp: &McpSubject) -> String {
    format!("{}/{}", mcp.server, mcp.tool)
}
