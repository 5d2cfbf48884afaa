//! What a character is: whether it can be drawn as it is, hides, moves others, or can be taken for another.

use placet_domain::Flag;
use unicode_properties::{GeneralCategory, GeneralCategoryGroup, UnicodeGeneralCategory};
use unicode_security::GeneralSecurityProfile;
use unicode_security::mixed_script::AugmentedScriptSet;

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

pub(crate) fn is_combining(c: char) -> bool {
    !c.is_ascii() && c.general_category_group() == GeneralCategoryGroup::Mark
}

pub(crate) fn is_bidi(c: char) -> bool {
    matches!(c, '\u{61C}' | '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
}

/// `Default_Ignorable_Code_Point` (Unicode 16) and what is drawn as nothing besides.
pub(crate) fn is_invisible(c: char) -> bool {
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
    use super::*;

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
}
