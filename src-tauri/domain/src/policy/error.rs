//! A mistake in a policy, with its place.

use std::ops::Range;

/// Why a policy's text was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct PolicyError {
    /// What is wrong, in a sentence.
    pub message: String,
    /// The line, from 1, where it has a place.
    pub line: Option<u32>,
    /// The character in that line, from 1.
    pub column: Option<u32>,
    /// What to write instead.
    pub hint: Option<String>,
}

impl PolicyError {
    pub(super) fn at(text: &str, span: Option<Range<usize>>, message: impl Into<String>, hint: &str) -> Self {
        let place = span.map(|span| place_of(text, span.start));
        Self {
            message: message.into(),
            line: place.map(|(line, _)| line),
            column: place.map(|(_, column)| column),
            hint: (!hint.is_empty()).then(|| hint.to_owned()),
        }
    }

    /// For a terminal: the line it is about with a caret under the place, the message and the hint.
    pub fn report(&self, text: &str, file: &str) -> String {
        use std::fmt::Write as _;
        let mut report = format!("error: {}\n", self.message);
        if let (Some(line), Some(column)) = (self.line, self.column) {
            let source = text.lines().nth(line as usize - 1).unwrap_or_default();
            let gutter = line.to_string();
            let pad = " ".repeat(gutter.len());
            // Tabs are kept, so that the caret stands under its character however wide the terminal draws them.
            let indent: String =
                source.chars().take(column as usize - 1).map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
            let _ =
                write!(report, "{pad}--> {file}:{line}:{column}\n{pad} |\n{gutter} | {source}\n{pad} | {indent}^\n");
        }
        if let Some(hint) = &self.hint {
            let _ = writeln!(report, "hint: {hint}");
        }
        report
    }
}

fn place_of(text: &str, offset: usize) -> (u32, u32) {
    let mut end = offset.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let before = &text[..end];
    let line = before.matches('\n').count();
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count();
    let count = |n: usize| u32::try_from(n + 1).unwrap_or(u32::MAX);
    (count(line), count(column))
}

/// The nearest of `known` to a misspelled `word`, if any is near.
pub(super) fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    known
        .into_iter()
        .map(|candidate| (distance(word, candidate), candidate))
        .min()
        .filter(|(distance, candidate)| *distance <= 1 + candidate.len() / 3)
        .map(|(_, candidate)| candidate)
}

/// How many letters must be changed, added or taken away (Levenshtein).
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let changed = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(row[j] + 1).min(row[j + 1] + 1);
        }
    }
    row[b.len()]
}
