//! What must hold for any bytes at all. Called by `tests/fuzz.rs` on stable Rust and by the targets in `fuzz/`, which
//! are led by coverage.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::OnceLock;

use placet_domain::{Action, PathText, RefusedCode, Span};
use placet_subject::canonical::canonical;
use placet_subject::command::{Programs, Shell, Understood, understand};
use placet_subject::strict_json::{MAX_BYTES, MAX_DEPTH};
use placet_subject::{show, show_bytes, show_line, strict_json, unshow};
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

/// The strict reader takes only what `serde_json` reads as the same value, and refuses only for a reason that is there.
/// Says whether the text was taken.
pub(crate) fn json(bytes: &[u8]) -> bool {
    let usual = serde_json::from_slice::<Value>(bytes);
    let doubled = serde_json::from_slice::<Keys>(bytes).is_ok_and(|keys| keys.0);
    match strict_json(bytes) {
        Ok(value) => {
            assert_eq!(Some(&value), usual.as_ref().ok(), "read otherwise");
            assert!(!doubled, "a key stands there twice");
            assert!(depth(&value) <= MAX_DEPTH && bytes.len() <= MAX_BYTES);
            let once = canonical(&value);
            let again: Value = serde_json::from_str(&once).unwrap_or_else(|error| panic!("{error}: {once}"));
            assert_eq!(canonical(&again), once, "canonical twice is canonical once");
            true
        }
        Err(refused) => {
            assert!(!refused.reason.is_empty());
            let text = String::from_utf8_lossy(bytes).to_lowercase();
            let long = text.as_bytes().windows(16).any(|digits| digits.iter().all(u8::is_ascii_digit));
            let causes = [
                (RefusedCode::DuplicateKeys, doubled),
                (RefusedCode::TooDeep, usual.as_ref().is_ok_and(|value| depth(value) > MAX_DEPTH)),
                (RefusedCode::TooLarge, bytes.len() > MAX_BYTES),
                (RefusedCode::NumberOutOfRange, long || text.contains(['.', 'e'])),
            ];
            // Of what is no JSON anyway, any reason may be the first.
            let there = usual.is_err() || causes.contains(&(refused.code, true));
            assert!(there, "{:?} without cause", refused.code);
            false
        }
    }
}

/// Whether a key stands in one object twice, found without the reader under test.
struct Keys(bool);

impl<'de> Deserialize<'de> for Keys {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(KeysVisitor)
    }
}

struct KeysVisitor;

impl<'de> Visitor<'de> for KeysVisitor {
    type Value = Keys;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }
    fn visit_unit<E>(self) -> Result<Keys, E> {
        Ok(Keys(false))
    }
    fn visit_bool<E>(self, _: bool) -> Result<Keys, E> {
        Ok(Keys(false))
    }
    fn visit_u64<E>(self, _: u64) -> Result<Keys, E> {
        Ok(Keys(false))
    }
    fn visit_i64<E>(self, _: i64) -> Result<Keys, E> {
        Ok(Keys(false))
    }
    fn visit_f64<E>(self, _: f64) -> Result<Keys, E> {
        Ok(Keys(false))
    }
    fn visit_str<E>(self, _: &str) -> Result<Keys, E> {
        Ok(Keys(false))
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Keys, A::Error> {
        let mut twice = false;
        while let Some(Keys(within)) = seq.next_element()? {
            twice |= within;
        }
        Ok(Keys(twice))
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Keys, A::Error> {
        let (mut keys, mut twice) = (BTreeSet::new(), false);
        while let Some((key, Keys(within))) = map.next_entry::<String, Keys>()? {
            twice |= within | !keys.insert(key);
        }
        Ok(Keys(twice))
    }
}

fn depth(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or_default(),
        Value::Object(object) => 1 + object.values().map(depth).max().unwrap_or_default(),
    }
}

/// Any bytes are drawn, parse back, and what is drawn can neither hide nor move anything.
pub(crate) fn shown(bytes: &[u8]) {
    let spans = show_bytes(bytes);
    assert_eq!(unshow(&spans).ok().as_deref(), Some(bytes), "it does not parse back: {spans:?}");
    spans.iter().for_each(safe);
    if let Ok(text) = std::str::from_utf8(bytes) {
        for spans in [show(text), show_line(text)] {
            assert_eq!(unshow(&spans).ok().as_deref(), Some(bytes), "it does not parse back: {spans:?}");
            spans.iter().for_each(safe);
        }
        // A text looks like the same text in bytes.
        assert_eq!(show(text), spans);
    }
}

/// Two inputs that look the same are the same.
pub(crate) fn shown_apart(a: &[u8], b: &[u8]) {
    assert!(a == b || show_bytes(a) != show_bytes(b), "two inputs look the same");
}

fn safe(span: &Span) {
    match span {
        Span::Text { text, .. } => {
            assert!(!text.is_empty());
            for c in text.chars() {
                let hides = c.is_control()
                    || c.is_whitespace() && c != ' '
                    || matches!(u32::from(c), 0xAD | 0x34F | 0x61C | 0x115F | 0x1160 | 0x17B4 | 0x17B5 | 0x180B..=0x180F
                        | 0x200B..=0x200F | 0x202A..=0x202E | 0x2060..=0x206F | 0x2800 | 0x3164 | 0xE000..=0xF8FF
                        | 0xFE00..=0xFE0F | 0xFEFF | 0xFFA0 | 0xFFF0..=0xFFFF | 0xE0000..=0xE0FFF | 0xF0000..);
                assert!(!hides, "U+{:04X} is drawn", u32::from(c));
            }
        }
        Span::Escape { escape, label, count, .. } => {
            assert!(!label.is_empty() && count.is_none_or(|n| n > 1), "{span:?}");
            let digits = escape.strip_prefix("U+").or_else(|| escape.strip_prefix("0x"));
            assert!(digits.is_some_and(|d| d.len() >= 2 && d.bytes().all(|b| b.is_ascii_hexdigit())), "{span:?}");
        }
    }
}

/// Any text is read or refused: every place that is named lies in it, and what is not understood is never a read.
pub(crate) fn command(text: &str) -> Understood {
    static PROGRAMS: OnceLock<Programs> = OnceLock::new();
    let programs = PROGRAMS.get_or_init(|| Programs::builtin().unwrap_or_else(|error| panic!("{error}")));
    let shell = Shell { cwd: PathText::from("/ws"), name: "bash".to_owned(), path: Vec::new() };
    let understood = understand(text, &shell, programs);
    let subject = understood.subject(text, &shell);
    assert_eq!(understood.inspectable, understood.why_not.is_none());
    assert_eq!(subject.inspectable, understood.inspectable);
    if let Some(why_not) = &understood.why_not {
        assert!(text.get(why_not.range.clone()).is_some(), "{why_not:?}");
        assert!(!why_not.sentence.is_empty());
        assert!(subject.action.strength() >= Action::Execute.strength(), "{why_not:?} reads");
    }
    let mut before = 0;
    for part in &understood.commands {
        assert!(text.get(part.source.clone()).is_some(), "{:?}", part.source);
        if understood.inspectable {
            // They stand one after the other, and each stands for something.
            assert!(part.source.start >= before && !part.source.is_empty(), "{:?}", part.source);
            before = part.source.end;
        } else {
            assert!(!part.prefix_grantable, "a grant could cover what is not understood");
        }
    }
    for part in understood.all_parts() {
        assert!(text.get(part.source.clone()).is_some(), "{:?}", part.source);
    }
    understood
}
