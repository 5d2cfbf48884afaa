//! Commands: taken apart, with every file and host they touch as a subject of its own.

use placet_domain::subject::CommandSubject;
use placet_domain::{Action, Flag, Refused, RefusedCode, Span, Subject};
use serde_json::Value;

use super::act::Act;
use crate::call::malformed;
use crate::content;

impl Act<'_> {
    pub(super) fn command(&mut self, field: &str, folder: &str) {
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
    pub(super) fn folder_of_command(&mut self, field: &str) {
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
