//! JSON read so strictly that every program reads the same from it, or not at all.
//!
//! Two parsers that disagree about one input are a way around the person: they approve what one read while the
//! client runs what the other did. Refused are keys that occur twice, numbers that do not survive (RFC 7493),
//! lone surrogates, what is nested deeper than 64 levels or larger than 16 MiB.

use std::fmt;

use placet_domain::{Refused, RefusedCode};
use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// Levels of arrays and objects.
pub const MAX_DEPTH: usize = 64;
/// Bytes of one call's input; the gate's socket takes no longer messages either.
pub const MAX_BYTES: usize = 16 * 1024 * 1024;
/// The largest whole number that every JSON reader keeps (2^53 - 1).
const MAX_SAFE: u64 = (1 << 53) - 1;

/// Parses one JSON text. The error says what is wrong and what to send instead.
pub fn strict_json(bytes: &[u8]) -> Result<Value, Refused> {
    if bytes.len() > MAX_BYTES {
        return Err(refused(
            RefusedCode::TooLarge,
            "The input is larger than 16 MiB, more than can be judged. Do it in smaller steps.",
        ));
    }
    let Ok(text) = std::str::from_utf8(bytes) else {
        return Err(refused(
            RefusedCode::InvalidUnicode,
            "The input has bytes that are no UTF-8 text. Send valid UTF-8.",
        ));
    };
    scan(bytes)?;
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let value = Strict.deserialize(&mut deserializer).map_err(|e| classify(&e))?;
    deserializer.end().map_err(|e| classify(&e))?;
    Ok(value)
}

fn refused(code: RefusedCode, reason: impl Into<String>) -> Refused {
    Refused { code, reason: reason.into() }
}

const DUPLICATE: &str = "placet: duplicate key";

fn classify(error: &serde_json::Error) -> Refused {
    if error.to_string().starts_with(DUPLICATE) {
        return refused(
            RefusedCode::DuplicateKeys,
            "The input names one key twice; programs disagree on which value counts. Send each key once.",
        );
    }
    refused(
        RefusedCode::Malformed,
        format!("The input is no valid JSON (line {}, column {}).", error.line(), error.column()),
    )
}

/// Looks at the lexical form, which a parsed value no longer shows. On text that is no JSON it may say anything;
/// the parser refuses that afterwards.
fn scan(bytes: &[u8]) -> Result<(), Refused> {
    let (mut depth, mut at) = (0_usize, 0);
    while at < bytes.len() {
        match bytes[at] {
            b'"' => at = scan_string(bytes, at + 1)?,
            b'[' | b'{' => {
                depth += 1;
                if depth > MAX_DEPTH {
                    return Err(refused(
                        RefusedCode::TooDeep,
                        "The input is nested deeper than 64 levels. Send it flatter.",
                    ));
                }
                at += 1;
            }
            b']' | b'}' => {
                depth = depth.saturating_sub(1);
                at += 1;
            }
            b'-' | b'0'..=b'9' => {
                let end = bytes[at..]
                    .iter()
                    .position(|b| !matches!(b, b'-' | b'+' | b'.' | b'e' | b'E' | b'0'..=b'9'))
                    .map_or(bytes.len(), |n| at + n);
                let literal = std::str::from_utf8(&bytes[at..end]).unwrap_or_default();
                if !survives(literal) {
                    return Err(refused(
                        RefusedCode::NumberOutOfRange,
                        "A number in the input does not survive: programs would read different values. Send it as text.",
                    ));
                }
                at = end;
            }
            _ => at += 1,
        }
    }
    Ok(())
}

/// From behind the opening quote to behind the closing one, looking for escapes of half a character.
fn scan_string(bytes: &[u8], mut at: usize) -> Result<usize, Refused> {
    // Escapes stand so close in source code that a search for the next one costs more than looking at each byte.
    while let Some(byte) = bytes.get(at) {
        if *byte == b'"' {
            return Ok(at + 1);
        }
        if *byte != b'\\' {
            at += 1;
            continue;
        }
        if bytes.get(at + 1) != Some(&b'u') {
            at = (at + 2).min(bytes.len());
            continue;
        }
        match hex4(bytes, at + 2) {
            Some(0xD800..=0xDBFF) => {
                let low = (bytes.get(at + 6..at + 8) == Some(b"\\u")).then(|| hex4(bytes, at + 8)).flatten();
                if !matches!(low, Some(0xDC00..=0xDFFF)) {
                    return Err(lone_surrogate());
                }
                at += 12;
            }
            Some(0xDC00..=0xDFFF) => return Err(lone_surrogate()),
            Some(_) | None => at += 2,
        }
    }
    Ok(bytes.len())
}

fn lone_surrogate() -> Refused {
    refused(
        RefusedCode::InvalidUnicode,
        "The input escapes half a character (a lone surrogate). Send whole characters.",
    )
}

fn hex4(bytes: &[u8], at: usize) -> Option<u32> {
    let digits = bytes.get(at..at + 4)?;
    if !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

/// Whether every reader gets the same number: whole ones up to 2^53 - 1, others if the shortest spelling of the
/// double that they become means the very number that was written.
fn survives(literal: &str) -> bool {
    if !literal.contains(['.', 'e', 'E']) {
        let digits = literal.strip_prefix('-').unwrap_or(literal);
        // What is no number at all the parser refuses.
        return !digits.bytes().all(|b| b.is_ascii_digit())
            || digits.is_empty()
            || digits.parse::<u64>().is_ok_and(|n| n <= MAX_SAFE);
    }
    match literal.parse::<f64>() {
        Ok(value) if value.is_finite() => decimal(literal) == decimal(&format!("{value:e}")),
        Ok(_) => false,
        // No number at all; the parser says so.
        Err(_) => true,
    }
}

/// A decimal literal's significant digits and the power of ten of the last one; zero is (empty, 0), without a sign.
fn decimal(literal: &str) -> Option<(bool, String, i64)> {
    let (negative, literal) = literal.strip_prefix('-').map_or((false, literal), |rest| (true, rest));
    let (mantissa, exponent) = literal.split_once(['e', 'E']).unwrap_or((literal, "0"));
    let exponent: i64 = exponent.strip_prefix('+').unwrap_or(exponent).parse().ok()?;
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all = format!("{whole}{fraction}");
    let digits = all.trim_start_matches('0').trim_end_matches('0');
    if digits.is_empty() {
        return Some((false, String::new(), 0));
    }
    let dropped = i64::try_from(all.len() - all.trim_end_matches('0').len()).ok()?;
    let power = exponent.checked_sub(i64::try_from(fraction.len()).ok()?)?.checked_add(dropped)?;
    Some((negative, digits.to_owned(), power))
}

/// Builds a value and refuses a key that occurs twice in one object.
struct Strict;

impl<'de> DeserializeSeed<'de> for Strict {
    type Value = Value;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }
    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }
    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }
    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::from(value))
    }
    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::from(value))
    }
    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Value, E> {
        Number::from_f64(value).map(Value::Number).ok_or_else(|| E::custom("a number that is not finite"))
    }
    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }
    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element_seed(Strict)? {
            items.push(item);
        }
        Ok(Value::Array(items))
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(key) = map.next_key::<String>()? {
            let value = map.next_value_seed(Strict)?;
            if object.insert(key, value).is_some() {
                return Err(A::Error::custom(DUPLICATE));
            }
        }
        Ok(Value::Object(object))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use proptest::prelude::*;

    use super::*;

    fn code(text: &str) -> Option<RefusedCode> {
        strict_json(text.as_bytes()).err().map(|r| r.code)
    }

    #[test]
    fn keys_twice_are_refused_at_any_depth_and_in_any_spelling() {
        assert_eq!(code(r#"{"a":1,"a":2}"#), Some(RefusedCode::DuplicateKeys));
        assert_eq!(code(r#"{"x":[{"a":1,"\u0061":2}]}"#), Some(RefusedCode::DuplicateKeys));
        assert_eq!(code(r#"{"a":{"b":1},"b":{"a":1}}"#), None);
        // Two spellings of one accent are two keys: nothing is normalized that runs.
        assert_eq!(code("{\"\u{e9}\":1,\"e\u{301}\":2}"), None);
    }

    #[test]
    fn numbers_survive_or_are_refused() {
        for good in [
            "0",
            "-0",
            "1",
            "1.0",
            "1e0",
            "9007199254740991",
            "-9007199254740991",
            "0.1",
            "1e21",
            "5e-324",
            "-1.5E+3",
            "1.7976931348623157e308",
            "0.0",
            "0e99",
        ] {
            assert_eq!(code(good), None, "{good}");
        }
        for bad in [
            "9007199254740992",
            "9007199254740993",
            "18446744073709551615",
            "-9007199254740993",
            "1e999",
            "0.1234567890123456789",
            "9007199254740993.0",
            "123456789012345678901234567890",
            "1e-400",
        ] {
            assert_eq!(code(bad), Some(RefusedCode::NumberOutOfRange), "{bad}");
        }
        // Digits inside a text are no number.
        assert_eq!(code(r#"{"a":"9007199254740993"}"#), None);
    }

    #[test]
    fn half_characters_are_refused() {
        for bad in [r#"{"s":"\ud800"}"#, r#""\udc00""#, r#""\ud800\ud800""#, r#""\ud800x""#, r#"{"\udfff":1}"#] {
            assert_eq!(code(bad), Some(RefusedCode::InvalidUnicode), "{bad}");
        }
        assert_eq!(code(r#""\ud83d\ude00""#), None);
        assert_eq!(code(r#""\\ud800""#), None);
        assert_eq!(strict_json(b"\"\xff\"").unwrap_err().code, RefusedCode::InvalidUnicode);
    }

    #[test]
    fn depth_and_size_have_an_end() {
        assert_eq!(code(&format!("{}{}", "[".repeat(64), "]".repeat(64))), None);
        assert_eq!(code(&format!("{}{}", "[".repeat(65), "]".repeat(65))), Some(RefusedCode::TooDeep));
        assert_eq!(code(&"[".repeat(200)), Some(RefusedCode::TooDeep));
        assert_eq!(code(&format!("\"{}\"", "a".repeat(MAX_BYTES))), Some(RefusedCode::TooLarge));
    }

    /// Pieces of JSON put together in any order: mostly broken, now and then whole.
    fn crooked() -> impl Strategy<Value = String> {
        let pieces = [
            "{",
            "}",
            "[",
            "]",
            ",",
            ":",
            "\"a\"",
            "\"\\u0061\"",
            "\"b\"",
            "1",
            "-0",
            "1.5e3",
            "9007199254740993",
            "1e999",
            "true",
            "null",
            "\"\\ud800\"",
            "\"\\ud83d\\ude00\"",
            " ",
            "\n",
            "\u{feff}",
            "\"",
            "\\",
        ];
        prop::collection::vec(prop::sample::select(pieces.to_vec()), 0..14).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]

        #[test]
        fn what_is_taken_is_what_the_usual_parser_reads(text in crooked()) {
            if let Ok(value) = strict_json(text.as_bytes()) {
                prop_assert_eq!(value, serde_json::from_str::<Value>(&text).unwrap());
            }
        }

        #[test]
        fn any_bytes_are_judged(bytes in any::<Vec<u8>>()) {
            let strict = strict_json(&bytes);
            prop_assert!(strict.is_err() || serde_json::from_slice::<Value>(&bytes).is_ok());
        }

        /// Two inputs of one canonical form are the same to every reader.
        #[test]
        fn numbers_that_are_taken_do_not_collide(a in "-?[0-9]{1,20}(\\.[0-9]{1,20})?(e-?[0-9]{1,3})?", b in "-?[0-9]{1,20}(\\.[0-9]{1,20})?(e-?[0-9]{1,3})?") {
            if let (Ok(one), Ok(other)) = (strict_json(a.as_bytes()), strict_json(b.as_bytes())) {
                let same = crate::canonical::canonical(&one) == crate::canonical::canonical(&other);
                prop_assert_eq!(same, decimal(&a) == decimal(&b), "{} {}", a, b);
            }
        }
    }

    #[test]
    fn what_is_no_json_is_malformed() {
        for bad in [
            "",
            "\u{feff}{\"a\":1}",
            "{\"a\":1}x",
            "{\"a\":1,}",
            "{'a':1}",
            "NaN",
            "01",
            "1.",
            "--1",
            "[1 2]",
            "\"\t\"",
            "nul",
            "\"abc",
        ] {
            assert_eq!(code(bad), Some(RefusedCode::Malformed), "{bad:?}");
        }
    }
}
