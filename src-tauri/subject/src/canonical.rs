//! Canonical JSON (RFC 8785), written straight into a hash: no second copy of a large input.
//!
//! `serde_json_canonicalizer` is the second opinion: a differential test holds this writer to it.

use std::fmt::Write as _;

use placet_domain::Digest;
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

/// SHA-256 of some bytes.
pub fn sha256(bytes: &[u8]) -> Digest {
    Digest::new(Sha256::digest(bytes).into())
}

/// SHA-256 over the canonical form of an object that is given by its fields.
///
/// The fields are borrowed, so that a large input is hashed where it lies.
pub fn digest_of(fields: &[(&str, &Value)]) -> Digest {
    let mut fields = fields.to_vec();
    fields.sort_by(|a, b| a.0.encode_utf16().cmp(b.0.encode_utf16()));
    let mut sink = Hashing { hash: Sha256::new(), buffer: Vec::with_capacity(BUFFER) };
    sink.push("{");
    for (index, (key, value)) in fields.iter().enumerate() {
        if index > 0 {
            sink.push(",");
        }
        write_string(&mut sink, key);
        sink.push(":");
        write_value(&mut sink, value);
    }
    sink.push("}");
    Digest::new(sink.finish())
}

/// The canonical text of a value.
pub fn canonical(value: &Value) -> String {
    let mut text = String::new();
    write_value(&mut text, value);
    text
}

trait Sink {
    fn push(&mut self, text: &str);
    /// A backslash and one character of ASCII.
    fn push_escape(&mut self, character: u8);
}

impl Sink for String {
    fn push(&mut self, text: &str) {
        self.push_str(text);
    }

    fn push_escape(&mut self, character: u8) {
        self.extend(['\\', char::from(character)]);
    }
}

const BUFFER: usize = 32 * 1024;

/// Gathers small pieces, since hashing byte by byte is slow.
struct Hashing {
    hash: Sha256,
    buffer: Vec<u8>,
}

impl Hashing {
    fn finish(mut self) -> [u8; 32] {
        self.hash.update(&self.buffer);
        self.hash.finalize().into()
    }
}

impl Sink for Hashing {
    #[inline]
    fn push(&mut self, text: &str) {
        if self.buffer.len() + text.len() > BUFFER {
            self.hash.update(&self.buffer);
            self.buffer.clear();
            if text.len() > BUFFER {
                self.hash.update(text.as_bytes());
                return;
            }
        }
        self.buffer.extend_from_slice(text.as_bytes());
    }

    #[inline]
    fn push_escape(&mut self, character: u8) {
        if self.buffer.len() + 2 > BUFFER {
            self.hash.update(&self.buffer);
            self.buffer.clear();
        }
        self.buffer.extend_from_slice(&[b'\\', character]);
    }
}

fn write_value(sink: &mut impl Sink, value: &Value) {
    match value {
        Value::Null => sink.push("null"),
        Value::Bool(true) => sink.push("true"),
        Value::Bool(false) => sink.push("false"),
        Value::Number(number) => sink.push(&number_text(number)),
        Value::String(text) => write_string(sink, text),
        Value::Array(items) => {
            sink.push("[");
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    sink.push(",");
                }
                write_value(sink, item);
            }
            sink.push("]");
        }
        Value::Object(object) => write_object(sink, object),
    }
}

fn write_object(sink: &mut impl Sink, object: &Map<String, Value>) {
    let mut entries: Vec<_> = object.iter().collect();
    // UTF-16 code units order as RFC 8785 wants; bytes order the same unless a key leaves the basic plane.
    if entries.iter().all(|(key, _)| key.is_ascii()) {
        entries.sort_unstable_by(|a, b| a.0.cmp(b.0));
    } else {
        entries.sort_unstable_by(|a, b| a.0.encode_utf16().cmp(b.0.encode_utf16()));
    }
    sink.push("{");
    for (index, (key, value)) in entries.into_iter().enumerate() {
        if index > 0 {
            sink.push(",");
        }
        write_string(sink, key);
        sink.push(":");
        write_value(sink, value);
    }
    sink.push("}");
}

fn write_string(sink: &mut impl Sink, text: &str) {
    sink.push("\"");
    let mut rest = text;
    while let Some(at) = rest.bytes().position(|byte| ESCAPED[usize::from(byte)]) {
        sink.push(&rest[..at]);
        match rest.as_bytes()[at] {
            byte @ (b'"' | b'\\') => sink.push_escape(byte),
            0x08 => sink.push_escape(b'b'),
            b'\t' => sink.push_escape(b't'),
            b'\n' => sink.push_escape(b'n'),
            0x0C => sink.push_escape(b'f'),
            b'\r' => sink.push_escape(b'r'),
            other => sink.push(&format!("\\u{other:04x}")),
        }
        // What is escaped is one byte of ASCII.
        rest = &rest[at + 1..];
    }
    sink.push(rest);
    sink.push("\"");
}

/// The bytes that a canonical text escapes.
const ESCAPED: [bool; 256] = {
    let mut escaped = [false; 256];
    let mut byte = 0;
    while byte < 0x20 {
        escaped[byte] = true;
        byte += 1;
    }
    escaped[b'"' as usize] = true;
    escaped[b'\\' as usize] = true;
    escaped
};

/// As ECMAScript writes a number.
fn number_text(number: &serde_json::Number) -> String {
    const EXACT: u64 = 1 << 53;
    if let Some(whole) = number.as_u64().filter(|n| *n <= EXACT) {
        return whole.to_string();
    }
    if let Some(whole) = number.as_i64().filter(|n| n.unsigned_abs() <= EXACT) {
        return whole.to_string();
    }
    number.as_f64().map_or_else(String::new, float_text)
}

/// The shortest digits that read back as the same double, set as ECMA-262 (`Number::toString`) sets them.
fn float_text(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let scientific = format!("{:e}", value.abs());
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let digits = even_of_two(value.abs(), mantissa.chars().filter(|c| *c != '.').collect(), exponent);
    let count = i32::try_from(digits.len()).unwrap_or(i32::MAX);
    // The decimal point stands behind this many digits.
    let point = exponent.parse::<i32>().unwrap_or(0) + 1;
    let zeros = |n: i32| "0".repeat(usize::try_from(n).unwrap_or(0));
    let mut text = String::from(if value < 0.0 { "-" } else { "" });
    if count <= point && point <= 21 {
        text.push_str(&digits);
        text.push_str(&zeros(point - count));
    } else if 0 < point && point <= 21 {
        let (whole, fraction) = digits.split_at(usize::try_from(point).unwrap_or(0));
        let _ = write!(text, "{whole}.{fraction}");
    } else if -6 < point && point <= 0 {
        let _ = write!(text, "0.{}{digits}", zeros(-point));
    } else {
        let (first, others) = digits.split_at(1);
        let dot = if others.is_empty() { "" } else { "." };
        let sign = if point > 0 { '+' } else { '-' };
        let _ = write!(text, "{first}{dot}{others}e{sign}{}", (point - 1).abs());
    }
    text
}

/// Where two shortest spellings are equally near, ECMA-262 takes the even one; Rust takes the upper.
fn even_of_two(value: f64, digits: String, exponent: &str) -> String {
    let Some(last) = digits.bytes().last().filter(|d| d % 2 == 1) else { return digits };
    let lower = format!("{}{}", &digits[..digits.len() - 1], char::from(last - 1));
    let (first, others) = lower.split_at(1);
    let reads_back =
        format!("{first}.{others}e{exponent}").parse::<f64>().is_ok_and(|v| v.to_bits() == value.to_bits());
    if !reads_back {
        return digits;
    }
    // All digits that a double can have: a tie is a five with nothing behind it.
    let exact = format!("{value:.800e}");
    let tail: String = exact.chars().filter(|c| *c != '.').take_while(|c| *c != 'e').skip(lower.len()).collect();
    if tail.starts_with('5') && tail[1..].bytes().all(|b| b == b'0') { lower } else { digits }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn rfc_8785_examples() {
        let value: Value = serde_json::from_str(
            r#"{"numbers":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001],"string":"\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/","literals":[null,true,false]}"#,
        )
        .unwrap();
        assert_eq!(
            canonical(&value),
            "{\"literals\":[null,true,false],\"numbers\":[333333333.3333333,1e+30,4.5,0.002,1e-27],\"string\":\"\u{20ac}$\\u000f\\nA'B\\\"\\\\\\\\\\\"/\"}"
        );
        let keys = json!({"\u{20ac}":"Euro Sign","\r":"Carriage Return","\u{fb33}":"Hebrew Letter Dalet With Dagesh","1":"One","\u{1f600}":"Emoji: Grinning Face","\u{80}":"Control","\u{f6}":"Latin Small Letter O With Diaeresis"});
        let text = canonical(&keys);
        let order: Vec<_> = ["\\r", "1", "\u{80}", "\u{f6}", "\u{20ac}", "\u{1f600}", "\u{fb33}"]
            .iter()
            .map(|key| text.find(&format!("\"{key}\":")).unwrap())
            .collect();
        assert!(order.is_sorted(), "{text}");
    }

    /// RFC 8785, appendix B: the bits of a double and its text.
    #[test]
    fn rfc_8785_numbers() {
        for (bits, expected) in [
            (0x0000_0000_0000_0000_u64, "0"),
            (0x8000_0000_0000_0000, "0"),
            (0x0000_0000_0000_0001, "5e-324"),
            (0x8000_0000_0000_0001, "-5e-324"),
            (0x7fef_ffff_ffff_ffff, "1.7976931348623157e+308"),
            (0xffef_ffff_ffff_ffff, "-1.7976931348623157e+308"),
            (0x4340_0000_0000_0000, "9007199254740992"),
            (0xc340_0000_0000_0000, "-9007199254740992"),
            (0x4430_0000_0000_0000, "295147905179352830000"),
            (0x44b5_2d02_c7e1_4af5, "9.999999999999997e+22"),
            (0x44b5_2d02_c7e1_4af6, "1e+23"),
            (0x44b5_2d02_c7e1_4af7, "1.0000000000000001e+23"),
            (0x444b_1ae4_d6e2_ef4e, "999999999999999700000"),
            (0x444b_1ae4_d6e2_ef4f, "999999999999999900000"),
            (0x444b_1ae4_d6e2_ef50, "1e+21"),
            (0x3eb0_c6f7_a0b5_ed8c, "9.999999999999997e-7"),
            (0x3eb0_c6f7_a0b5_ed8d, "0.000001"),
            (0x41b3_de43_5555_5553, "333333333.3333332"),
            (0x41b3_de43_5555_5554, "333333333.33333325"),
            (0x41b3_de43_5555_5555, "333333333.3333333"),
            (0x41b3_de43_5555_5556, "333333333.3333334"),
            (0x41b3_de43_5555_5557, "333333333.33333343"),
            (0xbecb_f647_612f_3696, "-0.0000033333333333333333"),
            (0x4314_3ff3_c1cb_0959, "1424953923781206.2"),
        ] {
            assert_eq!(float_text(f64::from_bits(bits)), expected);
        }
    }

    #[test]
    fn the_hash_is_of_the_canonical_text() {
        let long = json!("x".repeat(3 * BUFFER));
        let value = json!({"b": [1, {"\u{e9}": "\n"}], "a": long, "\u{1f600}": 2.5});
        let object = value.as_object().unwrap();
        let fields: Vec<_> = object.iter().map(|(k, v)| (k.as_str(), v)).collect();
        assert_eq!(digest_of(&fields), sha256(canonical(&value).as_bytes()));
    }

    fn json_value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::Bool),
            (-(1_i64 << 53)..(1_i64 << 53)).prop_map(Value::from),
            any::<f64>().prop_filter_map("finite", |f| serde_json::Number::from_f64(f).map(Value::Number)),
            any::<u64>()
                .prop_map(f64::from_bits)
                .prop_filter_map("finite", |f| serde_json::Number::from_f64(f).map(Value::Number)),
            any::<String>().prop_map(Value::String),
        ];
        leaf.prop_recursive(4, 64, 8, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..8).prop_map(Value::Array),
                prop::collection::vec((any::<String>(), inner), 0..8)
                    .prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn two_independent_canonicalizers_agree(value in json_value()) {
            prop_assert_eq!(canonical(&value), serde_json_canonicalizer::to_string(&value).unwrap());
        }

        #[test]
        fn canonical_twice_is_canonical_once(value in json_value()) {
            let once = canonical(&value);
            let again: Value = serde_json::from_str(&once).unwrap();
            prop_assert_eq!(canonical(&again), once);
        }
    }
}
