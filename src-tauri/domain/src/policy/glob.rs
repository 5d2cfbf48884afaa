//! Patterns for names and for whole paths.
//!
//! A rule that takes away reads patterns widely: any form of the path, without regard to case or to how accents are
//! spelled. A rule that gives reads them narrowly: every form, letter by letter.

use globset::{GlobBuilder, GlobMatcher};
use unicode_normalization::UnicodeNormalization;

use super::rule::Reading;
use crate::{Action, PathText, subject::PathSubject};

/// Folds case and accents so that two names a file system may take for one are one: NFC of the lower case of the
/// upper case. It folds more than any file system does, which only ever makes a denial match.
pub(crate) fn fold(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    text.nfc().flat_map(char::to_uppercase).flat_map(char::to_lowercase).nfc().collect()
}

/// A name as a pattern that matches only it.
pub(super) fn escape(name: &str) -> String {
    name.chars().fold(String::with_capacity(name.len()), |mut pattern, c| {
        if matches!(c, '*' | '?' | '[' | ']' | '{' | '}' | '\\' | '$' | '!' | ',') {
            pattern.push('\\');
        }
        pattern.push(c);
        pattern
    })
}

/// Globs over plain names (tools, agents, servers); none written means every name.
#[derive(Debug, Default)]
pub(super) struct NameGlobs(Option<Vec<Matcher>>);

#[derive(Debug)]
struct Matcher {
    exact: GlobMatcher,
    folded: GlobMatcher,
}

impl NameGlobs {
    pub(super) fn any() -> Self {
        Self(None)
    }

    pub(super) fn new<'a>(patterns: impl IntoIterator<Item = &'a str>) -> Result<Self, globset::Error> {
        patterns.into_iter().map(|p| Matcher::new(p, false)).collect::<Result<_, _>>().map(Some).map(Self)
    }

    /// The patterns as they are written; none for every name.
    pub(super) fn patterns(&self) -> Option<impl Iterator<Item = &str>> {
        self.0.as_ref().map(|globs| globs.iter().map(|glob| glob.exact.glob().glob()))
    }

    pub(super) fn covers(&self, name: &str, reading: Reading) -> bool {
        self.0.as_ref().is_none_or(|globs| globs.iter().any(|glob| glob.is_match(name, reading)))
    }
}

impl Matcher {
    fn new(pattern: &str, separates: bool) -> Result<Self, globset::Error> {
        let compile = |pattern: &str| {
            GlobBuilder::new(pattern)
                .literal_separator(separates)
                .backslash_escape(true)
                .build()
                .map(|glob| glob.compile_matcher())
        };
        Ok(Self { exact: compile(pattern)?, folded: compile(&fold(pattern))? })
    }

    fn is_match(&self, text: &str, reading: Reading) -> bool {
        match reading {
            Reading::Narrow => self.exact.is_match(text),
            Reading::Wide => self.exact.is_match(text) || self.folded.is_match(fold(text)),
        }
    }
}

/// A pattern over whole paths: absolute, under the session's workspace, or of any place (`**/…`).
#[derive(Debug)]
pub(super) struct PathGlob {
    in_workspace: bool,
    glob: Matcher,
    /// For `folder/**`, the folder itself, which the pattern covers too.
    folder: Option<Matcher>,
    /// The leading folders that have no wildcard, folded: who removes one of them removes what the pattern protects.
    fixed: String,
}

/// Why a text is no path pattern.
pub(super) struct NotAPattern {
    pub(super) message: String,
    pub(super) hint: &'static str,
}

impl PathGlob {
    pub(super) fn new(text: &str, home: Option<&PathText>) -> Result<Self, NotAPattern> {
        let wrong = |message: &str, hint| NotAPattern { message: message.to_owned(), hint };
        let (in_workspace, pattern) = if let Some(rest) = text.strip_prefix("${workspace}") {
            if !rest.is_empty() && !rest.starts_with('/') {
                return Err(wrong("“${workspace}” is a whole folder.", "Go on with a slash: ${workspace}/…"));
            }
            (true, rest.to_owned())
        } else if text == "~" || text.starts_with("~/") {
            let home = home.and_then(PathText::as_str).ok_or_else(|| {
                wrong("“~” stands for a home folder, which is not known here.", "Write the folder's whole path.")
            })?;
            (false, format!("{}{}", escape(home.trim_end_matches('/')), &text[1..]))
        } else if text.starts_with('/') || text.starts_with("**/") {
            (false, text.to_owned())
        } else {
            return Err(wrong(
                "A path pattern is for whole paths; this one could never match.",
                "Begin with ${workspace}/, ~/, / or **/ (for any folder).",
            ));
        };
        if unescaped_dollar(&pattern) {
            return Err(wrong(
                "The only variable is ${workspace}, at the start.",
                "Write the folder's whole path, or \\$ for a dollar sign in a name.",
            ));
        }
        if pattern.split('/').any(|part| part == "." || part == "..") {
            return Err(wrong("“.” and “..” never stand in a path that is judged.", "Write the path without them."));
        }
        let pattern = match pattern.strip_suffix('/') {
            Some(without) if !without.is_empty() => without.to_owned(),
            _ => pattern,
        };
        let bad = |e: globset::Error| NotAPattern {
            message: format!("The pattern cannot be read: {}.", e.kind()),
            hint: "A name's own [ ] { } * ? or \\ is written with a backslash before it; in TOML use 'single quotes' then.",
        };
        Ok(Self {
            in_workspace,
            glob: Matcher::new(&pattern, true).map_err(bad)?,
            folder: pattern
                .strip_suffix("/**")
                .filter(|folder| !folder.is_empty())
                .map(|folder| Matcher::new(folder, true))
                .transpose()
                .map_err(bad)?,
            fixed: fixed_part(&pattern),
        })
    }

    /// The leading folders that have no wildcard, folded; empty where the first is one.
    pub(super) fn fixed(&self) -> &str {
        &self.fixed
    }

    /// Whether it is read from the session's workspace on.
    pub(super) fn is_in_workspace(&self) -> bool {
        self.in_workspace
    }

    /// Whether the pattern covers this path. Narrowly, a path that is no text is never covered.
    pub(super) fn covers(&self, path: &PathText, workspace: &PathText, reading: Reading) -> bool {
        let (path, workspace) = match reading {
            Reading::Narrow => match (path.as_str(), workspace.as_str()) {
                (Some(path), Some(workspace)) => (path.to_owned(), workspace.to_owned()),
                _ => return false,
            },
            Reading::Wide => (fold(&path.lossy()), fold(&workspace.lossy())),
        };
        if !self.in_workspace {
            return self.glob.is_match(&path, reading)
                || self.folder.as_ref().is_some_and(|folder| folder.is_match(&path, reading));
        }
        let Some(rest) = below(&path, &workspace) else { return false };
        let whole = self.fixed.is_empty() && rest.is_empty();
        whole
            || self.glob.is_match(rest, reading)
            || self.folder.as_ref().is_some_and(|folder| folder.is_match(rest, reading))
    }

    /// Whether removing this folder would remove what the pattern protects.
    fn lies_under(&self, folder: &PathText, workspace: &PathText) -> bool {
        let folder = fold(&folder.lossy());
        let fixed = if self.in_workspace {
            format!("{}{}", fold(workspace.lossy().trim_end_matches('/')), self.fixed)
        } else {
            self.fixed.clone()
        };
        !fixed.is_empty() && below(&fixed, &folder).is_some()
    }
}

/// Whether a rule's paths match a path subject.
pub(super) fn path_matches(
    only: &[PathGlob],
    except: &[PathGlob],
    subject: &PathSubject,
    workspace: &PathText,
    reading: Reading,
) -> bool {
    let any = |globs: &[PathGlob], path: &PathText, reading| globs.iter().any(|g| g.covers(path, workspace, reading));
    let on = |globs: &[PathGlob], reading| match reading {
        Reading::Narrow => any(globs, &subject.normalized, reading) && any(globs, &subject.resolved, reading),
        Reading::Wide => {
            [&subject.asked, &subject.normalized, &subject.resolved].iter().any(|path| any(globs, path, reading))
        }
    };
    let removes_it = || {
        reading == Reading::Wide
            && subject.action == Action::Delete
            && [&subject.normalized, &subject.resolved]
                .iter()
                .any(|path| only.iter().any(|glob| glob.lies_under(path, workspace)))
    };
    (only.is_empty() || on(only, reading) || removes_it()) && !on(except, reading.other())
}

/// What follows `root` in `path`, by whole components.
pub(super) fn below<'a>(path: &'a str, root: &str) -> Option<&'a str> {
    let root = root.trim_end_matches('/');
    path.strip_prefix(root).filter(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn fixed_part(pattern: &str) -> String {
    let mut fixed = String::new();
    for part in pattern.split('/').filter(|part| !part.is_empty()) {
        if part.contains(['*', '?', '[', '{', '\\']) {
            break;
        }
        fixed.push('/');
        fixed.push_str(&fold(part));
    }
    // `**/x` is of any place and has no fixed part, though its first component is no wildcard-free one either.
    if pattern.starts_with('/') { fixed } else { String::new() }
}

fn unescaped_dollar(pattern: &str) -> bool {
    let mut escaped = false;
    pattern.chars().any(|c| {
        let found = c == '$' && !escaped;
        escaped = c == '\\' && !escaped;
        found
    })
}
