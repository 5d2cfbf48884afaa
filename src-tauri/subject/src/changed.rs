//! What changed between two looks at the same call, in sentences: why an approval is void.

use placet_domain::subject::PathSubject;
use placet_domain::{CallFacts, Subject};

/// Says what changed; empty where nothing did.
pub fn changed(before: &CallFacts, after: &CallFacts) -> Vec<String> {
    if before.digest == after.digest && before.refused == after.refused {
        return Vec::new();
    }
    let mut sentences = Vec::new();
    if before.tool != after.tool {
        sentences.push("The call names another tool.".to_owned());
    }
    if before.cwd != after.cwd {
        sentences.push("The call comes from another folder.".to_owned());
    }
    if before.subjects.len() == after.subjects.len() {
        for pair in before.subjects.iter().zip(&after.subjects) {
            match pair {
                (Subject::Path(one), Subject::Path(other)) => sentences.extend(path_changed(one, other)),
                (one, other) if one != other => sentences.push("The call acts on something else.".to_owned()),
                _ => {}
            }
        }
    } else {
        sentences.push("The call acts on something else.".to_owned());
    }
    match (&before.refused, &after.refused) {
        (None, Some(refused)) => sentences.push(format!("It can no longer be allowed: {}", refused.reason)),
        (Some(_), None) => sentences.push("What spoke against it before is gone.".to_owned()),
        (Some(_), Some(_)) | (None, None) => {}
    }
    if sentences.is_empty() {
        sentences.push(rest(before, after));
    }
    sentences.dedup();
    sentences
}

/// Digests differ though tool and subjects are the same: the input, or what a file holds.
fn rest(before: &CallFacts, after: &CallFacts) -> String {
    if before.raw_sha256 != after.raw_sha256 {
        return "The call's input is another.".to_owned();
    }
    let mut written = after.subjects.iter().filter_map(|subject| match subject {
        Subject::Path(path) if path.action.strength() >= placet_domain::Action::Write.strength() => Some(path),
        Subject::Path(_) | Subject::Url(_) | Subject::Command(_) | Subject::Mcp(_) | Subject::Tool(_) => None,
    });
    match (written.next(), written.next()) {
        (Some(path), None) => format!("The file {} was edited.", name(path)),
        (Some(_), Some(_)) => "One of the files was edited.".to_owned(),
        (None, _) => "A file that would be run or touched was changed.".to_owned(),
    }
}

fn path_changed(before: &PathSubject, after: &PathSubject) -> Option<String> {
    let name = name(after);
    if before.resolved != after.resolved {
        return Some(format!("The path leads elsewhere now: {name}."));
    }
    match (before.exists, after.exists) {
        (true, false) => Some(format!("The file {name} is gone.")),
        (false, true) => Some(format!("The file {name} is there now.")),
        (true, true) if before.inode != after.inode => Some(format!("The file {name} was replaced.")),
        (true, true) if before.hard_linked != after.hard_linked => {
            Some(format!("The file {name} has other names now."))
        }
        (true, true) | (false, false) => None,
    }
}

/// A path in a sentence: what cannot be drawn is escaped as in the history's texts.
fn name(path: &PathSubject) -> String {
    let mut text = String::new();
    for span in crate::show_bytes(path.resolved.bytes()) {
        match span {
            placet_domain::Span::Text { text: plain, .. } => text.push_str(&plain),
            placet_domain::Span::Escape { escape, count, .. } => {
                let times = count.map_or(String::new(), |n| format!("\u{D7}{n}"));
                text.extend(["[", &escape, &times, "]"]);
            }
        }
    }
    text
}
