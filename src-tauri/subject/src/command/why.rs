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
