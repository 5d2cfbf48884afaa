//! What differs between a subject as written and as it really is: marked on both, and only there.

use placet_domain::Span;
use similar::{Algorithm, DiffOp, capture_diff_slices};

use crate::show::{show_bytes_marked, show_marked};

/// Pieces of a text, each marked as differing or not.
pub(crate) type Pieces = Vec<(String, bool)>;

/// A path in spans, with the form as written.
pub(crate) struct MarkedPath {
    pub(crate) lead: Vec<Span>,
    pub(crate) main: Vec<Span>,
    pub(crate) asked: Vec<Span>,
}

/// Marks the names in which the path as written differs from the resolved one.
///
/// A relative path is compared as if it stood where it was written from; only the written part is shown.
pub(crate) fn mark_paths(asked: &[u8], normalized: &[u8], resolved: &[u8]) -> MarkedPath {
    let names = |path: &[u8]| -> Vec<Vec<u8>> {
        path.split(|b| *b == b'/').filter(|name| !name.is_empty()).map(<[u8]>::to_vec).collect()
    };
    let real = names(resolved);
    let written = names(asked);
    // What the client's folder adds in front: the normalized names before the written ones begin.
    let climbs = written.iter().any(|name| name == b"..");
    let prefix = if asked.starts_with(b"/") || climbs {
        Vec::new()
    } else {
        let whole = names(normalized);
        let own = written.iter().filter(|name| *name != b".").count();
        whole[..whole.len().saturating_sub(own)].to_vec()
    };
    let full: Vec<Vec<u8>> = prefix.iter().chain(&written).cloned().collect();
    let (mut real_marks, mut full_marks) = (vec![false; real.len()], vec![false; full.len()]);
    for op in capture_diff_slices(Algorithm::Myers, &full, &real) {
        if !matches!(op, DiffOp::Equal { .. }) {
            full_marks[op.old_range()].fill(true);
            real_marks[op.new_range()].fill(true);
        }
    }
    // A relative path that climbs differs by what it left out; that is no news of the real one's beginning.
    if climbs && !asked.starts_with(b"/") {
        let first_equal = real_marks.iter().position(|mark| !mark).unwrap_or(0);
        real_marks[..first_equal].fill(false);
    }
    let (lead, main) = match real.split_last() {
        Some((last, folders)) => {
            let mut lead = show_bytes_marked(b"/", false);
            for (name, mark) in folders.iter().zip(&real_marks) {
                lead.extend(show_bytes_marked(name, *mark));
                lead.extend(show_bytes_marked(b"/", false));
            }
            (joined(lead), show_bytes_marked(last, real_marks[real.len() - 1]))
        }
        None => (Vec::new(), show_bytes_marked(b"/", false)),
    };
    MarkedPath { lead, main, asked: marked_as_written(asked, &full_marks[prefix.len()..]) }
}

/// The written path with its own separators; repeated ones are marked.
fn marked_as_written(asked: &[u8], marks: &[bool]) -> Vec<Span> {
    let mut spans = Vec::new();
    let mut marks = marks.iter();
    let mut separators = 0;
    for (index, name) in asked.split(|b| *b == b'/').enumerate() {
        if index > 0 {
            separators += 1;
            spans.extend(show_bytes_marked(b"/", separators > 1));
        }
        if !name.is_empty() {
            separators = 0;
            spans.extend(show_bytes_marked(name, marks.next().copied().unwrap_or(false)));
        }
    }
    joined(spans)
}

/// Neighbouring texts with the same mark become one span.
fn joined(spans: Vec<Span>) -> Vec<Span> {
    let mut all: Vec<Span> = Vec::new();
    for span in spans {
        match (all.last_mut(), span) {
            (Some(Span::Text { text, mark }), Span::Text { text: more, mark: same }) if *mark == same => {
                text.push_str(&more);
            }
            (_, span) => all.push(span),
        }
    }
    all
}

/// Marks the characters in which an address as it is read differs from how it was written, on both.
///
/// Compared by its parts, so that a host of another spelling is marked as such and not by the letters it happens to
/// share; within a part that changed, what both begin and end with stays unmarked.
pub(crate) fn mark_addresses(real: &str, asked: &str) -> (Pieces, Pieces) {
    let (a, b) = (parts(real), parts(asked));
    let (mut one, mut other) = (Pieces::new(), Pieces::new());
    for op in capture_diff_slices(Algorithm::Myers, &a, &b) {
        let (real, asked) = (a[op.old_range()].concat(), b[op.new_range()].concat());
        if matches!(op, DiffOp::Equal { .. }) {
            push(&mut one, &real, false);
            push(&mut other, &asked, false);
        } else if real.starts_with("xn--") && !asked.is_ascii() {
            // A name in its real spelling: all of it is news, and of the written one the foreign letters.
            push(&mut one, &real, true);
            asked.chars().for_each(|c| push(&mut other, c.encode_utf8(&mut [0; 4]), !c.is_ascii()));
        } else {
            let begin = shared(real.char_indices().zip(asked.chars()));
            let end = shared_end(&real[begin..], &asked[begin..]);
            for (pieces, text) in [(&mut one, real.as_str()), (&mut other, asked.as_str())] {
                push(pieces, &text[..begin], false);
                push(pieces, &text[begin..text.len() - end], true);
                push(pieces, &text[text.len() - end..], false);
            }
        }
    }
    (one, other)
}

/// An address cut at its delimiters, which are parts of their own.
fn parts(text: &str) -> Vec<&str> {
    let is_delimiter = |c: char| matches!(c, '/' | '\\' | '.' | ':' | '@' | '?' | '#' | '&' | '=');
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let end = if is_delimiter(first) { first.len_utf8() } else { rest.find(is_delimiter).unwrap_or(rest.len()) };
        parts.push(&rest[..end]);
        rest = &rest[end..];
    }
    parts
}

/// Bytes of the beginning that both texts share.
fn shared(pairs: impl Iterator<Item = ((usize, char), char)>) -> usize {
    pairs.take_while(|((_, a), b)| a == b).last().map_or(0, |((at, c), _)| at + c.len_utf8())
}

/// Bytes of the end that both texts share.
fn shared_end(one: &str, other: &str) -> usize {
    one.chars().rev().zip(other.chars().rev()).take_while(|(a, b)| a == b).map(|(c, _)| c.len_utf8()).sum()
}

/// Adds to the pieces; neighbours with the same mark become one.
fn push(pieces: &mut Pieces, text: &str, mark: bool) {
    match pieces.last_mut() {
        _ if text.is_empty() => {}
        Some((last, same)) if *same == mark => last.push_str(text),
        Some(_) | None => pieces.push((text.to_owned(), mark)),
    }
}

/// Pieces made visible.
pub(crate) fn spans(pieces: &Pieces) -> Vec<Span> {
    pieces.iter().flat_map(|(text, mark)| show_marked(text, *mark)).collect()
}

/// The part of the pieces between two byte offsets, made visible.
pub(crate) fn cut(pieces: &Pieces, from: usize, to: usize) -> Vec<Span> {
    let mut spans = Vec::new();
    let mut at = 0;
    for (text, mark) in pieces {
        let (start, end) = (from.clamp(at, at + text.len()) - at, to.clamp(at, at + text.len()) - at);
        if start < end
            && let Some(part) = text.get(start..end)
        {
            spans.extend(show_marked(part, *mark));
        }
        at += text.len();
    }
    spans
}
