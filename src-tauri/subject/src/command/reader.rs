//! From a command's text to its parts: splits, agrees, looks up, resolves, and goes into what is carried.

use std::ops::Range;

use placet_domain::{Action, Flag, PathText};

use crate::command::apply::{Carried, Doing, apply};
use crate::command::place::{Folders, join};
use crate::command::split::{Piece, Redirect, Split, split};
use crate::command::{
    HereDocument, Lookup, MOST_BYTES, MOST_DEPTH, MOST_PARTS, Part, Programs, Shell, WhyNot, add_flag, exe, second,
};

/// Reads one command, those within it included.
pub(crate) struct Reader<'a> {
    pub(crate) shell: &'a Shell,
    pub(crate) programs: &'a Programs,
    pub(crate) lookup: &'a dyn Lookup,
    pub(crate) parts: usize,
    pub(crate) exceeded: bool,
}

impl Reader<'_> {
    /// The parts of a text for the shell `name`, and the first reason why it cannot be inspected.
    pub(crate) fn text(
        &mut self,
        text: &str,
        name: &str,
        folders: &mut Folders,
        depth: usize,
    ) -> (Vec<Part>, Option<WhyNot>) {
        let whole = 0..text.len();
        let Split { pieces, why_not: unreadable } = if text.len() > MOST_BYTES {
            self.exceeded = true;
            let end = (0..=MOST_BYTES).rev().find(|n| text.is_char_boundary(*n)).unwrap_or_default();
            let pieces = split(&text[..end], name).pieces;
            Split { pieces, why_not: Some(WhyNot::other("The command is longer than 8 KiB.", whole.clone())) }
        } else {
            split(text, name)
        };
        let mut why_not = unreadable;
        if why_not.is_none() && !matches!(name, "bash" | "sh" | "dash" | "zsh") {
            why_not = Some(WhyNot::other("The shell that runs it is not one that Placet reads.", whole.clone()));
        }
        if why_not.is_none() && pieces.is_empty() {
            why_not = Some(WhyNot::other("There is no command.", whole.clone()));
        }
        // The second parser only ever sees what the first took apart: flat text of at most 8 KiB and so many parts.
        if why_not.is_none() && pieces.len() <= MOST_PARTS && !second::agrees(text, &pieces) {
            why_not = Some(WhyNot::parse("Two parsers read the command differently.", whole.clone()));
        }
        let mut parts: Vec<Part> = Vec::new();
        for piece in &pieces {
            if self.parts >= MOST_PARTS {
                self.exceeded = true;
                why_not.get_or_insert_with(|| WhyNot::other("The command has more than 50 parts.", whole.clone()));
                break;
            }
            folders.pass(&piece.operator);
            let mut part = self.piece(text, piece, folders, depth);
            if changes_folder(&part.argv) {
                self.change_folder(&mut part, folders);
            }
            if name == "zsh" && part.argv.is_empty() && !piece.redirects.is_empty() {
                let sentence = "Without a program zsh runs one of its own choice on this file.";
                part.why_not = Some(WhyNot::other(sentence, piece.range.clone()));
                part.effect = Action::strongest([part.effect, Action::Execute]);
            }
            if let Some(reason) = first_reason(&part) {
                why_not.get_or_insert(reason);
            }
            parts.push(part);
        }
        (parts, why_not)
    }

    fn change_folder(&mut self, part: &mut Part, folders: &mut Folders) {
        let literal = |word: &&String| !word.is_empty() && !word.starts_with(['-', '+']);
        let target = match part.argv.as_slice() {
            [cd, target] if cd == "cd" && part.why_not.is_none() && literal(&target) => target.clone(),
            _ => {
                let sentence = "Where this “cd” goes cannot be told from its words.";
                part.why_not.get_or_insert_with(|| WhyNot::new(Flag::CwdChange, sentence, part.source.clone()));
                part.effect = Action::strongest([part.effect, Action::Execute]);
                // It may be there all the same, which counts for what is denied.
                if let Some(target) = part.argv.get(1..).and_then(<[String]>::last).filter(literal)
                    && !target.contains(['$', '`', '~', '*', '?'])
                {
                    self.exceeded |= !folders.change(target);
                }
                return;
            }
        };
        part.effect = Action::strongest([Action::Read, redirect_effect(part)]);
        part.not_known = None;
        part.prefix_grantable = false;
        add_flag(&mut part.flags, Flag::CwdChange);
        if !folders.change(&target) {
            self.exceeded = true;
            part.why_not =
                Some(WhyNot::new(Flag::CwdChange, "The folder is changed too often to follow.", part.source.clone()));
        }
    }

    fn piece(&mut self, text: &str, piece: &Piece, folders: &Folders, depth: usize) -> Part {
        let argv: Vec<String> = piece.words.iter().map(|word| word.text.clone()).collect();
        let mut part = self.words(argv, folders, depth, &piece.range);
        part.operator.clone_from(&piece.operator);
        let words = piece.words.iter().chain(piece.redirects.iter().map(|redirect| &redirect.target));
        if let Some(why_not) = words.filter_map(|word| word.why_not.clone()).min_by_key(|why| why.range.start) {
            part.why_not = Some(why_not);
            part.effect = Action::strongest([Action::Execute, part.effect]);
        }
        self.redirects(text, piece, folders, depth, &mut part);
        part
    }

    fn redirects(&mut self, text: &str, piece: &Piece, folders: &Folders, depth: usize, part: &mut Part) {
        part.prefix_grantable &= piece.redirects.is_empty();
        let alone = part.argv.len() == 1;
        for redirect in &piece.redirects {
            let target = &redirect.target.text;
            let paths = || folders.now().iter().map(|folder| join(folder, target));
            let odd = |sentence: &str| Some(WhyNot::other(sentence, redirect.target.range.clone()));
            let device = target.starts_with("/dev/")
                && !matches!(target.as_str(), "/dev/null" | "/dev/stdout" | "/dev/stderr" | "/dev/stdin");
            match redirect.operator.as_str() {
                ">&" | "<&" if target == "-" || target.bytes().all(|b| b.is_ascii_digit()) => {}
                "<<" => {
                    let text = redirect.document.clone().map(|range| text[range].to_owned()).unwrap_or_default();
                    part.heredoc = Some(HereDocument { text, written_to: None, appended: false });
                }
                _ if device => part.why_not = odd("A device is redirected, which may be the network."),
                _ if target.starts_with("/dev/") => {}
                "<" => {
                    part.reads.extend(paths());
                    part.effect = Action::strongest([part.effect, Action::Read]);
                }
                ">" | ">>" | ">|" | "&>" | "&>>" => {
                    part.writes.extend(paths());
                    part.effect = Action::strongest([part.effect, Action::Write]);
                }
                _ => {
                    part.writes.extend(paths());
                    part.why_not = odd("This kind of redirection is not taken apart.");
                }
            }
            if part.why_not.is_some() {
                part.effect = Action::strongest([part.effect, Action::Execute]);
            }
        }
        let Some(document) = &mut part.heredoc else { return };
        let stands_for = |redirect: &Redirect| match (redirect.descriptor.as_deref(), redirect.operator.as_str()) {
            (Some(descriptor), _) => descriptor.to_owned(),
            (None, "<" | "<<" | "<&") => "0".to_owned(),
            (None, _) => "1".to_owned(),
        };
        if piece.redirects.iter().filter(|redirect| stands_for(redirect) == "0").count() > 1 {
            // The last one counts, and this document may be read by nobody.
            part.why_not = Some(WhyNot::other("The input is redirected twice.", piece.range.clone()));
            part.effect = Action::strongest([part.effect, Action::Execute]);
            return;
        }
        let output: Vec<&Redirect> = piece.redirects.iter().filter(|redirect| stands_for(redirect) != "0").collect();
        let to_file = matches!(output.as_slice(), [one] if stands_for(one) == "1" && one.operator != ">&");
        let program = part.argv.first().map(String::as_str).and_then(exe::table_name);
        match program {
            Some("cat") if alone && part.writes.len() == 1 && to_file => {
                document.written_to = part.writes.first().cloned();
                document.appended = piece.redirects.iter().any(|r| r.operator.ends_with(">>"));
            }
            Some("tee") if part.argv.len() == 2 && !part.argv[1].starts_with('-') => {
                document.written_to = part.writes.first().cloned();
            }
            Some(name @ ("bash" | "sh" | "dash" | "zsh")) if part.operands.is_empty() && part.inner.is_empty() => {
                let text = document.text.clone();
                let name = name.to_owned();
                self.carry_text(&text, &name, folders, depth, part);
            }
            _ => {}
        }
    }

    /// One command by its words.
    fn words(&mut self, argv: Vec<String>, folders: &Folders, depth: usize, source: &Range<usize>) -> Part {
        self.parts += 1;
        let exe = argv.first().and_then(|name| exe::resolve(name, &self.shell.cwd, &self.shell.path, self.lookup));
        let doing = self.doing(&argv, exe.as_ref());
        let mut bases: Vec<PathText> = folders.now().to_vec();
        for folder in &doing.folders {
            bases = bases.iter().map(|base| join(base, folder)).collect();
        }
        let resolved = |targets: &[String]| -> Vec<PathText> {
            let mut paths = Vec::new();
            for target in targets {
                for base in &bases {
                    let path = join(base, target);
                    if !paths.contains(&path) {
                        paths.push(path);
                    }
                }
            }
            paths
        };
        let mut part = Part {
            operator: String::new(),
            source: source.clone(),
            exe,
            effect: doing.effect,
            reads: resolved(&doing.reads),
            writes: resolved(&doing.writes),
            deletes: resolved(&doing.deletes),
            hosts: doing.hosts,
            urls: doing.urls,
            carrier_of: None,
            inner: Vec::new(),
            operands: resolved(&doing.operands),
            heredoc: None,
            prefix_grantable: doing.prefix_grantable && !doing.flags.contains(&Flag::RunsProgramText),
            flags: doing.flags,
            why_not: None,
            not_known: doing.unknown,
            argv,
        };
        if part.argv.is_empty() {
            part.effect = Action::None;
            part.prefix_grantable = false;
            part.not_known = None;
        }
        if doing.changes_shell {
            let sentence = "It changes the shell, and with it what later words mean.";
            part.why_not = Some(WhyNot::other(sentence, source.clone()));
        }
        if !(part.hosts.is_empty() && part.urls.is_empty()) {
            add_flag(&mut part.flags, Flag::Network);
        }
        let mut inner_folders = folders.clone();
        if bases.as_slice() != folders.now() {
            inner_folders = Folders::of(bases.clone());
        }
        for carried in doing.carried {
            self.carry(carried, &inner_folders, depth, &mut part);
        }
        part
    }

    fn doing(&self, argv: &[String], exe: Option<&PathText>) -> Doing {
        let Some(first) = argv.first() else { return Doing::unknown("") };
        let name = exe::table_name(first);
        if exe.is_some_and(|exe| name.is_some() && exe.is_within(&self.shell.cwd)) {
            return Doing::unknown(format!("“{first}” is a program of the project."));
        }
        if let Some(form) = name.and_then(|name| self.programs.get(name)) {
            return apply(form, argv);
        }
        let mut doing = Doing::unknown(format!("“{first}” is not in the table."));
        if first.contains('/') {
            doing.operands.push(first.clone());
            doing.prefix_grantable = false;
            doing.flags.push(Flag::RunsProgramText);
        }
        doing
    }

    fn carry(&mut self, carried: Carried, folders: &Folders, depth: usize, part: &mut Part) {
        let argv = match carried {
            Carried::Shell(text) => {
                let name = self.shell.name.clone();
                let name = part
                    .argv
                    .first()
                    .and_then(|p| exe::table_name(p))
                    .filter(|n| *n != "eval")
                    .unwrap_or(&name)
                    .to_owned();
                let name = if matches!(name.as_str(), "bash" | "sh" | "dash" | "zsh") { name } else { "sh".to_owned() };
                return self.carry_text(&text, &name, folders, depth, part);
            }
            Carried::Words(argv) | Carried::WordsAndUnknown(argv) if self.too_deep(depth, part) => {
                part.carrier_of.get_or_insert(argv);
                return;
            }
            Carried::WordsAndUnknown(argv) => {
                let any_words =
                    exe::table_name(&argv[0]).and_then(|name| self.programs.get(name)).is_some_and(|f| f.any_words);
                if any_words {
                    part.reads.push(PathText::from("/"));
                } else {
                    part.effect = Action::strongest([part.effect, Action::Execute]);
                    part.not_known.get_or_insert_with(|| "It runs a command with words that are not known.".to_owned());
                }
                argv
            }
            Carried::Words(argv) => argv,
        };
        add_flag(&mut part.flags, Flag::Carrier);
        let mut inner = self.words(argv.clone(), folders, depth + 1, &part.source);
        if inner.argv.first().is_some_and(|program| program == "cd") {
            inner.effect = Action::strongest([inner.effect, Action::Execute]);
        }
        inner.prefix_grantable = false;
        part.effect = Action::strongest([part.effect, inner.effect]);
        part.prefix_grantable = false;
        part.carrier_of.get_or_insert(argv);
        part.inner.push(inner);
    }

    fn carry_text(&mut self, text: &str, name: &str, folders: &Folders, depth: usize, part: &mut Part) {
        if self.too_deep(depth, part) {
            return;
        }
        add_flag(&mut part.flags, Flag::Carrier);
        let (mut inner, why_not) = self.text(text, name, &mut folders.clone(), depth + 1);
        for part_within in &mut inner {
            stands_at(part_within, &part.source);
            part_within.prefix_grantable = false;
        }
        let effects = inner.iter().map(|p| p.effect);
        part.effect = Action::strongest([part.effect, Action::strongest(effects)]);
        part.prefix_grantable = false;
        part.carrier_of.get_or_insert_with(|| inner.first().map(|p| p.argv.clone()).unwrap_or_default());
        if let Some(why_not) = why_not {
            part.effect = Action::strongest([part.effect, Action::Execute]);
            part.why_not = Some(WhyNot { range: part.source.clone(), ..why_not });
        }
        part.inner.extend(inner);
    }

    fn too_deep(&mut self, depth: usize, part: &mut Part) -> bool {
        let too_deep = depth + 1 >= MOST_DEPTH || self.parts >= MOST_PARTS;
        if too_deep {
            self.exceeded = true;
            part.effect = Action::strongest([part.effect, Action::Execute]);
            part.why_not = Some(WhyNot::other("Too many commands are packed into each other.", part.source.clone()));
        }
        too_deep
    }
}

/// Whether these words change the folder of the shell that reads on: `cd`, also by another name or through `command`.
fn changes_folder(argv: &[String]) -> bool {
    let carrier = |word: &&String| matches!(word.as_str(), "command" | "builtin") || word.starts_with('-');
    let program = argv.iter().find(|word| !carrier(word));
    program.is_some_and(|program| matches!(program.as_str(), "cd" | "chdir" | "pushd"))
}

/// What was read in another text stands where its carrier does, and so do the parts within it.
fn stands_at(part: &mut Part, source: &Range<usize>) {
    part.source = source.clone();
    if let Some(why_not) = &mut part.why_not {
        why_not.range = source.clone();
    }
    for inner in &mut part.inner {
        stands_at(inner, source);
    }
}

fn first_reason(part: &Part) -> Option<WhyNot> {
    part.why_not.clone().or_else(|| {
        let inner = part.inner.iter().find_map(first_reason)?;
        Some(WhyNot { range: part.source.clone(), ..inner })
    })
}

fn redirect_effect(part: &Part) -> Action {
    if part.writes.is_empty() { Action::None } else { Action::Write }
}
