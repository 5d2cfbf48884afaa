//! Who is asking, from where: built once from what the operator controls, then frozen.

use std::collections::BTreeMap;

use placet_domain::{AgentName, PathText, SessionId};

/// A session's context. It has no setter and no public field, and everybody holds it behind a shared reference:
/// nothing that a model, a tool or a hook says can change it.
///
/// ```compile_fail,E0616
/// fn change(context: &mut placet_agent::Context) { context.attributes.clear(); }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Context {
    session: SessionId,
    agent: AgentName,
    workspace: PathText,
    parent: Option<SessionId>,
    attributes: BTreeMap<String, String>,
}

impl Context {
    pub(crate) fn new(
        session: SessionId,
        agent: AgentName,
        workspace: PathText,
        parent: Option<SessionId>,
        attributes: BTreeMap<String, String>,
    ) -> Self {
        Self { session, agent, workspace, parent, attributes }
    }

    /// The session at the gate.
    pub fn session(&self) -> SessionId {
        self.session
    }

    /// Which agent.
    pub fn agent(&self) -> &AgentName {
        &self.agent
    }

    /// Where it works, resolved.
    pub fn workspace(&self) -> &PathText {
        &self.workspace
    }

    /// The session that started this one.
    pub fn parent(&self) -> Option<SessionId> {
        self.parent
    }

    /// What the operator vouches for: user, tier, ….
    pub fn attributes(&self) -> &BTreeMap<String, String> {
        &self.attributes
    }
}
