//! What each kind of tool does with its input.

use placet_domain::subject::ToolSubject;
use placet_domain::{Action, Refused, RefusedCode, Span, Subject};
use serde_json::{Map, Value};

use super::files::edit_of;
use super::{FileChange, Reading};
use crate::call::malformed;
use crate::content;
use crate::path::{self, NamedBy, PathLook, Place};
use crate::tools::Does;
use crate::url;

/// One call being read.
pub(super) struct Act<'a> {
    pub(super) reading: &'a mut Reading,
    pub(super) input: &'a Map<String, Value>,
    pub(super) place: &'a Place<'a>,
    pub(super) tool: &'a str,
}

impl<'a> Act<'a> {
    pub(super) fn read(&mut self, does: Does) {
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
                let edit = edit_of(self.input, old, new, all);
                self.edit_file(path, edit.map(|edit| vec![edit]));
            }
            Does::Edits { path, list, old, new, all } => {
                let edits = self.input.get(list).and_then(Value::as_array).and_then(|items| {
                    items.iter().map(|item| item.as_object().and_then(|item| edit_of(item, old, new, all))).collect()
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
                self.typed(text);
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
    pub(super) fn text(&mut self, field: &str) -> Option<&'a str> {
        if let Some(Value::String(text)) = self.input.get(field) {
            return Some(text);
        }
        self.reading.refuse(Some(malformed(format!("The tool takes a text named “{field}”, and the input has none."))));
        None
    }

    pub(super) fn tool_alone(&mut self, action: Action) {
        self.reading.add(Subject::Tool(ToolSubject { action, tool: self.tool.to_owned() }), Vec::new());
    }

    pub(super) fn look(&self, path: &str, action: Action) -> PathLook {
        path::look(path.as_bytes(), action, self.place, NamedBy::Tool)
    }

    pub(super) fn path(&mut self, field: &str, action: Action) {
        let Some(path) = self.text(field) else { return self.tool_alone(action) };
        let look = self.look(path, action);
        let before = self.reading.add_path(look);
        if action == Action::Delete {
            self.reading.changes.push(FileChange::Removed);
            self.show_removed(path, &before);
        }
    }

    pub(super) fn paths(&mut self, field: &str, action: Action) {
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
    pub(super) fn pattern_folder(&mut self, pattern: &str, action: Action) {
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

    pub(super) fn find(&mut self, action: Action, folder: &str, pattern: &str) {
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
        // A pattern can name a place of its own, also within braces.
        if let Some(Value::String(pattern)) = self.input.get(pattern)
            && ["{/", ",/", "{~", ",~", "{$", ",$"].iter().any(|other| pattern.contains(other))
        {
            self.reading.refuse(Some(Refused {
                code: RefusedCode::UnexpandedOrAmbiguous,
                reason: "The pattern names several places at once. Search one folder at a time.".to_owned(),
            }));
        }
        let Some(Value::String(pattern)) = self.input.get(pattern) else { return };
        if pattern.starts_with(['/', '~', '$']) {
            self.pattern_folder(pattern, action);
        } else if names_a_place(pattern) {
            // A name before the first wildcard may be a link or a secret (`link/*`, `.env`).
            self.pattern_folder(&format!("{}/{pattern}", root.trim_end_matches('/')), action);
        }
    }

    pub(super) fn url(&mut self, asked: &str) {
        self.reading.add_url(url::look(asked, Action::Fetch));
    }

    pub(super) fn urls_in(&mut self, field: &str) {
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
}

/// Whether a pattern, relative to a folder, names more than what lies directly or anywhere in it.
fn names_a_place(pattern: &str) -> bool {
    let before_wildcard = pattern.find(['*', '?', '[', '{']).map_or(pattern, |wild| &pattern[..wild]);
    before_wildcard.contains('/')
        || !pattern.is_empty() && before_wildcard == pattern
        || pattern.split(['/', '{', ',']).any(|name| name == "..")
}
