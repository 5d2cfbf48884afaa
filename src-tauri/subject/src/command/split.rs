//! From text to simple commands, by the strict grammar alone.
//!
//! The tree gives tokens and their extents; every byte of the text must belong to one of them, to a comment or to
//! blanks, so that nothing can hide between two nodes. A kind of node that is not listed here is a reason.

use std::ops::Range;

use placet_domain::Flag;
use tree_sitter::{Node, Parser};

use crate::command::rough::{rough, same_words, torn};
use crate::command::unquote::{document_length, unquote};
use crate::command::why::{WhyNot, not_understood};

/// A simple command as it stands in the text.
#[derive(Clone, Debug, Default)]
pub(crate) struct Piece {
    /// `&&`, `||`, `;`, `|`, a newline, or nothing for the first.
    pub(crate) operator: String,
    pub(crate) words: Vec<Word>,
    pub(crate) redirects: Vec<Redirect>,
    pub(crate) range: Range<usize>,
}

#[derive(Clone, Debug)]
pub(crate) struct Word {
    /// Quotes removed; as it stands in the text where it is not literal.
    pub(crate) text: String,
    pub(crate) range: Range<usize>,
    pub(crate) why_not: Option<WhyNot>,
}

#[derive(Clone, Debug)]
pub(crate) struct Redirect {
    /// The operator without its descriptor.
    pub(crate) operator: String,
    pub(crate) descriptor: Option<String>,
    pub(crate) target: Word,
    /// The text of a here-document, with its last newline.
    pub(crate) document: Option<Range<usize>>,
}

/// The pieces and the first reason why the whole cannot be inspected, where there is one.
pub(crate) struct Split {
    pub(crate) pieces: Vec<Piece>,
    pub(crate) why_not: Option<WhyNot>,
}

/// Takes the text apart. With a reason, the pieces are those that could be recognized, for denying only.
pub(crate) fn split(text: &str, zsh: bool) -> Split {
    if let Some(why_not) = odd_character(text) {
        return Split { pieces: torn(text), why_not: Some(why_not) };
    }
    let mut parser = Parser::new();
    let tree = match parser.set_language(&tree_sitter_bash::LANGUAGE.into()) {
        Ok(()) => parser.parse(text, None),
        Err(_) => None,
    };
    let Some(tree) = tree else {
        return Split { pieces: torn(text), why_not: Some(WhyNot::parse("The parser gave up.", 0..text.len())) };
    };
    let mut tokens = Tokens::new(text);
    let why_not = match tokens.walk(tree.root_node()) {
        Ok(()) => tokens.assemble(zsh),
        Err(why_not) => Err(why_not),
    };
    match why_not {
        Ok(pieces) => {
            let why_not = pieces
                .iter()
                .flat_map(|piece| piece.words.iter().chain(piece.redirects.iter().map(|r| &r.target)))
                .find_map(|word| word.why_not.clone());
            Split { pieces, why_not }
        }
        Err(why_not) => {
            let mut pieces = Vec::new();
            rough(tree.root_node(), text, &mut pieces);
            if pieces.is_empty() || tree.root_node().has_error() {
                for piece in torn(text) {
                    if !pieces.iter().any(|known| same_words(known, &piece)) {
                        pieces.push(piece);
                    }
                }
            }
            Split { pieces, why_not: Some(why_not) }
        }
    }
}

fn odd_character(text: &str) -> Option<WhyNot> {
    for (at, c) in text.char_indices() {
        let range = at..at + c.len_utf8();
        if c.is_control() && !matches!(c, '\n' | '\t') {
            return Some(WhyNot::new(Flag::Control, "There is a control character in the command.", range));
        }
        if !c.is_ascii()
            && (c.is_whitespace()
                || matches!(c, '\u{200B}' | '\u{2060}' | '\u{FEFF}' | '\u{2800}' | '\u{3164}' | '\u{180E}'))
        {
            let sentence = "There is a blank in the command that is not a plain space.";
            return Some(WhyNot::new(Flag::NonAsciiSpace, sentence, range));
        }
    }
    None
}

#[derive(Debug)]
enum Token {
    Word(Range<usize>),
    Operator(&'static str),
    Descriptor(Range<usize>),
    Redirect(&'static str),
    Document(Range<usize>),
    Skipped,
}

struct Tokens<'t> {
    text: &'t str,
    found: Vec<(Token, Range<usize>)>,
    /// Where here-documents begin and end, by the tree; checked against the text.
    bodies: Vec<Range<usize>>,
}

impl<'t> Tokens<'t> {
    fn new(text: &'t str) -> Self {
        Self { text, found: Vec::new(), bodies: Vec::new() }
    }

    fn walk(&mut self, node: Node<'_>) -> Result<(), WhyNot> {
        let range = node.byte_range();
        if node.is_error() || node.is_missing() {
            return Err(WhyNot::parse("The shell's grammar does not cover this text.", range));
        }
        let token = match node.kind() {
            "program"
            | "list"
            | "pipeline"
            | "redirected_statement"
            | "command"
            | "command_name"
            | "file_redirect"
            | "heredoc_redirect" => {
                let mut cursor = node.walk();
                for child in node.children(&mut cursor) {
                    self.walk(child)?;
                }
                return Ok(());
            }
            "word" | "string" | "raw_string" | "number" | "concatenation" => {
                check_word(node)?;
                Token::Word(range.clone())
            }
            "heredoc_start" => Token::Word(range.clone()),
            "heredoc_body" | "heredoc_end" => {
                self.bodies.push(range);
                return Ok(());
            }
            "comment" => Token::Skipped,
            "file_descriptor" => Token::Descriptor(range.clone()),
            "&&" => Token::Operator("&&"),
            "||" => Token::Operator("||"),
            ";" => Token::Operator(";"),
            "|" => Token::Operator("|"),
            "\n" => return Ok(()),
            "<" => Token::Redirect("<"),
            ">" => Token::Redirect(">"),
            ">>" => Token::Redirect(">>"),
            ">|" => Token::Redirect(">|"),
            "&>" => Token::Redirect("&>"),
            "&>>" => Token::Redirect("&>>"),
            ">&" => Token::Redirect(">&"),
            "<&" => Token::Redirect("<&"),
            "<<" => Token::Redirect("<<"),
            kind => return Err(not_understood(kind, range)),
        };
        self.found.push((token, range));
        Ok(())
    }

    fn assemble(mut self, zsh: bool) -> Result<Vec<Piece>, WhyNot> {
        self.found.sort_by_key(|(_, range)| range.start);
        self.read_documents()?;
        let mut pieces: Vec<Piece> = Vec::new();
        let mut piece = Piece::default();
        let mut redirect: Option<(&'static str, Option<String>)> = None;
        let mut descriptor: Option<String> = None;
        let mut after = 0;
        for (token, range) in &self.found {
            let newline = self.check_gap(after..range.start)?;
            if newline {
                if redirect.is_some() || descriptor.is_some() {
                    return Err(WhyNot::parse("A redirection has no target.", after..range.start));
                }
                finish(&mut pieces, &mut piece, "\n", after)?;
            }
            after = range.end;
            match token {
                Token::Word(range) => {
                    let word = literal(self.text, range.clone(), zsh);
                    if piece.words.is_empty() && piece.redirects.is_empty() {
                        piece.range = range.clone();
                    }
                    piece.range.end = range.end;
                    match redirect.take() {
                        Some((operator, descriptor)) => piece.redirects.push(Redirect {
                            operator: operator.to_owned(),
                            descriptor,
                            target: word,
                            document: None,
                        }),
                        None => piece.words.push(word),
                    }
                }
                Token::Descriptor(range) => descriptor = Some(self.text[range.clone()].to_owned()),
                Token::Redirect(operator) => {
                    if redirect.is_some() {
                        return Err(WhyNot::parse("A redirection has no target.", range.clone()));
                    }
                    if piece.words.is_empty() && piece.redirects.is_empty() {
                        piece.range = range.clone();
                    }
                    redirect = Some((operator, descriptor.take()));
                }
                Token::Document(body) => {
                    let waiting = pieces
                        .iter_mut()
                        .chain(std::iter::once(&mut piece))
                        .flat_map(|p| p.redirects.iter_mut())
                        .find(|r| r.operator == "<<" && r.document.is_none());
                    let Some(waiting) = waiting else {
                        return Err(WhyNot::parse("A here-document belongs to no command.", range.clone()));
                    };
                    waiting.document = Some(body.clone());
                    finish(&mut pieces, &mut piece, "\n", range.start)?;
                }
                Token::Operator(operator) => {
                    if redirect.is_some() {
                        return Err(WhyNot::parse("A redirection has no target.", range.clone()));
                    }
                    finish(&mut pieces, &mut piece, operator, range.start)?;
                }
                Token::Skipped => {}
            }
        }
        self.check_gap(after..self.text.len())?;
        if redirect.is_some() || descriptor.is_some() {
            return Err(WhyNot::parse("A redirection has no target.", after..self.text.len()));
        }
        if piece.words.is_empty() && piece.redirects.is_empty() {
            if !matches!(piece.operator.as_str(), "" | ";" | "\n") {
                return Err(WhyNot::parse("Nothing follows the last operator.", 0..self.text.len()));
            }
        } else {
            pieces.push(piece);
        }
        if let Some(first) = pieces.first_mut() {
            first.operator.clear();
        }
        Ok(pieces)
    }

    /// Between two tokens stand blanks, continued lines and newlines only; says whether there was a newline.
    fn check_gap(&self, gap: Range<usize>) -> Result<bool, WhyNot> {
        if gap.start > gap.end {
            return Err(WhyNot::parse("Two readings of this place overlap.", gap.end..gap.start));
        }
        let mut rest = &self.text[gap.clone()];
        let mut newline = false;
        while let Some(c) = rest.chars().next() {
            rest = match c {
                ' ' | '\t' => &rest[1..],
                '\n' => {
                    newline = true;
                    &rest[1..]
                }
                '\\' if rest.starts_with("\\\n") => &rest[2..],
                _ => return Err(WhyNot::parse("The shell's grammar does not cover this text.", gap)),
            };
        }
        Ok(newline)
    }

    /// Finds the text of every here-document by its lines and compares with the tree.
    fn read_documents(&mut self) -> Result<(), WhyNot> {
        let starts: Vec<usize> = self
            .found
            .iter()
            .enumerate()
            .filter(|(_, (token, _))| matches!(token, Token::Redirect("<<")))
            .map(|(n, _)| n)
            .collect();
        if starts.is_empty() && !self.bodies.is_empty() {
            return Err(WhyNot::parse("A here-document belongs to no command.", self.bodies[0].clone()));
        }
        let mut documents = Vec::new();
        let mut covered: usize = 0;
        for n in starts {
            let here = self.found[n].1.clone();
            let Some((Token::Word(word), _)) = self.found.get(n + 1) else {
                return Err(WhyNot::parse("A here-document has no end word.", here));
            };
            if here.start < covered {
                return Err(WhyNot::other("Two here-documents begin on one line.", here));
            }
            let raw = &self.text[word.clone()];
            let quoted = raw.contains(['\'', '"', '\\']);
            let end_word = unquote(raw).map_err(|why| why.shifted(word.start))?;
            if end_word.is_empty() || !end_word.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-')) {
                return Err(WhyNot::other("A here-document has an odd end word.", word.clone()));
            }
            let line_end =
                self.line_end(word.end).ok_or_else(|| WhyNot::parse("A here-document has no text.", here.clone()))?;
            let body = &self.text[line_end + 1..];
            let length = document_length(body, &end_word)
                .ok_or_else(|| WhyNot::parse("A here-document does not end.", here.clone()))?;
            let range = line_end + 1..line_end + 1 + length;
            if !quoted && let Some(at) = body[..length].find(['$', '`', '\\']) {
                let at = range.start + at;
                return Err(WhyNot::expansion("The shell would replace part of the here-document.", at..at + 1));
            }
            let end = range.end + end_word.len();
            for tree_range in &self.bodies {
                let touches = tree_range.start < end && tree_range.end > range.start;
                if touches && (tree_range.start < range.start || tree_range.end > end + 1) {
                    return Err(WhyNot::parse("Two readings of the here-document differ.", range));
                }
            }
            covered = end;
            documents.push((range, end));
        }
        for tree_range in &self.bodies {
            if !documents.iter().any(|(range, end)| tree_range.start >= range.start && tree_range.end <= end + 1) {
                return Err(WhyNot::parse("Two readings of the here-document differ.", tree_range.clone()));
            }
        }
        // Whatever the tree saw inside a here-document is text.
        for (_, range) in &self.found {
            if documents.iter().any(|(body, end)| range.end > body.start && range.start < *end) {
                return Err(WhyNot::parse("Two readings of the here-document differ.", range.clone()));
            }
        }
        for (range, end) in documents {
            let whole = range.start..end;
            self.found.push((Token::Document(range), whole));
        }
        self.found.sort_by_key(|(_, range)| range.start);
        Ok(())
    }

    /// The newline that ends the line of `from`, not one inside a token.
    fn line_end(&self, from: usize) -> Option<usize> {
        let mut at = from;
        loop {
            let newline = at + self.text[at..].find('\n')?;
            let inside = self.found.iter().find(|(_, range)| range.start < newline && newline < range.end);
            match inside {
                Some((_, range)) => at = range.end,
                // A continued line goes on.
                None if self.text[..newline].ends_with('\\') => return None,
                None => return Some(newline),
            }
        }
    }
}

/// What stands inside a word is judged by `unquote`; here only its kinds.
fn check_word(node: Node<'_>) -> Result<(), WhyNot> {
    let mut cursor = node.walk();
    for child in node.children(&mut cursor) {
        let range = child.byte_range();
        if child.is_error() || child.is_missing() {
            return Err(WhyNot::parse("The shell's grammar does not cover this text.", range));
        }
        match child.kind() {
            "word" | "string" | "raw_string" | "number" | "concatenation" => check_word(child)?,
            // `unquote` lets exactly one form of it through.
            "command_substitution" if node.kind() == "string" && !child.has_error() => {}
            "string_content" => {}
            kind if child.is_named() => return Err(not_understood(kind, range)),
            _ => {}
        }
    }
    Ok(())
}

fn finish(pieces: &mut Vec<Piece>, piece: &mut Piece, operator: &'static str, at: usize) -> Result<(), WhyNot> {
    if piece.words.is_empty() && piece.redirects.is_empty() {
        if operator == "\n" {
            return Ok(());
        }
        return Err(WhyNot::parse("An operator has nothing before it.", at..at + operator.len()));
    }
    let next = Piece { operator: operator.to_owned(), ..Piece::default() };
    pieces.push(std::mem::replace(piece, next));
    Ok(())
}

pub(crate) fn literal(text: &str, range: Range<usize>, zsh: bool) -> Word {
    let raw = &text[range.clone()];
    match unquote(raw) {
        Ok(word) if zsh && bare_has_pattern(raw) => Word {
            text: word,
            why_not: Some(WhyNot::expansion("This shell may take this word for a pattern.", range.clone())),
            range,
        },
        Ok(text) => Word { text, range, why_not: None },
        Err(why_not) => Word { text: raw.to_owned(), why_not: Some(why_not.shifted(range.start)), range },
    }
}

/// Whether one of the marks of zsh's extended patterns stands outside quotes.
fn bare_has_pattern(raw: &str) -> bool {
    let mut quote = None;
    for c in raw.chars() {
        match quote {
            Some(open) if c == open => quote = None,
            None if matches!(c, '\'' | '"') => quote = Some(c),
            None if matches!(c, '^' | '~' | '#') => return true,
            Some(_) | None => {}
        }
    }
    false
}
