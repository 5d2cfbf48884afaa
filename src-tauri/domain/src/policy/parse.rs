//! From text to a compiled policy, or the first mistake.

use std::{collections::BTreeMap, ops::Range};

use toml::Spanned;

use super::{
    Bindings, Context, Decide, Otherwise, Policy, PolicyError, Rule,
    error::nearest,
    file::{self, Words},
    glob::{NameGlobs, PathGlob},
    target::{HostPattern, Target, UrlPrefix, UrlTarget},
};
use crate::{
    Digest,
    time::{DEFAULT_TIMEOUT_MS, MAX_TIMEOUT_MS, MIN_TIMEOUT_MS},
};

/// No longer text is read as a policy: a mebibyte.
const MAX_LEN: usize = 1 << 20;
/// No rule's name or reason is longer, in characters: it is shown and told.
const MAX_TEXT: usize = 1_000;

pub(super) fn parse(text: &str, digest: Digest, bindings: &Bindings) -> Result<Policy, PolicyError> {
    let text_is = Source { text, bindings };
    if text.len() > MAX_LEN {
        return Err(text_is.wrong(None, "The policy is larger than a mebibyte.", "Write fewer rules."));
    }
    let file: file::File = toml::from_str(text).map_err(|e| text_is.toml(&e))?;
    if file.default.is_none() && file.timeout.is_none() && file.context.is_empty() && file.rule.is_empty() {
        return Err(text_is.wrong(
            None,
            "The policy is empty. A file cut short would otherwise do away with every rule.",
            "Write at least: default = \"ask\"",
        ));
    }
    let mut names = BTreeMap::new();
    let mut rules = Vec::with_capacity(file.rule.len());
    for rule in &file.rule {
        let rule = text_is.rule(rule)?;
        names.insert(rule.0.name.clone(), ()).map_or(Ok(()), |()| {
            Err(text_is.wrong(
                Some(rule.1),
                format!("There are two rules named “{}”.", rule.0.name),
                "Names tell rules apart in reasons and in the history: give each its own.",
            ))
        })?;
        rules.push(rule.0);
    }
    rules.sort_by(|a, b| (a.decide, &a.name).cmp(&(b.decide, &b.name)));
    Ok(Policy {
        digest: Some(digest),
        otherwise: match file.default {
            None | Some(file::Otherwise::Ask) => Otherwise::Ask,
            Some(file::Otherwise::Deny) => Otherwise::Deny,
        },
        timeout_ms: text_is.timeout(file.timeout.as_ref())?.unwrap_or(DEFAULT_TIMEOUT_MS),
        contexts: file
            .context
            .iter()
            .map(|context| Ok(Context { agents: text_is.names(Some(&context.agent))?, set: context.set.clone() }))
            .collect::<Result<_, _>>()?,
        rules,
    })
}

struct Source<'a> {
    text: &'a str,
    bindings: &'a Bindings,
}

impl Source<'_> {
    fn wrong(&self, span: Option<Range<usize>>, message: impl Into<String>, hint: &str) -> PolicyError {
        PolicyError::at(self.text, span, message, hint)
    }

    fn toml(&self, error: &toml::de::Error) -> PolicyError {
        let message = error.message();
        let mut quoted = message.split('`').skip(1).step_by(2);
        let hint = if message.starts_with("unknown field") || message.starts_with("unknown variant") {
            let wrong = quoted.next().unwrap_or_default();
            let known: Vec<&str> = quoted.collect();
            match nearest(wrong, known.iter().copied()) {
                Some(near) => format!("Did you mean “{near}”?"),
                None => format!("Known here: {}.", known.join(", ")),
            }
        } else if message.starts_with("missing field") {
            format!("Add “{} = …” here.", quoted.next().unwrap_or_default())
        } else if message.contains("invalid type: string") && message.contains("expected a sequence") {
            "Write a list: [\"…\"].".to_owned()
        } else if message.contains("escape") {
            "Use 'single quotes' for texts with backslashes.".to_owned()
        } else {
            "docs/policy.md shows every key with an example.".to_owned()
        };
        let mut message = message.trim_end_matches('.').to_owned();
        if let Some(first) = message.get(..1) {
            message = first.to_uppercase() + &message[1..];
        }
        self.wrong(error.span(), message.replace('\n', ", ") + ".", &hint)
    }

    fn rule(&self, rule: &file::Rule) -> Result<(Rule, Range<usize>), PolicyError> {
        let name = rule.name.get_ref();
        self.short_text(&rule.name, "name")?;
        if name.trim().is_empty() {
            return Err(self.wrong(Some(rule.name.span()), "A rule needs a name.", "Say what it is for."));
        }
        if let Some(reason) = &rule.reason {
            self.short_text(reason, "reason")?;
        }
        if let (Some(timeout), Decide::Allow | Decide::Deny) = (&rule.timeout, rule.decide) {
            return Err(self.wrong(
                Some(timeout.span()),
                format!("A rule that says {} has nobody to wait for.", rule.decide.word()),
                "Take the timeout away, or let the rule ask.",
            ));
        }
        if let Some(actions) = rule.action.as_ref().filter(|a| a.get_ref().is_empty()) {
            return Err(self.empty_list(actions.span()));
        }
        let compiled = Rule {
            name: name.clone(),
            decide: rule.decide,
            reason: rule.reason.as_ref().map(|r| r.get_ref().clone()),
            timeout_ms: self.timeout(rule.timeout.as_ref())?,
            agents: self.names(rule.agent.as_ref())?,
            workspaces: rule.workspace.as_ref().map(|w| self.paths(w)).transpose()?,
            tools: self.names(rule.tool.as_ref())?,
            actions: rule.action.as_ref().map(|a| a.get_ref().clone()),
            input: rule.input.as_ref().map(|input| self.input(input)).transpose()?,
            target: self.target(rule)?,
        };
        Ok((compiled, rule.name.span()))
    }

    fn short_text(&self, text: &Spanned<String>, what: &str) -> Result<(), PolicyError> {
        if text.get_ref().chars().count() > MAX_TEXT || text.get_ref().chars().any(char::is_control) {
            return Err(self.wrong(
                Some(text.span()),
                format!("A {what} is one line of at most {MAX_TEXT} characters."),
                "Shorten it; the rest belongs into a comment.",
            ));
        }
        Ok(())
    }

    /// A subject is a path, an address, a command or an MCP tool, so a rule can be about one kind only.
    fn target(&self, rule: &file::Rule) -> Result<Target, PolicyError> {
        let kinds = [
            (rule.path.as_ref().or(rule.except_path.as_ref()).map(Spanned::span), "paths"),
            (
                rule.host
                    .as_ref()
                    .or(rule.except_host.as_ref())
                    .or(rule.url_prefix.as_ref())
                    .map(Spanned::span)
                    .or(rule.network.as_ref().map(Spanned::span)),
                "addresses",
            ),
            (rule.command.as_ref().map(Spanned::span), "commands"),
            (rule.mcp_server.as_ref().map(Spanned::span), "MCP tools"),
        ];
        let mut given = kinds.into_iter().filter_map(|(span, kind)| span.map(|span| (span, kind)));
        let first = given.next();
        if let (Some((_, first)), Some((span, second))) = (&first, given.next()) {
            return Err(self.wrong(
                Some(span),
                format!("A rule about {first} and {second} at once matches nothing."),
                "Write one rule for each.",
            ));
        }
        let list = |words: &Option<Words>| -> Result<Vec<PathGlob>, PolicyError> {
            words.as_ref().map_or(Ok(Vec::new()), |words| self.paths(words))
        };
        Ok(match first.map(|(_, kind)| kind) {
            Some("paths") => Target::Path { only: list(&rule.path)?, except: list(&rule.except_path)? },
            Some("addresses") => Target::Url(UrlTarget {
                hosts: rule.host.as_ref().map(|hosts| self.hosts(hosts)).transpose()?,
                except_hosts: rule.except_host.as_ref().map_or(Ok(Vec::new()), |hosts| self.hosts(hosts))?,
                networks: match &rule.network {
                    Some(classes) if classes.get_ref().is_empty() => return Err(self.empty_list(classes.span())),
                    classes => classes.as_ref().map(|c| c.get_ref().clone()),
                },
                prefixes: rule.url_prefix.as_ref().map(|p| self.prefixes(p)).transpose()?,
            }),
            Some("commands") => Target::Command(rule.command.as_ref().map_or(Ok(Vec::new()), |c| self.commands(c))?),
            Some(_) => Target::Mcp(self.names(rule.mcp_server.as_ref())?),
            None => Target::Any,
        })
    }

    fn empty_list(&self, span: Range<usize>) -> PolicyError {
        self.wrong(Some(span), "An empty list matches nothing.", "Take the key away to match everything.")
    }

    fn filled<'w>(&self, words: &'w Words) -> Result<&'w [Spanned<String>], PolicyError> {
        if words.get_ref().is_empty() { Err(self.empty_list(words.span())) } else { Ok(words.get_ref()) }
    }

    fn names(&self, words: Option<&Words>) -> Result<NameGlobs, PolicyError> {
        let Some(words) = words else { return Ok(NameGlobs::any()) };
        let words = self.filled(words)?;
        for word in words {
            NameGlobs::new([word.get_ref().as_str()]).map_err(|e| {
                self.wrong(
                    Some(word.span()),
                    format!("The pattern cannot be read: {}.", e.kind()),
                    "* stands for any letters, ? for one; a name's own [ ] { } * ? has a backslash before it.",
                )
            })?;
        }
        NameGlobs::new(words.iter().map(|word| word.get_ref().as_str()))
            .map_err(|e| self.wrong(None, format!("The pattern cannot be read: {}.", e.kind()), ""))
    }

    fn paths(&self, words: &Words) -> Result<Vec<PathGlob>, PolicyError> {
        self.filled(words)?
            .iter()
            .map(|word| {
                PathGlob::new(word.get_ref(), self.bindings.home.as_ref())
                    .map_err(|e| self.wrong(Some(word.span()), e.message, e.hint))
            })
            .collect()
    }

    fn hosts(&self, words: &Words) -> Result<Vec<HostPattern>, PolicyError> {
        let host = |word: &Spanned<String>| {
            let text = word.get_ref().as_str();
            let (beneath, name) = text.strip_prefix("*.").map_or((false, text), |name| (true, name));
            let name = name.strip_prefix('[').and_then(|n| n.strip_suffix(']')).unwrap_or(name);
            let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_' | ':');
            if name.is_empty() || !name.chars().all(fits) || name.starts_with('.') || name.ends_with('.') {
                return Err(self.wrong(
                    Some(word.span()),
                    "A host is a name or an address, or *.name for every name beneath it.",
                    "Without scheme, port or path (url_prefix takes those); other letters in their xn-- form.",
                ));
            }
            Ok(HostPattern { name: name.to_ascii_lowercase(), beneath })
        };
        self.filled(words)?.iter().map(host).collect()
    }

    fn prefixes(&self, words: &Words) -> Result<Vec<UrlPrefix>, PolicyError> {
        self.filled(words)?
            .iter()
            .map(|word| {
                UrlPrefix::new(word.get_ref()).ok_or_else(|| {
                    self.wrong(
                        Some(word.span()),
                        "This is no beginning of a web address.",
                        "Write https://host/path, without user, query or fragment; the path percent-encoded.",
                    )
                })
            })
            .collect()
    }

    fn commands(&self, words: &Words) -> Result<Vec<Vec<String>>, PolicyError> {
        let command = |word: &Spanned<String>| {
            let words: Vec<String> = word.get_ref().split_whitespace().map(str::to_owned).collect();
            if words.is_empty() || word.get_ref().contains([';', '&', '|', '<', '>', '$', '`', '\'', '"', '*']) {
                return Err(self.wrong(
                    Some(word.span()),
                    "A command is given by the plain words it begins with.",
                    "Write for example \"git status\": no operators, quotes or wildcards.",
                ));
            }
            Ok(words)
        };
        self.filled(words)?.iter().map(command).collect()
    }

    fn input(&self, input: &Spanned<toml::Table>) -> Result<serde_json::Value, PolicyError> {
        serde_json::to_value(input.get_ref()).map_err(|_| {
            self.wrong(
                Some(input.span()),
                "This cannot stand in a tool's input.",
                "Texts, numbers, true, false, lists.",
            )
        })
    }

    fn timeout(&self, text: Option<&Spanned<String>>) -> Result<Option<i64>, PolicyError> {
        let Some(text) = text else { return Ok(None) };
        match duration_ms(text.get_ref()) {
            Some(ms) if (MIN_TIMEOUT_MS..=MAX_TIMEOUT_MS).contains(&ms) => Ok(Some(ms)),
            Some(_) => Err(self.wrong(
                Some(text.span()),
                "A timeout is at least 5 seconds and at most 24 hours.",
                "Write for example \"30m\".",
            )),
            None => Err(self.wrong(
                Some(text.span()),
                "This is no duration.",
                "A number and s, m or h: \"90s\", \"30m\", \"2h\".",
            )),
        }
    }
}

impl UrlPrefix {
    /// `https://host[:port][/path]`.
    fn new(text: &str) -> Option<Self> {
        let (scheme, rest) = text.split_once("://")?;
        let scheme_port = match scheme {
            "https" => 443,
            "http" => 80,
            _ => return None,
        };
        if !rest.is_ascii() || rest.contains(['?', '#', '@', '\\', ' ', '*']) || rest.chars().any(char::is_control) {
            return None;
        }
        let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let (host, port) = match authority.strip_prefix('[').and_then(|v6| v6.split_once(']')) {
            Some((host, port)) => (host, port.strip_prefix(':').map_or(Some(scheme_port), |p| p.parse().ok())?),
            None => match authority.split_once(':') {
                Some((host, port)) => (host, port.parse().ok()?),
                None => (authority, scheme_port),
            },
        };
        let clean = path.split('/').all(|part| part != "." && part != "..");
        (!host.is_empty() && clean).then(|| Self {
            scheme: scheme.to_owned(),
            host: host.to_ascii_lowercase(),
            port,
            path: path.trim_end_matches('/').to_owned(),
        })
    }
}

/// A number and its unit: `90s`, `30m`, `2h`, `7d`.
pub(super) fn duration_ms(text: &str) -> Option<i64> {
    let (number, unit) = text.split_at(text.find(|c: char| !c.is_ascii_digit())?);
    let unit_ms: i64 = match unit.trim_start() {
        "s" => 1_000,
        "m" | "min" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        _ => return None,
    };
    number.parse::<i64>().ok()?.checked_mul(unit_ms)
}
