//! The strict half of the reader: a text cut into tokens of the small grammar that is understood.
//!
//! The grammar is words with quotes, `&&`, `||`, `;`, `|` and newlines between them, redirections, here-documents whose
//! text is literal, comments, blanks and continued lines. Whatever else begins at a place is a reason, named there. The
//! cutting is one pass without recursion, over the text's own bytes, so that no text can do more than be refused.

use std::ops::Range;

use crate::command::extent::reach;
use crate::command::unquote::{document_length, substituted_end, unquote};
use crate::command::why::{Beyond, WhyNot};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Token {
    Word,
    Operator(&'static str),
    /// The number of the descriptor that the redirection after it is for.
    Descriptor,
    Redirect(&'static str),
    Newline,
    /// The text of a here-document with the line that ends it, which has `end_word` bytes.
    Document {
        end_word: usize,
    },
    /// Blanks, continued lines and comments.
    Nothing,
}

/// What the shells that are read differ in, as far as it matters here.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Dialect {
    /// Words may be patterns that other shells have not.
    pub(crate) zsh: bool,
    /// `sh` may be a shell that knows only what POSIX has.
    pub(crate) posix: bool,
}

impl Dialect {
    pub(crate) fn of(shell: &str) -> Self {
        Self { zsh: shell == "zsh", posix: matches!(shell, "sh" | "dash") }
    }
}

/// The tokens of `text`. They stand one after the other without a gap, from its first byte to its last.
pub(crate) fn tokens(text: &str, dialect: Dialect) -> Result<Vec<(Token, Range<usize>)>, WhyNot> {
    let mut cutter = Cutter { text, dialect, at: 0, found: Vec::new(), words: 0, target: None, document: None };
    while cutter.at < text.len() {
        cutter.next()?;
    }
    if let Some(operator) = cutter.target {
        return Err(no_target(operator.start..text.len()));
    }
    if let Some(document) = cutter.document {
        return Err(no_text(document.operator));
    }
    Ok(cutter.found)
}

/// A here-document that was announced and whose text comes after this line.
struct Announced {
    operator: Range<usize>,
    end_word: String,
    quoted: bool,
}

struct Cutter<'t> {
    text: &'t str,
    dialect: Dialect,
    at: usize,
    found: Vec<(Token, Range<usize>)>,
    /// Words of the command so far; what stands before the first may be reserved or set a variable.
    words: usize,
    /// The redirection whose target comes next.
    target: Option<Range<usize>>,
    document: Option<Announced>,
}

impl Cutter<'_> {
    fn next(&mut self) -> Result<(), WhyNot> {
        let rest = &self.text[self.at..];
        let bytes = rest.as_bytes();
        match bytes[0] {
            b' ' | b'\t' => self.take(Token::Nothing, rest.len() - rest.trim_start_matches([' ', '\t']).len()),
            b'\\' if bytes.get(1) == Some(&b'\n') => {
                // Were the rest of an operator on the next line, shells would put the two together.
                if matches!(self.found.last(), Some((Token::Redirect(_), _))) {
                    return Err(no_target(self.at..self.at + 2));
                }
                if let Some(document) = &self.document {
                    return Err(no_text(document.operator.clone()));
                }
                self.take(Token::Nothing, 2);
            }
            b'#' if self.target.is_none() => self.take(Token::Nothing, rest.find('\n').unwrap_or(rest.len())),
            b'\n' => {
                self.no_target_is_missing()?;
                self.take(Token::Newline, 1);
                self.words = 0;
                if let Some(document) = self.document.take() {
                    self.document_text(&document)?;
                }
            }
            b'&' if rest.starts_with("&&") => self.operator("&&")?,
            b'&' if rest.starts_with("&>") && !self.dialect.posix => {
                self.redirect(if rest.starts_with("&>>") { "&>>" } else { "&>" })?;
            }
            b'&' => return Err(Beyond::Background.at(self.at..self.at + 1)),
            b'|' if rest.starts_with("||") => self.operator("||")?,
            b'|' if rest.starts_with("|&") => return Err(Beyond::Redirection.at(self.at..self.at + 2)),
            b'|' => self.operator("|")?,
            b';' if matches!(bytes.get(1), Some(b';' | b'&' | b'|')) => {
                return Err(not_covered(self.at..self.at + 2));
            }
            b';' => self.operator(";")?,
            b'<' | b'>' => self.redirection(rest)?,
            b'(' => return Err(self.parenthesis(rest)),
            b')' => return Err(not_covered(self.at..self.at + 1)),
            _ => self.word()?,
        }
        Ok(())
    }

    fn take(&mut self, token: Token, length: usize) {
        self.found.push((token, self.at..self.at + length));
        self.at += length;
    }

    fn operator(&mut self, operator: &'static str) -> Result<(), WhyNot> {
        self.no_target_is_missing()?;
        self.words = 0;
        self.take(Token::Operator(operator), operator.len());
        Ok(())
    }

    fn no_target_is_missing(&self) -> Result<(), WhyNot> {
        self.target.as_ref().map_or(Ok(()), |operator| Err(no_target(operator.start..self.at)))
    }

    fn redirection(&mut self, rest: &str) -> Result<(), WhyNot> {
        let range = |length: usize| self.at..self.at + length;
        if rest.starts_with("<(") || rest.starts_with(">(") {
            return Err(Beyond::ProcessSubstitution.at(self.at..reach(self.text, self.at)));
        }
        // A document for another descriptor than the input's is read by nobody that is known.
        if rest.starts_with("<<")
            && let Some((Token::Descriptor, digit)) = self.found.last()
            && self.text[digit.clone()] != *"0"
        {
            return Err(Beyond::Redirection.at(digit.start..self.at + 2));
        }
        for (operator, length) in [("<<<", 3), ("<<-", 3), ("<>", 2), (">&-", 3), ("<&-", 3)] {
            if rest.starts_with(operator) {
                return Err(Beyond::Redirection.at(range(length)));
            }
        }
        let operators = ["<<", "<&", "<", ">>", ">|", ">&", ">"];
        let operator = operators.into_iter().find(|operator| rest.starts_with(operator)).unwrap_or(">");
        self.redirect(operator)
    }

    fn redirect(&mut self, operator: &'static str) -> Result<(), WhyNot> {
        self.no_target_is_missing()?;
        let after = &self.text[self.at + operator.len()..];
        if self.dialect.zsh
            && (after.starts_with('!')
                || operator == "<" && after.starts_with(|c: char| c.is_ascii_digit() || c == '-'))
        {
            // `>!file` overwrites `file`, and `<1-9>` is a pattern.
            let range = self.at..self.at + operator.len() + 1;
            return Err(WhyNot::expansion("This shell may take this word for a pattern.", range));
        }
        self.target = Some(self.at..self.at + operator.len());
        self.take(Token::Redirect(operator), operator.len());
        Ok(())
    }

    fn parenthesis(&self, rest: &str) -> WhyNot {
        let whole = self.at..reach(self.text, self.at);
        if self.target.is_some() {
            return not_covered(whole);
        }
        match self.words {
            0 => Beyond::Group.at(whole),
            1 if rest[1..].trim_start_matches([' ', '\t']).starts_with(')') => Beyond::Function.at(whole),
            _ => not_covered(whole),
        }
    }

    fn word(&mut self) -> Result<(), WhyNot> {
        let start = self.at;
        if self.target.is_none() && self.words == 0 {
            self.first_word()?;
        }
        let end = word_end(self.text, start)?;
        let raw = &self.text[start..end];
        let bare = raw.replace("\\\n", "");
        let before_both = self.text[end..].starts_with("&>");
        let before_redirection = before_both || self.text[end..].starts_with(['<', '>']);
        let number = before_redirection && !bare.is_empty() && bare.bytes().all(|b| b.is_ascii_digit());
        if number && before_both {
            // A word in bash, a descriptor in zsh.
            return Err(WhyNot::other("Shells differ on a number before this redirection.", start..end + 2));
        }
        if let Some(operator) = self.target.take() {
            if number {
                return Err(no_target(operator.start..end));
            }
            self.take(Token::Word, raw.len());
            if self.text[operator.clone()] == *"<<" {
                self.announce(operator, start..end)?;
            } else {
                self.document_is_not_broken(start..end)?;
            }
            return Ok(());
        }
        if number {
            if raw.len() != 1 {
                return Err(WhyNot::other("Shells differ on descriptors of more than one digit.", start..end));
            }
            self.take(Token::Descriptor, 1);
            return Ok(());
        }
        self.document_is_not_broken(start..end)?;
        self.words += 1;
        self.take(Token::Word, raw.len());
        Ok(())
    }

    /// What the first word of a command must not be.
    fn first_word(&self) -> Result<(), WhyNot> {
        let rest = &self.text[self.at..];
        let plain = rest.find([' ', '\t', '\n', ';', '|', '&', '<', '>', '(', ')']).unwrap_or(rest.len());
        let raw = rest[..plain].replace("\\\n", "");
        let range = self.at..self.at + plain;
        if sets_variable(&raw) {
            return Err(Beyond::Assignment.at(range));
        }
        match reserved(&raw) {
            Some(beyond) => Err(beyond.at(range)),
            None if raw.starts_with('{') && raw != "{}" => {
                Err(WhyNot::parse("The shell may expand these braces.", range))
            }
            None => Ok(()),
        }
    }

    /// A here-document's text begins at the next newline, and shells differ on whether one inside quotes counts.
    fn document_is_not_broken(&self, word: Range<usize>) -> Result<(), WhyNot> {
        match &self.document {
            Some(document) if self.text[word].contains('\n') => Err(no_text(document.operator.clone())),
            Some(_) | None => Ok(()),
        }
    }

    fn announce(&mut self, operator: Range<usize>, word: Range<usize>) -> Result<(), WhyNot> {
        if self.document.is_some() {
            return Err(WhyNot::other("Two here-documents begin on one line.", operator));
        }
        let raw = &self.text[word.clone()];
        let end_word = unquote(raw).map_err(|why| why.shifted(word.start))?;
        let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-');
        if end_word.is_empty() || raw.contains('\n') || !end_word.bytes().all(plain) {
            return Err(WhyNot::other("A here-document has an odd end word.", word));
        }
        self.document = Some(Announced { operator, end_word, quoted: raw.contains(['\'', '"', '\\']) });
        Ok(())
    }

    fn document_text(&mut self, document: &Announced) -> Result<(), WhyNot> {
        let body = &self.text[self.at..];
        let length = document_length(body, &document.end_word)
            .ok_or_else(|| WhyNot::parse("A here-document does not end.", document.operator.clone()))?;
        if !document.quoted
            && let Some(n) = body[..length].find(['$', '`', '\\'])
        {
            let at = self.at + n;
            return Err(WhyNot::expansion("The shell would replace part of the here-document.", at..at + 1));
        }
        let end_word = document.end_word.len();
        self.take(Token::Document { end_word }, length + end_word);
        Ok(())
    }
}

/// The end of the word at `start`: the first blank or operator outside quotes.
fn word_end(text: &str, start: usize) -> Result<usize, WhyNot> {
    let bytes = text.as_bytes();
    let mut at = start;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'(' if at > start && matches!(bytes[at - 1], b'?' | b'*' | b'+' | b'@' | b'!') => {
                return Err(Beyond::Pattern.at(start..reach(text, at)));
            }
            b' ' | b'\t' | b'\n' | b'|' | b'&' | b';' | b'<' | b'>' | b'(' | b')' => break,
            b'\'' => {
                let length = text[at + 1..].find('\'');
                at += 2 + length.ok_or_else(|| WhyNot::parse("A single quote is not closed.", at..text.len()))?;
            }
            b'"' => at = double_quoted_end(text, at)?,
            b'\\' => at += 1 + text[at + 1..].chars().next().map_or(0, char::len_utf8),
            b'`' => return Err(Beyond::Substitution.at(at..reach(text, at))),
            b'$' => {
                if let Some(beyond) = replaced(text, at, false) {
                    return Err(beyond);
                }
                at += 1;
            }
            _ => at += 1,
        }
    }
    Ok(at)
}

fn double_quoted_end(text: &str, start: usize) -> Result<usize, WhyNot> {
    let bytes = text.as_bytes();
    let mut at = start + 1;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => return Ok(at + 1),
            b'\\' => at += 1 + text[at + 1..].chars().next().map_or(0, char::len_utf8),
            b'`' => return Err(Beyond::Substitution.at(at..reach(text, at))),
            b'$' => {
                // `unquote` looks at it again, and judges it.
                if let Some(end) = substituted_end(text, at) {
                    at = end;
                    continue;
                }
                if let Some(beyond) = replaced(text, at, true) {
                    return Err(beyond);
                }
                at += 1;
            }
            _ => at += 1,
        }
    }
    Err(WhyNot::parse("A double quote is not closed.", start..text.len()))
}

/// What the shell would put in the place of the dollar sign at `at`, if anything; what is left `unquote` judges.
fn replaced(text: &str, at: usize, quoted: bool) -> Option<WhyNot> {
    let rest = &text[at + 1..];
    let named = rest.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').count();
    let (beyond, end) = match rest.as_bytes().first()? {
        b'(' if rest.starts_with("((") => (Beyond::Arithmetic, reach(text, at)),
        b'(' => (Beyond::Substitution, reach(text, at)),
        b'[' => (Beyond::Arithmetic, at + 2),
        b'{' => (Beyond::Variable, reach(text, at)),
        b'\'' | b'"' if !quoted => (Beyond::Quotes, reach(text, at + 1)),
        b'0'..=b'9' | b'@' | b'*' | b'#' | b'?' | b'-' | b'$' | b'!' => (Beyond::Variable, at + 2),
        b'a'..=b'z' | b'A'..=b'Z' | b'_' => (Beyond::Variable, at + 1 + named),
        _ => return None,
    };
    Some(beyond.at(at..end))
}

/// Whether a word before the program's name sets a variable: `A=b`, `A+=b`, `A[1]=b`.
pub(crate) fn sets_variable(raw: &str) -> bool {
    let name = raw.bytes().take_while(|b| b.is_ascii_alphanumeric() || *b == b'_').count();
    let rest = &raw[name..];
    let named = name > 0 && !raw.starts_with(|c: char| c.is_ascii_digit());
    named && (rest.starts_with('=') || rest.starts_with("+=") || rest.starts_with('[') && rest.contains('='))
}

/// Words that are not programs where they stand first and unquoted, in one of the shells.
fn reserved(raw: &str) -> Option<Beyond> {
    Some(match raw {
        "if" | "case" => Beyond::Condition,
        "for" | "while" | "until" | "select" => Beyond::Loop,
        "function" => Beyond::Function,
        "{" => Beyond::Group,
        "[" | "[[" => Beyond::Test,
        "!" => Beyond::Negation,
        "export" | "declare" | "typeset" | "local" | "readonly" | "unset" => Beyond::Assignment,
        "then" | "else" | "elif" | "fi" | "do" | "done" | "esac" | "in" | "time" | "coproc" | "}" | "repeat"
        | "foreach" | "end" | "nocorrect" | "noglob" | "-" => Beyond::Reserved,
        _ => return None,
    })
}

fn no_target(range: Range<usize>) -> WhyNot {
    WhyNot::parse("A redirection has no target.", range)
}

fn no_text(range: Range<usize>) -> WhyNot {
    WhyNot::parse("A here-document has no text.", range)
}

fn not_covered(range: Range<usize>) -> WhyNot {
    WhyNot::parse("The shell's grammar does not cover this text.", range)
}
