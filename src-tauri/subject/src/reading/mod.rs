//! A tool's input read as what it would do: subjects, the state of what they name, and what a person must read.

mod act;
mod command;
mod files;
mod git;

use placet_domain::card::{Content, ShownCommand};
use placet_domain::subject::{McpSubject, ToolSubject};
use placet_domain::{Action, Flag, Refused, RefusedCode, Span, Subject};
use serde_json::{Map, Value, json};

use self::act::Act;
use crate::character::text_flags;
use crate::content;
use crate::file::{Before, before};
use crate::path::{PathLook, Place};
use crate::show::show;
use crate::tools::{Meaning, meaning};
use crate::url::UrlLook;

/// Lines of content beyond which a call is long.
const LONG_LINES: usize = 400;

/// What was read.
#[derive(Default)]
pub(crate) struct Reading {
    pub(crate) subjects: Vec<Subject>,
    /// Notes for each subject, in their order.
    pub(crate) notes: Vec<Vec<String>>,
    pub(crate) flags: Vec<Flag>,
    pub(crate) refused: Option<Refused>,
    /// The state of each path subject, for the digest.
    pub(crate) preimages: Vec<Value>,
    /// Files that would be run, for the digest.
    pub(crate) operands: Vec<Value>,
    pub(crate) commands: Vec<ShownCommand>,
    pub(crate) content: Vec<Content>,
    /// What the agent says of it.
    pub(crate) says: Vec<Span>,
    /// The fields of mere talk.
    pub(crate) talk: &'static [&'static str],
    /// No grant, whatever the subjects: a file too large to be bound.
    pub(crate) once_only: bool,
    /// Whether what is written is there already, for the path subjects that are written.
    pub(crate) changes: Vec<FileChange>,
    pub(crate) is_unknown: bool,
}

/// What becomes of one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileChange {
    /// It is new, with so many lines.
    Made(usize),
    /// It is changed by so many lines added and removed.
    Changed(usize, usize),
    /// It is replaced by or was something that is no text, or the change cannot be counted.
    Replaced,
    /// It is removed.
    Removed,
}

/// Fields in which agents say what they mean to do.
const SAYS: &[&str] = &["description", "justification", "explanation"];

/// Reads the input of a call.
pub(crate) fn read_input(agent: &str, tool: &str, input: &Value, place: &Place<'_>) -> Reading {
    let none = Map::new();
    let object = input.as_object().unwrap_or(&none);
    let mut reading = Reading::default();
    let mut shown_fields: Vec<&str> = Vec::new();
    match meaning(agent, tool, |field| object.contains_key(field)) {
        Meaning::Known(does, talk) => {
            reading.talk = talk;
            shown_fields = does.shown_fields();
            shown_fields.extend(SAYS.iter().filter(|field| talk.contains(field)));
            let mut act = Act { reading: &mut reading, input: object, place, tool };
            act.read(does);
        }
        Meaning::Mcp { server, tool } => {
            reading.add(Subject::Mcp(McpSubject { action: Action::Other, server, tool, definition: None }), Vec::new());
        }
        Meaning::Unknown => {
            reading.flags.push(Flag::UnknownTool);
            reading.is_unknown = true;
            reading.add(Subject::Tool(ToolSubject { action: Action::Other, tool: tool.to_owned() }), Vec::new());
        }
    }
    flags_of_texts(input, &mut reading.flags);
    text_flags(tool, &mut reading.flags);
    for field in SAYS {
        if let Some(Value::String(text)) = object.get(*field) {
            if !reading.says.is_empty() {
                reading.says.extend(show("\n"));
            }
            reading.says.extend(show(text));
        }
    }
    let whole = shown_fields.is_empty();
    let rest: Map<String, Value> = object
        .iter()
        .filter(|(key, _)| !shown_fields.contains(&key.as_str()))
        .map(|(k, v)| (k.clone(), v.clone()))
        .collect();
    if !rest.is_empty() {
        let title = if whole { "The whole input" } else { "Also in the input" };
        let text = serde_json::to_string_pretty(&Value::Object(rest)).unwrap_or_default();
        reading.content.push(content::text(vec![Span::text(title)], "json", &text));
    }
    if reading.content.iter().any(is_long) {
        reading.flags.push(Flag::Long);
    }
    reading
}

fn is_long(content: &Content) -> bool {
    match content {
        Content::Diff { lines, .. } => lines.len() > LONG_LINES,
        Content::Text { lines, .. } => lines.len() > LONG_LINES,
        Content::Binary { .. } => false,
    }
}

/// Oddities of every text in the input, keys included: whatever is shown of it was looked at.
fn flags_of_texts(value: &Value, flags: &mut Vec<Flag>) {
    match value {
        Value::String(text) => text_flags(text, flags),
        Value::Array(items) => items.iter().for_each(|item| flags_of_texts(item, flags)),
        Value::Object(object) => object.iter().for_each(|(key, item)| {
            text_flags(key, flags);
            flags_of_texts(item, flags);
        }),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
    // A text may have thousands; each kind counts once.
    if flags.len() > 64 {
        flags.sort_unstable();
        flags.dedup();
    }
}

impl Reading {
    pub(crate) fn add(&mut self, subject: Subject, notes: Vec<String>) {
        self.subjects.push(subject);
        self.notes.push(notes);
    }

    pub(crate) fn refuse(&mut self, refused: Option<Refused>) {
        if self.refused.is_none() {
            self.refused = refused;
        }
    }

    /// Adds a path with the state of what it names; gives what a write or delete would change.
    pub(crate) fn add_path(&mut self, look: PathLook) -> Before {
        let PathLook { mut subject, refused, flags, mut notes, found } = look;
        notes.extend(refused.as_ref().map(|refused| refused.reason.clone()));
        self.refuse(refused);
        self.flags.extend(flags);
        let changes = matches!(subject.action, Action::Write | Action::Delete);
        let before = match &found {
            Some(found) if changes => before(found),
            Some(_) | None => Before::Absent,
        };
        let mut state = Map::new();
        if let Some(found) = &found {
            let at = |(device, inode): (u64, u64)| format!("{device}:{inode}");
            state.insert("folder".to_owned(), json!(at(found.folder_entry.identity())));
            state.insert("entry".to_owned(), found.entry.map_or(Value::Null, |entry| json!(at(entry.identity()))));
            if let Some(entry) = found.entry.filter(|entry| !entry.is_folder()) {
                state.insert("links".to_owned(), json!(entry.links));
            }
        }
        match &before {
            Before::Absent | Before::Folder | Before::Device => {}
            Before::File { sha256, bytes } => {
                subject.content = Some(*sha256);
                state.insert("sha256".to_owned(), json!(sha256));
                state.insert("size".to_owned(), json!(bytes.len()));
            }
            Before::TooLarge { size } => {
                state.insert("too_large".to_owned(), json!(size));
                self.once_only = true;
            }
            Before::Link { target } => {
                state.insert("link".to_owned(), json!(placet_domain::PathText::from_bytes(target.as_slice())));
            }
            Before::Unreadable => self.refuse(Some(Refused {
                code: RefusedCode::Unreadable,
                reason: "Placet may not read the file that would be changed, so nobody can say what the change is."
                    .to_owned(),
            })),
        }
        self.preimages.push(Value::Object(state));
        self.add(Subject::Path(subject), notes);
        before
    }

    pub(crate) fn add_url(&mut self, look: UrlLook) {
        let UrlLook { subject, refused, flags, mut notes } = look;
        notes.extend(refused.as_ref().map(|refused| refused.reason.clone()));
        self.refuse(refused);
        self.flags.extend(flags);
        self.add(Subject::Url(subject), notes);
    }

    pub(crate) fn note(&mut self, note: impl Into<String>) {
        if let Some(notes) = self.notes.last_mut() {
            notes.push(note.into());
        }
    }
}
