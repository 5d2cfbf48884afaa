//! Why a command, or a part of it, cannot be inspected.

use std::ops::Range;

use placet_domain::Flag;

/// A reason in words, and the place in the text that it is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WhyNot {
    /// One sentence for the person.
    pub sentence: String,
    /// Bytes of the text that was given to `understand`.
    pub range: Range<usize>,
    /// The oddity in a word.
    pub flag: Flag,
}

impl WhyNot {
    pub(crate) fn new(flag: Flag, sentence: impl Into<String>, range: Range<usize>) -> Self {
        Self { sentence: sentence.into(), range, flag }
    }

    pub(crate) fn expansion(sentence: impl Into<String>, range: Range<usize>) -> Self {
        Self::new(Flag::Expansion, sentence, range)
    }

    pub(crate) fn parse(sentence: impl Into<String>, range: Range<usize>) -> Self {
        Self::new(Flag::ParseError, sentence, range)
    }

    pub(crate) fn other(sentence: impl Into<String>, range: Range<usize>) -> Self {
        Self::new(Flag::Uninspectable, sentence, range)
    }

    /// The same reason, about a place further on.
    pub(crate) fn shifted(mut self, by: usize) -> Self {
        self.range = self.range.start + by..self.range.end + by;
        self
    }
}

/// Shell syntax that is not taken apart, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Beyond {
    Variable,
    Substitution,
    ProcessSubstitution,
    Arithmetic,
    /// `$'…'` and `$"…"`.
    Quotes,
    /// `@(a|b)` and the like.
    Pattern,
    Assignment,
    Group,
    Function,
    Condition,
    Loop,
    Test,
    Negation,
    Background,
    Redirection,
    /// `time`, `then` and whatever else is no program's name.
    Reserved,
}

impl Beyond {
    /// The reason, about this place.
    pub(crate) fn at(self, range: Range<usize>) -> WhyNot {
        let (flag, sentence) = match self {
            Self::Variable => (Flag::Expansion, "The shell would put a variable's value here."),
            Self::Substitution => {
                (Flag::Expansion, "The shell would run a command here and put its output in its place.")
            }
            Self::ProcessSubstitution => {
                (Flag::Expansion, "The shell would run a command here and hand it over as a file.")
            }
            Self::Arithmetic => (Flag::Expansion, "The shell would calculate here."),
            Self::Quotes => (Flag::Expansion, "The shell would translate this kind of quotes."),
            Self::Pattern => (Flag::Expansion, "The shell would match this pattern."),
            Self::Assignment => (Flag::Uninspectable, "A variable is set, which can change what later words mean."),
            Self::Group => (Flag::Uninspectable, "Commands are grouped."),
            Self::Function => (Flag::Uninspectable, "A function is defined, which can change what later words mean."),
            Self::Condition => (Flag::Uninspectable, "What runs depends on a condition."),
            Self::Loop => (Flag::Uninspectable, "Commands are repeated."),
            Self::Test => (Flag::Uninspectable, "A test expression is evaluated by the shell."),
            Self::Negation => (Flag::Uninspectable, "A command is negated."),
            Self::Background => (Flag::Uninspectable, "A command goes on in the background."),
            Self::Redirection => (Flag::Uninspectable, "This kind of redirection is not taken apart."),
            Self::Reserved => (Flag::Uninspectable, "This word changes how the shell reads what follows."),
        };
        WhyNot::new(flag, sentence, range)
    }
}
