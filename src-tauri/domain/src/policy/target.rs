//! What a rule is about: any subject, or subjects of one kind.

use super::{
    Reading,
    glob::{NameGlobs, PathGlob, fold, path_matches},
};
use crate::{
    PathText, Subject,
    subject::{CommandSubject, NetworkClass, UrlSubject},
};

/// The subjects a rule is about.
#[derive(Debug)]
pub(super) enum Target {
    /// Every subject.
    Any,
    /// Paths that match, but for the exceptions.
    Path { only: Vec<PathGlob>, except: Vec<PathGlob> },
    /// Addresses that match all of what is given.
    Url(UrlTarget),
    /// Commands that begin with one of these words.
    Command(Vec<Vec<String>>),
    /// Tools of these MCP servers.
    Mcp(NameGlobs),
}

#[derive(Debug, Default)]
pub(super) struct UrlTarget {
    pub(super) hosts: Option<Vec<HostPattern>>,
    pub(super) except_hosts: Vec<HostPattern>,
    pub(super) networks: Option<Vec<NetworkClass>>,
    pub(super) prefixes: Option<Vec<UrlPrefix>>,
}

/// `example.com`, or `*.example.com` for every name beneath it (not itself).
#[derive(Debug)]
pub(super) struct HostPattern {
    pub(super) name: String,
    pub(super) beneath: bool,
}

/// Origin and path; what begins with it, by whole segments, matches.
#[derive(Debug)]
pub(super) struct UrlPrefix {
    pub(super) scheme: String,
    pub(super) host: String,
    pub(super) port: u16,
    /// Begins with a slash and does not end in one; empty for the whole origin.
    pub(super) path: String,
}

impl Target {
    /// Read widely, for rules that deny or ask.
    pub(super) fn matches(&self, subject: &Subject, workspace: &PathText) -> bool {
        match (self, subject) {
            (Self::Any, _) => true,
            (Self::Path { only, except }, Subject::Path(path)) => {
                path_matches(only, except, path, workspace, Reading::Wide)
            }
            (Self::Url(target), Subject::Url(url)) => target.covers(url),
            (Self::Command(starts), Subject::Command(command)) => {
                starts.iter().any(|words| command_matches(command, words))
            }
            (Self::Mcp(servers), Subject::Mcp(mcp)) => servers.covers(&mcp.server, Reading::Wide),
            (Self::Path { .. } | Self::Url(_) | Self::Command(_) | Self::Mcp(_), _) => false,
        }
    }

    /// Read narrowly, for rules that allow. Commands are covered word by word instead.
    pub(super) fn covers(&self, subject: &Subject, workspace: &PathText) -> bool {
        match (self, subject) {
            // Another program may read another address from it, so no rule can know what it allows.
            (Self::Any | Self::Url(_), Subject::Url(url)) if url.odd => false,
            (Self::Any, _) => true,
            (Self::Path { only, except }, Subject::Path(path)) => {
                path_matches(only, except, path, workspace, Reading::Narrow)
            }
            (Self::Url(target), Subject::Url(url)) => target.covers(url),
            (Self::Mcp(servers), Subject::Mcp(mcp)) => servers.covers(&mcp.server, Reading::Narrow),
            (Self::Path { .. } | Self::Url(_) | Self::Command(_) | Self::Mcp(_), _) => false,
        }
    }

    /// Whether words of a command are covered: they begin with the rule's, of which there are at least `at_least`.
    pub(super) fn covers_words(&self, argv: &[String], at_least: usize) -> bool {
        match self {
            Self::Any => true,
            Self::Command(starts) => starts.iter().any(|words| words.len() >= at_least && argv.starts_with(words)),
            Self::Path { .. } | Self::Url(_) | Self::Mcp(_) => false,
        }
    }
}

impl UrlTarget {
    fn covers(&self, url: &UrlSubject) -> bool {
        self.hosts.as_ref().is_none_or(|hosts| hosts.iter().any(|host| host.covers(url)))
            && !self.except_hosts.iter().any(|host| host.covers(url))
            && self.networks.as_ref().is_none_or(|classes| url.network.is_some_and(|class| classes.contains(&class)))
            && self.prefixes.as_ref().is_none_or(|prefixes| prefixes.iter().any(|prefix| prefix.covers(url)))
    }
}

impl HostPattern {
    fn covers(&self, url: &UrlSubject) -> bool {
        if self.beneath {
            url.host.strip_suffix(&self.name).is_some_and(|rest| rest.len() > 1 && rest.ends_with('.'))
        } else {
            url.host == self.name
        }
    }
}

impl UrlPrefix {
    fn covers(&self, url: &UrlSubject) -> bool {
        url.scheme == self.scheme
            && url.host == self.host
            && url.port == self.port
            && url.path.strip_prefix(&self.path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }
}

/// Whether a command, read widely, has a part that begins with these words. One that cannot be taken apart is looked
/// through word by word.
pub(crate) fn command_matches(command: &CommandSubject, words: &[String]) -> bool {
    let by_parts = command.commands.iter().any(|part| {
        words_match(&part.argv, words) || part.carrier_of.as_ref().is_some_and(|inner| words_match(inner, words))
    });
    by_parts || (!command.inspectable && words_within(&raw_words(&command.asked), words))
}

/// Whether `argv` begins with `words`, read widely: the program by its name without folders, case folded, options
/// (and what may be their values) skipped.
pub(crate) fn words_match(argv: &[String], words: &[String]) -> bool {
    let (Some(program), Some(wanted)) = (argv.first(), words.first()) else { return false };
    program_name(program) == program_name(wanted) && rest_matches(&argv[1..], &words[1..])
}

/// A program's name as rules read it: without folders, case folded.
pub(super) fn program_name(word: &str) -> String {
    fold(word.rsplit('/').next().unwrap_or(word))
}

fn rest_matches(argv: &[String], words: &[String]) -> bool {
    let Some(wanted) = words.first() else { return true };
    // Options may stand anywhere before the wanted word, each perhaps with a value after it.
    let mut may_be_value = false;
    for (i, word) in argv.iter().enumerate() {
        if fold(word) == fold(wanted) && rest_matches(&argv[i + 1..], &words[1..]) {
            return true;
        }
        let option = word.starts_with('-');
        if !option && !may_be_value {
            return false;
        }
        may_be_value = option;
    }
    false
}

/// Whether `words` are begun with anywhere in a text's words.
pub(crate) fn words_within(text: &[String], words: &[String]) -> bool {
    (0..text.len()).any(|start| words_match(&text[start..], words))
}

/// The words of a command that could not be taken apart: split at blanks and at everything a shell gives a meaning.
pub(crate) fn raw_words(text: &str) -> Vec<String> {
    text.split(|c: char| c.is_whitespace() || ";&|()<>{}`$\"'\\=,".contains(c))
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}
