//! Secrets masked in text: what a model reads, what the history keeps, what a log says. The disk is never touched.
//!
//! Masked are the values of tokens, passwords and keys, never commands, paths or hosts: who approves must still see
//! where something goes. It errs on the side of masking where a name says "secret" and a literal follows.

use std::{borrow::Cow, sync::LazyLock};

use aho_corasick::AhoCorasick;
use serde_json::Value;

/// A text with its secrets masked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redacted<'a> {
    /// The text; the very one that came in where nothing was masked.
    pub text: Cow<'a, str>,
    /// How many secrets were masked.
    pub masked: usize,
}

/// A line that holds one of these is masked whole.
const MARKERS: [&str; 2] = ["placet:secret", "CONFIDENTIAL:"];
/// Tokens known by their first letters, with how many letters must follow at least.
const PREFIXES: [(&str, usize); 24] = [
    ("ghp_", 30),
    ("gho_", 30),
    ("ghu_", 30),
    ("ghs_", 30),
    ("ghr_", 30),
    ("github_pat_", 30),
    ("glpat-", 16),
    ("sk-ant-", 16),
    ("sk-proj-", 16),
    ("sk-", 24),
    ("sk_live_", 16),
    ("rk_live_", 16),
    ("xoxb-", 16),
    ("xoxp-", 16),
    ("xoxa-", 16),
    ("xoxs-", 16),
    ("AKIA", 16),
    ("ASIA", 16),
    ("AIza", 30),
    ("ya29.", 20),
    ("npm_", 30),
    ("pypi-", 40),
    ("hf_", 30),
    ("SG.", 40),
];
/// Endings of names whose values are secret.
const SECRET_NAMES: [&str; 13] = [
    "secret",
    "token",
    "password",
    "passwd",
    "passphrase",
    "api_key",
    "apikey",
    "api-key",
    "access_key",
    "secret_key",
    "private_key",
    "auth_key",
    "credentials",
];

/// What must stand in a text for anything in it to be masked.
static SIGNS: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    let others = ["-----BEGIN ", "eyJ", "bearer ", "basic ", "cookie", "://", "-u", "--user"];
    let all = MARKERS.iter().chain(SECRET_NAMES.iter()).chain(&others).copied();
    AhoCorasick::builder().ascii_case_insensitive(true).build(all.chain(PREFIXES.map(|(prefix, _)| prefix))).ok()
});

/// Whether anything in a text may be a secret, found out by looking at it once.
pub fn may_hold_secrets(text: &str) -> bool {
    SIGNS.as_ref().is_none_or(|signs| signs.is_match(text))
}

/// Masks line after line, and knows of a key that goes on over several.
#[derive(Debug, Default)]
pub struct Lines {
    in_key: bool,
}

/// A line after its secrets were masked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line {
    /// There were none.
    Same,
    /// So it reads now, with so many masked.
    Masked(String, usize),
    /// It was part of a key that is masked already.
    Gone,
}

impl Lines {
    /// The next line, without its end.
    pub fn next(&mut self, line: &str) -> Line {
        if self.in_key {
            self.in_key = !is_key_line(line, "-----END ");
            return Line::Gone;
        }
        if is_key_line(line, "-----BEGIN ") {
            self.in_key = !is_key_line(line, "-----END ");
            return Line::Masked("[masked: private key]".to_owned(), 1);
        }
        if MARKERS.iter().any(|marker| line.contains(marker)) {
            return Line::Masked("[masked line]".to_owned(), 1);
        }
        let mut out = String::new();
        match redact_line(line, &mut out) {
            0 => Line::Same,
            masked => Line::Masked(out, masked),
        }
    }
}

/// Masks every secret in a text.
pub fn redact(text: &str) -> Redacted<'_> {
    if !may_hold_secrets(text) {
        return Redacted { text: Cow::Borrowed(text), masked: 0 };
    }
    let mut out = String::new();
    let mut masked = 0;
    let mut lines = Lines::default();
    for line in text.split_inclusive('\n') {
        let (body, end) = line.strip_suffix('\n').map_or((line, ""), |body| (body, "\n"));
        match lines.next(body) {
            Line::Same => out.push_str(body),
            Line::Masked(line, more) => {
                masked += more;
                out.push_str(&line);
            }
            Line::Gone => continue,
        }
        out.push_str(end);
    }
    if masked == 0 {
        Redacted { text: Cow::Borrowed(text), masked }
    } else {
        Redacted { text: Cow::Owned(out), masked }
    }
}

/// Masks every secret in the texts of a JSON value, and the texts of fields whose names say that they are secret.
/// Gives how many were masked.
pub fn redact_json(value: &mut Value) -> usize {
    match value {
        Value::String(text) => {
            let redacted = redact(text);
            let masked = redacted.masked;
            if masked > 0 {
                *text = redacted.text.into_owned();
            }
            masked
        }
        Value::Array(items) => items.iter_mut().map(redact_json).sum(),
        Value::Object(fields) => fields
            .iter_mut()
            .map(|(name, value)| {
                if let Value::String(text) = value
                    && is_secret_name(name)
                    && !text.is_empty()
                {
                    *text = mask(text);
                    1
                } else {
                    redact_json(value)
                }
            })
            .sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    }
}

fn is_key_line(line: &str, start: &str) -> bool {
    line.find(start).is_some_and(|at| line[at..].contains("PRIVATE KEY"))
}

/// What stands for a secret: its length in words, none of its letters.
fn mask(secret: &str) -> String {
    format!("[masked: {} characters]", secret.chars().count())
}

fn redact_line(line: &str, out: &mut String) -> usize {
    let mut masked = 0;
    let mut done = 0;
    let mut at = 0;
    while at < line.len() {
        match secret_at(line, at) {
            Some((start, end)) => {
                out.push_str(&line[done..start]);
                out.push_str(&mask(&line[start..end]));
                masked += 1;
                done = end;
                at = end;
            }
            None => at += line[at..].chars().next().map_or(1, char::len_utf8),
        }
    }
    out.push_str(&line[done..]);
    masked
}

/// The secret that is told by what begins at `at`: where it starts and ends.
fn secret_at(line: &str, at: usize) -> Option<(usize, usize)> {
    let rest = &line[at..];
    let at_word = !line[..at].chars().next_back().is_some_and(|c| c.is_ascii_alphanumeric() || c == '_');
    if at_word {
        for (prefix, least) in PREFIXES {
            if rest.starts_with(prefix) {
                let length = token_length(rest);
                if length >= prefix.len() + least {
                    return Some((at, at + length));
                }
            }
        }
        if rest.starts_with("eyJ") {
            let length = token_length(rest);
            let token = &rest[..length];
            if token.matches('.').count() == 2 && token.contains(".eyJ") {
                return Some((at, at + length));
            }
        }
        for scheme in ["Bearer ", "Basic ", "bearer ", "basic "] {
            if let Some(value) = rest.strip_prefix(scheme) {
                let length = token_length(value);
                if length >= 12 {
                    return Some((at + scheme.len(), at + scheme.len() + length));
                }
            }
        }
        if let Some(found) = named_value(line, at) {
            return Some(found);
        }
    }
    if rest.starts_with('-')
        && let Some(found) = value_of_flag(line, at)
    {
        return Some(found);
    }
    password_in_url(line, at)
}

/// `--password VALUE`, and `-u NAME:VALUE` as curl takes it.
fn value_of_flag(line: &str, at: usize) -> Option<(usize, usize)> {
    let rest = &line[at..];
    let length = rest.find([' ', '\t'])?;
    let flag = &rest[..length];
    let start = at + length + spaces(&rest[length..]);
    let start = start + usize::from(line[start..].starts_with(['"', '\'']));
    let value = &line[start..];
    let value = &value[..value.find([' ', '\t', '"', '\'']).unwrap_or(value.len())];
    if matches!(flag, "-u" | "--user") {
        let (name, secret) = value.split_once(':')?;
        let is_one = !secret.is_empty() && !secret.contains('/') && secret.chars().any(|c| !c.is_ascii_digit());
        return (is_one && !is_placeholder(secret)).then_some((start + name.len() + 1, start + value.len()));
    }
    let is_flag = flag.starts_with("--") && is_secret_name(flag);
    // In a sentence about the flag a word follows.
    let is_one = value.len() >= 6 && value.chars().any(|c| !c.is_ascii_alphabetic()) && !value.starts_with('-');
    (is_flag && is_one && !is_placeholder(value)).then_some((start, start + value.len()))
}

fn is_placeholder(secret: &str) -> bool {
    secret.starts_with(['$', '<', '%', '{']) || secret.contains("[masked")
}

/// `name = value`, `"name": "value"`, `NAME=value`, where the name says that the value is secret and the value is a
/// literal: quoted, or after a name in capitals as in an environment file.
fn named_value(line: &str, at: usize) -> Option<(usize, usize)> {
    let rest = &line[at..];
    let name_length = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '-')).unwrap_or(rest.len());
    let name = &rest[..name_length];
    let is_cookie = name.eq_ignore_ascii_case("cookie") || name.eq_ignore_ascii_case("set-cookie");
    if !is_secret_name(name) && !is_cookie {
        return None;
    }
    let in_query = line[..at].ends_with(['?', '&']);
    let mut value_at = at + name_length;
    value_at += usize::from(line[value_at..].starts_with(['"', '\'']));
    value_at += spaces(&line[value_at..]);
    let sign = ["=", ":"].iter().find(|sign| line[value_at..].starts_with(**sign))?;
    value_at += sign.len();
    value_at += spaces(&line[value_at..]);
    let value = &line[value_at..];
    let quote = value.chars().next().filter(|c| matches!(c, '"' | '\'' | '`'));
    let (start, length) = match quote {
        Some(quote) => (value_at + 1, value[1..].find(quote).unwrap_or(value.len() - 1)),
        None if is_cookie && *sign == ":" => (value_at, value.find(['"', '\'']).unwrap_or(value.len())),
        None if in_query && *sign == "=" => {
            (value_at, value.find(['&', '#', ' ', '"', '\'', '\t']).unwrap_or(value.len()))
        }
        // The name of a header.
        None if *sign == ":" && name.contains('-') => {
            (value_at, value.find([' ', '\t', '"', '\'', ',']).unwrap_or(value.len()))
        }
        None if name.chars().all(|c| !c.is_ascii_lowercase()) => {
            (value_at, value.find([' ', '\t', '#', ';', ',', '"', '\'']).unwrap_or(value.len()))
        }
        None => return None,
    };
    let secret = &line[start..start + length];
    (secret.len() >= 4 && !is_placeholder(secret)).then_some((start, start + length))
}

fn is_secret_name(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    SECRET_NAMES.iter().any(|ending| name.ends_with(ending))
}

/// The password of `scheme://user:password@host`, found at its `://`.
fn password_in_url(line: &str, at: usize) -> Option<(usize, usize)> {
    let authority = line[at..].strip_prefix("://")?;
    let end = authority.find(['/', '?', '#', ' ', '"', '\'', '<', '>']).unwrap_or(authority.len());
    let userinfo = &authority[..authority[..end].rfind('@')?];
    let colon = userinfo.find(':')?;
    let start = at + 3 + colon + 1;
    let stop = at + 3 + userinfo.len();
    (stop > start).then_some((start, stop))
}

fn token_length(text: &str) -> usize {
    let is_inner = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '+' | '/' | '=');
    text.find(|c: char| !is_inner(c)).unwrap_or(text.len())
}

fn spaces(text: &str) -> usize {
    text.len() - text.trim_start_matches([' ', '\t']).len()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use serde_json::json;

    fn masked(text: &str) -> String {
        redact(text).text.into_owned()
    }

    #[test]
    fn secrets_are_masked_and_what_surrounds_them_stays() {
        let token = format!("ghp_{}", "a1B2".repeat(9));
        for (text, expected) in [
            (format!("push with {token} now"), "push with [masked: 40 characters] now".to_owned()),
            ("MAIL_API_KEY=abcd1234 # mail".to_owned(), "MAIL_API_KEY=[masked: 8 characters] # mail".to_owned()),
            ("password: \"hunter22\"".to_owned(), "password: \"[masked: 8 characters]\"".to_owned()),
            (
                "DATABASE_URL=postgres://orders:s3cret@db.example/orders".to_owned(),
                "DATABASE_URL=postgres://orders:[masked: 6 characters]@db.example/orders".to_owned(),
            ),
            (
                "Authorization: Bearer abcdefghijklmnop".to_owned(),
                "Authorization: Bearer [masked: 16 characters]".to_owned(),
            ),
            ("CONFIDENTIAL: all of it\nnext".to_owned(), "[masked line]\nnext".to_owned()),
            ("login --password hunter-22 now".to_owned(), "login --password [masked: 9 characters] now".to_owned()),
            ("login --api-key 'abc123' x".to_owned(), "login --api-key '[masked: 6 characters]' x".to_owned()),
            ("curl -u me:hunter2 https://h/".to_owned(), "curl -u me:[masked: 7 characters] https://h/".to_owned()),
            (
                "curl -H 'X-Api-Key: abc-123' https://h/".to_owned(),
                "curl -H 'X-Api-Key: [masked: 7 characters]' https://h/".to_owned(),
            ),
            (
                "curl -H \"Cookie: sid=abc; b=c\" https://h/".to_owned(),
                "curl -H \"Cookie: [masked: 12 characters]\" https://h/".to_owned(),
            ),
            (
                "GET https://h/x?access_token=abc123&y=2".to_owned(),
                "GET https://h/x?access_token=[masked: 6 characters]&y=2".to_owned(),
            ),
            ("export API_TOKEN=abcd \"x\"".to_owned(), "export API_TOKEN=[masked: 4 characters] \"x\"".to_owned()),
            (
                "a\n-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\nBBBB\n-----END OPENSSH PRIVATE KEY-----\nb".to_owned(),
                "a\n[masked: private key]\nb".to_owned(),
            ),
        ] {
            assert_eq!(masked(&text), expected);
        }
    }

    #[test]
    fn code_about_secrets_is_left_alone() {
        for text in [
            "const token = await getToken();",
            "password: string;",
            "API_KEY=${API_KEY}",
            "MAIL_API_KEY=",
            "let secret = env.secret;",
            "sk-learn is a library",
            "https://user@host/path",
            "--password prompts for it",
            "--token $TOKEN",
            "docker run -u 1000:1000 image",
            "rsync -u host:/a/b c",
            "a cookie is a text",
        ] {
            let redacted = redact(text);
            assert_eq!((redacted.text.as_ref(), redacted.masked), (text, 0));
        }
    }

    #[test]
    fn masking_twice_changes_nothing_more() {
        let once = masked("MAIL_API_KEY=abcd1234\nx://a:bcd@e/\npassword='hunter22'");
        assert_eq!(masked(&once), once);
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_masked_without_a_slip_and_once(
            parts in proptest::collection::vec(proptest::sample::select(vec![
                "API_TOKEN=", "password: ", "--password ", "-u ", "a:b", "Cookie: ", "?token=", "&", "Bearer ", "eyJ",
                ".eyJ", "://", "@", "'", "\"", " ", "\n", "é", "\u{202e}", "abcdefgh1234", "-----BEGIN A PRIVATE KEY-----",
                "-----END ", "ghp_", "CONFIDENTIAL:", "x",
            ]), 0..12),
            any in ".*",
        ) {
            for text in [parts.concat(), any] {
                let once = masked(&text);
                proptest::prop_assert_eq!(masked(&once), once.clone());
                proptest::prop_assert_eq!(redact(&text).masked == 0, once == text);
            }
        }
    }

    #[test]
    fn json_is_masked_by_field_name_and_by_text() {
        let mut value = json!({"api_key": "short", "note": ["PASSWORD=abcdef"], "n": 1});
        assert_eq!(redact_json(&mut value), 2);
        assert_eq!(
            value,
            json!({"api_key": "[masked: 5 characters]", "note": ["PASSWORD=[masked: 6 characters]"], "n": 1})
        );
    }
}
