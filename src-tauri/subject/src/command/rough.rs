//! What can be recognized of a command that is not understood: good for denying, never for allowing.
//!
//! A tolerant scan finds the simple commands anywhere in a text, also in groups, loops, function bodies,
//! substitutions, here-documents that the shell expands and strings handed to a shell. It never refuses: what it cannot
//! make sense of is torn at operators and blanks. Depth and number are bounded, and each depth passes over its text once.

use std::ops::Range;

use crate::command::exe;
use crate::command::extent::{Announced, announced, backquoted_end, reach};
use crate::command::split::{Piece, Redirect, Word, literal};
use crate::command::tokens::{Dialect, sets_variable};
use crate::command::torn::torn;
use crate::command::{MOST_DEPTH, MOST_PARTS};

/// Every command that is recognized in `text`, with words as far as they are literal.
pub(crate) fn rough(text: &str) -> Vec<Piece> {
    let mut scan = Scan { text, pieces: Vec::new(), lost: false, sums: 0 };
    scan.commands(0..text.len(), 0);
    if scan.lost || scan.pieces.is_empty() { with_torn(text, scan.pieces) } else { scan.pieces }
}

/// The rough reading, and the text torn besides: where shells differ on what is quoted.
pub(crate) fn rough_and_torn(text: &str) -> Vec<Piece> {
    with_torn(text, rough(text))
}

fn with_torn(text: &str, mut pieces: Vec<Piece>) -> Vec<Piece> {
    for piece in torn(text) {
        if !pieces.iter().any(|known| same_words(known, &piece)) {
            pieces.push(piece);
        }
    }
    pieces
}

fn same_words(a: &Piece, b: &Piece) -> bool {
    a.words.iter().map(|w| &w.text).eq(b.words.iter().map(|w| &w.text))
}

struct Scan<'t> {
    text: &'t str,
    pieces: Vec<Piece>,
    /// Something did not end or lies too deep, so that the text is torn besides.
    lost: bool,
    /// How often it was looked whether two parentheses calculate.
    sums: usize,
}

/// A text within the words of a command.
struct Within {
    range: Range<usize>,
    /// Commands, and not only a text that may hold substitutions.
    commands: bool,
}

/// Looking further ahead than so many times could make the scan slower than linear.
const MOST_SUMS: usize = 32;

/// What is known on the way through one text of commands.
#[derive(Default)]
struct Line<'t> {
    piece: Piece,
    /// Texts within the words so far that are commands too.
    within: Vec<Within>,
    /// Words up to the next operator are none of a command (`for x in a b`).
    no_command: bool,
    /// The next word is none of the command (`function f`).
    name: bool,
    /// Words up to `]]`, operators included, are a test.
    test: bool,
    groups: usize,
    cases: usize,
    documents: Vec<Announced<'t>>,
    /// A shell stands on this line, so that its here-documents are commands.
    shell: bool,
}

impl<'t> Scan<'t> {
    fn full(&self) -> bool {
        self.pieces.len() > MOST_PARTS
    }

    fn commands(&mut self, range: Range<usize>, depth: usize) {
        if depth >= MOST_DEPTH {
            self.lost = true;
            return;
        }
        let text = &self.text[..range.end];
        let bytes = text.as_bytes();
        let mut line = Line::default();
        let mut at = range.start;
        while at < range.end && !self.full() {
            let next = bytes.get(at + 1).copied();
            match bytes[at] {
                b' ' | b'\t' => at += 1,
                b'\\' if next == Some(b'\n') => at += 2,
                b'#' => at = text[at..].find('\n').map_or(text.len(), |n| at + n),
                b'\n' => {
                    self.finish(&mut line, depth);
                    at = self.documents(text, at + 1, &mut line, depth);
                }
                b'&' if next == Some(b'>') => at = self.redirect(text, at, &mut line),
                b';' | b'&' | b'|' => {
                    if !line.test || bytes[at] == b';' {
                        self.finish(&mut line, depth);
                    }
                    at += 1;
                }
                b'(' if line.test => at += 1,
                b'(' if (line.no_command || line.piece.words.is_empty()) && self.is_sum(text, at) => {
                    let end = reach(text, at);
                    line.within.push(Within { range: at..end, commands: false });
                    at = end;
                }
                b'(' => {
                    let function =
                        line.piece.words.len() == 1 && text[at + 1..].trim_start_matches([' ', '\t']).starts_with(')');
                    if function {
                        line.piece = Piece::default();
                        at = text[at..].find(')').map_or(text.len(), |n| at + n + 1);
                    } else {
                        if !line.piece.words.is_empty() {
                            self.lost = true;
                        }
                        self.finish(&mut line, depth);
                        line.groups += 1;
                        at += 1;
                    }
                }
                b')' => {
                    at += 1;
                    if line.test {
                        continue;
                    }
                    if line.groups == 0 && line.cases > 0 {
                        // The pattern of a case.
                        line.piece = Piece::default();
                    }
                    line.groups = line.groups.saturating_sub(1);
                    self.finish(&mut line, depth);
                }
                b'<' | b'>' if next != Some(b'(') => at = self.redirect(text, at, &mut line),
                _ => at = self.word(text, at, &mut line),
            }
        }
        self.finish(&mut line, depth);
    }

    /// Whether the parentheses at `at` are `((…))`, which calculates, and not `((a); b)`.
    fn is_sum(&mut self, text: &str, at: usize) -> bool {
        if !text[at..].starts_with("((") || self.sums >= MOST_SUMS {
            return false;
        }
        self.sums += 1;
        let end = reach(text, at);
        text[..end].ends_with("))") && reach(text, at + 1) + 1 == end
    }

    /// Ends the command at hand and goes into what its words hold.
    fn finish(&mut self, line: &mut Line<'t>, depth: usize) {
        line.no_command = false;
        line.test = false;
        line.name = false;
        let mut piece = std::mem::take(&mut line.piece);
        let mut within = std::mem::take(&mut line.within);
        if !(piece.words.is_empty() && piece.redirects.is_empty()) {
            let shell = piece.words.iter().any(|word| {
                let name = exe::table_name(&word.text);
                matches!(name, Some("sh" | "bash" | "dash" | "zsh" | "ksh" | "eval" | "su" | "ssh"))
            });
            if shell {
                line.shell = true;
                // Literal strings are looked at where the shell's own words are.
                let quoted = |word: &&Word| word.why_not.is_some() && self.text[word.range.clone()].starts_with('"');
                within.extend(piece.words.iter().filter(quoted).map(|word| {
                    let raw = &self.text[word.range.clone()];
                    let end = word.range.end - usize::from(raw.len() > 1 && raw.ends_with('"'));
                    Within { range: word.range.start + 1..end, commands: true }
                }));
            }
            if !self.pieces.is_empty() {
                ";".clone_into(&mut piece.operator);
            }
            self.pieces.push(piece);
        }
        self.go_into(within, depth);
    }

    fn go_into(&mut self, within: Vec<Within>, depth: usize) {
        for Within { range, commands } in within {
            if self.full() || range.is_empty() {
                continue;
            }
            if commands {
                self.commands(range, depth + 1);
            } else if depth < MOST_DEPTH {
                let mut deeper = Vec::new();
                self.substitutions(range, &mut deeper);
                self.go_into(deeper, depth + 1);
            } else {
                self.lost = true;
            }
        }
    }

    fn word(&mut self, text: &'t str, start: usize, line: &mut Line<'t>) -> usize {
        let end = self.word_end(text, start, &mut line.within);
        let raw = &text[start..end];
        let bytes = text.as_bytes();
        if raw.bytes().all(|b| b.is_ascii_digit()) && matches!(bytes.get(end), Some(b'<' | b'>')) {
            return end;
        }
        if line.test {
            line.test = raw != "]]";
            return end;
        }
        if line.no_command {
            if raw == "in" && line.cases > 0 || raw == "do" {
                line.no_command = false;
            }
            return end;
        }
        if std::mem::take(&mut line.name) {
            return end;
        }
        if line.piece.words.is_empty() {
            match raw {
                "if" | "then" | "else" | "elif" | "fi" | "while" | "until" | "do" | "done" | "!" | "time"
                | "coproc" | "{" | "}" | "nocorrect" | "noglob" | "-" => return end,
                "esac" => {
                    line.cases = line.cases.saturating_sub(1);
                    return end;
                }
                "case" => {
                    line.cases += 1;
                    line.no_command = true;
                    return end;
                }
                "for" | "foreach" | "select" | "[" => {
                    line.no_command = true;
                    return end;
                }
                "[[" => {
                    line.test = true;
                    return end;
                }
                "function" | "repeat" => {
                    line.name = true;
                    return end;
                }
                _ if sets_variable(raw) => return end,
                _ => self.lost |= raw.starts_with('{') && raw != "{}",
            }
        }
        if line.piece.words.is_empty() && line.piece.redirects.is_empty() {
            line.piece.range = start..end;
        }
        line.piece.range.end = end;
        line.piece.words.push(literal(self.text, start..end, Dialect::default()));
        end
    }

    fn redirect(&mut self, text: &'t str, start: usize, line: &mut Line<'t>) -> usize {
        if text[start..].starts_with("<<") && !text[start..].starts_with("<<<") {
            let (document, end) = announced(text, start);
            line.documents.extend(document);
            return end;
        }
        let mark = |b: u8| matches!(b, b'<' | b'>' | b'&' | b'|');
        let length = text[start..].bytes().take(3).take_while(|b| mark(*b)).count();
        let operator = &text[start..start + length];
        let rest = text[start + length..].trim_start_matches([' ', '\t']);
        let from = text.len() - rest.len();
        let end = self.word_end(text, from, &mut line.within);
        if end == from {
            self.lost = true;
            return from.max(start + 1);
        }
        if line.piece.words.is_empty() && line.piece.redirects.is_empty() {
            line.piece.range = start..end;
        }
        line.piece.range.end = end;
        let target = literal(self.text, from..end, Dialect::default());
        if operator == "<<<" {
            line.piece.words.push(target);
        } else if !line.no_command && !line.test {
            line.piece.redirects.push(Redirect {
                operator: operator.to_owned(),
                descriptor: None,
                target,
                document: None,
            });
        }
        end
    }

    /// Passes over the here-documents that this line announced.
    fn documents(&mut self, text: &str, from: usize, line: &mut Line<'t>, depth: usize) -> usize {
        let mut at = from;
        for document in std::mem::take(&mut line.documents) {
            let end = document.end(text, at);
            if line.shell {
                self.commands(at..end, depth + 1);
            } else if !document.quoted {
                self.go_into(vec![Within { range: at..end, commands: false }], depth);
            }
            at = end;
        }
        line.shell = false;
        at
    }

    /// The end of the word at `start`; what it holds of commands goes to `within`.
    fn word_end(&mut self, text: &str, start: usize, within: &mut Vec<Within>) -> usize {
        let bytes = text.as_bytes();
        let mut at = start;
        while let Some(byte) = bytes.get(at) {
            let group = bytes.get(at + 1) == Some(&b'(');
            match byte {
                b'<' | b'>' if group && at == start => at = self.substitution(text, at, within),
                b' ' | b'\t' | b'\n' | b'|' | b'&' | b';' | b'<' | b'>' | b'(' | b')' => break,
                b'\\' => at += 1 + text[at + 1..].chars().next().map_or(0, char::len_utf8),
                b'\'' => {
                    let end = text[at + 1..].find('\'').map(|n| at + n + 2);
                    self.lost |= end.is_none();
                    at = end.unwrap_or(text.len());
                }
                b'"' => {
                    let end = reach(text, at);
                    self.lost |= end - at < 2 || !text[..end].ends_with('"');
                    self.substitutions(at + 1..end, within);
                    at = end;
                }
                b'$' if bytes.get(at + 1) == Some(&b'{') => {
                    let end = reach(text, at);
                    self.substitutions(at + 2..end, within);
                    at = end;
                }
                b'$' if group => at = self.substitution(text, at, within),
                b'`' => at = self.substitution(text, at, within),
                _ => at += 1,
            }
        }
        at
    }

    /// Takes the substitution at `at` for commands, and gives the place after it.
    fn substitution(&mut self, text: &str, at: usize, within: &mut Vec<Within>) -> usize {
        let (start, end, closed) = if text[at..].starts_with('`') {
            let end = backquoted_end(text, at);
            (at + 1, end, end - at > 1 && text[..end].ends_with('`'))
        } else {
            let end = reach(text, at);
            (at + 2, end, text[..end].ends_with(')'))
        };
        self.lost |= !closed;
        let inner = start..end.max(start + usize::from(closed)) - usize::from(closed);
        let commands = !(text[at..].starts_with("$((") && self.is_sum(text, at + 1));
        within.push(Within { range: inner, commands });
        end
    }

    /// The substitutions of a text that is none itself, as between double quotes.
    fn substitutions(&mut self, range: Range<usize>, within: &mut Vec<Within>) {
        let text = &self.text[..range.end];
        let bytes = text.as_bytes();
        let mut at = range.start;
        while let Some(byte) = bytes.get(at) {
            match byte {
                b'\\' => at += 2,
                b'$' if bytes.get(at + 1) == Some(&b'(') => at = self.substitution(text, at, within),
                b'`' => at = self.substitution(text, at, within),
                _ => at += 1,
            }
        }
    }
}
