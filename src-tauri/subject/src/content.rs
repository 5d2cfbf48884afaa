//! What would be written, as a person reads it: a diff against the file as it is now, or the text itself.

use std::time::Duration;

use placet_domain::Span;
use placet_domain::card::{Change, Content, DiffLine};
use similar::{ChangeTag, DiffOp, TextDiff};

use crate::show::{show, show_lines, show_marked};

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
                let spans = change
                    .iter_strings_lossy()
                    .flat_map(|(mark, text)| show_marked(without_end(&text), mark))
                    .collect();
                lines.push(line(change.tag(), change.old_index(), change.new_index(), spans, &mut added, &mut removed));
            }
        } else {
            for change in diff.iter_changes(op) {
                let spans = show(without_end(change.value()));
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
