//! From text to a compiled policy, or the first mistake.

use std::{collections::BTreeSet, ops::Range};

use jiff::tz::TimeZone;
use serde_json::{Map, Value};
use toml::Spanned;

use super::{
    Bindings, Bounds, Context, Decide, Otherwise, Policy, PolicyError, Rule,
    error::nearest,
    file::{self, Words},
    glob::{NameGlobs, PathGlob},
    hours::{Hours, between, zone},
    near::Near,
    rewrite::Rewrite,
    rule::Limit,
    target::{HostPattern, Target, UrlPrefix, UrlTarget},
    when::When,
};
use crate::{
    Digest,
    counted::{COUNTED_FOR_MS, MAX_COUNTED},
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
    let says_nothing = file.default.is_none()
        && file.timeout.is_none()
        && file.waiting_per_session.is_none()
        && file.waiting_in_all.is_none()
        && file.context.is_empty()
        && file.rule.is_empty()
        && file.rewrite.is_empty();
    if says_nothing {
        return Err(text_is.wrong(
            None,
            "The policy is empty. A file cut short would otherwise do away with every rule.",
            "Write at least: default = \"ask\"",
        ));
    }
    text_is.names_differ(file.rule.iter().map(|r| &r.name).chain(file.rewrite.iter().map(|r| &r.name)))?;
    let mut rules = file.rule.iter().map(|rule| text_is.rule(rule)).collect::<Result<Vec<_>, _>>()?;
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
        near: Near::new(&rules),
        rules,
        rewrites: file.rewrite.iter().map(|rewrite| text_is.rewrite(rewrite)).collect::<Result<_, _>>()?,
        bounds: Bounds {
            per_session: text_is.bound(file.waiting_per_session.as_ref(), Bounds::default().per_session)?,
            in_all: text_is.bound(file.waiting_in_all.as_ref(), Bounds::default().in_all)?,
        },
        local: Vec::new(),
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

    fn rule(&self, rule: &file::Rule) -> Result<Rule, PolicyError> {
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
        if let Some(protected) = rule.protected.as_ref().filter(|p| *p.get_ref() && rule.decide == Decide::Allow) {
            return Err(self.wrong(
                Some(protected.span()),
                "Protected names are answered once at a time; no rule can allow a change of them.",
                "Let the rule ask or deny.",
            ));
        }
        Ok(Rule {
            name: rule.name.get_ref().clone(),
            decide: rule.decide,
            reason: rule.reason.as_ref().map(|r| r.get_ref().clone()),
            timeout_ms: self.timeout(rule.timeout.as_ref())?,
            agents: self.names(rule.agent.as_ref())?,
            workspaces: rule.workspace.as_ref().map(|w| self.paths(w)).transpose()?,
            tools: self.names(rule.tool.as_ref())?,
            actions: rule.action.as_ref().map(|a| a.get_ref().clone()),
            input: rule.input.as_ref().map(|input| self.input(input)).transpose()?,
            target: self.target(rule)?,
            protected: rule.protected.as_ref().map(|p| *p.get_ref()),
            tainted: rule.tainted,
            hours: self.hours(rule)?,
            limit: rule.limit.as_ref().map(|limit| self.limit(rule, limit)).transpose()?,
            when: rule.when.as_ref().map(|when| self.when(when)).transpose()?,
            only_in: None,
        })
    }

    fn names_differ<'n>(&self, names: impl Iterator<Item = &'n Spanned<String>>) -> Result<(), PolicyError> {
        let mut known = BTreeSet::new();
        for name in names {
            self.short_text(name, "name")?;
            if name.get_ref().trim().is_empty() {
                return Err(self.wrong(Some(name.span()), "A rule needs a name.", "Say what it is for."));
            }
            if !known.insert(name.get_ref()) {
                return Err(self.wrong(
                    Some(name.span()),
                    format!("There are two rules named “{}”.", name.get_ref()),
                    "Names tell rules apart in reasons and in the history: give each its own.",
                ));
            }
        }
        Ok(())
    }

    fn hours(&self, rule: &file::Rule) -> Result<Hours, PolicyError> {
        let between = match &rule.between {
            None => None,
            Some(text) => Some(between(text.get_ref()).ok_or_else(|| {
                self.wrong(
                    Some(text.span()),
                    "These are no hours of a day.",
                    "Write for example \"02:00-04:00\", or \"22:00-06:00\" across midnight.",
                )
            })?),
        };
        let (name, span) = match &rule.zone {
            Some(name) => (Some(name.get_ref().as_str()), Some(name.span())),
            None => (self.bindings.zone.as_deref(), rule.between.as_ref().map(Spanned::span)),
        };
        let zone = match name {
            Some(name) => zone(name).ok_or_else(|| {
                self.wrong(
                    span,
                    format!("There is no time zone “{name}”."),
                    "Write for example \"Europe/Berlin\" or \"UTC\".",
                )
            })?,
            None => TimeZone::UTC,
        };
        if let Some(days) = rule.days.as_ref().filter(|days| days.get_ref().is_empty()) {
            return Err(self.empty_list(days.span()));
        }
        Ok(Hours { days: rule.days.as_ref().map(|days| days.get_ref().clone()), between, zone })
    }

    /// A limit counts what a session called before: as many calls and for as long as are remembered.
    fn limit(&self, rule: &file::Rule, limit: &Spanned<file::Limit>) -> Result<Limit, PolicyError> {
        let file::Limit { calls, per } = limit.get_ref();
        if rule.decide == Decide::Allow {
            return Err(self.wrong(
                Some(limit.span()),
                "A rule applies past its limit, so one that allows would allow only then.",
                "Let the rule deny or ask.",
            ));
        }
        let most = u32::try_from(MAX_COUNTED).unwrap_or(u32::MAX);
        if !(1..=most).contains(calls.get_ref()) {
            return Err(self.wrong(
                Some(calls.span()),
                format!("A limit is from 1 to {most} calls."),
                "To forbid all, leave it away.",
            ));
        }
        match duration_ms(per.get_ref()) {
            Some(per_ms) if (1_000..=COUNTED_FOR_MS).contains(&per_ms) => {
                Ok(Limit { calls: usize::try_from(*calls.get_ref()).unwrap_or(usize::MAX), per_ms })
            }
            _ => Err(self.wrong(Some(per.span()), "A limit is per 1s to 24h.", "Write for example \"1h\".")),
        }
    }

    fn when(&self, text: &Spanned<String>) -> Result<When, PolicyError> {
        When::new(text.get_ref()).map_err(|e| self.wrong(Some(text.span()), e.message, &e.hint))
    }

    fn rewrite(&self, rewrite: &file::Rewrite) -> Result<Rewrite, PolicyError> {
        let table = |table: &Option<Spanned<toml::Table>>| -> Result<Map<String, Value>, PolicyError> {
            match table {
                None => Ok(Map::new()),
                Some(table) => match self.input(table)? {
                    Value::Object(map) => Ok(map),
                    Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
                        Ok(Map::new())
                    }
                },
            }
        };
        let compiled = Rewrite {
            name: rewrite.name.get_ref().clone(),
            tools: self.names(rewrite.tool.as_ref())?,
            agents: self.names(rewrite.agent.as_ref())?,
            input: rewrite.input.as_ref().map(|input| self.input(input)).transpose()?,
            clamp: table(&rewrite.clamp)?,
            set: table(&rewrite.set)?,
            drop: rewrite.drop.clone().unwrap_or_default(),
            only_in: None,
        };
        if let Some(clamp) = rewrite.clamp.as_ref().filter(|_| !only_numbers(&compiled.clamp)) {
            return Err(self.wrong(
                Some(clamp.span()),
                "Only numbers can be clamped.",
                "Write for example: clamp = { max = 10 }",
            ));
        }
        if compiled.clamp.is_empty() && compiled.set.is_empty() && compiled.drop.is_empty() {
            return Err(self.wrong(
                Some(rewrite.name.span()),
                "This rewrite changes nothing.",
                "Give it clamp, set or drop.",
            ));
        }
        Ok(compiled)
    }

    fn bound(&self, number: Option<&Spanned<u32>>, most: usize) -> Result<usize, PolicyError> {
        let Some(number) = number else { return Ok(most) };
        match usize::try_from(*number.get_ref()) {
            Ok(n) if (1..=10_000).contains(&n) => Ok(n),
            _ => Err(self.wrong(
                Some(number.span()),
                "At least one may wait, and at most 10,000.",
                "Write for example 20.",
            )),
        }
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
            if words.is_empty() || has_operator(word.get_ref()) {
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

/// Whether a text has what a shell would not take as a plain word.
pub(super) fn has_operator(text: &str) -> bool {
    text.contains([';', '&', '|', '<', '>', '$', '`', '\'', '"', '*'])
}

fn only_numbers(bounds: &Map<String, Value>) -> bool {
    bounds.values().all(|bound| match bound {
        Value::Number(_) => true,
        Value::Object(inner) => only_numbers(inner),
        Value::Null | Value::Bool(_) | Value::String(_) | Value::Array(_) => false,
    })
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
