//! A tool's input read as what it would do: subjects, the state of what they name, and what a person must read.

use placet_domain::card::{Content, ShownCommand};
use placet_domain::subject::{CommandSubject, McpSubject, ToolSubject};
use placet_domain::{Action, Flag, Refused, RefusedCode, Span, Subject};
use serde_json::{Map, Value, json};

use crate::call::malformed;
use crate::content;
use crate::edit::{Edit, apply};
use crate::file::{Before, before};
use crate::patch;
use crate::path::{self, NamedBy, PathLook, Place};
use crate::show::{show, show_bytes, text_flags};
use crate::tools::{Does, Meaning, meaning};
use crate::url;

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
        let PathLook { subject, refused, flags, notes, found } = look;
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

    pub(crate) fn note(&mut self, note: impl Into<String>) {
        if let Some(notes) = self.notes.last_mut() {
            notes.push(note.into());
        }
    }
}

struct Act<'a> {
    reading: &'a mut Reading,
    input: &'a Map<String, Value>,
    place: &'a Place<'a>,
    tool: &'a str,
}

impl<'a> Act<'a> {
    fn read(&mut self, does: Does) {
        match does {
            Does::Inside => self.tool_alone(Action::None),
            Does::Path { action, path } => self.path(path, action),
            Does::Find { action, folder, pattern } => self.find(action, folder, pattern),
            Does::Paths { action, paths } => self.paths(paths, action),
            Does::Write { path, content } => {
                let Some(content) = self.text(content) else { return self.tool_alone(Action::Write) };
                self.write(path, content);
            }
            Does::Edit { path, old, new, all } => {
                let edit = self.edit(self.input, old, new, all);
                self.edit_file(path, edit.map(|edit| vec![edit]));
            }
            Does::Edits { path, list, old, new, all } => {
                let edits = self.input.get(list).and_then(Value::as_array).and_then(|items| {
                    items.iter().map(|item| item.as_object().and_then(|item| self.edit(item, old, new, all))).collect()
                });
                self.edit_file(path, edits);
            }
            Does::Notebook { path, source } => self.notebook(path, source),
            Does::Patch { text } => self.patch(text),
            Does::UnifiedDiff { path, diff } => {
                self.path(path, Action::Write);
                if let Some(diff) = self.text(diff) {
                    self.reading.content.push(content::text(vec![Span::text("The client's own diff")], "diff", diff));
                }
            }
            Does::Editor { path } => self.editor(path),
            Does::Command { command, folder } => self.command(command, folder),
            Does::Typed { text } => {
                let Some(text) = self.text(text) else { return self.tool_alone(Action::Execute) };
                self.tool_alone(Action::Execute);
                self.reading.content.push(content::text(vec![Span::text("What would be typed")], "text", text));
            }
            Does::Url { url } => {
                let Some(url) = self.text(url) else { return self.tool_alone(Action::Fetch) };
                self.url(url);
            }
            Does::UrlsIn { text } => self.urls_in(text),
            Does::Sends { action, text } => {
                let Some(text) = self.text(text) else { return self.tool_alone(action) };
                self.tool_alone(action);
                self.reading.content.push(content::text(vec![Span::text("What would be sent")], "text", text));
            }
        }
    }

    /// A field that must be a text. Where it is not, the call is refused.
    fn text(&mut self, field: &str) -> Option<&'a str> {
        match self.input.get(field) {
            Some(Value::String(text)) => Some(text),
            Some(_) | None => {
                self.reading
                    .refuse(Some(malformed(format!("The tool takes a text named “{field}”, and the input has none."))));
                None
            }
        }
    }

    fn tool_alone(&mut self, action: Action) {
        self.reading.add(Subject::Tool(ToolSubject { action, tool: self.tool.to_owned() }), Vec::new());
    }

    fn look(&self, path: &str, action: Action) -> PathLook {
        path::look(path.as_bytes(), action, self.place, NamedBy::Tool)
    }

    fn path(&mut self, field: &str, action: Action) {
        let Some(path) = self.text(field) else { return self.tool_alone(action) };
        let look = self.look(path, action);
        let before = self.reading.add_path(look);
        if action == Action::Delete {
            self.reading.changes.push(FileChange::Removed);
            self.show_removed(path, &before);
        }
    }

    fn paths(&mut self, field: &str, action: Action) {
        let list: Option<Vec<&str>> = match self.input.get(field) {
            Some(Value::Array(items)) => items.iter().map(Value::as_str).collect(),
            Some(Value::String(one)) => Some(vec![one]),
            Some(_) | None => None,
        };
        let Some(list) = list.filter(|list| !list.is_empty()) else {
            self.reading.refuse(Some(malformed(format!("The tool takes a list of paths named “{field}”."))));
            return self.tool_alone(action);
        };
        for path in list {
            self.pattern_folder(path, action);
        }
    }

    /// A path or a pattern: of a pattern, the folder before its first wildcard.
    fn pattern_folder(&mut self, pattern: &str, action: Action) {
        let plain = match pattern.find(['*', '?', '[', '{']) {
            None => pattern,
            Some(wild) => match pattern[..wild].rfind('/') {
                Some(0) => "/",
                Some(slash) => &pattern[..slash],
                None => ".",
            },
        };
        let look = self.look(plain, action);
        self.reading.add_path(look);
        if plain != pattern {
            self.reading.note("The pattern names everything that matches beneath this folder.");
        }
        let climbs = pattern
            .split('/')
            .skip(plain.split('/').count())
            .any(|name| name == ".." || name.contains("..,") || name.contains(",.."));
        if climbs {
            self.reading.refuse(Some(Refused {
                code: RefusedCode::UnexpandedOrAmbiguous,
                reason:
                    "The pattern climbs with “..” behind a wildcard; nobody can say where it ends. Name the folder."
                        .to_owned(),
            }));
        }
    }

    fn find(&mut self, action: Action, folder: &str, pattern: &str) {
        let root = match self.input.get(folder) {
            Some(Value::String(root)) if !root.is_empty() => root.as_str(),
            Some(Value::String(_) | Value::Null) | None => ".",
            Some(_) => {
                self.reading.refuse(Some(malformed(format!("“{folder}” is no text."))));
                return self.tool_alone(action);
            }
        };
        let look = self.look(root, action);
        self.reading.add_path(look);
        // A pattern can name a place of its own.
        if let Some(Value::String(pattern)) = self.input.get(pattern)
            && (pattern.starts_with(['/', '~', '$']) || pattern.split(['/', '{', ',']).any(|name| name == ".."))
        {
            self.pattern_folder(pattern, action);
        }
    }

    fn write(&mut self, path: &str, text: &str) {
        let Some(path) = self.text(path) else { return self.tool_alone(Action::Write) };
        let look = self.look(path, Action::Write);
        let before = self.reading.add_path(look);
        self.show_written(path, &before, text);
    }

    fn show_written(&mut self, path: &str, before: &Before, text: &str) {
        let title = show(path);
        match before {
            Before::File { bytes, .. } => match content::as_text(bytes) {
                Some(old) => {
                    let diff = content::diff(title, old, text);
                    if let Content::Diff { added, removed, .. } = &diff {
                        self.reading.changes.push(FileChange::Changed(*added as usize, *removed as usize));
                    }
                    if old == text {
                        self.reading.note("The file would stay as it is.");
                    } else if old.ends_with('\n') != text.ends_with('\n') && !text.is_empty() {
                        let ends = if text.ends_with('\n') { "would end" } else { "would no longer end" };
                        self.reading.note(format!("The file {ends} with a line break."));
                    }
                    self.reading.content.push(diff);
                }
                None => {
                    self.reading.flags.push(Flag::Binary);
                    self.reading.changes.push(FileChange::Replaced);
                    self.reading.note("The file as it is now is no text; it would be replaced by the text below.");
                    self.reading.content.push(content::binary(title.clone(), bytes));
                    self.reading.content.push(content::text(title, &content::language(path.as_bytes()), text));
                }
            },
            Before::TooLarge { .. } => {
                self.reading.changes.push(FileChange::Replaced);
                self.reading.note("The file as it is now is larger than 16 MiB; it is not compared with.");
                self.reading.content.push(content::text(title, &content::language(path.as_bytes()), text));
            }
            Before::Folder => {
                self.reading.refuse(Some(Refused {
                    code: RefusedCode::NotAFile,
                    reason: "This is a folder; it cannot be written as a file.".to_owned(),
                }));
            }
            Before::Absent | Before::Link { .. } | Before::Device | Before::Unreadable => {
                self.reading.changes.push(FileChange::Made(content::line_count(text)));
                self.reading.content.push(content::text(title, &content::language(path.as_bytes()), text));
            }
        }
    }

    fn show_removed(&mut self, path: &str, before: &Before) {
        match before {
            Before::File { bytes, .. } => {
                let title = show(path);
                let shown = match content::as_text(bytes) {
                    Some(text) => content::diff(title, text, ""),
                    None => content::binary(title, bytes),
                };
                self.reading.content.push(shown);
            }
            Before::Folder => self.reading.note("This is a folder; everything in it would go with it."),
            Before::Link { target } => {
                let mut note = String::from("This is a symbolic link; the link goes, what it leads to stays");
                // Our own words only: the target stands in the resolved form elsewhere.
                note.push_str(if target.is_empty() { "." } else { " as it is." });
                self.reading.note(note);
            }
            Before::TooLarge { .. } => self.reading.note("The file is larger than 16 MiB."),
            Before::Absent => self.reading.note("Nothing is there."),
            Before::Device | Before::Unreadable => {}
        }
    }

    fn edit(&self, fields: &Map<String, Value>, old: &str, new: &str, all: &str) -> Option<Edit> {
        let text = |field: &str| fields.get(field).and_then(Value::as_str).map(str::to_owned);
        let all = fields.get(all).is_some_and(|value| value == &Value::Bool(true));
        Some(Edit { old: text(old)?, new: text(new).or_else(|| (!fields.contains_key(new)).then(String::new))?, all })
    }

    fn edit_file(&mut self, path: &str, edits: Option<Vec<Edit>>) {
        let Some(path) = self.text(path) else { return self.tool_alone(Action::Write) };
        let look = self.look(path, Action::Write);
        let before = self.reading.add_path(look);
        let Some(edits) = edits.filter(|edits| !edits.is_empty()) else {
            self.reading
                .refuse(Some(malformed("The tool takes the text to replace and the text to put in its place.")));
            return;
        };
        let old = match &before {
            Before::File { bytes, .. } => content::as_text(bytes),
            Before::Absent => Some(""),
            Before::TooLarge { .. } | Before::Folder | Before::Link { .. } | Before::Device | Before::Unreadable => {
                None
            }
        };
        let applied = old.map(|old| apply(old, &edits));
        for note in applied.iter().flat_map(|applied| &applied.notes) {
            self.reading.note(note.clone());
        }
        match applied.filter(|applied| applied.is_certain) {
            Some(applied) => self.show_written(path, &before, &applied.text),
            None => {
                if old.is_none() {
                    self.reading
                        .note("The file as it is now cannot be shown; below are the texts that would be exchanged.");
                }
                self.reading.changes.push(FileChange::Replaced);
                for edit in &edits {
                    self.reading.content.push(content::diff(show(path), &edit.old, &edit.new));
                }
            }
        }
    }

    fn notebook(&mut self, path: &str, source: &str) {
        self.path(path, Action::Write);
        self.reading.changes.push(FileChange::Replaced);
        if let Some(Value::String(text)) = self.input.get(source) {
            self.reading.content.push(content::text(vec![Span::text("The cell's new text")], "text", text));
        }
    }

    fn editor(&mut self, path: &str) {
        let command = self.input.get("command").and_then(Value::as_str).unwrap_or_default();
        match command {
            "view" => self.path(path, Action::Read),
            "create" => {
                let Some(text) = self.text("file_text") else { return self.path(path, Action::Write) };
                self.write(path, text);
            }
            "str_replace" => {
                let edit = self.edit(self.input, "old_str", "new_str", "");
                self.edit_file(path, edit.map(|edit| vec![edit]));
            }
            "insert" => {
                self.path(path, Action::Write);
                self.reading.changes.push(FileChange::Replaced);
                if let Some(Value::String(text)) = self.input.get("new_str") {
                    self.reading.content.push(content::text(vec![Span::text("What would be inserted")], "text", text));
                }
                if let Some(line) = self.input.get("insert_line").and_then(Value::as_u64) {
                    self.reading.note(format!("The text goes in behind line {line}."));
                }
            }
            "undo_edit" => {
                self.path(path, Action::Write);
                self.reading.note("The client takes back its last change; Placet does not know what that was.");
            }
            _ => {
                self.path(path, Action::Other);
                self.reading.flags.push(Flag::UnknownTool);
            }
        }
    }

    fn url(&mut self, asked: &str) {
        let look = url::look(asked, Action::Fetch);
        self.reading.refuse(look.refused);
        self.reading.flags.extend(look.flags);
        self.reading.add(Subject::Url(look.subject), look.notes);
    }

    fn urls_in(&mut self, field: &str) {
        let Some(text) = self.text(field) else { return self.tool_alone(Action::Fetch) };
        let addresses = url::addresses_in(text);
        if addresses.is_empty() {
            self.tool_alone(Action::Fetch);
        }
        for address in &addresses {
            self.url(address);
        }
        self.reading.content.push(content::text(
            vec![Span::text("The text in which the client looks for addresses")],
            "text",
            text,
        ));
    }

    fn patch(&mut self, field: &str) {
        let Some(text) = self.text(field) else { return self.tool_alone(Action::Write) };
        match patch::parse(text) {
            Ok(files) => files.into_iter().for_each(|file| self.patch_file(file)),
            Err(wrong) => {
                self.reading.refuse(Some(malformed(wrong.to_string())));
                self.tool_alone(Action::Write);
                self.reading.content.push(content::text(vec![Span::text("The patch")], "diff", text));
            }
        }
    }

    fn patch_file(&mut self, file: patch::File) {
        match file {
            patch::File::Add { path, text } => {
                let look = self.look(&path, Action::Write);
                let before = self.reading.add_path(look);
                self.show_written(&path, &before, &text);
            }
            patch::File::Delete { path } => {
                let look = self.look(&path, Action::Delete);
                let before = self.reading.add_path(look);
                self.reading.changes.push(FileChange::Removed);
                self.show_removed(&path, &before);
            }
            patch::File::Update { path, to, hunks } => {
                let action = if to.is_some() { Action::Delete } else { Action::Write };
                let look = self.look(&path, action);
                let before = self.reading.add_path(look);
                let old = match &before {
                    Before::File { bytes, .. } => content::as_text(bytes),
                    Before::Absent
                    | Before::TooLarge { .. }
                    | Before::Folder
                    | Before::Link { .. }
                    | Before::Device
                    | Before::Unreadable => None,
                };
                let new = old.and_then(|old| patch::apply(old, &hunks));
                if let Some(to) = &to {
                    self.reading.note("The file would be moved to the next path.");
                    self.reading.changes.push(FileChange::Removed);
                    let look = self.look(to, Action::Write);
                    let there = self.reading.add_path(look);
                    if there != Before::Absent {
                        self.reading.note("What is there now would be replaced.");
                    }
                }
                if let Some(new) = new {
                    self.show_written(to.as_deref().unwrap_or(&path), &before, &new);
                } else {
                    self.reading.note("The patch does not fit the file as it is now; below is what it would exchange.");
                    self.reading.changes.push(FileChange::Replaced);
                    for hunk in &hunks {
                        self.reading.content.push(content::diff(show(&path), &hunk.old(), &hunk.new_text()));
                    }
                }
            }
        }
    }

    fn command(&mut self, field: &str, folder: &str) {
        let text = match self.input.get(field) {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Array(words)) => match words.iter().map(Value::as_str).collect::<Option<Vec<_>>>() {
                Some(words) => as_shell_text(&words),
                None => {
                    self.reading.refuse(Some(malformed("The command's words are no texts.")));
                    return self.tool_alone(Action::Execute);
                }
            },
            Some(_) | None => {
                self.reading.refuse(Some(malformed(format!(
                    "The tool takes a command named “{field}”, and the input has none."
                ))));
                return self.tool_alone(Action::Execute);
            }
        };
        if text.trim().is_empty() {
            self.reading
                .refuse(Some(Refused { code: RefusedCode::EmptySubject, reason: "The command is empty.".to_owned() }));
        }
        self.folder_of_command(folder);
        if text.trim_end_matches('\n').contains('\n') {
            self.reading.flags.push(Flag::MultiLine);
        }
        self.reading.flags.push(Flag::Uninspectable);
        let why = "Placet does not take commands apart yet.";
        let subject = CommandSubject {
            action: Action::Execute,
            asked: text.clone(),
            inspectable: false,
            why_not: Some(why.to_owned()),
            shell: "bash".to_owned(),
            commands: Vec::new(),
        };
        self.reading.subjects.insert(0, Subject::Command(subject));
        self.reading.notes.insert(0, Vec::new());
        self.reading.content.insert(0, content::text(vec![Span::text("As sent")], "shell", &text));
    }

    /// A command that is to run elsewhere than the client stands.
    fn folder_of_command(&mut self, field: &str) {
        match self.input.get(field) {
            Some(Value::String(folder)) if !folder.is_empty() => {
                let look = self.look(folder, Action::List);
                self.reading.add_path(look);
                self.reading.note("The command runs in this folder.");
            }
            Some(Value::String(_) | Value::Null) | None => {}
            Some(_) => self.reading.refuse(Some(malformed(format!("“{field}” is no text.")))),
        }
    }
}

/// Words as a shell would read them back; of `bash -lc TEXT` the text itself, since that is what the shell gets.
fn as_shell_text(words: &[&str]) -> String {
    if let [shell, "-c" | "-lc" | "-cl", text] = words
        && matches!(shell.rsplit('/').next(), Some("bash" | "sh"))
    {
        return (*text).to_owned();
    }
    let plain =
        |word: &str| !word.is_empty() && word.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-./:,+@%".contains(&b));
    let quoted = words
        .iter()
        .map(|word| if plain(word) { (*word).to_owned() } else { format!("'{}'", word.replace('\'', "'\\''")) });
    quoted.collect::<Vec<_>>().join(" ")
}

/// A path's bytes in spans; here so that titles and subjects agree.
pub(crate) fn shown_path(path: &placet_domain::PathText) -> Vec<Span> {
    show_bytes(path.bytes())
}
