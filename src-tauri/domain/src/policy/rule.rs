//! One rule, compiled, and whether it matches.

use serde_json::Value;

use super::{
    glob::{NameGlobs, PathGlob},
    target::Target,
};
use crate::{
    Action, At, Judged, Session, Subject,
    subject::{CommandSubject, SimpleCommand},
};

/// A rule that was checked and compiled.
#[derive(Debug)]
pub struct Rule {
    pub(super) name: String,
    pub(super) decide: Decide,
    pub(super) reason: Option<String>,
    pub(super) timeout_ms: Option<i64>,
    pub(super) agents: NameGlobs,
    pub(super) workspaces: Option<Vec<PathGlob>>,
    pub(super) tools: NameGlobs,
    pub(super) actions: Option<Vec<Action>>,
    pub(super) input: Option<Value>,
    pub(super) target: Target,
}

/// What a rule says; the order is the order of strictness.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decide {
    /// It may not run.
    Deny,
    /// The person is asked.
    Ask,
    /// It may run.
    Allow,
}

impl Decide {
    /// The word in the policy file.
    pub fn word(self) -> &'static str {
        match self {
            Self::Deny => "deny",
            Self::Ask => "ask",
            Self::Allow => "allow",
        }
    }
}

/// How a pattern is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reading {
    /// For what takes away: any form of the subject, without regard to case.
    Wide,
    /// For what gives: every form of the subject, letter by letter.
    Narrow,
}

impl Reading {
    /// Exceptions are read the other way round.
    pub(super) fn other(self) -> Self {
        match self {
            Self::Wide => Self::Narrow,
            Self::Narrow => Self::Wide,
        }
    }
}

/// A call as rules look at it.
#[derive(Clone, Copy)]
pub(crate) struct View<'a> {
    pub(crate) judged: &'a Judged,
    pub(crate) session: &'a Session,
    pub(crate) now: At,
}

impl Rule {
    /// Its name: unique in its policy, shown to the person and told to the agent.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What it says.
    pub fn decide(&self) -> Decide {
        self.decide
    }

    /// Its words for the agent, where it has any.
    pub fn reason(&self) -> Option<&str> {
        self.reason.as_deref()
    }

    /// How long a person has, where it says.
    pub fn timeout_ms(&self) -> Option<i64> {
        self.timeout_ms
    }

    /// Whether a rule that denies or asks matches this subject.
    pub(crate) fn matches(&self, view: View<'_>, subject: &Subject) -> bool {
        self.is_about(view, Reading::Wide)
            && self.has_action_of(subject)
            && self.target.matches(subject, &view.session.workspace)
    }

    /// Whether an allow rule covers this subject, which is no command.
    pub(crate) fn covers(&self, view: View<'_>, subject: &Subject) -> bool {
        self.is_about(view, Reading::Narrow)
            && self.has_action(subject.action())
            && self.target.covers(subject, &view.session.workspace)
    }

    /// Whether an allow rule covers this part of a command, whose words are `argv` (its own or those of the command
    /// it runs).
    pub(crate) fn covers_words(
        &self,
        view: View<'_>,
        command: &CommandSubject,
        part: &SimpleCommand,
        argv: &[String],
        at_least: usize,
    ) -> bool {
        self.is_about(view, Reading::Narrow)
            && self.has_action(part.effect)
            && command.inspectable
            && self.target.covers_words(argv, at_least)
    }

    fn is_about(&self, view: View<'_>, reading: Reading) -> bool {
        let session = view.session;
        self.tools.covers(&view.judged.facts.tool, reading)
            && self.agents.covers(session.agent.as_str(), reading)
            && self.workspaces.as_ref().is_none_or(|globs| {
                globs.iter().any(|glob| glob.covers(&session.workspace, &session.workspace, reading))
            })
            && self.input.as_ref().is_none_or(|wanted| has_parts(&view.judged.input, wanted))
    }

    fn has_action(&self, action: Action) -> bool {
        self.actions.as_ref().is_none_or(|actions| actions.contains(&action))
    }

    /// A command does what each of its parts does.
    fn has_action_of(&self, subject: &Subject) -> bool {
        self.has_action(subject.action())
            || match subject {
                Subject::Command(command) => command.commands.iter().any(|part| self.has_action(part.effect)),
                Subject::Path(_) | Subject::Url(_) | Subject::Mcp(_) | Subject::Tool(_) => false,
            }
    }
}

/// Whether `value` has everything that `wanted` has: tables by their keys, the rest by equality (numbers by value).
fn has_parts(value: &Value, wanted: &Value) -> bool {
    match (value, wanted) {
        (Value::Object(value), Value::Object(wanted)) => {
            wanted.iter().all(|(key, wanted)| value.get(key).is_some_and(|value| has_parts(value, wanted)))
        }
        (Value::Number(a), Value::Number(b)) => a == b || (a.as_f64() == b.as_f64() && a.as_f64().is_some()),
        (value, wanted) => value == wanted,
    }
}
