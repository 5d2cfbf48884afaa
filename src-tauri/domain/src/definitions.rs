//! How tools of MCP servers were described when they were last let through.

use std::collections::HashMap;

use crate::{AgentName, CallFacts, Digest, Flag, PathText, Session, Subject, subject::McpSubject};

/// By whose tool it is: a server of the same name may be another one for another agent or elsewhere.
#[derive(Clone, Debug, Default)]
pub(crate) struct Definitions(HashMap<(AgentName, PathText, String), Digest>);

impl Definitions {
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
    (session.agent.clone(), session.workspace.clone(), format!("{}/{}", mcp.server, mcp.tool))
}
