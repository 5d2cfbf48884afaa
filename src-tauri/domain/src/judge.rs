//! What policy and grants together say of a call.

use crate::{
    Action, At, GrantId, Judged, Policy, Session, State, Subject,
    fact::DeniedBy,
    policy::{Decide, Otherwise, Rule, View, raw_words, words_match, words_within},
    subject::{CommandSubject, SimpleCommand},
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

/// Judges a call by the policy in force and the active grants. Any deny wins; then any ask; silence is the default.
/// The pause switch and what is refused before any rule are `decide`'s matter.
pub fn judge(state: &State, judged: &Judged, session: &Session, now: At) -> Ruling {
    judge_by(&state.policy, state, judged, session, now)
}

/// [`judge`] by another policy than the one in force.
pub fn judge_by(policy: &Policy, state: &State, judged: &Judged, session: &Session, now: At) -> Ruling {
    let _ = state;
    let view = View { judged, session, now };
    let subjects = &judged.facts.subjects;
    if subjects.iter().any(runs_placet) {
        return Ruling::Deny {
            by: DeniedBy::Policy { rule: BUILT_IN.to_owned() },
            reason: "Agents may not start, install or remove Placet, since whoever starts it can say yes. The person \
                     has to do it themselves."
                .to_owned(),
        };
    }
    let of = |decide: Decide| policy.rules().iter().filter(move |rule| rule.decide() == decide);
    if let Some(rule) = of(Decide::Deny).find(|rule| subjects.iter().any(|subject| rule.matches(view, subject))) {
        return Ruling::Deny { by: DeniedBy::Policy { rule: rule.name().to_owned() }, reason: said(rule, "Denied by") };
    }
    let asking: Vec<&Rule> =
        of(Decide::Ask).filter(|rule| subjects.iter().any(|subject| rule.matches(view, subject))).collect();
    let mut rules = Vec::new();
    let covered = !subjects.is_empty() && subjects.iter().all(|subject| is_covered(policy, view, subject, &mut rules));
    if let Some(first) = asking.first() {
        return Ruling::Ask {
            rule: Some(first.name().to_owned()),
            reason: said(first, "Asked because of"),
            timeout_ms: asking.iter().filter_map(|rule| rule.timeout_ms()).min().unwrap_or(policy.timeout_ms()),
        };
    }
    if covered {
        let reason = match rules.as_slice() {
            [rule] => format!("Allowed by the rule “{rule}”."),
            several => format!("Allowed by the rules “{}”.", several.join("”, “")),
        };
        return Ruling::Allow { rules, grants: Vec::new(), reason };
    }
    match policy.otherwise() {
        Otherwise::Ask => Ruling::Ask {
            rule: None,
            reason: "No rule of the policy covers all of this.".to_owned(),
            timeout_ms: policy.timeout_ms(),
        },
        Otherwise::Deny => Ruling::Deny {
            by: DeniedBy::Default,
            reason: "No rule of the policy allows all of this, and what no rule allows is denied. Do something else, \
                     or ask the person to add a rule."
                .to_owned(),
        },
    }
}

fn said(rule: &Rule, start: &str) -> String {
    match rule.reason() {
        Some(reason) => format!("{reason} (Rule “{}”.)", rule.name()),
        None => format!("{start} the rule “{}”.", rule.name()),
    }
}

/// Whether allow rules cover a subject; those that do are added.
fn is_covered(policy: &Policy, view: View<'_>, subject: &Subject, rules: &mut Vec<String>) -> bool {
    match subject {
        Subject::Command(command) => {
            command.inspectable
                && !command.commands.is_empty()
                && command.commands.iter().all(|part| part_is_covered(policy, view, command, part, rules))
        }
        Subject::Path(_) | Subject::Url(_) | Subject::Mcp(_) | Subject::Tool(_) => {
            first_that(policy, rules, |rule| rule.covers(view, subject))
        }
    }
}

/// What a part of a command reads, writes or fetches stands beside it as subjects of their own, and these decide.
/// Only what runs or sends something needs a rule for its words.
fn part_is_covered(
    policy: &Policy,
    view: View<'_>,
    command: &CommandSubject,
    part: &SimpleCommand,
    rules: &mut Vec<String>,
) -> bool {
    if part.why_not.is_some() {
        return false;
    }
    let touches = !(part.reads.is_empty() && part.writes.is_empty() && part.hosts.is_empty());
    match part.effect {
        Action::None => return true,
        // A filter in a pipe reads what came before it.
        Action::Search | Action::List | Action::Read if touches || part.operator == "|" => return true,
        Action::Write | Action::Delete | Action::Fetch if touches => return true,
        Action::Search
        | Action::List
        | Action::Read
        | Action::Write
        | Action::Delete
        | Action::Fetch
        | Action::Execute
        | Action::Send
        | Action::Other => {}
    }
    let Some(inner) = &part.carrier_of else {
        return first_that(policy, rules, |rule| rule.covers_words(view, command, part, &part.argv, 0));
    };
    // Words that only name the carrier say nothing of what it carries.
    let own = part.argv.len().saturating_sub(inner.len());
    first_that(policy, rules, |rule| rule.covers_words(view, command, part, &part.argv, own + 1))
        || (first_that(policy, rules, |rule| rule.covers_words(view, command, part, &part.argv, 0))
            && first_that(policy, rules, |rule| rule.covers_words(view, command, part, inner, 0)))
}

fn first_that(policy: &Policy, rules: &mut Vec<String>, covers: impl Fn(&Rule) -> bool) -> bool {
    let found = policy.rules().iter().find(|rule| rule.decide() == Decide::Allow && covers(rule));
    if let Some(rule) = found
        && !rules.iter().any(|name| name == rule.name())
    {
        rules.push(rule.name().to_owned());
    }
    found.is_some()
}

/// Whether a command would start, install or remove Placet.
fn runs_placet(subject: &Subject) -> bool {
    let Subject::Command(command) = subject else { return false };
    let forbidden: [&[&str]; 4] =
        [&["placet", "serve"], &["placet", "install"], &["placet", "uninstall"], &["placet-desktop"]];
    forbidden.iter().any(|words| {
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
