//! How far a quote, a substitution or a group reaches, in any text: what does not end reaches to the end.
//!
//! Only for naming a place and for the rough reading. Nesting is counted on a heap, not on the stack, and every byte is
//! looked at once.

/// Something that is open.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Open {
    Double,
    Paren,
    /// Inside `((`, where `<<` shifts bits.
    Sum,
    /// `${`.
    Brace,
}

/// The place after what begins at `at`: one of `'`, `"`, a backquote, `(`, `$(`, `${`, `<(`, `>(`.
pub(crate) fn reach(text: &str, at: usize) -> usize {
    let bytes = text.as_bytes();
    let mut open: Vec<Open> = Vec::new();
    let mut documents: Vec<Announced<'_>> = Vec::new();
    let mut at = at;
    loop {
        let Some(byte) = bytes.get(at).copied() else { return text.len() };
        let next = bytes.get(at + 1).copied();
        let top = open.last().copied();
        let commands = top == Some(Open::Paren);
        match (byte, next) {
            (b'\\', _) => at += 2,
            (b'`', _) => at = backquoted_end(text, at),
            (b'\'', _) if top != Some(Open::Double) => {
                at = text[at + 1..].find('\'').map_or(text.len(), |n| at + 2 + n);
            }
            (b'"', _) => {
                if top == Some(Open::Double) {
                    open.pop();
                } else {
                    open.push(Open::Double);
                }
                at += 1;
            }
            (b'$' | b'<' | b'>', Some(b'(')) if byte == b'$' || top != Some(Open::Double) => {
                let sum = text[at..].starts_with("$((");
                open.push(if sum { Open::Sum } else { Open::Paren });
                at += 2;
            }
            (b'$', Some(b'{')) => {
                open.push(Open::Brace);
                at += 2;
            }
            (b'(', _) if top != Some(Open::Double) && top != Some(Open::Brace) => {
                let sum = top == Some(Open::Sum) || top != Some(Open::Paren) && next == Some(b'(');
                open.push(if sum { Open::Sum } else { Open::Paren });
                at += 1;
            }
            (b')', _) if matches!(top, Some(Open::Paren | Open::Sum)) => {
                open.pop();
                at += 1;
            }
            (b'}', _) if top == Some(Open::Brace) => {
                open.pop();
                at += 1;
            }
            (b'#', _) if commands && matches!(bytes[at - 1], b' ' | b'\t' | b'\n' | b';' | b'(' | b'&' | b'|') => {
                at = text[at..].find('\n').map_or(text.len(), |n| at + n);
            }
            (b'<', Some(b'<')) if commands => {
                let (announced, end) = announced(text, at);
                documents.extend(announced);
                at = end;
            }
            (b'\n', _) if commands => {
                at += 1;
                for document in documents.drain(..) {
                    at = document.end(text, at);
                }
            }
            _ => at += 1,
        }
        if open.is_empty() {
            return at.min(text.len());
        }
    }
}

/// The place after the backquoted text that begins at `at`.
pub(crate) fn backquoted_end(text: &str, at: usize) -> usize {
    let bytes = text.as_bytes();
    let mut at = at + 1;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 2,
            b'`' => return at + 1,
            _ => at += 1,
        }
    }
    text.len()
}

/// A here-document that was announced: the word that ends it, without quotes.
pub(crate) struct Announced<'t> {
    word: std::borrow::Cow<'t, str>,
    pub(crate) quoted: bool,
    tabs: bool,
}

impl Announced<'_> {
    /// The place after the line that ends it, whose text begins at `from`.
    pub(crate) fn end(&self, text: &str, from: usize) -> usize {
        let mut at = from.min(text.len());
        for line in text[at..].split_inclusive('\n') {
            at += line.len();
            let line = line.strip_suffix('\n').unwrap_or(line);
            if *self.word == *(if self.tabs { line.trim_start_matches('\t') } else { line }) {
                break;
            }
        }
        at
    }
}

/// What `<<` at `at` announces, and the place after its word; nothing for `<<<`.
pub(crate) fn announced(text: &str, at: usize) -> (Option<Announced<'_>>, usize) {
    let after = at + 2;
    if text[after..].starts_with('<') {
        return (None, after + 1);
    }
    let tabs = text[after..].starts_with('-');
    let from = after + usize::from(tabs);
    let rest = text[from..].trim_start_matches([' ', '\t']);
    let start = text.len() - rest.len();
    let bytes = rest.as_bytes();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b' ' | b'\t' | b'\n' | b'|' | b'&' | b';' | b'<' | b'>' | b'(' | b')' => break,
            b'\'' | b'"' => at = rest[at + 1..].find(char::from(*byte)).map_or(rest.len(), |n| at + 2 + n),
            b'\\' => at = (at + 2).min(rest.len()),
            _ => at += 1,
        }
    }
    let Some(raw) = rest.get(..at) else { return (None, text.len()) };
    let quoted = raw.contains(['\'', '"', '\\']);
    let word = if quoted { raw.replace(['\'', '"', '\\'], "").into() } else { raw.into() };
    ((!raw.is_empty()).then_some(Announced { word, quoted, tabs }), start + at)
}
