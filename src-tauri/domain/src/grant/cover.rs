//! Whether one grant covers one subject of a call. What the index finds is checked here again, whole.

use super::{Effect, Grant, On};
use crate::{
    Action, At, CallFacts, PathText, Session, State, Subject,
    policy::{command_matches, fold},
    subject::{CommandSubject, McpSubject, PathSubject, UrlSubject},
};

/// Whether an allow grant covers a subject; where it does not though it is near, why not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Covers {
    Yes,
    /// It is about something else.
    No,
    /// It is about this, but for one thing.
    Nearly(&'static str),
}

/// Reads an allow grant narrowly: every form of the subject, letter by letter.
pub(crate) fn allows(
    grant: &Grant,
    state: &State,
    call: &CallFacts,
    subject: &Subject,
    session: &Session,
    now: At,
) -> Covers {
    if grant.effect != Effect::Allow || !grant.who.is(session) {
        return Covers::No;
    }
    match on(grant, state, call, subject) {
        Covers::No => return Covers::No,
        nearly @ Covers::Nearly(_) => return nearly,
        Covers::Yes => {}
    }
    if grant.tool.as_ref().is_some_and(|tool| *tool != call.tool) {
        return Covers::Nearly("it is for another tool");
    }
    if !matches!(grant.scope.on, On::Exact(_) | On::Command(_)) && !strength_fits(grant, subject.action()) {
        return Covers::Nearly("it is for another kind of action");
    }
    if grant.answers_at(now) { Covers::Yes } else { Covers::Nearly("it has ended") }
}

/// Reads a deny grant widely: any form of the subject, without regard to case.
pub(crate) fn denies(grant: &Grant, call: &CallFacts, subject: &Subject, session: &Session, now: At) -> bool {
    grant.effect == Effect::Deny
        && grant.who.is(session)
        && grant.answers_at(now)
        && match &grant.tool {
            Some(tool) => *tool == call.tool,
            None => grant.action.strength() == subject.action().strength() || matches!(grant.scope.on, On::Exact(_)),
        }
        && on_widely(grant, call, subject)
}

/// A kind is one strength (reading, listing and searching are one); a tool may do what it did, or less.
fn strength_fits(grant: &Grant, action: Action) -> bool {
    if grant.tool.is_none() && !matches!(grant.scope.on, On::CommandPrefix(_)) {
        action.strength() == grant.action.strength()
    } else {
        action.strength() <= grant.action.strength()
    }
}

fn on(grant: &Grant, state: &State, call: &CallFacts, subject: &Subject) -> Covers {
    match (&grant.scope.on, subject) {
        (On::Exact(_), _) if grant.action_digest != Some(call.action_digest) => Covers::No,
        (On::Exact(_), Subject::Mcp(mcp)) => same_tool(grant, mcp),
        (On::Exact(_), _) => Covers::Yes,
        (On::Path(path), Subject::Path(subject)) if subject.normalized == *path => {
            if subject.resolved == *path {
                grantable_path(subject)
            } else {
                Covers::Nearly("the path now leads elsewhere")
            }
        }
        (On::Folder(folder), Subject::Path(subject)) if subject.normalized.is_within(folder) => {
            folder_covers(grant, state, folder, subject)
        }
        (On::Url(url), Subject::Url(subject)) if subject.normalized == *url => plain_url(subject, true),
        (On::UrlPrefix(prefix), Subject::Url(subject)) if begins_with(subject, prefix) => plain_url(subject, false),
        (On::Origin(origin), Subject::Url(subject)) if origin_of(subject) == *origin => plain_url(subject, false),
        (On::Command(_), _) => command_covers(grant, call, subject),
        (On::CommandPrefix(words), Subject::Command(command)) => prefix_covers(words, command),
        (On::McpTool(name), Subject::Mcp(mcp)) if *name == format!("{}/{}", mcp.server, mcp.tool) => {
            same_tool(grant, mcp)
        }
        (
            On::Path(_)
            | On::Folder(_)
            | On::Url(_)
            | On::UrlPrefix(_)
            | On::Origin(_)
            | On::CommandPrefix(_)
            | On::McpTool(_),
            _,
        ) => Covers::No,
    }
}

fn same_tool(grant: &Grant, mcp: &McpSubject) -> Covers {
    if grant.definition == mcp.definition { Covers::Yes } else { Covers::Nearly("the tool's definition changed") }
}

fn folder_covers(grant: &Grant, state: &State, folder: &PathText, subject: &PathSubject) -> Covers {
    if !subject.resolved.is_within(folder) {
        return Covers::Nearly("the path leads out of the folder through a link");
    }
    if subject.other_device {
        return Covers::Nearly("the path crosses to another file system");
    }
    // A root that was never looked at is not known to be the same.
    if grant.root.is_some() && state.roots.get(folder).copied() != grant.root {
        return Covers::Nearly("the folder was replaced");
    }
    grantable_path(subject)
}

fn grantable_path(subject: &PathSubject) -> Covers {
    if subject.protected {
        Covers::Nearly("the name is one that is answered once only")
    } else if subject.hard_linked && subject.action.strength() >= Action::Write.strength() {
        Covers::Nearly("the file has other names too")
    } else {
        Covers::Yes
    }
}

fn plain_url(subject: &UrlSubject, whole: bool) -> Covers {
    if subject.odd {
        Covers::Nearly("the address is spelled oddly")
    } else if subject.has_query && !whole {
        Covers::Nearly("the address carries a query")
    } else {
        Covers::Yes
    }
}

/// The same words, in the same folder, with the same effects: then everything the call touches is covered.
fn command_covers(grant: &Grant, call: &CallFacts, subject: &Subject) -> Covers {
    let On::Command(text) = &grant.scope.on else { return Covers::No };
    let same = call.subjects.iter().any(|s| matches!(s, Subject::Command(c) if c.asked == *text && c.inspectable));
    if !same {
        return Covers::No;
    }
    if grant.ran_in.as_ref() != Some(&call.cwd) {
        return Covers::Nearly("the command would run in another folder");
    }
    let is_command = matches!(subject, Subject::Command(_));
    let beside = || call.subjects.iter().filter(|s| !matches!(s, Subject::Command(_)));
    let stands = |s: &Subject| match s {
        Subject::Path(path) => grantable_path(path) == Covers::Yes,
        Subject::Url(url) => !url.odd,
        Subject::Command(_) | Subject::Mcp(_) | Subject::Tool(_) => true,
    };
    let same_effects =
        grant.beside.len() == beside().count() && beside().all(|s| grant.beside.iter().any(|b| alike(b, s)));
    if same_effects && (is_command || stands(subject)) {
        Covers::Yes
    } else {
        Covers::Nearly("the command would touch something else")
    }
}

/// Whether two subjects are the same thing and action, whatever became of its content meanwhile.
fn alike(a: &Subject, b: &Subject) -> bool {
    match (a, b) {
        (Subject::Path(a), Subject::Path(b)) => {
            (a.action, &a.normalized, &a.resolved) == (b.action, &b.normalized, &b.resolved)
        }
        (Subject::Url(a), Subject::Url(b)) => (a.action, &a.normalized) == (b.action, &b.normalized),
        (a, b) => a == b,
    }
}

fn prefix_covers(words: &[String], command: &CommandSubject) -> Covers {
    let begins = command.commands.iter().any(|part| part.argv.starts_with(words));
    match command.commands.as_slice() {
        _ if !begins => Covers::No,
        [part] if command.inspectable && part.prefix_grantable => Covers::Yes,
        _ => Covers::Nearly("the command does more than the words say"),
    }
}

fn on_widely(grant: &Grant, call: &CallFacts, subject: &Subject) -> bool {
    match (&grant.scope.on, subject) {
        (On::Exact(_), _) => grant.action_digest == Some(call.action_digest),
        (On::Path(path), Subject::Path(subject)) => {
            let wanted = fold(&path.lossy());
            forms(subject).contains(&wanted)
        }
        (On::Folder(folder), Subject::Path(subject)) => {
            let folder = PathText::from(fold(&folder.lossy()).as_str());
            forms(subject).iter().any(|form| PathText::from(form.as_str()).is_within(&folder))
        }
        (On::Url(url), Subject::Url(subject)) => subject.normalized == *url,
        (On::UrlPrefix(prefix), Subject::Url(subject)) => begins_with(subject, prefix),
        (On::Origin(origin), Subject::Url(subject)) => origin_of(subject) == *origin,
        (On::Command(text), Subject::Command(command)) => command.asked == *text,
        (On::CommandPrefix(words), Subject::Command(command)) => command_matches(command, words),
        (On::McpTool(name), Subject::Mcp(mcp)) => fold(name) == fold(&format!("{}/{}", mcp.server, mcp.tool)),
        (
            On::Path(_)
            | On::Folder(_)
            | On::Url(_)
            | On::UrlPrefix(_)
            | On::Origin(_)
            | On::Command(_)
            | On::CommandPrefix(_)
            | On::McpTool(_),
            _,
        ) => false,
    }
}

/// The forms of a path that a denial looks at, folded.
pub(super) fn forms(subject: &PathSubject) -> [String; 3] {
    [&subject.asked, &subject.normalized, &subject.resolved].map(|form| fold(&form.lossy()))
}

/// `scheme://host`, with the port where it is not the scheme's own.
pub(super) fn origin_of(url: &UrlSubject) -> String {
    let host = if url.host.contains(':') { format!("[{}]", url.host) } else { url.host.clone() };
    let usual = match url.scheme.as_str() {
        "http" => 80,
        "https" => 443,
        _ => 0,
    };
    if url.port == usual { format!("{}://{host}", url.scheme) } else { format!("{}://{host}:{}", url.scheme, url.port) }
}

/// By whole segments of the path.
fn begins_with(url: &UrlSubject, prefix: &str) -> bool {
    let address = format!("{}{}", origin_of(url), url.path);
    let prefix = prefix.trim_end_matches('/');
    address.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
