//! A second parser must read the same words, operators and redirections, or the command is not inspectable.

use brush_parser::ast::{
    AndOr, Command, CommandPrefixOrSuffixItem, CompleteCommand, IoFileRedirectKind, IoFileRedirectTarget, IoRedirect,
    Pipeline, SeparatorOperator, SimpleCommand,
};
use brush_parser::word::{WordPiece, WordPieceWithSource};
use brush_parser::{ParserOptions, parse_tokens, uncached_tokenize_str};

use crate::command::split::Piece;

/// Whether the second parser reads `text` as these pieces.
pub(crate) fn agrees(text: &str, pieces: &[Piece]) -> bool {
    let options = ParserOptions { enable_extended_globbing: false, ..ParserOptions::default() };
    let Ok(tokens) = uncached_tokenize_str(text, &options.tokenizer_options()) else { return false };
    let Ok(program) = parse_tokens(&tokens, &options) else { return false };
    let Some(commands) = flatten(&program.complete_commands) else { return false };
    commands.len() == pieces.len()
        && commands.iter().zip(pieces).all(|((operator, command), piece)| {
            let same_operator = match piece.operator.as_str() {
                "" | ";" | "\n" => *operator == ";",
                written => *operator == written,
            };
            same_operator && same_command(command, piece, text, &options)
        })
}

fn flatten(commands: &[CompleteCommand]) -> Option<Vec<(&'static str, &SimpleCommand)>> {
    let mut flat = Vec::new();
    for list in commands {
        for item in &list.0 {
            if !matches!(item.1, SeparatorOperator::Sequence) {
                return None;
            }
            add(&item.0.first, ";", &mut flat)?;
            for more in &item.0.additional {
                match more {
                    AndOr::And(pipeline) => add(pipeline, "&&", &mut flat)?,
                    AndOr::Or(pipeline) => add(pipeline, "||", &mut flat)?,
                }
            }
        }
    }
    Some(flat)
}

fn add<'a>(
    pipeline: &'a Pipeline,
    operator: &'static str,
    flat: &mut Vec<(&'static str, &'a SimpleCommand)>,
) -> Option<()> {
    if pipeline.bang || pipeline.timed.is_some() {
        return None;
    }
    for (n, command) in pipeline.seq.iter().enumerate() {
        let Command::Simple(command) = command else { return None };
        flat.push((if n == 0 { operator } else { "|" }, command));
    }
    Some(())
}

fn same_command(command: &SimpleCommand, piece: &Piece, text: &str, options: &ParserOptions) -> bool {
    let prefix = command.prefix.iter().flat_map(|p| &p.0);
    let suffix = command.suffix.iter().flat_map(|s| &s.0);
    let mut words: Vec<&str> = Vec::new();
    let mut redirects: Vec<&IoRedirect> = Vec::new();
    for item in prefix {
        match item {
            CommandPrefixOrSuffixItem::IoRedirect(redirect) => redirects.push(redirect),
            CommandPrefixOrSuffixItem::Word(_)
            | CommandPrefixOrSuffixItem::AssignmentWord(..)
            | CommandPrefixOrSuffixItem::ProcessSubstitution(..) => return false,
        }
    }
    words.extend(command.word_or_name.as_ref().map(|w| w.value.as_str()));
    for item in suffix {
        match item {
            CommandPrefixOrSuffixItem::IoRedirect(redirect) => redirects.push(redirect),
            // After the program's name, `A=b` is a word like any other (`env A=b`, `dd of=x`).
            CommandPrefixOrSuffixItem::Word(word) | CommandPrefixOrSuffixItem::AssignmentWord(_, word) => {
                words.push(&word.value);
            }
            CommandPrefixOrSuffixItem::ProcessSubstitution(..) => return false,
        }
    }
    words.len() == piece.words.len()
        && words
            .iter()
            .zip(&piece.words)
            .all(|(raw, word)| same_word(raw, &word.text, &text[word.range.clone()], options))
        && redirects.len() == piece.redirects.len()
        && redirects.iter().zip(&piece.redirects).all(|(redirect, ours)| {
            let target = |raw: &str| same_word(raw, &ours.target.text, &text[ours.target.range.clone()], options);
            match redirect {
                IoRedirect::File(descriptor, kind, place) => {
                    descriptor.map(|d| d.to_string()) == ours.descriptor
                        && operator(kind) == ours.operator
                        && match place {
                            IoFileRedirectTarget::Filename(word) | IoFileRedirectTarget::Duplicate(word) => {
                                target(&word.value)
                            }
                            IoFileRedirectTarget::Fd(number) => number.to_string() == ours.target.text,
                            IoFileRedirectTarget::ProcessSubstitution(..) => false,
                        }
                }
                IoRedirect::OutputAndError(word, append) => {
                    ours.operator == if *append { "&>>" } else { "&>" } && target(&word.value)
                }
                IoRedirect::HereDocument(descriptor, document) => {
                    descriptor.map(|d| d.to_string()) == ours.descriptor
                        && ours.operator == "<<"
                        && !document.remove_tabs
                        && ours.document.as_ref().is_some_and(|range| document.doc.value == text[range.clone()])
                }
                IoRedirect::HereString(..) => false,
            }
        })
}

fn operator(kind: &IoFileRedirectKind) -> &'static str {
    match kind {
        IoFileRedirectKind::Read => "<",
        IoFileRedirectKind::Write => ">",
        IoFileRedirectKind::Append => ">>",
        IoFileRedirectKind::ReadAndWrite => "<>",
        IoFileRedirectKind::Clobber => ">|",
        IoFileRedirectKind::DuplicateInput => "<&",
        IoFileRedirectKind::DuplicateOutput => ">&",
    }
}

fn same_word(raw: &str, literal: &str, source: &str, options: &ParserOptions) -> bool {
    // Most words have nothing to remove, and the one substitution that is literal is compared as it stands.
    let plain = |c: u8| c.is_ascii_alphanumeric() || matches!(c, b'-' | b'_' | b'.' | b'/' | b',' | b'+' | b'%' | b'@');
    if raw == literal && raw.bytes().all(plain) {
        return true;
    }
    if source.contains("$(") {
        return raw == source;
    }
    brush_parser::word::parse(raw, options).ok().and_then(|pieces| text_of(&pieces)).is_some_and(|text| text == literal)
}

fn text_of(pieces: &[WordPieceWithSource]) -> Option<String> {
    let mut text = String::new();
    for piece in pieces {
        match &piece.piece {
            WordPiece::Text(part) | WordPiece::SingleQuotedText(part) => text.push_str(part),
            WordPiece::DoubleQuotedSequence(parts) => text.push_str(&text_of(parts)?),
            WordPiece::EscapeSequence(part) => match part.strip_prefix('\\') {
                Some("\n") => {}
                Some(escaped) => text.push_str(escaped),
                None => return None,
            },
            WordPiece::AnsiCQuotedText(_)
            | WordPiece::GettextDoubleQuotedSequence(_)
            | WordPiece::TildeExpansion(_)
            | WordPiece::ParameterExpansion(_)
            | WordPiece::CommandSubstitution(_)
            | WordPiece::BackquotedCommandSubstitution(_)
            | WordPiece::ArithmeticExpression(_) => return None,
        }
    }
    Some(text)
}
