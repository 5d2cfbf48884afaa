//! One rule, compiled, and whether it matches.

use std::cell::OnceCell;

use serde_json::Value;

use super::{
    glob::{NameGlobs, PathGlob},
    hours::Hours,
    target::Target,
    when::{When, value_of},
};
use crate::{Action, At, Judged, PathText, Session, State, Subject};

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
    pub(super) protected: Option<bool>,
    pub(super) tainted: Option<bool>,
    /// Its time zone holds for `when` too.
    pub(super) hours: Hours,
    pub(super) limit: Option<Limit>,
    pub(super) when: Option<When>,
    /// Where it came with a workspace: only there.
    pub(super) only_in: Option<PathText>,
}

/// How many calls a session may make before the rule applies.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limit {
    pub(super) calls: usize,
    pub(super) per_ms: i64,
}

/// Whether a rule matches a subject.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Matched {
    No,
    Yes,
    /// Its condition could not be evaluated.
    Failed(String),
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
pub(crate) struct View<'a> {
    pub(crate) state: &'a State,
    pub(crate) judged: &'a Judged,
    pub(crate) session: &'a Session,
    pub(crate) now: At,
    counted: bool,
    input_value: OnceCell<cel::Value>,
}

impl<'a> View<'a> {
    pub(crate) fn new(state: &'a State, judged: &'a Judged, session: &'a Session, now: At, counted: bool) -> Self {
        Self { state, judged, session, now, counted, input_value: OnceCell::new() }
    }

    /// The input as conditions see it, made when the first one looks.
    pub(super) fn input_value(&self) -> &cel::Value {
        self.input_value.get_or_init(|| value_of(&self.judged.input))
    }
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

    /// Whether it has a condition, which may fail.
    pub(crate) fn has_condition(&self) -> bool {
        self.when.is_some()
    }

    /// Whether a rule that denies or asks matches this subject.
    pub(crate) fn matches(&self, view: &View<'_>, subject: &Subject) -> Matched {
        if self.is_about(view, Reading::Wide)
            && self.has_action_of(subject)
            && self.protected.is_none_or(|wanted| wanted == is_protected(subject))
            && self.target.matches(subject, &view.session.workspace)
            && self.limit.is_none_or(|limit| self.is_past(limit, view))
        {
            self.condition(view, subject)
        } else {
            Matched::No
        }
    }

    /// Whether an allow rule covers this subject, which is no command.
    pub(crate) fn covers(&self, view: &View<'_>, subject: &Subject) -> Matched {
        if self.is_about(view, Reading::Narrow)
            && self.has_action(subject.action())
            && self.protected.is_none_or(|wanted| wanted == is_protected(subject))
            && self.target.covers(subject, &view.session.workspace)
        {
            self.condition(view, subject)
        } else {
            Matched::No
        }
    }

    /// Whether an allow rule covers words of this effect in a command: those of one of its parts, or of the command
    /// that the part runs.
    pub(crate) fn covers_words(
        &self,
        view: &View<'_>,
        command: &Subject,
        effect: Action,
        argv: &[String],
        at_least: usize,
    ) -> Matched {
        if self.is_about(view, Reading::Narrow)
            && self.has_action(effect)
            && self.protected != Some(true)
            && self.target.covers_words(argv, at_least)
        {
            self.condition(view, command)
        } else {
            Matched::No
        }
    }

    fn condition(&self, view: &View<'_>, subject: &Subject) -> Matched {
        match &self.when {
            None => Matched::Yes,
            Some(when) => match when.holds(view, subject, &self.hours.local(view.now)) {
                Ok(true) => Matched::Yes,
                Ok(false) => Matched::No,
                Err(error) => Matched::Failed(error),
            },
        }
    }

    fn is_about(&self, view: &View<'_>, reading: Reading) -> bool {
        let session = view.session;
        self.tools.covers(&view.judged.facts.tool, reading)
            && self.agents.covers(session.agent.as_str(), reading)
            && self.only_in.as_ref().is_none_or(|root| session.workspace.is_within(root))
            && self.workspaces.as_ref().is_none_or(|globs| {
                globs.iter().any(|glob| glob.covers(&session.workspace, &session.workspace, reading))
            })
            && self.tainted.is_none_or(|wanted| wanted == session.tainted)
            && self.input.as_ref().is_none_or(|wanted| has_parts(&view.judged.input, wanted))
            && self.hours.include(view.now)
    }

    /// Whether the session has made so many calls before that this rule is about. Only rules that take away have a
    /// limit, so they are counted widely.
    fn is_past(&self, limit: Limit, view: &View<'_>) -> bool {
        let session = view.session;
        let is_of = |tool: &str| self.tools.covers(tool, Reading::Wide);
        let is_about = |subject: &Subject| {
            self.has_action_of(subject)
                && self.protected.is_none_or(|wanted| wanted == is_protected(subject))
                && self.target.matches(subject, &session.workspace)
        };
        let before = view.state.calls_since(session.id, view.now.plus_ms(-limit.per_ms), is_of, is_about);
        before.saturating_sub(usize::from(view.counted)) >= limit.calls
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

fn is_protected(subject: &Subject) -> bool {
    match subject {
        Subject::Path(path) => path.protected,
        Subject::Url(_) | Subject::Command(_) | Subject::Mcp(_) | Subject::Tool(_) => false,
    }
}

/// Whether `value` has everything that `wanted` has: tables by their keys, the rest by equality (numbers by value).
pub(super) fn has_parts(value: &Value, wanted: &Value) -> bool {
    match (value, wanted) {
        (Value::Object(value), Value::Object(wanted)) => {
            wanted.iter().all(|(key, wanted)| value.get(key).is_some_and(|value| has_parts(value, wanted)))
        }
        (Value::Number(a), Value::Number(b)) => a == b || (a.as_f64() == b.as_f64() && a.as_f64().is_some()),
        (value, wanted) => value == wanted,
    }
}
