//! Untrusted text as one line in which nothing is hidden. For lists and exports; the card that a person decides by is
//! made elsewhere, and more carefully.

use std::fmt::Write as _;

/// `text` with everything that cannot be seen, or that changes how the rest is seen, written as `\u{…}`; cut after
/// `at_most` characters.
pub(crate) fn plain(text: &str, at_most: usize) -> String {
    let mut out = String::with_capacity(text.len().min(at_most) + 8);
    for (count, c) in text.chars().enumerate() {
        if count >= at_most {
            out.push('…');
            break;
        }
        match c {
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            c if hidden(c) => {
                let _ = write!(out, "\\u{{{:X}}}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out
}

/// Control, format, bidirectional, invisible, tag and private characters, variation selectors, and blanks that are
/// not the plain one.
fn hidden(c: char) -> bool {
    c.is_control()
        || (c.is_whitespace() && c != ' ')
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{2800}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
            | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e000}'..='\u{f8ff}'
            | '\u{e0000}'..='\u{e0fff}' | '\u{f0000}'..='\u{10ffff}')
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn nothing_is_hidden_and_nothing_is_endless() {
        for (text, want) in [
            ("src/a.txt", "src/a.txt"),
            ("a\u{202e}b", "a\\u{202E}b"),
            ("rm\n-rf\u{a0}x", "rm\\n-rf\\u{A0}x"),
            ("\u{1b}[2J", "\\u{1B}[2J"),
            ("größe.txt", "größe.txt"),
            ("a\u{e0041}", "a\\u{E0041}"),
        ] {
            assert_eq!(plain(text, 100), want);
        }
        assert_eq!(plain("abcdef", 3), "abc…");
    }
}
