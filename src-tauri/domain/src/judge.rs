//! What policy and grants together say of a call.

use std::collections::BTreeMap;

use crate::{
    Action, At, Grant, GrantId, Judged, Policy, Session, State, Subject,
    fact::DeniedBy,
    grant::{Covers, Effect, allows, denies, near_miss},
    policy::{Decide, Matched, Otherwise, Rule, View, raw_words, words_match, words_within},
    subject::SimpleCommand,
};

/// The verdict of the rules before anybody is asked.
#[derive(Clone, Debug, PartialEq)]
pub enum Ruling {
    /// Every pair of subject and action is covered.
    Allow {
        /// By these rules.
        rules: Vec<String>,
        /// And these grants, each used once by it.
        grants: Vec<GrantId>,
        /// In the words the agent is told.
        reason: String,
    },
    /// Some pair is forbidden.
    Deny {
        /// By what.
        by: DeniedBy,
        /// In the words the agent is told.
        reason: String,
    },
    /// A person must say.
    Ask {
        /// The rule that says so; none where no rule matched.
        rule: Option<String>,
        /// Why, in a sentence.
        reason: String,
        /// How long the person has.
        timeout_ms: i64,
    },
}

/// The rule that nobody writes and nobody can take away.
pub const BUILT_IN: &str = "Placet's own commands";

/// What [`BUILT_IN`] keeps from agents, by the words that such a command begins with.
pub const OWN_COMMANDS: [&[&str]; 8] = [
    &["placet", "serve"],
    &["placet", "install"],
    &["placet", "uninstall"],
    &["placet", "autostart"],
    &["placet", "keys"],
    &["placet", "history", "restore"],
    &["placet", "history", "key"],
    &["placet-desktop"],
];

/// Judges a call by the policy in force and the active grants. Any deny wins; then any ask that no grant answers;
/// silence is the default. The pause switch and what is refused before any rule are `decide`'s matter.
pub fn judge(state: &State, judged: &Judged, session: &Session, now: At) -> Ruling {
    judge_by(&state.policy, state, judged, session, now)
}

/// [`judge`] by another policy than the one in force.
pub fn judge_by(policy: &Policy, state: &State, judged: &Judged, session: &Session, now: At) -> Ruling {
    judge_with(&Bench { policy, state, extra: None, spent: &Spent::new(), counted: false }, judged, session, now)
}

/// [`judge`] for a call that was asked about before, when its answer is handed over: the policy's limits have counted it
/// already, and it is not denied by its own count.
pub fn judge_asked(state: &State, judged: &Judged, session: &Session, now: At) -> Ruling {
    judge_again(&state.policy, state, judged, session, now)
}

/// [`judge_by`] for a call that was asked about and so is counted towards the limits already.
pub(crate) fn judge_again(policy: &Policy, state: &State, judged: &Judged, session: &Session, now: At) -> Ruling {
    judge_with(&Bench { policy, state, extra: None, spent: &Spent::new(), counted: true }, judged, session, now)
}

/// Uses of grants that this very decision has promised already.
pub(crate) type Spent = BTreeMap<GrantId, u32>;

/// What a call is judged by.
pub(crate) struct Bench<'a> {
    pub(crate) policy: &'a Policy,
    pub(crate) state: &'a State,
    /// A grant that is being given and is not in the state yet.
    pub(crate) extra: Option<&'a Grant>,
    pub(crate) spent: &'a Spent,
    /// Whether the call is among those that the policy's limits count.
    pub(crate) counted: bool,
}

pub(crate) fn judge_with(bench: &Bench<'_>, judged: &Judged, session: &Session, now: At) -> Ruling {
    let view = View::new(bench.state, judged, session, now, bench.counted);
    let subjects = &judged.facts.subjects;
    if subjects.iter().any(runs_placet) {
        return Ruling::Deny {
            by: DeniedBy::Policy { rule: BUILT_IN.to_owned() },
            reason: "Agents may not start, install or remove Placet, replace its history or touch its keys, since \
                     whoever does can say yes. The person has to do it themselves."
                .to_owned(),
        };
    }
    let near = bench.policy.rules_near(judged, session);
    if let Some(denied) = denied_by_rule(&near, &view) {
        return denied;
    }
    if let Some(grant) = subjects.iter().find_map(|subject| bench.denial(&view, subject)) {
        return Ruling::Deny {
            by: DeniedBy::Grant { grant },
            reason: "The person said no to calls like this a while ago, and it still holds. Do something else, or ask \
                     them."
                .to_owned(),
        };
    }
    let mut cover = Cover::default();
    let mut asking: Vec<&Rule> = Vec::new();
    let mut all_covered = !subjects.is_empty();
    let mut silent = subjects.is_empty();
    for subject in subjects {
        let asks: Vec<&Rule> =
            rules(&near, Decide::Ask).filter(|rule| rule.matches(&view, subject) == Matched::Yes).collect();
        let by_rules = asks.is_empty() && cover.by_rules(&near, &view, subject);
        // Where the default is to deny, a grant answers only what a rule asks about.
        let may_be_granted = !asks.is_empty() || bench.policy.otherwise(session) == Otherwise::Ask;
        if by_rules || (may_be_granted && cover.by_grant(bench, &view, subject)) {
            continue;
        }
        all_covered = false;
        silent |= asks.is_empty();
        asking.extend(asks);
    }
    if all_covered && judged.facts.doubt.is_none() {
        return cover.ruling();
    }
    if silent && bench.policy.otherwise(session) == Otherwise::Deny {
        return Ruling::Deny {
            by: DeniedBy::Default,
            reason: "No rule of the policy allows all of this, and what no rule allows is denied. Do something else, \
                     or ask the person to add a rule."
                .to_owned(),
        };
    }
    asked(bench, &view, &asking, all_covered)
}

fn asked(bench: &Bench<'_>, view: &View<'_>, asking: &[&Rule], is_covered: bool) -> Ruling {
    let first = asking.iter().min_by_key(|rule| rule.name());
    let mut reason = match first {
        Some(rule) => said(rule, "Asked because of"),
        None if is_covered => "Policy and grants would let it through.".to_owned(),
        None if view.judged.facts.subjects.iter().any(|subject| view.state.is_changed_tool(view.session, subject)) => {
            "The tool's description changed since it was last let through, so no rule covers it until you did."
                .to_owned()
        }
        None => "No rule of the policy covers all of this.".to_owned(),
    };
    if let Some(doubt) = &view.judged.facts.doubt {
        let stop = if doubt.ends_with(['.', '!', '?', '…']) { "" } else { "." };
        reason = format!("{doubt}{stop} {reason}");
    }
    if let Some(near) = near_miss(bench.state, view.judged, view.session, view.now) {
        reason.push(' ');
        reason.push_str(&near);
    }
    let usual = bench.policy.timeout_ms(view.session);
    Ruling::Ask {
        rule: first.map(|rule| rule.name().to_owned()),
        reason,
        timeout_ms: asking.iter().filter_map(|rule| rule.timeout_ms()).min().unwrap_or(usual),
    }
}

/// The first denial by name; a condition that cannot be evaluated, whatever its rule says, is one too.
fn denied_by_rule(near: &[&Rule], view: &View<'_>) -> Option<Ruling> {
    let by = |rule: &Rule| DeniedBy::Policy { rule: rule.name().to_owned() };
    for rule in near {
        if rule.decide() != Decide::Deny && !rule.has_condition() {
            continue;
        }
        for subject in &view.judged.facts.subjects {
            match looked_at(rule, view, subject) {
                Matched::Yes if rule.decide() == Decide::Deny => {
                    return Some(Ruling::Deny { by: by(rule), reason: said(rule, "Denied by") });
                }
                Matched::Failed(error) => {
                    return Some(Ruling::Deny {
                        by: by(rule),
                        reason: format!(
                            "Denied, since the condition of the rule “{}” cannot be evaluated: {error}.",
                            rule.name()
                        ),
                    });
                }
                Matched::Yes | Matched::No => {}
            }
        }
    }
    None
}

fn looked_at(rule: &Rule, view: &View<'_>, subject: &Subject) -> Matched {
    match (rule.decide(), subject) {
        (Decide::Allow, Subject::Command(command)) => command
            .commands
            .iter()
            .map(|part| rule.covers_words(view, subject, part.effect, &part.argv, 0))
            .find(|matched| matches!(matched, Matched::Failed(_)))
            .unwrap_or(Matched::No),
        (Decide::Allow, _) => rule.covers(view, subject),
        (Decide::Deny | Decide::Ask, _) => rule.matches(view, subject),
    }
}

fn rules<'a>(near: &[&'a Rule], decide: Decide) -> impl Iterator<Item = &'a Rule> {
    near.iter().copied().filter(move |rule| rule.decide() == decide)
}

fn said(rule: &Rule, start: &str) -> String {
    match rule.reason() {
        Some(reason) => format!("{reason} (Rule “{}”.)", rule.name()),
        None => format!("{start} the rule “{}”.", rule.name()),
    }
}

impl Bench<'_> {
    fn denial(&self, view: &View<'_>, subject: &Subject) -> Option<GrantId> {
        let holds = |grant: &&Grant| denies(grant, &view.judged.facts, subject, view.session, view.now);
        self.extra.filter(holds).map(|grant| grant.id).or_else(|| {
            let near = self.state.index.near(Effect::Deny, view.session, &view.judged.facts, subject);
            near.iter().filter_map(|id| self.state.grants.get(id)).find(holds).map(|grant| grant.id)
        })
    }

    /// The allow grant that covers the subject and has a use left: one that this call uses already, else the one that
    /// is just being given, else the oldest.
    fn yes(&self, view: &View<'_>, subject: &Subject, in_use: &[GrantId]) -> Option<GrantId> {
        let holds = |grant: &&Grant| {
            let left = grant.uses_left.is_none_or(|left| {
                in_use.contains(&grant.id) || left > self.spent.get(&grant.id).copied().unwrap_or_default()
            });
            left && allows(grant, self.state, &view.judged.facts, subject, view.session, view.now) == Covers::Yes
        };
        let near = self.state.index.near(Effect::Allow, view.session, &view.judged.facts, subject);
        let known = || self.extra.into_iter().chain(near.iter().filter_map(|id| self.state.grants.get(id)));
        known()
            .filter(|grant| in_use.contains(&grant.id))
            .find(holds)
            .or_else(|| known().find(holds))
            .map(|grant| grant.id)
    }
}

/// What covers a call, gathered subject by subject.
#[derive(Default)]
struct Cover {
    rules: Vec<String>,
    grants: Vec<GrantId>,
}

impl Cover {
    fn ruling(self) -> Ruling {
        let rules = match self.rules.as_slice() {
            [] => String::new(),
            [rule] => format!("the rule “{rule}”"),
            several => format!("the rules “{}”", several.join("”, “")),
        };
        let grants = match self.grants.len() {
            0 => "",
            1 => "a grant of the person",
            _ => "grants of the person",
        };
        let and = if rules.is_empty() || grants.is_empty() { "" } else { " and " };
        Ruling::Allow { reason: format!("Allowed by {rules}{and}{grants}."), rules: self.rules, grants: self.grants }
    }

    fn by_grant(&mut self, bench: &Bench<'_>, view: &View<'_>, subject: &Subject) -> bool {
        let Some(grant) = bench.yes(view, subject, &self.grants) else { return false };
        if !self.grants.contains(&grant) {
            self.grants.push(grant);
        }
        true
    }

    /// Whether allow rules cover a subject; those that do are kept.
    fn by_rules(&mut self, near: &[&Rule], view: &View<'_>, subject: &Subject) -> bool {
        match subject {
            Subject::Command(command) => {
                command.inspectable
                    && !command.commands.is_empty()
                    && command.commands.iter().all(|part| self.part(near, view, subject, part))
            }
            // Names that are answered once only are beyond every rule, too.
            Subject::Path(path) if path.protected && path.action.strength() >= Action::Write.strength() => false,
            // A rule was written for a tool as it was described: what it says now, the person has not read.
            Subject::Mcp(_) if view.state.is_changed_tool(view.session, subject) => false,
            Subject::Path(_) | Subject::Url(_) | Subject::Mcp(_) | Subject::Tool(_) => {
                self.first_that(near, |rule| rule.covers(view, subject))
            }
        }
    }

    /// What a part of a command reads, writes or fetches stands beside it as subjects of their own, and these decide.
    /// Only what runs or sends something, or touches nothing that
    /// is named, needs a rule for its words.
    fn part(&mut self, near: &[&Rule], view: &View<'_>, command: &Subject, part: &SimpleCommand) -> bool {
        if part.why_not.is_some() {
            return false;
        }
        let touches = !(part.reads.is_empty() && part.writes.is_empty() && part.hosts.is_empty());
        match part.effect {
            // A filter in a pipe reads what came before it.
            Action::Search | Action::List | Action::Read if touches || part.operator == "|" => return true,
            Action::Write | Action::Delete | Action::Fetch if touches => return true,
            // Where it reads nothing that has a name (`pwd`, `date`, `cd`), it touches nothing.
            Action::Search | Action::List | Action::Read
                if self.first_that(near, |rule| rule.covers_words(view, command, Action::None, &part.argv, 0)) =>
            {
                return true;
            }
            Action::None
            | Action::Search
            | Action::List
            | Action::Read
            | Action::Write
            | Action::Delete
            | Action::Fetch
            | Action::Execute
            | Action::Send
            | Action::Other => {}
        }
        let words = |rule: &Rule, argv: &[String], least| rule.covers_words(view, command, part.effect, argv, least);
        let Some(inner) = &part.carrier_of else {
            return self.first_that(near, |rule| words(rule, &part.argv, 0));
        };
        // Words that only name the carrier say nothing of what it carries.
        let own = part.argv.len().saturating_sub(inner.len());
        self.first_that(near, |rule| words(rule, &part.argv, own + 1))
            || (self.first_that(near, |rule| words(rule, &part.argv, 0))
                && self.first_that(near, |rule| words(rule, inner, 0)))
    }

    fn first_that(&mut self, near: &[&Rule], covers: impl Fn(&Rule) -> Matched) -> bool {
        let found = rules(near, Decide::Allow).find(|rule| covers(rule) == Matched::Yes);
        if let Some(rule) = found
            && !self.rules.iter().any(|name| name == rule.name())
        {
            self.rules.push(rule.name().to_owned());
        }
        found.is_some()
    }
}

/// Whether a command would start, install or remove Placet, or put another history in its place.
fn runs_placet(subject: &Subject) -> bool {
    let Subject::Command(command) = subject else { return false };
    OWN_COMMANDS.iter().any(|words| {
        let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
        let parts = |part: &SimpleCommand| {
            let through_link = part.exe.as_ref().and_then(|exe| exe.as_str()).is_some_and(|exe| {
                let argv: Vec<String> =
                    std::iter::once(exe.to_owned()).chain(part.argv.iter().skip(1).cloned()).collect();
                words_match(&argv, &words)
            });
            through_link
                || words_match(&part.argv, &words)
                || part.carrier_of.as_ref().is_some_and(|inner| words_within(inner, &words))
        };
        command.commands.iter().any(parts) || (!command.inspectable && words_within(&raw_words(&command.asked), &words))
    })
}
