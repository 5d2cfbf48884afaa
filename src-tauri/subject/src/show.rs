//! Text made visible: the one function by which anything of an agent's comes before a person's eyes.
//!
//! It is total (any bytes), injective ([`unshow`] gives back exactly what was shown) and safe: a drawn character is
//! one of a small set that cannot hide, move or overpaint its neighbours. All else becomes an escape, which the window
//! draws as a chip that no text can imitate. Rules: UTS 39 identifier profile, Unicode default-ignorables, Trojan
//! Source (CVE-2021-42574).

use placet_domain::{Flag, Span};
use unicode_properties::{GeneralCategory, GeneralCategoryGroup, UnicodeGeneralCategory};
use unicode_security::GeneralSecurityProfile;
use unicode_security::mixed_script::AugmentedScriptSet;

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

/// What is odd about a text's characters. Line breaks and tabs are not.
pub(crate) fn text_flags(text: &str, flags: &mut Vec<Flag>) {
    if text.bytes().all(|b| matches!(b, b'\t' | b'\n' | 0x20..=0x7E)) {
        return;
    }
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        if c == '\r' && rest.peek() == Some(&'\n') {
            continue;
        }
        flags.extend(char_flag(c));
    }
}

fn char_flag(c: char) -> Option<Flag> {
    if matches!(c, '\t' | '\n' | ' '..='~') {
        return None;
    }
    if is_bidi(c) {
        return Some(Flag::Bidi);
    }
    if is_invisible(c) {
        return Some(Flag::Invisible);
    }
    match c.general_category() {
        GeneralCategory::Control => Some(Flag::Control),
        GeneralCategory::SpaceSeparator | GeneralCategory::LineSeparator | GeneralCategory::ParagraphSeparator => {
            Some(Flag::NonAsciiSpace)
        }
        GeneralCategory::Format
        | GeneralCategory::PrivateUse
        | GeneralCategory::Unassigned
        | GeneralCategory::Surrogate => Some(Flag::Invisible),
        GeneralCategory::UppercaseLetter
        | GeneralCategory::LowercaseLetter
        | GeneralCategory::TitlecaseLetter
        | GeneralCategory::ModifierLetter
        | GeneralCategory::OtherLetter
        | GeneralCategory::NonspacingMark
        | GeneralCategory::SpacingMark
        | GeneralCategory::EnclosingMark
        | GeneralCategory::DecimalNumber
        | GeneralCategory::LetterNumber
        | GeneralCategory::OtherNumber
        | GeneralCategory::ConnectorPunctuation
        | GeneralCategory::DashPunctuation
        | GeneralCategory::OpenPunctuation
        | GeneralCategory::ClosePunctuation
        | GeneralCategory::InitialPunctuation
        | GeneralCategory::FinalPunctuation
        | GeneralCategory::OtherPunctuation
        | GeneralCategory::MathSymbol
        | GeneralCategory::CurrencySymbol
        | GeneralCategory::ModifierSymbol
        | GeneralCategory::OtherSymbol => None,
    }
}

/// Whether a word mixes Latin letters with lookalikes of another alphabet.
pub(crate) fn is_mixed(word: &str) -> bool {
    !word.is_ascii() && words(word).any(|(_, word)| mixes(word))
}

/// The letters of another alphabet in words that mix, with their offsets: the ones to point at.
pub(crate) fn lookalikes(text: &str) -> Vec<(usize, char)> {
    let mut found = Vec::new();
    for (start, word) in words(text) {
        if mixes(word) {
            found.extend(word.char_indices().filter(|(_, c)| looks_ascii(*c)).map(|(at, c)| (start + at, c)));
        }
    }
    found
}

/// What a character is, in words.
pub(crate) fn label(c: char) -> &'static str {
    match c {
        '\n' => "line break",
        '\r' => "carriage return",
        '\t' => "tab",
        ' ' => "blanks",
        '\0' => "null",
        '\u{7}' => "bell",
        '\u{8}' => "backspace",
        '\u{1B}' => "escape",
        '\u{7F}' => "delete",
        '\u{9B}' => "control sequence introducer",
        '\u{A0}' => "no-break space",
        '\u{AD}' => "soft hyphen",
        '\u{200B}' => "zero-width space",
        '\u{200C}' => "zero-width non-joiner",
        '\u{200D}' => "zero-width joiner",
        '\u{200E}' => "left-to-right mark",
        '\u{200F}' => "right-to-left mark",
        '\u{202A}' => "left-to-right embedding",
        '\u{202B}' => "right-to-left embedding",
        '\u{202C}' => "end of direction change",
        '\u{202D}' => "left-to-right override",
        '\u{202E}' => "right-to-left override",
        '\u{2028}' => "line separator",
        '\u{2029}' => "paragraph separator",
        '\u{2044}' | '\u{2215}' | '\u{29F8}' | '\u{FF0F}' => "looks like a slash",
        '\u{2060}' => "word joiner",
        '\u{2066}' => "left-to-right isolate",
        '\u{2067}' => "right-to-left isolate",
        '\u{2068}' => "first strong isolate",
        '\u{2069}' => "end of isolate",
        '\u{2800}' => "blank braille pattern",
        '\u{3000}' => "wide space",
        '\u{FE00}'..='\u{FE0F}' | '\u{E0100}'..='\u{E01EF}' => "variation selector",
        '\u{FEFF}' => "byte order mark",
        '\u{FFFD}' => "replacement character",
        '\u{E0000}'..='\u{E007F}' => "invisible tag",
        _ => label_of_kind(c),
    }
}

fn label_of_kind(c: char) -> &'static str {
    if is_bidi(c) {
        return "direction control";
    }
    if is_invisible(c) {
        return "invisible character";
    }
    match c.general_category_group() {
        GeneralCategoryGroup::Separator => "unusual space",
        GeneralCategoryGroup::Mark => "combining mark",
        GeneralCategoryGroup::Letter if looks_ascii(c) => match script(c) {
            "Cyrillic" => "Cyrillic letter",
            "Greek" => "Greek letter",
            _ => "looks like a Latin letter",
        },
        GeneralCategoryGroup::Letter => "unusual letter",
        GeneralCategoryGroup::Number => "unusual digit",
        GeneralCategoryGroup::Punctuation | GeneralCategoryGroup::Symbol => "looks like another sign",
        GeneralCategoryGroup::Other if c.is_control() => "control character",
        GeneralCategoryGroup::Other if c.general_category() == GeneralCategory::PrivateUse => "private-use character",
        GeneralCategoryGroup::Other if c.general_category() == GeneralCategory::Unassigned => "unassigned character",
        GeneralCategoryGroup::Other => "invisible character",
    }
}

fn script(c: char) -> &'static str {
    match c {
        '\u{370}'..='\u{3FF}' | '\u{1F00}'..='\u{1FFF}' => "Greek",
        '\u{400}'..='\u{52F}' | '\u{1C80}'..='\u{1C8F}' | '\u{2DE0}'..='\u{2DFF}' | '\u{A640}'..='\u{A69F}' => {
            "Cyrillic"
        }
        _ => "",
    }
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

/// Whether a character is drawn as it is.
pub(crate) fn is_drawn(c: char) -> bool {
    if c.is_ascii() {
        return (' '..='~').contains(&c);
    }
    if is_bidi(c) || is_invisible(c) {
        return false;
    }
    if c.identifier_allowed() {
        return true;
    }
    match c.general_category_group() {
        GeneralCategoryGroup::Punctuation | GeneralCategoryGroup::Symbol => is_common_sign(c) || !looks_ascii(c),
        GeneralCategoryGroup::Letter
        | GeneralCategoryGroup::Mark
        | GeneralCategoryGroup::Number
        | GeneralCategoryGroup::Separator
        | GeneralCategoryGroup::Other => false,
    }
}

/// Typographic signs and line drawing, so common in prose and code that a chip for each would hide the text. None
/// of them means anything to a shell or in a path.
fn is_common_sign(c: char) -> bool {
    matches!(c, '\u{2013}' | '\u{2014}' | '\u{2018}'..='\u{201A}' | '\u{201C}'..='\u{201E}' | '\u{2022}' | '\u{2026}')
        || matches!(c, '\u{AB}' | '\u{B7}' | '\u{BB}' | '\u{D7}' | '\u{2039}' | '\u{203A}' | '\u{2500}'..='\u{257F}')
}

fn is_combining(c: char) -> bool {
    !c.is_ascii() && c.general_category_group() == GeneralCategoryGroup::Mark
}

fn is_bidi(c: char) -> bool {
    matches!(c, '\u{61C}' | '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
}

/// `Default_Ignorable_Code_Point` (Unicode 16) and what is drawn as nothing besides.
fn is_invisible(c: char) -> bool {
    matches!(
        c,
        '\u{AD}' | '\u{34F}' | '\u{61C}' | '\u{115F}'..='\u{1160}' | '\u{17B4}'..='\u{17B5}' | '\u{180B}'..='\u{180F}'
            | '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{3164}'
            | '\u{FE00}'..='\u{FE0F}' | '\u{FEFF}' | '\u{FFA0}' | '\u{FFF0}'..='\u{FFF8}' | '\u{1BCA0}'..='\u{1BCA3}'
            | '\u{1D173}'..='\u{1D17A}' | '\u{E0000}'..='\u{E0FFF}'
    ) || matches!(c, '\u{2800}' | '\u{FFF9}'..='\u{FFFC}' | '\u{FFFD}')
}

/// Whether a character that is not ASCII can be taken for ASCII (UTS 39 skeleton).
fn looks_ascii(c: char) -> bool {
    !c.is_ascii() && {
        let mut buffer = [0; 4];
        let mut skeleton = unicode_security::skeleton(c.encode_utf8(&mut buffer));
        skeleton.all(|s| s.is_ascii())
    }
}

/// Runs of letters, marks and digits with their offsets.
fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let is_letter = |c: char| c.is_alphanumeric() || is_combining(c);
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at + text[at..].find(is_letter)?;
        let length = text[start..].find(|c| !is_letter(c)).unwrap_or(text.len() - start);
        at = start + length;
        Some((start, &text[start..at]))
    })
}

/// No single script has all the letters of the word, and one that is not ASCII can be taken for an ASCII one.
fn mixes(word: &str) -> bool {
    !word.is_ascii() && AugmentedScriptSet::for_str(word).is_empty() && word.chars().any(looks_ascii)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use proptest::prelude::*;

    use super::*;

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

    #[test]
    fn flags_say_what_kind_of_hidden() {
        let flags = |text: &str| {
            let mut flags = Vec::new();
            text_flags(text, &mut flags);
            flags
        };
        assert_eq!(flags("a\tb\r\nc"), vec![]);
        assert_eq!(flags("a\rb"), vec![Flag::Control]);
        assert_eq!(flags("\u{202E}"), vec![Flag::Bidi]);
        assert_eq!(flags("\u{200B}\u{E0041}"), vec![Flag::Invisible, Flag::Invisible]);
        assert_eq!(flags("\u{A0}"), vec![Flag::NonAsciiSpace]);
        assert!(is_mixed("p\u{430}ypal"));
        assert!(!is_mixed("日本語Latin"));
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
