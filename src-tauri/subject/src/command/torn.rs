//! A text torn into words without any understanding.

use crate::command::MOST_PARTS;
use crate::command::split::{Piece, Word};

/// The text torn at operators and blanks, without regard to quotes: only good for denying.
pub(crate) fn torn(text: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    for part in text.split(['\n', '\r', ';', '&', '|', '(', ')', '{', '}', '`']) {
        if pieces.len() >= MOST_PARTS {
            break;
        }
        let start = part.as_ptr() as usize - text.as_ptr() as usize;
        let words: Vec<Word> = part
            .split(|c: char| c.is_whitespace() || c.is_control() || c == ',')
            .filter(|word| !word.is_empty())
            .map(|word| {
                let at = word.as_ptr() as usize - text.as_ptr() as usize;
                Word { text: word.trim_matches(['"', '\'']).to_owned(), range: at..at + word.len(), why_not: None }
            })
            .collect();
        if !words.is_empty() {
            let operator = if pieces.is_empty() { "" } else { ";" }.to_owned();
            pieces.push(Piece { operator, words, redirects: Vec::new(), range: start..start + part.len() });
        }
    }
    pieces
}
