//! Quote removal: from a word as it stands in the source to the word the program gets (POSIX 2.2, 2.6.7).
//!
//! Only words that every POSIX shell reads as the same literal text come through. Whatever the shell would replace,
//! split or match against files is a reason instead.

use crate::command::why::WhyNot;

/// The word without its quotes. Places in the reason count from the word's first byte.
pub(crate) fn unquote(raw: &str) -> Result<String, WhyNot> {
    let mut word = String::with_capacity(raw.len());
    let bytes = raw.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'\'' => {
                let end = raw[at + 1..].find('\'').map(|n| at + 1 + n);
                let end = end.ok_or_else(|| WhyNot::parse("A single quote is not closed.", at..raw.len()))?;
                word.push_str(&raw[at + 1..end]);
                at = end + 1;
            }
            b'"' => at = double_quoted(raw, at, &mut word)?,
            b'\\' => match raw[at + 1..].chars().next() {
                Some('\n') => at += 2,
                Some(c) => {
                    word.push(c);
                    at += 1 + c.len_utf8();
                }
                None => return Err(WhyNot::parse("A backslash stands at the end.", at..raw.len())),
            },
            b'$' | b'`' => return Err(expansion(raw, at)),
            b'*' | b'?' | b'[' | b']' => {
                return Err(WhyNot::expansion("The shell would replace this pattern by names of files.", at..at + 1));
            }
            b'{' => at = brace(raw, at, &mut word)?,
            b'}' => return Err(WhyNot::expansion("The shell may expand these braces.", at..at + 1)),
            b'~' if at == 0 || matches!(bytes[at - 1], b'=' | b':') => {
                return Err(WhyNot::expansion("The shell would replace “~” by a home folder.", at..at + 1));
            }
            b'=' if at == 0 => {
                return Err(WhyNot::expansion("Some shells replace a word that begins with “=”.", at..at + 1));
            }
            b'#' if at == 0 => return Err(WhyNot::parse("A word cannot begin with “#”.", at..at + 1)),
            b' ' | b'\t' | b'\n' | b'|' | b'&' | b';' | b'<' | b'>' | b'(' | b')' => {
                return Err(WhyNot::parse("An operator stands inside a word.", at..at + 1));
            }
            _ => {
                let c = raw[at..].chars().next().unwrap_or_default();
                word.push(c);
                at += c.len_utf8();
            }
        }
    }
    Ok(word)
}

/// From the opening quote at `start`; gives the place after the closing one.
fn double_quoted(raw: &str, start: usize, word: &mut String) -> Result<usize, WhyNot> {
    let bytes = raw.as_bytes();
    let mut at = start + 1;
    while at < bytes.len() {
        match bytes[at] {
            b'"' => return Ok(at + 1),
            b'\\' => match bytes.get(at + 1) {
                Some(b'\n') => at += 2,
                Some(c @ (b'$' | b'`' | b'"' | b'\\')) => {
                    word.push(char::from(*c));
                    at += 2;
                }
                _ => {
                    word.push('\\');
                    at += 1;
                }
            },
            b'$' if raw[at..].starts_with("$(") => {
                let document = substituted_document(raw, at)?;
                word.push_str(document.text);
                at = document.end;
            }
            // A dollar sign before these is itself in every shell: `grep "end$"`.
            b'$' if matches!(bytes.get(at + 1), Some(b'"' | b' ' | b'|' | b')')) => {
                word.push('$');
                at += 1;
            }
            b'$' | b'`' => return Err(expansion(raw, at)),
            _ => {
                let c = raw[at..].chars().next().unwrap_or_default();
                word.push(c);
                at += c.len_utf8();
            }
        }
    }
    Err(WhyNot::parse("A double quote is not closed.", start..raw.len()))
}

fn expansion(raw: &str, at: usize) -> WhyNot {
    let rest = &raw[at..];
    let sentence = if rest.starts_with("$(") || rest.starts_with('`') {
        "The shell would run a command here and put its output in its place."
    } else if rest.starts_with("$'") || rest.starts_with("$\"") {
        "The shell would translate this kind of quotes."
    } else {
        "The shell would put a variable's value here."
    };
    WhyNot::expansion(sentence, at..at + 1 + rest.chars().nth(1).map_or(0, char::len_utf8))
}

/// Braces that no shell expands: `{}` (find, xargs) and `@{…}` of a Git revision.
fn brace(raw: &str, at: usize, word: &mut String) -> Result<usize, WhyNot> {
    let inner = raw[at + 1..].find('}').map(|n| &raw[at + 1..at + 1 + n]);
    let revision = |text: &str| {
        word.ends_with('@')
            && !text.is_empty()
            && text.strip_prefix('-').unwrap_or(text).bytes().all(|b| b.is_ascii_alphanumeric())
    };
    match inner {
        Some(text) if text.is_empty() || revision(text) => {
            word.push('{');
            word.push_str(text);
            word.push('}');
            Ok(at + text.len() + 2)
        }
        _ => Err(WhyNot::expansion("The shell may expand these braces.", at..at + 1)),
    }
}

struct Document<'a> {
    text: &'a str,
    end: usize,
}

/// `$(cat <<'WORD' … WORD)`: the way agents write commit messages. The one substitution that is literal text.
fn substituted(raw: &str, start: usize) -> Option<Document<'_>> {
    let rest = raw[start..].strip_prefix("$(")?.trim_start_matches([' ', '\t', '\n']);
    let rest = rest.strip_prefix("cat")?.trim_start_matches([' ', '\t']);
    let rest = rest.strip_prefix("<<")?.trim_start_matches([' ', '\t']);
    let quote = rest.chars().next().filter(|c| matches!(c, '\'' | '"'))?;
    let (word, rest) = rest[1..].split_once(quote)?;
    if word.is_empty() || !word.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') {
        return None;
    }
    let body = rest.trim_start_matches([' ', '\t']).strip_prefix('\n')?;
    let length = document_length(body, word)?;
    let after = &body[length + word.len()..];
    let close = after.trim_start_matches([' ', '\t', '\n']).strip_prefix(')')?;
    if !after.starts_with('\n') {
        return None;
    }
    let end = raw.len() - close.len();
    Some(Document { text: body[..length].trim_end_matches('\n'), end })
}

/// The place after `$(cat <<'WORD' … WORD)` at `start`, where exactly that stands there.
pub(crate) fn substituted_end(text: &str, start: usize) -> Option<usize> {
    substituted(text, start).map(|document| document.end)
}

/// The literal text, unless shells differ on where it ends.
fn substituted_document(raw: &str, start: usize) -> Result<Document<'_>, WhyNot> {
    let document = substituted(raw, start).ok_or_else(|| expansion(raw, start))?;
    let end = document.end;
    if let Some(early) = naive_end(raw, start)
        && early != end
    {
        // Bash before 4.0 counts parentheses without knowing here-documents and would end the substitution earlier.
        return Err(WhyNot::expansion("An older shell would end this here-document elsewhere.", start..end));
    }
    Ok(document)
}

/// Bytes of the here-document's text, before the line that is exactly `word`.
pub(crate) fn document_length(body: &str, word: &str) -> Option<usize> {
    let mut at = 0;
    for line in body.split_inclusive('\n') {
        if line.strip_suffix('\n').unwrap_or(line) == word {
            return Some(at);
        }
        at += line.len();
    }
    None
}

/// Where a shell that only counts parentheses and quotes would end the substitution at `start`.
fn naive_end(raw: &str, start: usize) -> Option<usize> {
    let bytes = raw.as_bytes();
    let (mut at, mut depth) = (start + 2, 1_u32);
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 1,
            quote @ (b'\'' | b'"') => loop {
                at += 1;
                match bytes.get(at) {
                    None => return None,
                    Some(b'\\') if quote == b'"' => at += 1,
                    Some(b) if *b == quote => break,
                    Some(_) => {}
                }
            },
            b'(' => depth += 1,
            b')' => {
                depth -= 1;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
        at += 1;
    }
    None
}
