//! What the words of one program do, by its form in the table.

use placet_domain::{Action, Flag};

use crate::command::form::Form;
use crate::command::meaning::{word, written_nowhere};
use crate::command::role::{Role, Takes};
use crate::command::words::{Events, exact, read_words};

/// What one program does with its words, before paths are resolved and carried commands looked at.
#[derive(Debug)]
pub(crate) struct Doing {
    pub(crate) effect: Action,
    pub(crate) reads: Vec<String>,
    pub(crate) writes: Vec<String>,
    pub(crate) deletes: Vec<String>,
    pub(crate) urls: Vec<String>,
    pub(crate) hosts: Vec<String>,
    /// How many of the reads are perhaps no paths.
    pub(super) perhaps: usize,
    /// Script and program files.
    pub(crate) operands: Vec<String>,
    /// Folders to go to before paths are resolved (`git -C`).
    pub(crate) folders: Vec<String>,
    pub(crate) carried: Vec<Carried>,
    pub(crate) flags: Vec<Flag>,
    pub(crate) prefix_grantable: bool,
    pub(crate) changes_shell: bool,
    /// More words of any kind leave it a read.
    pub(crate) any_words: bool,
    /// Why it is `execute`, where the table does not say more.
    pub(crate) unknown: Option<String>,
}

/// A command or text that another program is given to run.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Carried {
    Words(Vec<String>),
    /// More words follow that are not known.
    WordsAndUnknown(Vec<String>),
    Shell(String),
}

impl Doing {
    fn new(effect: Action) -> Self {
        Self {
            effect,
            reads: Vec::new(),
            writes: Vec::new(),
            deletes: Vec::new(),
            urls: Vec::new(),
            hosts: Vec::new(),
            perhaps: 0,
            operands: Vec::new(),
            folders: Vec::new(),
            carried: Vec::new(),
            flags: Vec::new(),
            prefix_grantable: true,
            changes_shell: false,
            any_words: false,
            unknown: None,
        }
    }

    /// Of a program that is in no table.
    pub(crate) fn unknown(reason: impl Into<String>) -> Self {
        Self { unknown: Some(reason.into()), ..Self::new(Action::Execute) }
    }

    pub(super) fn raise(&mut self, effect: Action) {
        self.effect = Action::strongest([self.effect, effect]);
    }

    /// What it reads is named by what it finds, not by its words.
    pub(super) fn anywhere(&mut self) {
        self.raise(Action::Read);
        self.reads.push("/".to_owned());
        self.perhaps += 1;
    }

    pub(super) fn not_known(&mut self, reason: impl Into<String>) {
        self.raise(Action::Execute);
        self.unknown.get_or_insert_with(|| reason.into());
    }

    pub(super) fn flag(&mut self, flag: Flag) {
        if !self.flags.contains(&flag) {
            self.flags.push(flag);
        }
    }
}

/// What `argv` does by `form`, the form of its first word.
pub(crate) fn apply(form: &Form, argv: &[String]) -> Doing {
    let words = argv.get(1..).unwrap_or_default();
    if asks_for_help(form, words) {
        return Doing { prefix_grantable: form.prefix_grantable, ..Doing::new(Action::Read) };
    }
    let mut doing = Doing::new(Action::None);
    walk(form, words, &mut doing);
    refuse(form, words, &mut doing);
    doing
}

fn asks_for_help(form: &Form, words: &[String]) -> bool {
    match words {
        _ if !form.help => false,
        [only] => {
            let short = only == "-h" && !form.subs.is_empty() && !form.options.contains_key("-h");
            short || matches!(only.as_str(), "--help" | "--version")
        }
        [subs @ .., last] if last == "--help" => form.sub(subs).is_some_and(|(length, _)| length == subs.len()),
        _ => false,
    }
}

fn walk(form: &Form, words: &[String], doing: &mut Doing) {
    if form.subs.is_empty() {
        return perform(form, words, doing);
    }
    // Options before the subcommand are the program's own.
    let mut at = 0;
    while at < words.len() && words[at].starts_with('-') && words[at].len() > 1 && words[at] != "--" {
        let Some((_, rule, attached)) = exact(form, &words[at]) else { break };
        at += 1 + match (rule.takes, attached) {
            (Takes::Value(_), None) => 1,
            (Takes::Words(n), _) => n,
            _ => 0,
        };
    }
    match form.sub(words.get(at..).unwrap_or_default()) {
        Some((length, sub)) => {
            let mut before = Events::default();
            read_words(form, &words[..at], &mut before);
            take(form, before, doing, false);
            walk(sub, &words[at + length..], doing);
        }
        None => perform(form, words, doing),
    }
}

fn refuse(form: &Form, words: &[String], doing: &mut Doing) {
    if let Some(word) = words.iter().find(|word| form.refuse.iter().any(|part| word.contains(part.as_str()))) {
        doing.not_known(format!("“{word}” can change what it does."));
    }
}

/// A program without subcommands, or one whose words name none.
fn perform(form: &Form, words: &[String], doing: &mut Doing) {
    let mut events = Events::default();
    read_words(form, words, &mut events);
    let mut chosen: Option<&Form> = None;
    for (options, mode) in &form.modes {
        if events.options.iter().any(|(name, _, _)| options.contains(name)) {
            if chosen.is_some() {
                doing.not_known("Two of its options contradict each other.");
            }
            chosen = Some(mode);
        }
    }
    let form = match chosen {
        Some(mode) => {
            events = Events::default();
            read_words(mode, words, &mut events);
            mode
        }
        None => form,
    };
    take(form, events, doing, true);
    refuse(form, words, doing);
}

/// Adds what the words mean by `form` to `doing`. `whole` is false for options before a subcommand.
fn take(form: &Form, events: Events, doing: &mut Doing, whole: bool) {
    let mut for_each: Vec<String> = Vec::new();
    let mut in_place = Action::None;
    let mut at_place = false;
    let mut firsts = 0;
    if whole {
        doing.raise(form.effect);
    }
    let written_before = doing.writes.len() + doing.deletes.len();
    for (name, rule, value) in events.options {
        if !written_nowhere(rule.takes, value.as_deref()) {
            doing.raise(rule.effect);
        }
        at_place |= rule.place;
        if rule.anywhere {
            doing.anywhere();
        }
        firsts += usize::from(rule.first);
        let valueless = matches!(rule.takes, Takes::Nothing | Takes::Words(_)) || value.is_none();
        if valueless && matches!(rule.effect, Action::Write | Action::Delete) {
            in_place = Action::strongest([in_place, rule.effect]);
        }
        match (rule.takes, value) {
            (Takes::Value(Role::CommandForEach), Some(words)) => for_each.push(words),
            (Takes::Attached(Role::Text), Some(_)) if matches!(rule.effect, Action::Write | Action::Delete) => {
                in_place = Action::strongest([in_place, rule.effect]);
            }
            (Takes::Value(role) | Takes::Attached(role), Some(value)) => word(role, &value, doing),
            (Takes::Nothing | Takes::Words(_) | Takes::Value(_) | Takes::Attached(_), _) => {}
        }
        if rule.effect == Action::Execute {
            doing.unknown.get_or_insert_with(|| format!("Option “{name}” can run other programs or change anything."));
        }
    }
    if let Some(unknown) = events.unknown {
        doing.not_known(unknown);
    }
    if !whole {
        return;
    }
    doing.any_words |= form.any_words;
    doing.prefix_grantable &= form.prefix_grantable;
    doing.changes_shell |= form.changes_shell;
    doing.hosts.extend(form.hosts.iter().cloned());
    if form.runs_project_code {
        doing.flag(Flag::RunsProjectCode);
    }
    let written_by_options = doing.writes.len() + doing.deletes.len() > written_before;
    let paths = |doing: &Doing| doing.reads.len() + doing.writes.len() + doing.deletes.len() - doing.perhaps;
    let before = paths(doing);
    let reads_before = doing.reads.len();
    let count = events.operands.len() + usize::from(events.command.is_some());
    if count + firsts.min(1) < form.least {
        doing.not_known("It is given fewer words than it needs.");
    }
    operands(form, &events.operands, events.command, firsts > 0, doing);
    let changes = matches!(form.effect, Action::Write | Action::Delete);
    let named = paths(doing) > before || (changes && written_by_options);
    let starts: Vec<String> = doing.reads[reads_before..].to_vec();
    let needs_option = form.options.values().any(|o| o.place);
    let place = form.place.as_ref().filter(|_| !named && (at_place || !needs_option));
    let starts = if starts.is_empty() { place.cloned().into_iter().collect() } else { starts };
    if let Some(place) = place {
        match form.effect {
            Action::Write => doing.writes.push(place.clone()),
            Action::Delete => doing.deletes.push(place.clone()),
            // What is fetched is at its host.
            Action::Fetch => {}
            Action::None
            | Action::Search
            | Action::List
            | Action::Read
            | Action::Execute
            | Action::Send
            | Action::Other => {
                doing.reads.push(place.clone());
            }
        }
    }
    if in_place != Action::None {
        let targets = if in_place == Action::Delete { &mut doing.deletes } else { &mut doing.writes };
        targets.extend(starts.iter().cloned());
    }
    for words in for_each {
        // Without a folder to start from it could be any file.
        let anywhere = starts.is_empty().then(|| "/".to_owned());
        for start in starts.iter().chain(&anywhere) {
            match put_in(&words, start) {
                Some(argv) => doing.carried.push(Carried::Words(argv)),
                None => doing.not_known("What it runs for each file cannot be told."),
            }
        }
    }
    if !doing.carried.is_empty() {
        doing.prefix_grantable = false;
    }
    no_effect_without_target(doing);
}

/// The words of `find -exec` with a path under `start` for `{}`.
fn put_in(words: &str, start: &str) -> Option<Vec<String>> {
    let argv: Vec<String> = words.split('\0').map(str::to_owned).collect();
    if argv.first().is_none_or(|program| program.is_empty() || program.contains("{}")) {
        return None;
    }
    argv.into_iter()
        .map(|word| match word.as_str() {
            "{}" => Some(start.to_owned()),
            _ if !word.contains("{}") => Some(word),
            _ if word.contains("..") => None,
            _ => Some(word.replace("{}", &format!("{}/{{}}", start.trim_end_matches('/')))),
        })
        .collect()
}

/// An effect on files or hosts that names none would be covered by nothing, and so by everything.
fn no_effect_without_target(doing: &mut Doing) {
    let nowhere = match doing.effect {
        Action::Write => doing.writes.is_empty() && doing.deletes.is_empty(),
        Action::Delete => doing.deletes.is_empty(),
        Action::Fetch => doing.hosts.is_empty() && doing.urls.is_empty(),
        Action::None
        | Action::Search
        | Action::List
        | Action::Read
        | Action::Execute
        | Action::Send
        | Action::Other => false,
    };
    if nowhere {
        doing.not_known("What it changes or reaches is not named.");
    }
}

fn operands(form: &Form, words: &[String], command: Option<Vec<String>>, first_given: bool, doing: &mut Doing) {
    let front = &form.operands.front[usize::from(first_given && !form.operands.front.is_empty())..];
    let back = &form.operands.back;
    let in_front = front.len().min(words.len());
    let in_back = back.len().min(words.len() - in_front);
    let middle_end = words.len() - in_back;
    for (n, text) in words.iter().enumerate() {
        let role = if n < in_front {
            Some(front[n])
        } else if n >= middle_end {
            Some(back[back.len() - in_back + n - middle_end])
        } else {
            form.operands.repeated
        };
        if let Some(role) = role {
            word(role, text, doing);
            continue;
        }
        doing.raise(form.extra);
        if form.extra == Action::Execute {
            doing.unknown.get_or_insert_with(|| format!("“{text}” is not in the table."));
        } else if matches!(form.extra, Action::Write | Action::Delete)
            && let Some(place) = &form.place
        {
            let places = if form.extra == Action::Write { &mut doing.writes } else { &mut doing.deletes };
            if !places.contains(place) {
                places.push(place.clone());
            }
        }
    }
    if let Some(words) = command {
        let with_unknown = form.operands.front.contains(&Role::CommandWithUnknown);
        let assignments = words.iter().take_while(|w| is_assignment(w)).count();
        if assignments > 0 {
            doing.not_known("A variable is set, which can change what the command does.");
        }
        let argv = words[assignments..].to_vec();
        if !argv.is_empty() {
            doing.carried.push(if with_unknown { Carried::WordsAndUnknown(argv) } else { Carried::Words(argv) });
        }
    }
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| !name.is_empty() && !name.contains('/'))
}
