//! The card: everything a person is shown of a call, in Placet's words where it speaks and in spans where the agent does.

use placet_domain::card::{Card, Reach, ShownSubject, Undo};
use placet_domain::subject::{PathSubject, UrlSubject};
use placet_domain::{Action, Span, Subject};

use crate::call::is_uninspectable;
use crate::difference::{cut, mark_addresses, mark_paths, spans};
use crate::reading::{FileChange, Reading};
use crate::show::{show, show_bytes};

/// Makes the card.
pub(crate) fn card(reading: &Reading) -> Card {
    let subjects = reading
        .subjects
        .iter()
        .zip(&reading.notes)
        .filter_map(|(subject, notes)| shown_subject(subject, notes))
        .collect();
    Card {
        headline: headline(reading),
        shown: reading.subjects.first().map(primary).unwrap_or_default(),
        subjects,
        commands: reading.commands.clone(),
        content: reading.content.clone(),
        says: reading.says.clone(),
        undo: undo(reading),
        reach: reach(reading),
        grave: is_grave(reading),
    }
}

/// The primary subject as asked.
fn primary(subject: &Subject) -> Vec<Span> {
    match subject {
        Subject::Path(path) => show_bytes(path.asked.bytes()),
        Subject::Url(url) => show(&url.asked),
        Subject::Command(command) => show(&command.asked),
        Subject::Mcp(mcp) => show(&format!("{} \u{B7} {}", mcp.server, mcp.tool)),
        Subject::Tool(tool) => show(&tool.tool),
    }
}

fn shown_subject(subject: &Subject, notes: &[String]) -> Option<ShownSubject> {
    let shown = match subject {
        Subject::Path(path) => shown_path(path, notes),
        Subject::Url(url) => shown_url(url, notes),
        Subject::Mcp(mcp) => ShownSubject {
            action: mcp.action,
            kind: "mcp".to_owned(),
            lead: show(&mcp.server),
            main: show(&mcp.tool),
            rest: Vec::new(),
            asked: Vec::new(),
            notes: notes.to_vec(),
        },
        Subject::Tool(tool) => ShownSubject {
            action: tool.action,
            kind: "tool".to_owned(),
            lead: Vec::new(),
            main: show(&tool.tool),
            rest: Vec::new(),
            asked: Vec::new(),
            notes: notes.to_vec(),
        },
        // Commands have lines of their own.
        Subject::Command(_) => return None,
    };
    Some(shown)
}

fn shown_path(path: &PathSubject, notes: &[String]) -> ShownSubject {
    let mut all = Vec::new();
    let differs = path.normalized != path.resolved || is_reworded(path);
    let marked = mark_paths(path.asked.bytes(), path.normalized.bytes(), path.resolved.bytes());
    if path.via_symlink {
        all.push("The path goes through a symbolic link; the upper one is what is really touched.".to_owned());
    } else if path.asked.bytes().split(|b| *b == b'/').any(|name| name == b"..") {
        all.push("The path as written climbs with “..”; the upper one is where it ends.".to_owned());
    }
    if !path.inside_workspace {
        all.push("It is outside the workspace.".to_owned());
    }
    all.extend(notes.iter().cloned());
    ShownSubject {
        action: path.action,
        kind: "path".to_owned(),
        lead: marked.lead,
        main: marked.main,
        rest: Vec::new(),
        asked: if differs { marked.asked } else { Vec::new() },
        notes: all,
    }
}

/// Whether the path as written is more than another spelling of where it stands: not merely relative.
fn is_reworded(path: &PathSubject) -> bool {
    path.asked
        .bytes()
        .split(|b| *b == b'/')
        .enumerate()
        .any(|(index, name)| name == b".." || index > 0 && matches!(name, b"." | b""))
}

fn shown_url(url: &UrlSubject, notes: &[String]) -> ShownSubject {
    let mut all = notes.to_vec();
    if url.host.is_empty() {
        return ShownSubject {
            action: url.action,
            kind: "url".to_owned(),
            lead: Vec::new(),
            main: show(&url.asked),
            rest: Vec::new(),
            asked: Vec::new(),
            notes: all,
        };
    }
    if url.odd && all.is_empty() {
        all.push("The address is spelled in an unusual way; above is what it is read as.".to_owned());
    }
    let differs = url.normalized != url.asked && url.normalized.strip_suffix('/') != Some(url.asked.as_str());
    let (really, asked) = if differs {
        mark_addresses(&url.normalized, &url.asked)
    } else {
        (vec![(url.normalized.clone(), false)], Vec::new())
    };
    let (from, to) = emphasised(url);
    let lead = cut(&really, 0, from);
    let main = cut(&really, from, to);
    let rest = cut(&really, to, url.normalized.len());
    ShownSubject { action: url.action, kind: "url".to_owned(), lead, main, rest, asked: spans(&asked), notes: all }
}

/// The part of the normalized address to look at, as byte offsets: what somebody registered, or else the whole host.
fn emphasised(url: &UrlSubject) -> (usize, usize) {
    let start = url.normalized.find("://").map_or(0, |at| at + 3);
    let after = &url.normalized[start..];
    let authority = &after[..after.find(['/', '?', '#']).unwrap_or(after.len())];
    let host = match authority.rfind(':').filter(|colon| !authority[*colon..].contains(']')) {
        Some(colon) => &authority[..colon],
        None => authority,
    };
    let domain = url.registrable_domain.as_deref().filter(|domain| host.ends_with(domain)).unwrap_or(host);
    (start + host.len() - domain.len(), start + host.len())
}

fn headline(reading: &Reading) -> String {
    let count = reading.subjects.len();
    match reading.subjects.first() {
        None => "nothing that could be read".to_owned(),
        Some(Subject::Command(command)) => match (command.inspectable, command.commands.len()) {
            (false, 0 | 1) => "a command that cannot be inspected".to_owned(),
            (false, n) => {
                let hidden = command.commands.iter().filter(|c| c.why_not.is_some()).count();
                let which = if hidden == 1 {
                    "one of which cannot be inspected".to_owned()
                } else {
                    format!("{hidden} of which cannot be inspected")
                };
                if hidden == 0 {
                    format!("{n} commands that cannot be inspected")
                } else {
                    format!("{n} commands, {which}")
                }
            }
            (true, 1) => "one command".to_owned(),
            (true, n) => format!("{n} commands"),
        },
        Some(Subject::Url(url)) => {
            let data = if url.has_query { ", with data in the address" } else { "" };
            if count == 1 { format!("one address{data}") } else { format!("{count} addresses") }
        }
        Some(Subject::Mcp(_)) => "one tool of an MCP server".to_owned(),
        Some(Subject::Tool(_)) if reading.is_unknown => "a tool that Placet does not know".to_owned(),
        Some(Subject::Tool(tool)) => match tool.action {
            Action::None => "nothing outside the client".to_owned(),
            Action::Fetch => "what a search on the web finds; its words leave this machine".to_owned(),
            Action::Execute => "what is typed into a running command".to_owned(),
            Action::Search
            | Action::List
            | Action::Read
            | Action::Write
            | Action::Delete
            | Action::Send
            | Action::Other => "one tool".to_owned(),
        },
        Some(Subject::Path(path)) => headline_of_paths(reading, path, count),
    }
}

fn headline_of_paths(reading: &Reading, path: &PathSubject, count: usize) -> String {
    let what = if path.is_folder { "folder" } else { "file" };
    let plural = |n: usize, noun: &str| if n == 1 { format!("1 {noun}") } else { format!("{n} {noun}s") };
    match (path.action, reading.changes.as_slice()) {
        (Action::Write, [FileChange::Made(lines)]) => format!("one new file: {}", plural(*lines, "line")),
        (Action::Write, [FileChange::Changed(added, removed)]) => {
            format!("to one file: {} added, {removed} removed", plural(*added, "line"))
        }
        (Action::Write | Action::Delete, [_, _, ..]) => {
            let count_of =
                |wanted: fn(&FileChange) -> bool| reading.changes.iter().filter(|change| wanted(change)).count();
            let parts = [
                (count_of(|c| matches!(c, FileChange::Changed(..) | FileChange::Replaced)), "changed"),
                (count_of(|c| matches!(c, FileChange::Made(_))), "new"),
                (count_of(|c| matches!(c, FileChange::Removed)), "removed"),
            ];
            let parts: Vec<_> = parts.iter().filter(|(n, _)| *n > 0).map(|(n, word)| format!("{n} {word}")).collect();
            format!("{count} files: {}", parts.join(", "))
        }
        (Action::Write, _) => "to one file".to_owned(),
        (Action::Search | Action::List, _) if count == 1 => {
            format!("in one {}", if path.exists { what } else { "folder" })
        }
        _ if count > 1 => format!("{count} paths"),
        _ => format!("one {what}"),
    }
}

fn undo(reading: &Reading) -> Undo {
    let worst = |a: Undo, b: Undo| match (a, b) {
        (Undo::No, _) | (_, Undo::No) => Undo::No,
        (Undo::WithEffort, _) | (_, Undo::WithEffort) => Undo::WithEffort,
        (Undo::Yes, Undo::Yes) => Undo::Yes,
    };
    reading.subjects.iter().map(undo_of).fold(Undo::Yes, worst)
}

fn undo_of(subject: &Subject) -> Undo {
    match (subject.action(), subject) {
        (Action::None | Action::Search | Action::List | Action::Read, _) => Undo::Yes,
        // What was sent along cannot be called back.
        (Action::Fetch, Subject::Url(url)) if !url.has_query => Undo::Yes,
        (Action::Write, Subject::Path(path)) if !path.exists => Undo::Yes,
        (Action::Write, _) => Undo::WithEffort,
        (Action::Delete, Subject::Path(path)) if path.inside_workspace => Undo::WithEffort,
        (Action::Execute, Subject::Command(command)) if command.inspectable => Undo::WithEffort,
        (Action::Fetch | Action::Delete | Action::Execute | Action::Send | Action::Other, _) => Undo::No,
    }
}

fn reach(reading: &Reading) -> Reach {
    let farthest = reading.subjects.iter().map(|subject| match subject {
        Subject::Path(path) if !path.inside_workspace => 2,
        Subject::Path(path) if path.is_folder => 1,
        Subject::Path(_) => 0,
        Subject::Command(command) if !command.inspectable => 3,
        Subject::Command(command) => match command.action {
            Action::None | Action::Search | Action::List | Action::Read | Action::Write | Action::Delete => 0,
            Action::Execute => 2,
            Action::Fetch | Action::Send | Action::Other => 3,
        },
        Subject::Tool(tool) if tool.action == Action::None => 0,
        Subject::Url(_) | Subject::Mcp(_) | Subject::Tool(_) => 3,
    });
    match farthest.max() {
        Some(0) if reading.subjects.len() == 1 => Reach::ThisFile,
        Some(0 | 1) | None => Reach::ThisProject,
        Some(2) => Reach::ThisMachine,
        Some(_) => Reach::Outside,
    }
}

fn is_grave(reading: &Reading) -> bool {
    is_uninspectable(&reading.subjects)
        || reading.subjects.iter().any(|subject| match subject {
            Subject::Path(path) => path.protected || path.action == Action::Delete && !path.inside_workspace,
            Subject::Url(_) | Subject::Command(_) | Subject::Mcp(_) | Subject::Tool(_) => {
                subject.action() == Action::Send
            }
        })
}
