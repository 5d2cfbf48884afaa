//! Files made, changed and removed: what a person must read of it.

use placet_domain::card::Content;
use placet_domain::{Action, Flag, Refused, RefusedCode, Span};
use serde_json::{Map, Value};

use super::FileChange;
use super::act::Act;
use crate::call::malformed;
use crate::content;
use crate::edit::{Edit, apply};
use crate::file::Before;
use crate::patch;
use crate::show::show;

impl Act<'_> {
    pub(super) fn write(&mut self, path: &str, text: &str) {
        let Some(path) = self.text(path) else { return self.tool_alone(Action::Write) };
        let look = self.look(path, Action::Write);
        let before = self.reading.add_path(look);
        self.show_written(path, &before, text);
    }

    pub(super) fn show_written(&mut self, path: &str, before: &Before, text: &str) {
        let title = show(path);
        match before {
            Before::File { bytes, .. } => self.show_replaced(path, bytes, text),
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

    fn show_replaced(&mut self, path: &str, bytes: &[u8], text: &str) {
        let title = show(path);
        let Some(old) = content::as_text(bytes) else {
            self.reading.flags.push(Flag::Binary);
            self.reading.changes.push(FileChange::Replaced);
            self.reading.note("The file as it is now is no text; it would be replaced by the text below.");
            self.reading.content.push(content::binary(title.clone(), bytes));
            self.reading.content.push(content::text(title, &content::language(path.as_bytes()), text));
            return;
        };
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

    pub(super) fn show_removed(&mut self, path: &str, before: &Before) {
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

    pub(super) fn edit_file(&mut self, path: &str, edits: Option<Vec<Edit>>) {
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
        if let Some(applied) = applied.filter(|applied| applied.is_certain) {
            return self.show_written(path, &before, &applied.text);
        }
        if old.is_none() {
            self.reading.note("The file as it is now cannot be shown; below are the texts that would be exchanged.");
        }
        self.reading.changes.push(FileChange::Replaced);
        for edit in &edits {
            self.reading.content.push(content::diff(show(path), &edit.old, &edit.new));
        }
    }

    pub(super) fn notebook(&mut self, path: &str, source: &str) {
        self.path(path, Action::Write);
        self.reading.changes.push(FileChange::Replaced);
        if let Some(Value::String(text)) = self.input.get(source) {
            self.reading.content.push(content::text(vec![Span::text("The cell's new text")], "text", text));
        }
    }

    pub(super) fn editor(&mut self, path: &str) {
        let command = self.input.get("command").and_then(Value::as_str).unwrap_or_default();
        match command {
            "view" => self.path(path, Action::Read),
            "create" => {
                let Some(text) = self.text("file_text") else { return self.path(path, Action::Write) };
                self.write(path, text);
            }
            "str_replace" => {
                let edit = edit_of(self.input, "old_str", "new_str", "");
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

    pub(super) fn patch(&mut self, field: &str) {
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

    pub(super) fn patch_file(&mut self, file: patch::File) {
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
}

/// One exchange from a tool's fields; nothing where a text is missing. A missing new text takes the old one out.
pub(super) fn edit_of(fields: &Map<String, Value>, old: &str, new: &str, all: &str) -> Option<Edit> {
    let text = |field: &str| fields.get(field).and_then(Value::as_str).map(str::to_owned);
    let all = fields.get(all).is_some_and(|value| value == &Value::Bool(true));
    Some(Edit { old: text(old)?, new: text(new).or_else(|| (!fields.contains_key(new)).then(String::new))?, all })
}
