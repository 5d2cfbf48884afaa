//! Commands: taken apart, with every file and host they touch as a subject of its own.

use placet_domain::card::{ShownCommand, ShownEffect};
use placet_domain::subject::UrlSubject;
use placet_domain::{Action, Flag, OWN_COMMANDS, PathText, Refused, RefusedCode, Span, Subject};
use serde_json::{Value, json};

use super::act::Act;
use super::git;
use crate::call::malformed;
use crate::command::{Part, Shell, understand};
use crate::content;
use crate::file::{Before, before};
use crate::path::walk::{Leaf, walk};
use crate::path::{self, NamedBy};
use crate::show::{show, show_bytes, show_marked};
use crate::url;

impl Act<'_> {
    pub(super) fn command(&mut self, field: &str, folder: &str) {
        let Some(text) = self.command_text(field) else { return self.tool_alone(Action::Execute) };
        if self.input.get("is_input") == Some(&Value::Bool(true)) {
            return self.typed(&text);
        }
        if text.trim().is_empty() {
            self.reading.refuse(Some(Refused {
                code: RefusedCode::EmptySubject,
                reason: "The command is empty. Name one.".to_owned(),
            }));
        }
        if !self.place.cwd.bytes().starts_with(b"/") {
            self.reading.refuse(Some(Refused {
                code: RefusedCode::UnexpandedOrAmbiguous,
                reason: "The client did not say in which folder the command runs.".to_owned(),
            }));
        }
        let folder = self.folder_of_command(folder);
        let shell = Shell {
            cwd: folder.as_ref().map_or_else(|| self.place.cwd.clone(), |(path, _)| path.clone()),
            name: if self.tool == "PowerShell" { "powershell" } else { "bash" }.to_owned(),
            path: self.place.known.path_folders.clone(),
        };
        let mut understood = understand(&text, &shell, &self.place.known.programs);
        git::mistrust(&mut understood, &shell.cwd);
        self.reading.flags.extend(&understood.flags);
        self.reading.once_only |= understood.budget_exceeded;
        self.reading.add(Subject::Command(understood.subject(&text, &shell)), Vec::new());
        if let Some((_, look)) = folder {
            self.reading.add_path(look);
            self.reading.note("The command runs in this folder.");
        }
        self.reading.content.push(content::text(vec![Span::text("As sent")], "shell", &text));
        for part in &understood.commands {
            self.part(part, Some(&text));
        }
    }

    pub(super) fn typed(&mut self, text: &str) {
        self.tool_alone(Action::Execute);
        self.reading.content.push(content::text(vec![Span::text("What would be typed")], "text", text));
    }

    fn command_text(&mut self, field: &str) -> Option<String> {
        let reason = match self.input.get(field) {
            Some(Value::String(text)) => return Some(text.clone()),
            Some(Value::Array(words)) => match words.iter().map(Value::as_str).collect::<Option<Vec<_>>>() {
                Some(words) => return Some(as_shell_text(&words)),
                None => "The command's words are no texts.".to_owned(),
            },
            Some(_) | None => format!("The tool takes a command named “{field}”, and the input has none."),
        };
        self.reading.refuse(Some(malformed(reason)));
        None
    }

    /// Where a command is to run, if elsewhere than the client stands.
    fn folder_of_command(&mut self, field: &str) -> Option<(PathText, path::PathLook)> {
        match self.input.get(field) {
            Some(Value::String(folder)) if !folder.is_empty() => {
                let look = self.look(folder, Action::List);
                Some((look.subject.resolved.clone(), look))
            }
            Some(Value::String(_) | Value::Null) | None => None,
            Some(_) => {
                self.reading.refuse(Some(malformed(format!("“{field}” is no text."))));
                None
            }
        }
    }

    /// One simple command and those within it. `source` is the text in which it stands.
    fn part(&mut self, part: &Part, source: Option<&str>) {
        self.protect_ourselves(part);
        self.bind_executable(part);
        let mut effects = Vec::new();
        let reads = if matches!(part.effect, Action::Search | Action::List) { part.effect } else { Action::Read };
        for (action, verb, paths) in [
            (reads, "reads", &part.reads),
            (Action::Write, "writes", &part.writes),
            (Action::Delete, "deletes", &part.deletes),
        ] {
            for path in paths {
                effects.push(ShownEffect { verb: verb.to_owned(), target: show_bytes(path.bytes()) });
                self.touch(path, action, part);
            }
        }
        for operand in &part.operands {
            effects.push(ShownEffect { verb: "runs".to_owned(), target: show_bytes(operand.bytes()) });
            self.bind_operand(operand);
            self.touch(operand, Action::Read, part);
        }
        let reaches = if part.effect == Action::Send { Action::Send } else { Action::Fetch };
        for address in &part.urls {
            effects.push(ShownEffect { verb: "reaches".to_owned(), target: show(address) });
            self.reach(url::look(address, reaches));
        }
        for host in &part.hosts {
            effects.push(ShownEffect { verb: "reaches".to_owned(), target: show(host) });
            self.reach(url::look_host(host, reaches));
        }
        if let Some(document) = part.heredoc.as_ref().filter(|document| document.written_to.is_none()) {
            self.reading.content.push(content::text(vec![Span::text("Fed to the command")], "text", &document.text));
        }
        self.reading.commands.push(ShownCommand {
            operator: part.operator.clone(),
            words: words(part, source),
            effect: part.effect,
            effects,
            why_not: part.why_not.as_ref().map(|why| why.sentence.clone()).or_else(|| part.not_known.clone()),
        });
        for inner in &part.inner {
            self.part(inner, None);
        }
    }

    /// A path that a command names, once for each thing done to it.
    fn touch(&mut self, path: &PathText, action: Action, part: &Part) {
        let known =
            self.reading.subjects.iter().any(
                |subject| matches!(subject, Subject::Path(known) if known.action == action && known.asked == *path),
            );
        if known {
            return;
        }
        let look = path::look(path.bytes(), action, self.place, NamedBy::Command);
        let before = self.reading.add_path(look);
        if let Some(document) =
            part.heredoc.as_ref().filter(|d| action == Action::Write && d.written_to.as_ref() == Some(path))
        {
            let text = match &before {
                Before::File { bytes, .. } if document.appended => {
                    format!("{}{}", content::as_text(bytes).unwrap_or_default(), document.text)
                }
                Before::Absent
                | Before::File { .. }
                | Before::TooLarge { .. }
                | Before::Folder
                | Before::Link { .. }
                | Before::Device
                | Before::Unreadable => document.text.clone(),
            };
            self.show_written(&path.lossy(), &before, &text);
        }
    }

    fn reach(&mut self, look: url::UrlLook) {
        let known = self
            .reading
            .subjects
            .iter()
            .any(|subject| matches!(subject, Subject::Url(known) if is_same(known, &look.subject)));
        if known {
            return;
        }
        self.reading.add_url(look);
    }

    /// The file that would run: its identity is part of the digest.
    fn bind_executable(&mut self, part: &Part) {
        let Some(exe) = &part.exe else { return };
        let Ok(found) = walk(exe.bytes(), Leaf::Follow) else { return };
        let identity = found.entry.map(|entry| format!("{}:{}", entry.device, entry.inode));
        let bound = json!({"program": exe, "resolved": PathText::from_bytes(found.resolved), "entry": identity});
        if !self.reading.operands.contains(&bound) {
            self.reading.operands.push(bound);
        }
    }

    /// A script or program file that would run: its content is part of the digest.
    fn bind_operand(&mut self, operand: &PathText) {
        let state = match walk(operand.bytes(), Leaf::Follow).map(|found| before(&found)) {
            Ok(Before::File { sha256, .. }) => json!(sha256),
            Ok(Before::Absent) => Value::Null,
            Ok(
                Before::TooLarge { .. } | Before::Folder | Before::Link { .. } | Before::Device | Before::Unreadable,
            )
            | Err(_) => {
                // What cannot be hashed can change unseen.
                self.reading.once_only = true;
                json!("unknown")
            }
        };
        self.reading.operands.push(json!({"file": operand, "sha256": state}));
    }

    /// An agent may not start a gate, take one over or put its hook out of a client's settings.
    fn protect_ourselves(&mut self, part: &Part) {
        let program = part.argv.first().and_then(|word| word.rsplit('/').next()).unwrap_or_default();
        // Read more widely than the rule does: the last of its words may stand anywhere behind the program.
        let is_ours = OWN_COMMANDS.iter().any(|words| match words {
            [name] => *name == program,
            [name, .., last] => *name == program && part.argv.iter().skip(1).any(|word| word == last),
            [] => false,
        });
        if is_ours {
            self.reading.refuse(Some(Refused {
                code: RefusedCode::SelfProtection,
                reason:
                    "Agents may not start Placet, change how it is installed, replace its history or touch its keys."
                        .to_owned(),
            }));
            self.reading.flags.push(Flag::Protected);
        }
    }
}

fn is_same(one: &UrlSubject, other: &UrlSubject) -> bool {
    one.action == other.action && one.asked == other.asked
}

/// The words as they stand in the source, the place that cannot be inspected marked; of a command within another, its
/// words quoted.
fn words(part: &Part, source: Option<&str>) -> Vec<Span> {
    let Some(text) = source.and_then(|text| text.get(part.source.clone())) else {
        let words: Vec<&str> = part.argv.iter().map(String::as_str).collect();
        return show(&as_shell_text(&words));
    };
    let Some(why) = &part.why_not else { return show(text) };
    let within = |at: usize| at.clamp(part.source.start, part.source.end) - part.source.start;
    let (start, end) = (within(why.range.start), within(why.range.end));
    let is_all = (start, end) == (0, text.len());
    match (text.get(..start), text.get(start..end), text.get(end..)) {
        (Some(before), Some(odd), Some(after)) if !is_all => {
            [show(before), show_marked(odd, true), show(after)].concat()
        }
        _ => show(text),
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
