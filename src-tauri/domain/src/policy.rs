//! The person's rules.

use std::collections::BTreeMap;

use crate::AgentName;

/// A policy that was checked and compiled.
#[derive(Debug, Default)]
pub struct Policy {
    digest: Option<crate::Digest>,
}

impl Policy {
    /// SHA-256 of its text.
    pub fn digest(&self) -> crate::Digest {
        self.digest.unwrap_or(crate::Digest::new([0; 32]))
    }

    /// What the operator vouches for in a session of this agent.
    pub fn context_for(&self, agent: &AgentName) -> BTreeMap<String, String> {
        let _ = agent;
        BTreeMap::new()
    }
}
