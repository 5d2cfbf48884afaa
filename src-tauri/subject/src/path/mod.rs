//! Paths: as written, as they read, and where they really lead.

mod names;
mod protected;
pub(crate) mod walk;

use placet_domain::subject::PathSubject;
use placet_domain::{Action, Flag, PathText, Refused, RefusedCode};
use rustix::fs::FileType;

pub(crate) use self::names::name_flags;
use self::walk::{Entry, Found, Leaf, Stuck, walk};
use crate::Known;

/// Bytes that Linux takes for one path.
const MAX_PATH: usize = 4096;

/// From where a call looks at the disk: the folder its client says it is in, and its workspace. Never our own.
pub(crate) struct Place<'a> {
    pub(crate) cwd: &'a PathText,
    pub(crate) known: &'a Known,
    workspace: Vec<PathText>,
    workspace_mount: Option<u64>,
    /// As given and resolved: a home or a data folder behind a link has two names.
    homes: Vec<PathText>,
    own: Vec<PathText>,
}

impl<'a> Place<'a> {
    pub(crate) fn new(cwd: &'a PathText, workspace: &PathText, known: &'a Known) -> Self {
        let found = is_absolute(workspace.bytes()).then(|| walk(workspace.bytes(), Leaf::Follow).ok()).flatten();
        let mount = found.as_ref().and_then(|f| f.entry).map(|e| e.mount);
        let mut forms: Vec<PathText> = Vec::new();
        if is_absolute(workspace.bytes()) {
            forms.push(normalize(workspace.bytes()));
            forms.extend(found.map(|f| PathText::from_bytes(f.resolved)));
        }
        Self {
            cwd,
            known,
            workspace: forms,
            workspace_mount: mount,
            homes: both_forms(std::slice::from_ref(&known.home)),
            own: both_forms(&known.own),
        }
    }

    /// Whether a path lies in the workspace, in the spelling the client gave or the resolved one.
    fn is_inside(&self, path: &PathText) -> bool {
        self.workspace.iter().any(|root| path.is_within(root))
    }

    /// Whether a resolved path lies in the resolved workspace.
    fn is_really_inside(&self, path: &PathText) -> bool {
        self.workspace.last().is_some_and(|root| path.is_within(root))
    }
}

/// Absolute paths as given and, where that differs, as they resolve now.
fn both_forms(paths: &[PathText]) -> Vec<PathText> {
    let mut forms: Vec<PathText> = Vec::new();
    for path in paths.iter().filter(|path| is_absolute(path.bytes())) {
        let resolved = walk(path.bytes(), Leaf::Follow).ok().map(|found| PathText::from_bytes(found.resolved));
        for form in std::iter::once(normalize(path.bytes())).chain(resolved) {
            if !forms.contains(&form) {
                forms.push(form);
            }
        }
    }
    forms
}

/// What was found out about one path.
pub(crate) struct PathLook {
    pub(crate) subject: PathSubject,
    pub(crate) refused: Option<Refused>,
    pub(crate) flags: Vec<Flag>,
    /// What a person should know of it, in sentences.
    pub(crate) notes: Vec<String>,
    /// What stands there, where the walk came to its end.
    pub(crate) found: Option<Found>,
}

/// Who names a path: a file tool, or the words of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NamedBy {
    /// The tool takes the path literally; what it cannot mean is refused.
    Tool,
    /// A command's word; what cannot be told is never granted, but still asked.
    Command,
}

/// Looks at a path that a call names.
pub(crate) fn look(asked: &[u8], action: Action, place: &Place<'_>, by: NamedBy) -> PathLook {
    if let Err(refused) = spelling(asked, place) {
        return not_looked_at(unresolved(asked, action, PathText::from_bytes(asked)), refused, by);
    }
    let absolute = absolute(asked, place.cwd);
    let normalized = normalize(&absolute);
    let leaf = if action == Action::Delete { Leaf::Keep } else { Leaf::Follow };
    let mut look = match magic(&normalized).map_or_else(|| walk(&absolute, leaf), Err) {
        Ok(found) => found_look(asked, action, normalized, found, place),
        Err(stuck) => stuck_look(asked, action, normalized, &stuck, by),
    };
    if asked.split(|b| *b == b'/').any(|name| name == b"..") {
        look.flags.push(Flag::Dotdot);
    }
    judge_names(&mut look, place);
    look
}

/// What cannot be a path, or cannot be told which.
fn spelling(asked: &[u8], place: &Place<'_>) -> Result<(), Refused> {
    let refuse = |code, reason: &str| Err(Refused { code, reason: reason.to_owned() });
    if asked.is_empty() {
        return refuse(RefusedCode::EmptySubject, "The call names no path. Name one.");
    }
    if asked.contains(&0) {
        return refuse(RefusedCode::PathMalformed, "The path has a null byte; it cannot name a file.");
    }
    if asked.len() > MAX_PATH {
        return refuse(RefusedCode::PathMalformed, "The path is longer than 4,096 bytes.");
    }
    if matches!(asked[0], b'~' | b'$' | b'`') || is_percent_variable(asked) {
        return refuse(
            RefusedCode::UnexpandedOrAmbiguous,
            "The path begins with “~”, “$”, “`” or “%”, which some tools replace and others take literally. Write the absolute path.",
        );
    }
    if is_address(asked) {
        return refuse(
            RefusedCode::UnexpandedOrAmbiguous,
            "The path is written as an address, which some tools open as one and others as a folder here. Write the absolute path.",
        );
    }
    let drive = asked.len() >= 2 && asked[0].is_ascii_alphabetic() && asked[1] == b':';
    if drive || asked[0] == b'\\' {
        return refuse(
            RefusedCode::PathMalformed,
            "The path is spelled as on Windows; on this system it names something else.",
        );
    }
    if asked[0] != b'/' && !is_absolute(place.cwd.bytes()) {
        return refuse(
            RefusedCode::UnexpandedOrAmbiguous,
            "The path is relative and the client did not say from where. Write the absolute path.",
        );
    }
    Ok(())
}

/// `%NAME%`, as Windows writes a variable.
fn is_percent_variable(asked: &[u8]) -> bool {
    asked.strip_prefix(b"%").and_then(|rest| rest.iter().position(|b| *b == b'%').map(|end| &rest[..end])).is_some_and(
        |name| !name.is_empty() && name.iter().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'(' | b')')),
    )
}

/// `scheme://…`, and `file:…`.
fn is_address(asked: &[u8]) -> bool {
    let Some(end) = asked.iter().position(|b| !(b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.'))) else {
        return false;
    };
    let (scheme, rest) = asked.split_at(end);
    rest.starts_with(b"://") || (scheme.eq_ignore_ascii_case(b"file") && rest.starts_with(b":"))
}

fn is_absolute(path: &[u8]) -> bool {
    path.first() == Some(&b'/') && !path.contains(&0)
}

fn absolute(asked: &[u8], cwd: &PathText) -> Vec<u8> {
    if asked.starts_with(b"/") {
        return asked.to_vec();
    }
    [cwd.bytes(), b"/", asked].concat()
}

/// An absolute path without `.`, `..` and repeated slashes, by its text alone.
pub(crate) fn normalize(path: &[u8]) -> PathText {
    let mut names: Vec<&[u8]> = Vec::new();
    for name in path.split(|b| *b == b'/') {
        match name {
            b"" | b"." => {}
            b".." => {
                names.pop();
            }
            _ => names.push(name),
        }
    }
    let mut text = Vec::with_capacity(path.len());
    for name in names {
        text.push(b'/');
        text.extend_from_slice(name);
    }
    if text.is_empty() {
        text.push(b'/');
    }
    PathText::from_bytes(text)
}

/// Refused by its text before the disk is touched: looking at `/proc/self` would show ourselves.
fn magic(normalized: &PathText) -> Option<Stuck> {
    let first = normalized.bytes().split(|b| *b == b'/').nth(1).unwrap_or_default();
    let is_magic = matches!(first, b"proc" | b"sys" | b"dev") && normalized.bytes() != b"/dev/null";
    is_magic.then_some(Stuck::Magic)
}

fn unresolved(asked: &[u8], action: Action, path: PathText) -> PathSubject {
    PathSubject {
        action,
        asked: PathText::from_bytes(asked),
        normalized: path.clone(),
        resolved: path,
        exists: false,
        inside_workspace: false,
        via_symlink: false,
        hard_linked: false,
        other_device: false,
        protected: false,
        is_folder: false,
        inode: None,
        content: None,
    }
}

fn stuck_look(asked: &[u8], action: Action, normalized: PathText, stuck: &Stuck, by: NamedBy) -> PathLook {
    let reason = match stuck {
        Stuck::Magic => {
            "Paths under /proc, /sys and /dev mean something else to each program that looks. Use a plain file."
        }
        Stuck::DotdotThroughMissing => {
            "The path climbs with “..” out of a folder that is not there; where it ends can still change. Write it without “..”."
        }
        Stuck::NotAFile => "The path does not end at a plain file or folder.",
        Stuck::TooLong => "The path has a name longer than 255 bytes.",
        Stuck::Unreadable(rustix::io::Errno::LOOP) => "The path goes through too many symbolic links.",
        Stuck::Unreadable(_) => "Placet may not look at this path, so nobody can say what it is.",
    };
    let refused = Refused { code: stuck.code(), reason: reason.to_owned() };
    not_looked_at(unresolved(asked, action, normalized), refused, by)
}

/// A path of which nobody can say where it ends: no rule and no grant may speak for it.
fn not_looked_at(mut subject: PathSubject, refused: Refused, by: NamedBy) -> PathLook {
    subject.protected = true;
    match by {
        NamedBy::Tool => {
            PathLook { subject, refused: Some(refused), flags: Vec::new(), notes: Vec::new(), found: None }
        }
        NamedBy::Command => {
            let notes = vec![refused.reason];
            PathLook { subject, refused: None, flags: vec![Flag::Protected], notes, found: None }
        }
    }
}

fn found_look(asked: &[u8], action: Action, normalized: PathText, found: Found, place: &Place<'_>) -> PathLook {
    let resolved = PathText::from_bytes(found.resolved.clone());
    let mut flags = Vec::new();
    let mut notes = Vec::new();
    let inside_workspace = place.is_inside(&normalized) && place.is_really_inside(&resolved);
    if !inside_workspace {
        flags.push(Flag::OutsideWorkspace);
    }
    if found.via_symlink {
        flags.push(Flag::Symlink);
    }
    let entry = found.entry;
    let hard_linked = entry.is_some_and(|e| e.kind == FileType::RegularFile && e.links > 1);
    if hard_linked {
        flags.push(Flag::HardLinked);
        notes.push(format!("The file has {} names; a change shows under all of them.", entry.map_or(0, |e| e.links)));
    }
    let mount = entry.filter(Entry::is_folder).map_or(found.folder_entry.mount, |e| e.mount);
    let other_device = place.workspace_mount.is_some_and(|m| m != mount);
    if other_device && inside_workspace {
        flags.push(Flag::OtherDevice);
    }
    if asked.last() == Some(&b'/') && entry.is_none() {
        notes.push("The folder is not there yet.".to_owned());
    }
    let subject = PathSubject {
        action,
        asked: PathText::from_bytes(asked),
        normalized,
        resolved,
        exists: entry.is_some(),
        inside_workspace,
        via_symlink: found.via_symlink,
        hard_linked,
        other_device,
        protected: false,
        is_folder: entry.is_some_and(|e| e.is_folder()),
        inode: entry.map(|e| e.identity()),
        // Read where the call changes it.
        content: None,
    };
    PathLook { subject, refused: None, flags, notes, found: Some(found) }
}

/// What the names say: protected, secret, Placet's own, odd letters.
fn judge_names(look: &mut PathLook, place: &Place<'_>) {
    let subject = &mut look.subject;
    let forms = [&subject.normalized, &subject.resolved];
    if forms.iter().any(|path| place.homes.iter().any(|home| protected::is_protected(path, subject.action, home))) {
        subject.protected = true;
        look.flags.push(Flag::Protected);
    }
    if forms.iter().any(|path| protected::is_secret(path)) {
        look.flags.push(Flag::Secret);
    }
    let is_own = forms.iter().any(|path| protected::is_own(path, subject.action, &place.own))
        || subject.hard_linked && subject.inode.is_some_and(|inode| protected::is_own_inode(inode, &place.own));
    if is_own {
        look.refused = Some(Refused {
            code: RefusedCode::SelfProtection,
            reason: "These are Placet's own files; no agent's call may touch them.".to_owned(),
        });
    }
    let folder = look.found.as_ref().map(|f| &f.folder);
    name_flags(&subject.asked, &subject.resolved, folder, &mut look.flags, &mut look.notes);
}
