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

/// Why a kind of node of the grammar is not taken apart.
pub(crate) fn not_understood(kind: &str, range: Range<usize>) -> WhyNot {
    let expansion = |sentence: &str| WhyNot::expansion(sentence, range.clone());
    let other = |sentence: &str| WhyNot::other(sentence, range.clone());
    match kind {
        "simple_expansion" | "expansion" | "special_variable_name" => {
            expansion("The shell would put a variable's value here.")
        }
        "command_substitution" | "`" => {
            expansion("The shell would run a command here and put its output in its place.")
        }
        "process_substitution" => expansion("The shell would run a command here and hand it over as a file."),
        "arithmetic_expansion" => expansion("The shell would calculate here."),
        "ansi_c_string" | "translated_string" => expansion("The shell would translate this kind of quotes."),
        "brace_expression" => expansion("The shell may expand these braces."),
        "extglob_pattern" | "regex" => expansion("The shell would match this pattern."),
        "variable_assignment" | "variable_assignments" | "declaration_command" | "unset_command" | "array" => {
            other("A variable is set, which can change what later words mean.")
        }
        "subshell" | "compound_statement" | "(" | "{" => other("Commands are grouped."),
        "function_definition" => other("A function is defined, which can change what later words mean."),
        "if_statement" | "case_statement" => other("What runs depends on a condition."),
        "for_statement" | "c_style_for_statement" | "while_statement" => other("Commands are repeated."),
        "test_command" => other("A test expression is evaluated by the shell."),
        "negated_command" => other("A command is negated."),
        "&" => other("A command goes on in the background."),
        "|&" | "herestring_redirect" | "<<-" | "<>" | "<<<" => other("This kind of redirection is not taken apart."),
        _ => other("This kind of shell syntax is not taken apart."),
    }
}
