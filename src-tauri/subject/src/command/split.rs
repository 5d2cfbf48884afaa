//! From text to simple commands, by the strict grammar alone.
//!
//! `tokens` cuts the text, and the tokens tile it: every byte belongs to one of them, to a comment or to blanks, so that
//! nothing can hide between two. What cannot be put together from them is a reason.

use std::ops::Range;

use placet_domain::Flag;

use crate::command::rough::{rough, rough_and_torn};
use crate::command::tokens::{Dialect, Token, tokens};
use crate::command::torn::torn;
use crate::command::unquote::unquote;
use crate::command::why::WhyNot;

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
pub(crate) fn split(text: &str, shell: &str) -> Split {
    if let Some(why_not) = odd_character(text) {
        return Split { pieces: torn(text), why_not: Some(why_not) };
    }
    let dialect = Dialect::of(shell);
    match tokens(text, dialect).and_then(|tokens| assemble(text, &tokens, dialect)) {
        Ok(pieces) => {
            let why_not = pieces
                .iter()
                .flat_map(|piece| piece.words.iter().chain(piece.redirects.iter().map(|r| &r.target)))
                .find_map(|word| word.why_not.clone());
            // A here-document that an older shell would end elsewhere has commands in it for that shell.
            let pieces = if why_not.is_some() && text.contains("$(") { rough_and_torn(text) } else { pieces };
            Split { pieces, why_not }
        }
        Err(why_not) => Split { pieces: rough(text), why_not: Some(why_not) },
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

/// The commands that the tokens make.
fn assemble(text: &str, tokens: &[(Token, Range<usize>)], dialect: Dialect) -> Result<Vec<Piece>, WhyNot> {
    let mut pieces: Vec<Piece> = Vec::new();
    let mut piece = Piece::default();
    let mut redirect: Option<&'static str> = None;
    let mut descriptor: Option<String> = None;
    // The piece, by its place, and its redirection whose here-document comes.
    let mut waiting: Option<(usize, usize)> = None;
    let mut after = 0;
    for (token, range) in tokens {
        if range.start != after {
            return Err(WhyNot::parse("The shell's grammar does not cover this text.", after..range.end.max(after)));
        }
        after = range.end;
        if matches!(token, Token::Word | Token::Redirect(_) | Token::Descriptor) {
            if piece.words.is_empty() && piece.redirects.is_empty() && redirect.is_none() && descriptor.is_none() {
                piece.range = range.clone();
            }
            piece.range.end = range.end;
        }
        match *token {
            Token::Word => {
                let word = literal(text, range.clone(), dialect);
                let Some(operator) = redirect.take() else {
                    piece.words.push(word);
                    continue;
                };
                if operator == "<<" {
                    waiting = Some((pieces.len(), piece.redirects.len()));
                }
                let operator = operator.to_owned();
                piece.redirects.push(Redirect {
                    operator,
                    descriptor: descriptor.take(),
                    target: word,
                    document: None,
                });
            }
            Token::Descriptor => descriptor = Some(text[range.clone()].to_owned()),
            Token::Redirect(operator) => redirect = Some(operator),
            Token::Document { end_word } => {
                let document = waiting.take().and_then(|(piece, redirect)| {
                    // The newline before it ended the command.
                    Some(&mut pieces.get_mut(piece)?.redirects.get_mut(redirect)?.document)
                });
                let Some(document) = document else {
                    return Err(WhyNot::parse("A here-document belongs to no command.", range.clone()));
                };
                *document = Some(range.start..range.end - end_word);
            }
            Token::Operator(operator) => finish(&mut pieces, &mut piece, operator, range.start)?,
            Token::Newline => finish(&mut pieces, &mut piece, "\n", range.start)?,
            Token::Nothing => {}
        }
    }
    if after != text.len() || redirect.is_some() {
        return Err(WhyNot::parse("The shell's grammar does not cover this text.", after..text.len()));
    }
    if piece.words.is_empty() && piece.redirects.is_empty() {
        if !matches!(piece.operator.as_str(), "" | ";" | "\n") {
            return Err(WhyNot::parse("Nothing follows the last operator.", 0..text.len()));
        }
    } else {
        pieces.push(piece);
    }
    if let Some(first) = pieces.first_mut() {
        first.operator.clear();
    }
    Ok(pieces)
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

pub(crate) fn literal(text: &str, range: Range<usize>, dialect: Dialect) -> Word {
    let raw = &text[range.clone()];
    match unquote(raw) {
        Ok(word) if dialect.zsh && bare_has_pattern(raw) => Word {
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
    let (mut quote, mut before) = (None, None);
    let mut chars = raw.chars();
    while let Some(c) = chars.next() {
        match quote {
            // What follows a backslash neither opens nor closes.
            None | Some('"') if c == '\\' => before = chars.next(),
            Some(open) if c == open => quote = None,
            None if matches!(c, '\'' | '"') => quote = Some(c),
            None if matches!(c, '^' | '~' | '#') => return true,
            // `=ls` is the place of `ls`, `''=ls` too, and with `magicequalsubst` what follows the sign in `a==ls`.
            None if c == '=' && matches!(before, None | Some('=' | ':')) => return true,
            Some(_) | None => before = Some(c),
        }
    }
    false
}
