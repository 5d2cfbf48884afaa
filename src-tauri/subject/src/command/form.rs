//! What the table says of one program or subcommand, checked and ready to be applied.

use std::collections::BTreeMap;
use std::sync::Arc;

use placet_domain::Action;
use serde::Deserialize;

use crate::command::role::{Role, Takes};

/// A program or subcommand as written in a table.
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Written {
    pub(crate) names: Vec<String>,
    when: Option<String>,
    effect: Option<Action>,
    style: Option<Style>,
    flags: String,
    values: String,
    optional: String,
    reads: String,
    writes: String,
    options: BTreeMap<String, WrittenOption>,
    everywhere: String,
    everywhere_values: String,
    everywhere_repositories: String,
    operands: Option<Vec<String>>,
    least: usize,
    extra: Option<Action>,
    place: Option<String>,
    hosts: Option<Vec<String>>,
    any_options: bool,
    any_words: bool,
    digits: bool,
    refuse: Vec<String>,
    runs_project_code: bool,
    prefix_grantable: Option<bool>,
    help: Option<bool>,
    changes_shell: bool,
    sub: Vec<Written>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenOption {
    #[serde(default)]
    value: Option<String>,
    #[serde(default)]
    optional: bool,
    #[serde(default)]
    effect: Option<Action>,
    #[serde(default)]
    first: bool,
    #[serde(default)]
    words: usize,
    #[serde(default)]
    place: bool,
    #[serde(default)]
    anywhere: bool,
}

/// How a program reads its words.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Default)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Style {
    /// `-abc`, `-o value`, `--long=value`, options anywhere, `--` ends them.
    #[default]
    Gnu,
    /// As `gnu`, but the first operand ends the options.
    Posix,
    /// `-name value` and `-name=value`: no letters together.
    Long,
    /// As `gnu`, and a first word without a dash is letters too: `tar xzf`.
    Bundle,
    /// `key=value` words.
    Keys,
    /// No options: every word is an operand.
    Words,
}

/// One option.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OptionRule {
    pub(crate) takes: Takes,
    pub(crate) effect: Action,
    /// It stands for the first operand (`grep -e`).
    pub(crate) first: bool,
    /// It makes the program work on its place where no path is named (`grep -r`).
    pub(crate) place: bool,
    /// It follows links or lists wherever they lead (`grep -R`), so any path may be read.
    pub(crate) anywhere: bool,
}

/// How operands are assigned: some at the front, any number, some at the back.
#[derive(Clone, Debug, Default)]
pub(crate) struct Operands {
    pub(crate) front: Vec<Role>,
    pub(crate) repeated: Option<Role>,
    pub(crate) back: Vec<Role>,
}

/// A program, a subcommand or a mode, ready to be applied.
#[derive(Clone, Debug)]
pub(crate) struct Form {
    pub(crate) effect: Action,
    pub(crate) style: Style,
    pub(crate) options: BTreeMap<String, OptionRule>,
    pub(crate) operands: Operands,
    pub(crate) least: usize,
    pub(crate) extra: Action,
    pub(crate) place: Option<String>,
    pub(crate) hosts: Vec<String>,
    pub(crate) any_options: bool,
    pub(crate) any_words: bool,
    pub(crate) digits: bool,
    pub(crate) refuse: Vec<String>,
    pub(crate) runs_project_code: bool,
    pub(crate) prefix_grantable: bool,
    pub(crate) changes_shell: bool,
    /// `--help` and `--version` alone only print.
    pub(crate) help: bool,
    /// Subcommands by their words, longest first; a word may be `*`, or end in `*`.
    pub(crate) subs: Vec<(Vec<String>, Arc<Form>)>,
    /// Modes by the options that choose them.
    pub(crate) modes: Vec<(Vec<String>, Arc<Form>)>,
    everywhere: BTreeMap<String, OptionRule>,
}

impl Form {
    pub(crate) fn compile(written: &Written, parent: Option<&Self>) -> Result<Self, String> {
        let mut everywhere = parent.map(|p| p.everywhere.clone()).unwrap_or_default();
        add_options(&mut everywhere, &written.everywhere, Takes::Nothing, Action::None)?;
        add_options(&mut everywhere, &written.everywhere_values, Takes::Value(Role::Text), Action::None)?;
        let repositories = &written.everywhere_repositories;
        add_options(&mut everywhere, repositories, Takes::Value(Role::Repository), Action::None)?;
        let mut options = everywhere.clone();
        let mode = written.when.is_some();
        if mode && let Some(parent) = parent {
            options.extend(parent.options.iter().map(|(name, rule)| (name.clone(), *rule)));
        }
        let mut own = BTreeMap::new();
        add_options(&mut own, &written.flags, Takes::Nothing, Action::None)?;
        add_options(&mut own, &written.values, Takes::Value(Role::Text), Action::None)?;
        add_options(&mut own, &written.optional, Takes::Attached(Role::Text), Action::None)?;
        add_options(&mut own, &written.reads, Takes::Value(Role::Read), Action::Read)?;
        add_options(&mut own, &written.writes, Takes::Value(Role::Write), Action::Write)?;
        for (names, option) in &written.options {
            let role = option.value.as_deref().map(Role::parse).transpose()?;
            let takes = match (role, option.optional, option.words) {
                (None, false, 0) => Takes::Nothing,
                (None, false, words) => Takes::Words(words),
                (Some(role), false, 0) => Takes::Value(role),
                (Some(role), true, 0) => Takes::Attached(role),
                (None, true, 0) => Takes::Attached(Role::Text),
                _ => return Err(format!("option “{names}”: “words” stands alone")),
            };
            let effect = option.effect.unwrap_or_else(|| role.map_or(Action::None, Role::effect));
            if let Some(role) = role
                && effect.strength() < role.effect().strength()
            {
                return Err(format!("option “{names}”: its effect is weaker than what its value means"));
            }
            let described =
                OptionRule { takes, effect, first: option.first, place: option.place, anywhere: option.anywhere };
            for name in names.split_whitespace() {
                add_option(&mut own, name, described)?;
            }
        }
        options.extend(own);
        let inherited = |own: Option<Action>, of: fn(&Self) -> Action| {
            own.unwrap_or_else(|| parent.filter(|_| mode).map_or(Action::Execute, of))
        };
        let mut form = Self {
            effect: inherited(written.effect, |p| p.effect),
            style: written.style.unwrap_or_else(|| parent.map_or(Style::Gnu, |p| p.style)),
            options,
            operands: match &written.operands {
                Some(roles) => Operands::parse(roles)?,
                None if mode => parent.map(|p| p.operands.clone()).unwrap_or_default(),
                None => Operands::default(),
            },
            least: written.least,
            extra: written.extra.unwrap_or(Action::Execute),
            place: written.place.clone().or_else(|| parent.and_then(|p| p.place.clone())),
            hosts: written.hosts.clone().unwrap_or_else(|| parent.map(|p| p.hosts.clone()).unwrap_or_default()),
            any_options: written.any_options || parent.is_some_and(|p| p.any_options),
            any_words: written.any_words,
            digits: written.digits,
            refuse: written
                .refuse
                .iter()
                .cloned()
                .chain(parent.iter().flat_map(|p| p.refuse.iter().cloned()))
                .collect(),
            runs_project_code: written.runs_project_code,
            prefix_grantable: written.prefix_grantable.unwrap_or(true),
            changes_shell: written.changes_shell,
            help: written.help.unwrap_or(true),
            subs: Vec::new(),
            modes: Vec::new(),
            everywhere,
        };
        if form.any_words && form.effect.strength() > Action::Read.strength() {
            return Err("“any_words” is for programs that only read, whatever they are given".to_owned());
        }
        let needs_place = matches!(form.effect, Action::Write | Action::Delete);
        let has_path = form.operands.roles().any(|r| matches!(r, Role::Write | Role::Delete | Role::Move))
            || form.options.values().any(|o| matches!(o.takes, Takes::Value(Role::Write | Role::Output)));
        if needs_place && form.place.is_none() && !has_path {
            return Err("what it writes or deletes is not said: give “place” or a role for its operands".to_owned());
        }
        if form.effect == Action::Fetch
            && form.hosts.is_empty()
            && !form.operands.roles().any(|r| matches!(r, Role::Url | Role::Host))
        {
            return Err("whom it contacts is not said: give “hosts” or a role for its operands".to_owned());
        }
        let mut subs = Vec::new();
        for sub in &written.sub {
            let named = |problem: String| {
                let name = sub.names.first().or(sub.when.as_ref()).cloned().unwrap_or_default();
                format!("“{name}”: {problem}")
            };
            let compiled = Arc::new(Self::compile(sub, Some(&form)).map_err(named)?);
            match &sub.when {
                Some(when) => {
                    let options: Vec<String> = when.split_whitespace().map(str::to_owned).collect();
                    if let Some(unknown) = options.iter().find(|o| !form.options.contains_key(*o)) {
                        return Err(named(format!("its option “{unknown}” is not among the program's own")));
                    }
                    form.modes.push((options, compiled));
                }
                None if sub.names.is_empty() => return Err(named("it needs “names” or “when”".to_owned())),
                None => {
                    for name in &sub.names {
                        for words in spelled_out(name) {
                            subs.push((
                                words.split_whitespace().map(str::to_owned).collect::<Vec<_>>(),
                                Arc::clone(&compiled),
                            ));
                        }
                    }
                }
            }
        }
        // The more exact name goes first: more words, then fewer stars.
        let stars = |words: &[String]| words.iter().filter(|w| w.ends_with('*')).count();
        subs.sort_by(|(a, _), (b, _)| b.len().cmp(&a.len()).then(stars(a).cmp(&stars(b))));
        form.subs = subs;
        Ok(form)
    }

    pub(crate) fn sub(&self, words: &[String]) -> Option<(usize, &Self)> {
        self.subs.iter().find(|(name, _)| matches_words(name, words)).map(|(name, form)| (name.len(), form.as_ref()))
    }
}

fn matches_words(name: &[String], words: &[String]) -> bool {
    name.len() <= words.len()
        && name.iter().zip(words).all(|(pattern, word)| match pattern.strip_suffix('*') {
            Some(start) => word.starts_with(start) && !word.starts_with('-') && !word.is_empty(),
            None => pattern == word,
        })
}

impl Operands {
    fn parse(roles: &[String]) -> Result<Self, String> {
        let mut operands = Self::default();
        for role in roles {
            match role.strip_suffix("...") {
                Some(role) if operands.repeated.is_none() => operands.repeated = Some(Role::parse(role)?),
                Some(_) => return Err("only one operand may be repeated".to_owned()),
                None if operands.repeated.is_some() => operands.back.push(Role::parse(role)?),
                None => operands.front.push(Role::parse(role)?),
            }
        }
        Ok(operands)
    }

    fn roles(&self) -> impl Iterator<Item = Role> + '_ {
        self.front.iter().chain(&self.repeated).chain(&self.back).copied()
    }
}

fn add_options(
    options: &mut BTreeMap<String, OptionRule>,
    names: &str,
    takes: Takes,
    effect: Action,
) -> Result<(), String> {
    for name in names.split_whitespace() {
        add_option(options, name, OptionRule { takes, effect, first: false, place: false, anywhere: false })?;
    }
    Ok(())
}

fn add_option(options: &mut BTreeMap<String, OptionRule>, name: &str, rule: OptionRule) -> Result<(), String> {
    if name == "--" || name == "-" || name.contains('=') {
        return Err(format!("“{name}” is no option"));
    }
    match options.insert(name.to_owned(), rule) {
        Some(_) => Err(format!("option “{name}” is there twice")),
        None => Ok(()),
    }
}

/// `pr {list,view}` is `pr list` and `pr view`.
fn spelled_out(name: &str) -> Vec<String> {
    let Some((before, rest)) = name.split_once('{') else { return vec![name.to_owned()] };
    let Some((choices, after)) = rest.split_once('}') else { return vec![name.to_owned()] };
    let tails = spelled_out(after);
    choices.split(',').flat_map(|c| tails.iter().map(move |t| format!("{before}{}{t}", c.trim()))).collect()
}
