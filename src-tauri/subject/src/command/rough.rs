//! What can be recognized of a command that is not understood: good for denying, never for allowing.

use tree_sitter::Node;

use crate::command::split::{Piece, Redirect, Word, literal};

pub(crate) fn same_words(a: &Piece, b: &Piece) -> bool {
    a.words.iter().map(|w| &w.text).eq(b.words.iter().map(|w| &w.text))
}

/// Every command anywhere in a tree that is not understood, with words as far as they are literal.
pub(crate) fn rough(node: Node<'_>, text: &str, pieces: &mut Vec<Piece>) {
    let mut cursor = node.walk();
    match node.kind() {
        "command" => {
            let mut piece = Piece {
                range: node.byte_range(),
                operator: if pieces.is_empty() { "" } else { ";" }.to_owned(),
                ..Piece::default()
            };
            for child in node.children(&mut cursor) {
                if child.kind() == "file_redirect" {
                    rough_redirect(child, text, &mut piece);
                } else if child.kind() != "variable_assignment" && child.is_named() && child.kind() != "comment" {
                    piece.words.push(literal(text, child.byte_range(), false));
                }
            }
            pieces.push(piece);
        }
        "redirected_statement" => {
            let before = pieces.len();
            for child in node.children(&mut cursor) {
                if child.kind() == "file_redirect" {
                    let mut piece =
                        if pieces.len() > before { pieces.pop().unwrap_or_default() } else { Piece::default() };
                    if piece.words.is_empty() {
                        piece.range = node.byte_range();
                    }
                    rough_redirect(child, text, &mut piece);
                    pieces.push(piece);
                } else {
                    rough(child, text, pieces);
                }
            }
            return;
        }
        _ => {}
    }
    let mut cursor = node.walk();
    for child in node.children(&mut cursor) {
        rough(child, text, pieces);
    }
}

fn rough_redirect(node: Node<'_>, text: &str, piece: &mut Piece) {
    let mut cursor = node.walk();
    let mut operator: Option<String> = None;
    for child in node.children(&mut cursor) {
        if !child.is_named() {
            operator = Some(text[child.byte_range()].to_owned());
        } else if child.kind() != "file_descriptor" {
            let word = literal(text, child.byte_range(), false);
            match operator.take() {
                Some(operator) => {
                    piece.redirects.push(Redirect { operator, descriptor: None, target: word, document: None });
                }
                None => piece.words.push(word),
            }
        }
    }
}

/// The text torn at operators and blanks, without regard to quotes: only good for denying.
pub(crate) fn torn(text: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    for part in text.split(['\n', '\r', ';', '&', '|', '(', ')', '{', '}', '`']) {
        let start = part.as_ptr() as usize - text.as_ptr() as usize;
        let words: Vec<Word> = part
            .split(|c: char| c.is_whitespace() || c.is_control() || c == ',')
            .filter(|word| !word.is_empty())
            .map(|word| {
                let at = word.as_ptr() as usize - text.as_ptr() as usize;
                Word { text: word.trim_matches(['"', '\'']).to_owned(), range: at..at + word.len(), why_not: None }
            })
            .collect();
        if !words.is_empty() && pieces.len() < 50 {
            let operator = if pieces.is_empty() { "" } else { ";" }.to_owned();
            pieces.push(Piece { operator, words, redirects: Vec::new(), range: start..start + part.len() });
        }
    }
    pieces
}
