//! Text made visible: the one function by which anything of an agent's comes before a person's eyes.
//!
//! It is total (any bytes), injective ([`unshow`] gives back exactly what was shown) and safe: a drawn character is
//! one of a small set that cannot hide, move or overpaint its neighbours. All else becomes an escape, which the window
//! draws as a chip that no text can imitate. Rules: UTS 39 identifier profile, Unicode default-ignorables, Trojan
//! Source (CVE-2021-42574).

use placet_domain::Span;

use crate::character::{is_combining, is_drawn, label, lookalikes};

/// Changes whenever [`show`] draws something else than before; part of every digest.
pub const DISPLAY_VERSION: &str = "d/1";

/// As many plain blanks in a row are drawn; more become one escape with their count, so that nothing is pushed away.
const MAX_BLANKS: usize = 8;
const TOO_MANY_BLANKS: &str = "         ";
/// As many are drawn before the first character of a line of code. They push away nothing that the line does not hold
/// itself, and code that is deeply indented must stay readable as code.
const MAX_INDENT: usize = 48;
/// Marks on one letter; more could overpaint other lines.
const MAX_MARKS: usize = 2;

/// Makes a text visible.
pub fn show(text: &str) -> Vec<Span> {
    show_marked(text, false)
}

/// Makes bytes visible; those that are no UTF-8 become `0xNN`.
pub fn show_bytes(bytes: &[u8]) -> Vec<Span> {
    show_bytes_marked(bytes, false)
}

/// As [`show`] for a line of code, whose indentation is drawn as it is, up to 48 blanks.
pub fn show_line(line: &str) -> Vec<Span> {
    if is_indented(line) { show_indented(line, false) } else { show(line) }
}

/// Whether a line begins with blanks that are indentation: not too many, and something stands behind them.
pub(crate) fn is_indented(line: &str) -> bool {
    let rest = line.trim_start_matches(' ');
    !rest.is_empty() && line.len() - rest.len() <= MAX_INDENT
}

/// The beginning of a line that [`is_indented`], with everything marked as differing or not.
pub(crate) fn show_indented(start: &str, mark: bool) -> Vec<Span> {
    let rest = start.trim_start_matches(' ');
    let mut spans = Spans { done: Vec::new(), text: start[..start.len() - rest.len()].to_owned(), mark };
    draw(&mut spans, rest);
    spans.finish()
}

/// As [`show`], with everything marked as differing or not.
pub(crate) fn show_marked(text: &str, mark: bool) -> Vec<Span> {
    let mut spans = Spans { done: Vec::new(), text: String::new(), mark };
    draw(&mut spans, text);
    spans.finish()
}

/// As [`show_bytes`], with everything marked as differing or not.
pub(crate) fn show_bytes_marked(bytes: &[u8], mark: bool) -> Vec<Span> {
    let mut spans = Spans { done: Vec::new(), text: String::new(), mark };
    for chunk in bytes.utf8_chunks() {
        draw(&mut spans, chunk.valid());
        for byte in chunk.invalid() {
            spans.escape(format!("0x{byte:02X}"), "a byte that is no text", 1);
        }
    }
    spans.finish()
}

/// Makes each line of a text visible, without its line end. A text that ends with a line break has no empty last line.
pub fn show_lines(text: &str) -> Vec<Vec<Span>> {
    let mut lines: Vec<_> = text.split('\n').map(show_line).collect();
    if text.ends_with('\n') {
        lines.pop();
    }
    lines
}

/// A span that no text gives.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not an escape: {0:?}")]
pub struct NotShown(pub String);

/// What was shown, byte for byte.
pub fn unshow(spans: &[Span]) -> Result<Vec<u8>, NotShown> {
    let mut bytes = Vec::new();
    for span in spans {
        match span {
            Span::Text { text, .. } => bytes.extend_from_slice(text.as_bytes()),
            Span::Escape { escape, count, .. } => {
                let wrong = || NotShown(escape.clone());
                let times = usize::try_from(count.unwrap_or(1)).map_err(|_| wrong())?;
                if let Some(digits) = escape.strip_prefix("U+") {
                    let code = u32::from_str_radix(digits, 16).map_err(|_| wrong())?;
                    let c = char::from_u32(code).ok_or_else(wrong)?;
                    bytes.extend(c.to_string().repeat(times).into_bytes());
                } else {
                    let digits = escape.strip_prefix("0x").ok_or_else(wrong)?;
                    bytes.extend(std::iter::repeat_n(u8::from_str_radix(digits, 16).map_err(|_| wrong())?, times));
                }
            }
        }
    }
    Ok(bytes)
}

struct Spans {
    done: Vec<Span>,
    text: String,
    mark: bool,
}

impl Spans {
    fn escape(&mut self, escape: String, label: &str, count: usize) {
        self.flush();
        if let Some(Span::Escape { escape: last, count: times, .. }) = self.done.last_mut()
            && *last == escape
        {
            *times = Some(times.unwrap_or(1).saturating_add(u32::try_from(count).unwrap_or(u32::MAX)));
            return;
        }
        let count = (count > 1).then(|| u32::try_from(count).unwrap_or(u32::MAX));
        self.done.push(Span::Escape { escape, label: label.to_owned(), count, mark: self.mark });
    }

    fn flush(&mut self) {
        if !self.text.is_empty() {
            self.done.push(Span::Text { text: std::mem::take(&mut self.text), mark: self.mark });
        }
    }

    fn finish(mut self) -> Vec<Span> {
        self.flush();
        self.done
    }
}

fn draw(spans: &mut Spans, text: &str) {
    // Most lines of most files are this plain.
    if text.bytes().all(|b| matches!(b, b' '..=b'~')) && !text.contains(TOO_MANY_BLANKS) {
        spans.text.push_str(text);
        return;
    }
    let lookalikes = if text.is_ascii() { Vec::new() } else { lookalikes(text) };
    let mut marks = 0;
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        if c == ' ' {
            let blanks = text[at..].bytes().take_while(|b| *b == b' ').count();
            if blanks > MAX_BLANKS {
                spans.escape("U+0020".to_owned(), label(' '), blanks);
            } else {
                spans.text.push_str(&text[at..at + blanks]);
            }
            (at, marks) = (at + blanks, 0);
            continue;
        }
        let is_mark = is_combining(c);
        marks = if is_mark { marks + 1 } else { 0 };
        // A mark needs a letter in the same span to stand on, or it would stand on what is ours.
        let fits = !is_mark || (marks <= MAX_MARKS && !spans.text.is_empty() && !spans.text.ends_with(' '));
        let lookalike = lookalikes.binary_search_by_key(&at, |(offset, _)| *offset).is_ok();
        if fits && !lookalike && is_drawn(c) {
            spans.text.push(c);
        } else {
            spans.escape(format!("U+{:04X}", u32::from(c)), label(c), 1);
        }
        at += c.len_utf8();
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use proptest::prelude::*;

    use super::*;
    use crate::character::{is_bidi, is_invisible};

    /// Spans in one line: escapes in ⟦⟧ with their count.
    fn line(spans: &[Span]) -> String {
        spans
            .iter()
            .map(|span| match span {
                Span::Text { text, .. } => text.clone(),
                Span::Escape { escape, count, .. } => {
                    format!("⟦{escape}{}⟧", count.map_or(String::new(), |n| format!("×{n}")))
                }
            })
            .collect()
    }

    #[test]
    fn what_can_be_read_stays_as_it_is() {
        for text in [
            "plain ASCII, \\u{202E} in letters",
            "文件.txt",
            "naïve café",
            "Ελληνικά",
            "русский текст",
            "שלום",
            "a – b … “c”",
            "├── src",
            "日本語とLatin",
            "x → y ≤ z 🦀",
        ] {
            assert_eq!(line(&show(text)), text);
        }
    }

    #[test]
    fn a_line_keeps_its_indentation_and_nothing_else_is_let_through_by_it() {
        for (text, shown) in [
            ("            return", "            return"),
            ("            a         b", "            a⟦U+0020×9⟧b"),
            ("            \u{301}a", "            ⟦U+0301⟧a"),
            ("            ", "⟦U+0020×12⟧"),
            (&format!("{}far", " ".repeat(49)), "⟦U+0020×49⟧far"),
        ] {
            assert_eq!(line(&show_line(text)), shown);
            assert_eq!(unshow(&show_line(text)).unwrap(), text.as_bytes());
        }
    }

    #[test]
    fn what_hides_is_made_visible() {
        for (text, shown) in [
            ("a\u{202E}b\u{2066}", "a⟦U+202E⟧b⟦U+2066⟧"),
            ("ok\u{E0072}\u{E006D}", "ok⟦U+E0072⟧⟦U+E006D⟧"),
            ("\u{1B}[2K\u{9B}1A", "⟦U+001B⟧[2K⟦U+009B⟧1A"),
            ("ls\t\t\t;x", "ls⟦U+0009×3⟧;x"),
            ("a        b", "a        b"),
            ("a         b", "a⟦U+0020×9⟧b"),
            ("a\n\n\nb", "a⟦U+000A×3⟧b"),
            ("tmp\u{2044}evil", "tmp⟦U+2044⟧evil"),
            ("a\u{300}\u{301}\u{302}\u{303}b", "a\u{300}\u{301}⟦U+0302⟧⟦U+0303⟧b"),
            ("\u{301}a", "⟦U+0301⟧a"),
            ("RE\u{410}DME.md", "RE⟦U+0410⟧DME.md"),
            ("a\u{A0}b\u{3000}c", "a⟦U+00A0⟧b⟦U+3000⟧c"),
            ("\u{2800}\u{3164}\u{115F}", "⟦U+2800⟧⟦U+3164⟧⟦U+115F⟧"),
            ("\u{FF52}\u{FF4D}", "⟦U+FF52⟧⟦U+FF4D⟧"),
            ("\u{1D5CB}\u{1D5C6}", "⟦U+1D5CB⟧⟦U+1D5C6⟧"),
            ("\u{E000}\u{FFFE}", "⟦U+E000⟧⟦U+FFFE⟧"),
        ] {
            assert_eq!(line(&show(text)), shown);
        }
        assert_eq!(line(&show_bytes(b"a\xff\xc3b")), "a⟦0xFF⟧⟦0xC3⟧b");
    }

    fn bad() -> impl Strategy<Value = String> {
        let chars = "a ab   \t\n\r\\u{202E}\u{202E}\u{200B}\u{301}\u{302}\u{410}\u{435}e\u{2044}\u{E0041}\u{1B}\u{9B}\u{A0}×文\u{5D0}0xFF U+";
        prop::collection::vec(prop::sample::select(chars.chars().collect::<Vec<_>>()), 0..60)
            .prop_map(|v| v.into_iter().collect())
    }

    fn in_safe_set(c: char) -> bool {
        (' '..='~').contains(&c)
            || !c.is_ascii() && is_drawn(c) && !is_bidi(c) && !is_invisible(c) && !c.is_control() && !c.is_whitespace()
    }

    proptest! {
        #[test]
        fn bad_texts_parse_back(text in bad()) {
            prop_assert_eq!(unshow(&show(&text)).unwrap(), text.as_bytes());
        }

        #[test]
        fn any_text_parses_back_and_is_safe(text in any::<String>()) {
            let spans = show(&text);
            prop_assert_eq!(unshow(&spans).unwrap(), text.as_bytes());
            for span in spans {
                match span {
                    Span::Text { text, .. } => prop_assert!(text.chars().all(in_safe_set), "{text:?}"),
                    Span::Escape { label, .. } => prop_assert!(!label.is_empty()),
                }
            }
        }

        #[test]
        fn any_bytes_parse_back(bytes in any::<Vec<u8>>()) {
            prop_assert_eq!(unshow(&show_bytes(&bytes)).unwrap(), bytes);
        }

        #[test]
        fn two_texts_never_look_the_same(a in bad(), b in bad()) {
            prop_assert_eq!(show(&a) == show(&b), a == b);
        }
    }

    #[test]
    fn every_character_is_drawn_or_escaped() {
        for c in '\0'..=char::MAX {
            let spans = show(&c.to_string());
            assert_eq!(unshow(&spans).unwrap(), c.to_string().as_bytes());
            if let [Span::Text { .. }] = spans.as_slice() {
                assert!(in_safe_set(c), "U+{:04X}", u32::from(c));
            }
        }
    }
}
