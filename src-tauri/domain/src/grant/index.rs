//! Finds the grants that may cover a subject without looking at the others: the cost is the same with ten grants and
//! with a hundred thousand.

use std::collections::{BTreeSet, HashMap};

use super::{
    Effect, Grant, GrantWho, On,
    cover::{forms, origin_of},
};
use crate::{
    CallFacts, Digest, GrantId, PathText, Session, Subject,
    policy::{fold, raw_words},
    subject::CommandSubject,
};

/// Grants by whom and what they are about.
#[derive(Clone, Debug, Default)]
pub struct GrantIndex {
    by_key: HashMap<(Effect, GrantWho, Key), BTreeSet<GrantId>>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Key {
    Exact(Digest),
    Path(String),
    Folder(String),
    Url(String),
    UrlPrefix(String),
    Origin(String),
    Command(String),
    /// For a yes, the words.
    CommandPrefix(Vec<String>),
    /// For a no, the program's name alone: options may stand between the words.
    Program(String),
    McpTool(String),
}

impl GrantIndex {
    pub(crate) fn put(&mut self, grant: &Grant) {
        self.by_key.entry(place_of(grant)).or_default().insert(grant.id);
    }

    pub(crate) fn remove(&mut self, grant: &Grant) {
        let place = place_of(grant);
        if let Some(ids) = self.by_key.get_mut(&place) {
            ids.remove(&grant.id);
            if ids.is_empty() {
                self.by_key.remove(&place);
            }
        }
    }

    /// The grants of this effect that may cover the subject, oldest first; each is still to be checked.
    pub(crate) fn near(&self, effect: Effect, session: &Session, call: &CallFacts, subject: &Subject) -> Vec<GrantId> {
        if self.by_key.is_empty() {
            return Vec::new();
        }
        let mut found = BTreeSet::new();
        let keys = keys_of(effect, call, subject);
        for who in GrantWho::all_of(session) {
            for key in &keys {
                if let Some(ids) = self.by_key.get(&(effect, who.clone(), key.clone())) {
                    found.extend(ids);
                }
            }
        }
        found.into_iter().collect()
    }
}

fn place_of(grant: &Grant) -> (Effect, GrantWho, Key) {
    let deny = grant.effect == Effect::Deny;
    let path = |path: &PathText| if deny { fold(&path.lossy()) } else { path.lossy() };
    let key = match &grant.scope.on {
        On::Exact(_) => Key::Exact(grant.action_digest.unwrap_or(Digest::new([0; 32]))),
        On::Path(p) => Key::Path(path(p)),
        On::Folder(p) => Key::Folder(path(p).trim_end_matches('/').to_owned()),
        On::Url(url) => Key::Url(url.clone()),
        On::UrlPrefix(prefix) => Key::UrlPrefix(prefix.trim_end_matches('/').to_owned()),
        On::Origin(origin) => Key::Origin(origin.clone()),
        On::Command(text) => Key::Command(text.clone()),
        On::CommandPrefix(words) if deny => Key::Program(words.first().map(|w| program(w)).unwrap_or_default()),
        On::CommandPrefix(words) => Key::CommandPrefix(words.clone()),
        On::McpTool(name) => Key::McpTool(if deny { fold(name) } else { name.clone() }),
    };
    (grant.effect, grant.who.clone(), key)
}

/// Every key under which a grant that covers this subject can stand.
fn keys_of(effect: Effect, call: &CallFacts, subject: &Subject) -> Vec<Key> {
    let deny = effect == Effect::Deny;
    let mut keys = vec![Key::Exact(call.action_digest)];
    // A yes to an exact command covers what the command touches too.
    keys.extend(call.subjects.iter().filter_map(|s| match s {
        Subject::Command(command) => Some(Key::Command(command.asked.clone())),
        Subject::Path(_) | Subject::Url(_) | Subject::Mcp(_) | Subject::Tool(_) => None,
    }));
    match subject {
        Subject::Path(subject) if deny => forms(subject).iter().for_each(|form| path_keys(form, &mut keys)),
        Subject::Path(subject) => path_keys(&subject.normalized.lossy(), &mut keys),
        Subject::Url(url) => {
            let origin = origin_of(url);
            keys.push(Key::Url(url.normalized.clone()));
            keys.push(Key::UrlPrefix(origin.clone()));
            let ends = url.path.match_indices('/').map(|(i, _)| i).chain([url.path.len()]).filter(|end| *end > 0);
            keys.extend(ends.map(|end| Key::UrlPrefix(format!("{origin}{}", &url.path[..end]))));
            keys.push(Key::Origin(origin));
        }
        Subject::Command(command) if deny => {
            keys.extend(programs(command).into_iter().map(|name| Key::Program(program(&name))));
        }
        Subject::Command(command) => {
            for part in &command.commands {
                let most = part.argv.len().min(MOST_WORDS);
                keys.extend((1..=most).map(|n| Key::CommandPrefix(part.argv[..n].to_vec())));
            }
        }
        Subject::Mcp(mcp) => {
            let name = format!("{}/{}", mcp.server, mcp.tool);
            keys.push(Key::McpTool(if deny { fold(&name) } else { name }));
        }
        Subject::Tool(_) => {}
    }
    keys
}

/// No grant for a command's first words has more of them.
pub(super) const MOST_WORDS: usize = 32;

fn path_keys(path: &str, keys: &mut Vec<Key>) {
    keys.push(Key::Path(path.to_owned()));
    keys.push(Key::Folder(path.trim_end_matches('/').to_owned()));
    keys.extend(path.match_indices('/').map(|(end, _)| Key::Folder(path[..end].to_owned())));
}

fn programs(command: &CommandSubject) -> Vec<String> {
    if !command.inspectable {
        return raw_words(&command.asked);
    }
    let parts = command.commands.iter();
    parts
        .flat_map(|part| part.argv.first().into_iter().chain(part.carrier_of.as_ref().and_then(|inner| inner.first())))
        .cloned()
        .collect()
}

fn program(word: &str) -> String {
    fold(word.rsplit('/').next().unwrap_or(word))
}
