//! What a person is shown of a call. Made by the room `subject`, kept with the decision, laid out by the window.
//!
//! Agent text appears in `Span`s only; every other `String` here is Placet's own.

use serde::{Deserialize, Serialize};

use crate::Action;

/// A piece of visible text. An escape stands for what cannot or may not be drawn as it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Span {
    /// Text that is safe to draw.
    Text {
        /// The text.
        text: String,
        /// The part that differs from the other form of the same subject.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        mark: bool,
    },
    /// A character (or a run of one) made visible.
    Escape {
        /// `U+` and at least four upper-case digits, or `0xNN` for a byte that is no text.
        escape: String,
        /// What it is, in words.
        label: String,
        /// How many in a row, where more than one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        count: Option<u32>,
        /// As in `Text`.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        mark: bool,
    },
}

impl Span {
    /// Plain text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into(), mark: false }
    }
}

/// Everything the inbox shows of a call beside its facts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Card {
    /// What would happen, after the verb: "to one file: 3 lines added, 2 removed". Placet's words only.
    pub headline: String,
    /// The primary subject as asked.
    pub shown: Vec<Span>,
    /// One for each subject that is a path, a URL, an MCP tool or a bare tool.
    pub subjects: Vec<ShownSubject>,
    /// One for each simple command.
    pub commands: Vec<ShownCommand>,
    /// What would be written, sent or run.
    pub content: Vec<Content>,
    /// What the agent says of it; unverified.
    pub says: Vec<Span>,
    /// Whether it can be taken back.
    pub undo: Undo,
    /// How far it reaches.
    pub reach: Reach,
    /// A grave call is armed for longer and must be held: uninspectable, protected, or a delete or send outside the workspace.
    pub grave: bool,
}

/// A subject, really and as written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ShownSubject {
    /// What is done to it.
    pub action: Action,
    /// `path`, `url`, `mcp` or `tool`.
    pub kind: String,
    /// The leading part, quiet: folders, or the scheme.
    pub lead: Vec<Span>,
    /// The part to look at: the file's name, or the host.
    pub main: Vec<Span>,
    /// What follows the main part, quiet: a URL's path.
    pub rest: Vec<Span>,
    /// As written, where it differs.
    pub asked: Vec<Span>,
    /// Why it differs and what else matters, in sentences of ours.
    pub notes: Vec<String>,
}

/// One simple command.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ShownCommand {
    /// The operator before it.
    pub operator: String,
    /// Its words as they stand in the source.
    pub words: Vec<Span>,
    /// What it does.
    pub effect: Action,
    /// "writes …", "reaches …": label of ours and the target.
    pub effects: Vec<ShownEffect>,
    /// Why it cannot be inspected, where it cannot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why_not: Option<String>,
}

/// One effect of a simple command.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ShownEffect {
    /// `reads`, `writes`, `deletes`, `reaches`, `runs`.
    pub verb: String,
    /// On what.
    pub target: Vec<Span>,
}

/// Something to read before saying yes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Content {
    /// The change against the file as it is now.
    Diff {
        /// Which file, shown.
        title: Vec<Span>,
        /// Lines added.
        added: u32,
        /// Lines removed.
        removed: u32,
        /// All lines; runs of unchanged ones are folded by the window.
        lines: Vec<DiffLine>,
    },
    /// Text as it is: new content, a body, a script, the input as JSON.
    Text {
        /// What it is, in our words.
        title: Vec<Span>,
        /// `text`, `shell`, `json`, or a file name's extension, for colouring.
        language: String,
        /// Lines.
        lines: Vec<Vec<Span>>,
    },
    /// Content that is no text.
    Binary {
        /// Which file.
        title: Vec<Span>,
        /// Bytes.
        size: u64,
        /// What it seems to be.
        media_type: String,
    },
}

/// A line of a diff.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DiffLine {
    /// What became of it.
    pub change: Change,
    /// Line number in the file as it is now, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub old: Option<u32>,
    /// Line number afterwards, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new: Option<u32>,
    /// The line, `mark` where its words differ.
    pub spans: Vec<Span>,
}

/// What became of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// As before.
    Same,
    /// New.
    Added,
    /// Gone.
    Removed,
}

/// Whether a call can be taken back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Undo {
    /// Nothing changes, or it can simply be undone.
    Yes,
    /// By hand, or from version control.
    WithEffort,
    /// Not at all.
    No,
}

/// How far a call reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reach {
    /// One file.
    ThisFile,
    /// The workspace.
    ThisProject,
    /// This machine.
    ThisMachine,
    /// Beyond this machine.
    Outside,
}
