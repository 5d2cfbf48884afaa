//! The person's rules: one TOML file, checked whole and compiled, or refused whole.
//!
//! Who reads the file, hashes it and watches it is another room's matter; here is only text.

mod error;
mod file;
mod glob;
mod hours;
mod near;
mod parse;
mod propose;
mod rewrite;
mod rule;
mod target;
mod tighten;
mod when;

use std::collections::BTreeMap;

pub use error::PolicyError;
pub use propose::Proposal;
pub use rewrite::Rewritten;
pub use rule::{Decide, Rule};

pub(crate) use glob::fold;
pub(crate) use rule::{Matched, Reading, View};
pub(crate) use target::{command_matches, raw_words, words_match, words_within};

use crate::{AgentName, Digest, Judged, PathText, Session, time::DEFAULT_TIMEOUT_MS};
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
    /// Which of them could be about a call.
    near: near::Near,
    /// In the order of the file: each is given what the one before it left.
    rewrites: Vec<rewrite::Rewrite>,
    bounds: Bounds,
    /// What a workspace's own file says of its sessions: the stricter default, the shorter time.
    local: Vec<(PathText, Otherwise, i64)>,
}

/// How many questions may wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// In one session: 20, if the policy does not say.
    pub per_session: usize,
    /// In all: 10,000, if the policy does not say.
    pub in_all: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { per_session: 20, in_all: 10_000 }
    }
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
            near: near::Near::default(),
            rewrites: Vec::new(),
            bounds: Bounds::default(),
            local: Vec::new(),
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

    /// What it says of a session's call that no rule matches.
    pub fn otherwise(&self, session: &Session) -> Otherwise {
        let stricter = self.local_to(session).any(|(_, otherwise, _)| *otherwise == Otherwise::Deny);
        if stricter { Otherwise::Deny } else { self.otherwise }
    }

    /// How long a person has to answer a session where no rule says otherwise.
    pub fn timeout_ms(&self, session: &Session) -> i64 {
        self.local_to(session).map(|(_, _, timeout_ms)| *timeout_ms).fold(self.timeout_ms, i64::min)
    }

    /// How many questions may wait.
    pub fn bounds(&self) -> Bounds {
        self.bounds
    }

    fn local_to(&self, session: &Session) -> impl Iterator<Item = &(PathText, Otherwise, i64)> {
        self.local.iter().filter(|(root, _, _)| session.workspace.is_within(root))
    }

    /// Its rules, strictest first, then by name.
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// Those of its rules that could be about this call, in the same order: none of the others matches it.
    pub(crate) fn rules_near(&self, judged: &Judged, session: &Session) -> Vec<&Rule> {
        let places = self.near.of(judged, session);
        places.into_iter().filter_map(|place| self.rules.get(usize::try_from(place).ok()?)).collect()
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

#[cfg(test)]
mod decisions;
