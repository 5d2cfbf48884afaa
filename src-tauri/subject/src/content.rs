//! What would be written, as a person reads it: a diff against the file as it is now, or the text itself.

use std::time::Duration;

use placet_domain::Span;
use placet_domain::card::{Change, Content, DiffLine};
use similar::{ChangeTag, DiffOp, TextDiff};

use crate::show::{is_indented, show_indented, show_line, show_lines, show_marked};

/// How long a diff may look for its shortest form; after that it is still right, only longer.
const DIFF_TIME: Duration = Duration::from_millis(500);

/// The change from one text to another.
pub(crate) fn diff(title: Vec<Span>, old: &str, new: &str) -> Content {
    let diff = TextDiff::configure().timeout(DIFF_TIME).diff_lines(old, new);
    let (mut added, mut removed) = (0, 0);
    let mut lines = Vec::new();
    for op in diff.ops() {
        if matches!(op, DiffOp::Replace { .. }) {
            for change in diff.iter_inline_changes(op) {
                let pieces: Vec<_> = change.iter_strings_lossy().collect();
                let whole: String = pieces.iter().map(|(_, text)| text.as_ref()).collect();
                let mut start = is_indented(without_end(&whole));
                let mut spans = Vec::new();
                for (mark, text) in pieces {
                    let text = without_end(&text);
                    spans.extend(if start { show_indented(text, mark) } else { show_marked(text, mark) });
                    start &= text.trim_start_matches(' ').is_empty();
                }
                lines.push(line(change.tag(), change.old_index(), change.new_index(), spans, &mut added, &mut removed));
            }
        } else {
            for change in diff.iter_changes(op) {
                let spans = show_line(without_end(change.value()));
                lines.push(line(change.tag(), change.old_index(), change.new_index(), spans, &mut added, &mut removed));
            }
        }
    }
    Content::Diff { title, added, removed, lines }
}

fn without_end(text: &str) -> &str {
    text.strip_suffix('\n').unwrap_or(text)
}

fn line(
    tag: ChangeTag,
    old: Option<usize>,
    new: Option<usize>,
    spans: Vec<Span>,
    added: &mut u32,
    removed: &mut u32,
) -> DiffLine {
    let number = |index: Option<usize>| index.and_then(|i| u32::try_from(i + 1).ok());
    let change = match tag {
        ChangeTag::Equal => Change::Same,
        ChangeTag::Insert => {
            *added += 1;
            Change::Added
        }
        ChangeTag::Delete => {
            *removed += 1;
            Change::Removed
        }
    };
    DiffLine { change, old: number(old), new: number(new), spans }
}

/// Text as it is.
pub(crate) fn text(title: Vec<Span>, language: &str, text: &str) -> Content {
    Content::Text { title, language: language.to_owned(), lines: show_lines(text) }
}

/// Bytes that are no text, by size and what they seem to be.
pub(crate) fn binary(title: Vec<Span>, bytes: &[u8]) -> Content {
    let media_type = infer::get(bytes).map_or("application/octet-stream", |kind| kind.mime_type());
    Content::Binary { title, size: bytes.len() as u64, media_type: media_type.to_owned() }
}

/// Whether bytes are text to a person: UTF-8 without null bytes.
pub(crate) fn as_text(bytes: &[u8]) -> Option<&str> {
    std::str::from_utf8(bytes).ok().filter(|text| !text.contains('\0'))
}

/// For colouring: a file name's extension where it is a plain word.
pub(crate) fn language(path: &[u8]) -> String {
    let name = path.rsplit(|b| *b == b'/').next().unwrap_or_default();
    let extension = name.iter().rposition(|b| *b == b'.').filter(|at| *at > 0).map_or(&[][..], |at| &name[at + 1..]);
    let plain = !extension.is_empty() && extension.len() <= 16 && extension.iter().all(u8::is_ascii_alphanumeric);
    if plain { String::from_utf8_lossy(extension).to_lowercase() } else { "text".to_owned() }
}

/// Lines as a person counts them.
pub(crate) fn line_count(text: &str) -> usize {
    text.lines().count()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic)]

    use super::*;
    use crate::show::unshow;

    #[test]
    fn code_keeps_its_indentation_in_a_diff_and_each_line_is_its_own_bytes() {
        let old = "fn a() {\n            let x = 1;\n}\n";
        for new in
            ["fn a() {\n            let y = 1;\n}\n", "fn a() {\n                let x = 1;\n}\n", "            \n"]
        {
            let Content::Diff { lines, .. } = diff(Vec::new(), old, new) else { panic!("a diff is a diff") };
            let side = |change| -> Vec<u8> {
                let kept = lines.iter().filter(|line| line.change == Change::Same || line.change == change);
                kept.flat_map(|line| [unshow(&line.spans).unwrap(), b"\n".to_vec()].concat()).collect()
            };
            assert_eq!(side(Change::Removed), old.as_bytes());
            assert_eq!(side(Change::Added), new.as_bytes());
            let blank_only = |line: &&DiffLine| line.spans.iter().any(|span| matches!(span, Span::Escape { .. }));
            assert_eq!(lines.iter().filter(blank_only).count(), usize::from(new.trim().is_empty()));
        }
    }
}
