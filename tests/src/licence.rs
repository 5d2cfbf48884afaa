//! Licence expressions, as SPDX writes them.

/// Licences whose code may be part of Placet: all permissive, and MPL-2.0, which reaches no further than its own files.
const PERMITTED: &[&str] = &[
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BlueOak-1.0.0",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "CDLA-Permissive-2.0",
    "ISC",
    "MIT",
    "MIT-0",
    "MPL-2.0",
    "Python-2.0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

/// Whether an expression leaves us a choice that is permitted in all its parts. Cargo's old `/` counts as `OR`.
pub fn is_permitted(expression: &str) -> bool {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut words = words.as_slice();
    either(&mut words) && words.is_empty()
}

fn either(words: &mut &[&str]) -> bool {
    let mut permitted = both(words);
    while let Some((&"OR", rest)) = words.split_first() {
        *words = rest;
        permitted |= both(words);
    }
    permitted
}

fn both(words: &mut &[&str]) -> bool {
    let mut permitted = one(words);
    while let Some((&"AND", rest)) = words.split_first() {
        *words = rest;
        permitted &= one(words);
    }
    permitted
}

fn one(words: &mut &[&str]) -> bool {
    let Some((&first, rest)) = words.split_first() else { return false };
    *words = rest;
    if first == "(" {
        let permitted = either(words);
        let closed = words.split_first().filter(|(first, _)| **first == ")");
        *words = closed.map_or(&[], |(_, rest)| rest);
        return permitted && closed.is_some();
    }
    let mut name = first.to_owned();
    if let [with @ "WITH", exception, rest @ ..] = *words {
        name = format!("{name} {with} {exception}");
        *words = rest;
    }
    PERMITTED.contains(&name.as_str())
}
