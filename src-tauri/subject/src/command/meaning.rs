//! What one word means to its program, by the role that the table gives it.

use placet_domain::{Action, Flag};

use crate::command::apply::{Carried, Doing};
use crate::command::role::{Role, Takes};
use crate::command::script;

/// Whether an option's value is a file to be written that keeps nothing.
pub(super) fn written_nowhere(takes: Takes, value: Option<&str>) -> bool {
    let (Takes::Value(role) | Takes::Attached(role)) = takes else { return false };
    let keeps_nothing = |value: &str| matches!(value, "/dev/null" | "/dev/stdout" | "/dev/stderr");
    (role == Role::Write || role == Role::Output) && value.is_some_and(keeps_nothing)
        || role == Role::Output && value == Some("-")
}

/// What one word means.
pub(super) fn word(role: Role, text: &str, doing: &mut Doing) {
    let nowhere = matches!(text, "-" | "/dev/null" | "/dev/stdout" | "/dev/stderr" | "/dev/stdin");
    if !written_nowhere(Takes::Value(role), Some(text)) {
        doing.raise(role.effect());
    }
    match role {
        Role::Text => {}
        Role::Method if matches!(text, "GET" | "HEAD" | "OPTIONS") => {}
        Role::Header if harmless_header(text) => {}
        Role::Method | Role::Header => doing.raise(Action::Send),
        Role::Read | Role::Write | Role::Output if nowhere => {}
        Role::Format if text.starts_with('+') => {}
        Role::Format => doing.not_known(format!("“{text}” is a value to be set.")),
        Role::Read => doing.reads.push(text.to_owned()),
        Role::ReadList => {
            if !nowhere {
                doing.reads.push(text.to_owned());
            }
            doing.anywhere();
        }
        Role::Write | Role::Output => doing.writes.push(text.to_owned()),
        Role::Delete => doing.deletes.push(text.to_owned()),
        Role::Move => {
            doing.reads.push(text.to_owned());
            doing.deletes.push(text.to_owned());
        }
        Role::Maybe => {
            if let Some(path) = perhaps_a_path(text) {
                doing.reads.push(path.to_owned());
                doing.perhaps += 1;
                doing.raise(Action::Read);
            }
        }
        Role::Url => url(text, doing),
        Role::Send => {
            if text.contains("://") {
                url(text, doing);
            } else {
                host(text, doing);
            }
            doing.raise(Action::Send);
        }
        Role::Host => host(text, doing),
        Role::Repository => repository(text, doing),
        Role::Folder => doing.folders.push(text.to_owned()),
        Role::Program => doing.flag(Flag::RunsProgramText),
        Role::ProgramFile => {
            doing.flag(Flag::RunsProgramText);
            if !nowhere {
                doing.operands.push(text.to_owned());
                doing.reads.push(text.to_owned());
            }
        }
        Role::Shell => {
            doing.raise(Action::None);
            doing.carried.push(Carried::Shell(text.to_owned()));
        }
        Role::Command => doing.carried.push(Carried::Words(vec![text.to_owned()])),
        Role::CommandWithUnknown | Role::CommandForEach => doing.not_known("It runs another command."),
        Role::Sed => program_text(script::sed(text), "This sed program may write files or run commands.", doing),
        Role::Awk => program_text(script::awk(text), "This awk program may write files or run commands.", doing),
        Role::Jq => program_text(script::jq(text), "This jq program reads more than its input.", doing),
        Role::GitSetting => {
            if !script::harmless_git_setting(text) {
                doing.not_known("This setting can make Git run other programs.");
            }
        }
    }
}

/// Whether a header only says in what form the answer is wanted.
fn harmless_header(text: &str) -> bool {
    let Some((name, _)) = text.split_once(':') else { return false };
    ["accept", "accept-language", "cache-control", "x-github-api-version"]
        .iter()
        .any(|known| name.eq_ignore_ascii_case(known))
}

/// The path in a word that may also name a revision (`.env`, `HEAD:.env`, `../x`); none where it looks like no path.
fn perhaps_a_path(text: &str) -> Option<&str> {
    let path = text.rsplit_once(':').map_or(text, |(_, path)| path);
    let leads_out = path.starts_with(['/', '~']) || path.split('/').any(|part| part == "..");
    let is_range = !text.contains(':') && text.contains("..");
    let looks_like_one = text.contains(':') || path.contains(['.', '/']);
    (!path.is_empty() && (leads_out || looks_like_one && !is_range)).then_some(path)
}

/// Whom a repository's name leads to, where it says so itself.
fn repository(text: &str, doing: &mut Doing) {
    if text.contains("://") {
        url(text, doing);
    } else if text.contains('@') {
        doing.not_known("It names another host.");
    } else if let [first, _, _, ..] = text.split('/').collect::<Vec<_>>().as_slice() {
        host(first, doing);
    }
}

fn program_text(harmless: Option<()>, otherwise: &str, doing: &mut Doing) {
    if harmless.is_some() {
        doing.raise(Action::Read);
    } else {
        doing.flag(Flag::RunsProgramText);
        doing.not_known(otherwise);
    }
}

fn url(text: &str, doing: &mut Doing) {
    if text.contains(['[', ']', '{', '}']) || text.starts_with('-') {
        doing.not_known("The address stands for several.");
    }
    // Some programs do with one slash, or none.
    if let Some((scheme, path)) = text.split_once(':')
        && scheme.eq_ignore_ascii_case("file")
        && !path.starts_with("//")
    {
        doing.raise(Action::Read);
        doing.reads.push(path.to_owned());
        return;
    }
    match text.split_once("://") {
        Some((scheme, path)) if scheme.eq_ignore_ascii_case("file") => {
            doing.reads.push(path.to_owned());
        }
        Some((scheme, _)) if scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https") => {
            doing.urls.push(text.to_owned());
        }
        Some(_) => {
            host(text, doing);
            doing.not_known("The address is not on the web.");
        }
        None => doing.urls.push(format!("http://{text}")),
    }
}

fn host(text: &str, doing: &mut Doing) {
    let rest = text.split_once("://").map_or(text, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let named = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let bare = match named.split_once(':') {
        Some((host, more)) if !more.contains(':') => host,
        _ => named,
    };
    if bare.is_empty() || bare.starts_with('-') {
        doing.not_known("The host is not named.");
    } else {
        doing.hosts.push(bare.trim_matches(['[', ']']).to_owned());
    }
}
