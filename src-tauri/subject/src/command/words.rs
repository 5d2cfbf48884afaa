//! Which words of a program are options, values and operands, by the program's style.

use crate::command::form::{Form, OptionRule, Style};
use crate::command::role::{Role, Takes};

/// What the words are, before what they mean.
#[derive(Default)]
pub(crate) struct Events {
    pub(crate) options: Vec<(String, OptionRule, Option<String>)>,
    pub(crate) operands: Vec<String>,
    /// The command from this operand on, where operands end in one.
    pub(crate) command: Option<Vec<String>>,
    pub(crate) unknown: Option<String>,
}

/// The option that a whole word names, and the value attached to it.
pub(crate) fn exact<'w>(form: &Form, word: &'w str) -> Option<(String, OptionRule, Option<&'w str>)> {
    if let Some(rule) = form.options.get(word) {
        return Some((word.to_owned(), *rule, None));
    }
    let (name, value) = word.split_once('=')?;
    let rule = form.options.get(name)?;
    let long = name.starts_with("--") || form.style == Style::Long;
    (long && matches!(rule.takes, Takes::Value(_) | Takes::Attached(_))).then(|| (name.to_owned(), *rule, Some(value)))
}

pub(crate) fn read_words(form: &Form, words: &[String], events: &mut Events) {
    let mut at = 0;
    let mut ended = form.style == Style::Words;
    if form.style == Style::Keys {
        return read_keys(form, words, events);
    }
    let command_at = command_position(form);
    while at < words.len() {
        let word = &words[at];
        if command_at == Some(events.operands.len()) && (ended || !word.starts_with('-') || word == "-") {
            events.command = Some(words[at..].to_vec());
            return;
        }
        at += 1;
        if !ended && word == "--" {
            ended = true;
            continue;
        }
        if !ended && let Some((name, rule, attached)) = exact(form, word) {
            let value = match (rule.takes, attached) {
                (Takes::Nothing, _) | (Takes::Attached(_), None) => None,
                (_, Some(value)) => Some(value.to_owned()),
                (Takes::Value(Role::CommandForEach), None) => {
                    let rest = &words[at..];
                    let Some(end) = rest.iter().position(|w| w == ";" || w == "+") else {
                        events.unknown = Some("The command it is to run does not end.".to_owned());
                        return;
                    };
                    at += end + 1;
                    // Words are joined by a character that no word can have.
                    Some(rest[..end].join("\0"))
                }
                (Takes::Value(_), None) => {
                    let value = words.get(at).cloned();
                    at += 1;
                    if value.as_deref().is_some_and(|value| !rule.first && looks_like_option(value)) {
                        events.unknown = Some(format!("Option “{name}” is followed by another."));
                    }
                    if value.is_none() {
                        events.unknown = Some(format!("Option “{name}” has no value."));
                    }
                    value
                }
                (Takes::Words(n), None) => {
                    at += n;
                    if at > words.len() {
                        events.unknown = Some(format!("Option “{name}” has no value."));
                    }
                    None
                }
            };
            events.options.push((name, rule, value));
            continue;
        }
        if !ended && word.len() > 1 && word.starts_with('-') {
            if form.digits && word[1..].bytes().all(|b| b.is_ascii_digit()) {
                continue;
            }
            let letters = !word.starts_with("--") && form.style != Style::Long;
            if letters && read_letters(form, &word[1..], words, &mut at, events) {
                continue;
            }
            if form.any_options {
                if !word.contains('=') && words.get(at).is_some_and(|next| !next.starts_with('-')) {
                    at += 1;
                }
                continue;
            }
            events.unknown.get_or_insert_with(|| format!("Option “{word}” is not in the table."));
            continue;
        }
        if form.style == Style::Bundle && at == 1 && !word.is_empty() {
            if read_bundle(form, word, words, &mut at, events) {
                continue;
            }
            events.unknown.get_or_insert_with(|| format!("“{word}” is not in the table."));
            continue;
        }
        if form.style == Style::Posix {
            ended = true;
        }
        events.operands.push(word.clone());
    }
}

/// A value that begins with a dash, numbers aside. Were the table wrong about the option before it, this one would
/// go unseen.
fn looks_like_option(value: &str) -> bool {
    let rest = value.strip_prefix('-').unwrap_or_default();
    !rest.is_empty() && !rest.bytes().all(|b| b.is_ascii_digit())
}

/// How many operands stand before a command.
fn command_position(form: &Form) -> Option<usize> {
    form.operands.front.iter().position(|r| matches!(r, Role::Command | Role::CommandWithUnknown))
}

/// `-abc`, where the last may take a value.
fn read_letters(form: &Form, letters: &str, words: &[String], at: &mut usize, events: &mut Events) -> bool {
    let mut found = Vec::new();
    let mut next = *at;
    for (n, letter) in letters.char_indices() {
        let name = format!("-{letter}");
        let Some(rule) = form.options.get(&name) else { return false };
        let rest = &letters[n + letter.len_utf8()..];
        match rule.takes {
            Takes::Nothing => found.push((name, *rule, None)),
            Takes::Attached(_) => {
                found.push((name, *rule, (!rest.is_empty()).then(|| rest.to_owned())));
                break;
            }
            Takes::Value(Role::CommandForEach) | Takes::Words(_) => return false,
            Takes::Value(_) if rest.is_empty() => {
                let Some(value) = words.get(next) else { return false };
                if !rule.first && looks_like_option(value) {
                    return false;
                }
                next += 1;
                found.push((name, *rule, Some(value.clone())));
            }
            Takes::Value(_) => {
                found.push((name, *rule, Some(rest.to_owned())));
                break;
            }
        }
    }
    *at = next;
    events.options.extend(found);
    true
}

/// `xzf`: each letter that takes a value takes the next word, in order.
fn read_bundle(form: &Form, letters: &str, words: &[String], at: &mut usize, events: &mut Events) -> bool {
    let mut found = Vec::new();
    let mut next = *at;
    for letter in letters.chars() {
        let name = format!("-{letter}");
        let Some(rule) = form.options.get(&name) else { return false };
        match rule.takes {
            Takes::Nothing | Takes::Attached(_) => found.push((name, *rule, None)),
            Takes::Value(Role::CommandForEach) | Takes::Words(_) => return false,
            Takes::Value(_) => {
                let Some(value) = words.get(next) else { return false };
                next += 1;
                found.push((name, *rule, Some(value.clone())));
            }
        }
    }
    *at = next;
    events.options.extend(found);
    true
}

fn read_keys(form: &Form, words: &[String], events: &mut Events) {
    for word in words {
        match word.split_once('=').and_then(|(key, value)| form.options.get_key_value(key).map(|o| (o, value))) {
            Some(((name, rule), value)) => events.options.push((name.clone(), *rule, Some(value.to_owned()))),
            None => {
                events.unknown.get_or_insert_with(|| format!("“{word}” is not in the table."));
            }
        }
    }
}
