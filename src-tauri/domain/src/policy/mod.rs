//! The person's rules: one TOML file, checked whole and compiled, or refused whole.
//!
//! Who reads the file, hashes it and watches it is another room's matter; here is only text.

mod error;
mod file;
mod glob;
mod parse;
mod rule;
mod target;

use std::collections::BTreeMap;

pub use error::PolicyError;
pub use rule::{Decide, Rule};

pub(crate) use rule::{Reading, View};
pub(crate) use target::{raw_words, words_match, words_within};

use crate::{AgentName, Digest, PathText, time::DEFAULT_TIMEOUT_MS};
use glob::NameGlobs;

/// A policy that was checked and compiled.
#[derive(Debug)]
pub struct Policy {
    digest: Option<Digest>,
    otherwise: Otherwise,
    timeout_ms: i64,
    contexts: Vec<Context>,
    /// Strictest first, then by name: of several that match, the first decides, so their order in the file is
    /// irrelevant.
    rules: Vec<Rule>,
}

/// What is said of a call that no rule matches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Otherwise {
    /// The person is asked.
    #[default]
    Ask,
    /// It is denied.
    Deny,
}

/// What a policy's text may name but does not hold: it is the same for every session of this machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bindings {
    /// The person's home folder, for patterns that begin with `~`.
    pub home: Option<PathText>,
    /// The machine's time zone by its IANA name, for rules with hours but without `zone`.
    pub zone: Option<String>,
}

#[derive(Debug)]
struct Context {
    agents: NameGlobs,
    set: BTreeMap<String, String>,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            digest: None,
            otherwise: Otherwise::Ask,
            timeout_ms: DEFAULT_TIMEOUT_MS,
            contexts: Vec::new(),
            rules: Vec::new(),
        }
    }
}

impl Policy {
    /// Checks and compiles a policy's text. `digest` is the SHA-256 of it, which the caller took. A pattern that
    /// begins with `~` needs [`Policy::parse_for`].
    ///
    /// # Errors
    /// The first mistake, with its place and what to do about it.
    pub fn parse(text: &str, digest: Digest) -> Result<Self, PolicyError> {
        parse::parse(text, digest, &Bindings::default())
    }

    /// [`Policy::parse`] for a machine whose home folder and time zone are known.
    ///
    /// # Errors
    /// The first mistake, with its place and what to do about it.
    pub fn parse_for(text: &str, digest: Digest, bindings: &Bindings) -> Result<Self, PolicyError> {
        parse::parse(text, digest, bindings)
    }

    /// The documented default, written on first start.
    pub fn default_text() -> &'static str {
        include_str!("default.toml")
    }

    /// SHA-256 of its text.
    pub fn digest(&self) -> Digest {
        self.digest.unwrap_or(Digest::new([0; 32]))
    }

    /// What it says of a call that no rule matches.
    pub fn otherwise(&self) -> Otherwise {
        self.otherwise
    }

    /// How long a person has where no rule says otherwise.
    pub fn timeout_ms(&self) -> i64 {
        self.timeout_ms
    }

    /// Its rules, strictest first, then by name.
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// What the operator vouches for in a session of this agent. Of several that set one key, the last in the file
    /// stands.
    pub fn context_for(&self, agent: &AgentName) -> BTreeMap<String, String> {
        self.contexts
            .iter()
            .filter(|context| context.agents.covers(agent.as_str(), Reading::Narrow))
            .flat_map(|context| context.set.clone())
            .collect()
    }
}

#[cfg(test)]
mod tests;
