//! Which rules could be about a call, found without looking at all of them: ten thousand rules about as many paths
//! cost a call no more than a hundred do.
//!
//! The index only ever leaves out rules that cannot match. Whether one does is the rule's own matter, so that every
//! key here may be coarser than what it stands for, never finer. A rule that has no key is looked at for every call.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::{
    glob::{NameGlobs, PathGlob, below, fold},
    rule::Rule,
    target::{Target, UrlTarget, program_name, raw_words},
};
use crate::{Action, Judged, PathText, Session, Subject, subject::PathSubject};

/// Places of rules in the policy's order.
type Places = Vec<u32>;

/// Where to look for the rules that could be about a call.
#[derive(Debug, Default)]
pub(super) struct Near {
    /// Of any call, or of every subject of one kind.
    always: Places,
    any_path: Places,
    any_url: Places,
    any_command: Places,
    any_server: Places,
    /// By the tool's name, folded.
    tools: HashMap<String, Places>,
    /// By the leading folders without wildcards, folded: from the root, and from the workspace.
    folders: BTreeMap<String, Places>,
    in_workspace: BTreeMap<String, Places>,
    /// By host, exact, and by what stands above it.
    hosts: HashMap<String, Places>,
    beneath: HashMap<String, Places>,
    /// By the program's name without folders, folded.
    programs: HashMap<String, Places>,
    /// By the server's name, folded.
    servers: HashMap<String, Places>,
}

impl Near {
    pub(super) fn new(rules: &[Rule]) -> Self {
        let mut near = Self::default();
        for (place, rule) in rules.iter().enumerate() {
            // A policy's text is a mebibyte at most.
            near.add(u32::try_from(place).unwrap_or(u32::MAX), rule);
        }
        near
    }

    fn add(&mut self, place: u32, rule: &Rule) {
        match &rule.target {
            Target::Any => match literals(&rule.tools) {
                Some(names) => names.into_iter().for_each(|name| self.tools.entry(name).or_default().push(place)),
                None => self.always.push(place),
            },
            Target::Path { only, .. } if only.is_empty() || only.iter().any(|glob| glob.fixed().is_empty()) => {
                self.any_path.push(place);
            }
            Target::Path { only, .. } => only.iter().for_each(|glob| self.add_path(place, glob)),
            Target::Url(target) => self.add_url(place, target),
            Target::Command(starts) => {
                for words in starts {
                    match words.first() {
                        Some(program) => self.programs.entry(program_name(program)).or_default().push(place),
                        None => self.any_command.push(place),
                    }
                }
            }
            Target::Mcp(servers) => match literals(servers) {
                Some(names) => names.into_iter().for_each(|name| self.servers.entry(name).or_default().push(place)),
                None => self.any_server.push(place),
            },
        }
    }

    fn add_path(&mut self, place: u32, glob: &PathGlob) {
        let folders = if glob.is_in_workspace() { &mut self.in_workspace } else { &mut self.folders };
        folders.entry(glob.fixed().to_owned()).or_default().push(place);
    }

    fn add_url(&mut self, place: u32, target: &UrlTarget) {
        if let Some(hosts) = &target.hosts {
            for host in hosts {
                let by = if host.beneath { &mut self.beneath } else { &mut self.hosts };
                by.entry(host.name.clone()).or_default().push(place);
            }
        } else if let Some(prefixes) = &target.prefixes {
            for prefix in prefixes {
                self.hosts.entry(prefix.host.clone()).or_default().push(place);
            }
        } else {
            self.any_url.push(place);
        }
    }

    /// The places of all rules that could be about any subject of this call, in the policy's order.
    pub(super) fn of(&self, judged: &Judged, session: &Session) -> BTreeSet<u32> {
        let mut found: BTreeSet<u32> = self.always.iter().copied().collect();
        let mut take = |places: Option<&Places>| found.extend(places.into_iter().flatten());
        take(self.tools.get(&fold(&judged.facts.tool)));
        for subject in &judged.facts.subjects {
            match subject {
                Subject::Path(path) => {
                    take(Some(&self.any_path));
                    self.paths(path, &session.workspace, &mut take);
                }
                Subject::Url(url) => {
                    take(Some(&self.any_url));
                    take(self.hosts.get(&url.host));
                    let dots = url.host.match_indices('.').map(|(at, _)| &url.host[at + 1..]);
                    dots.for_each(|above| take(self.beneath.get(above)));
                }
                Subject::Command(command) => {
                    take(Some(&self.any_command));
                    let mut program = |word: &str| take(self.programs.get(&program_name(word)));
                    for part in &command.commands {
                        part.argv.first().into_iter().for_each(|word| program(word));
                        part.carrier_of.iter().filter_map(|inner| inner.first()).for_each(|word| program(word));
                    }
                    if !command.inspectable {
                        for word in raw_words(&command.asked) {
                            program(&word);
                        }
                    }
                }
                Subject::Mcp(mcp) => {
                    take(Some(&self.any_server));
                    take(self.servers.get(&fold(&mcp.server)));
                }
                Subject::Tool(_) => {}
            }
        }
        found
    }

    fn paths(&self, path: &PathSubject, workspace: &PathText, take: &mut impl FnMut(Option<&Places>)) {
        let workspace = plain(workspace);
        let forms = [&path.resolved, &path.normalized, &path.asked];
        for (n, form) in forms.into_iter().enumerate() {
            // Most often all three are one.
            if forms[..n].contains(&form) {
                continue;
            }
            let form = plain(form);
            above(&form).for_each(|folder| take(self.folders.get(folder)));
            let within = below(&form, &workspace);
            if let Some(rest) = within {
                above(rest).for_each(|folder| take(self.in_workspace.get(folder)));
            }
            if path.action != Action::Delete {
                continue;
            }
            // Who removes a folder removes what lies in it.
            beneath(&self.folders, form.trim_end_matches('/')).for_each(|places| take(Some(places)));
            match within {
                Some(rest) => {
                    beneath(&self.in_workspace, rest.trim_end_matches('/')).for_each(|places| take(Some(places)));
                }
                None if below(&workspace, &form).is_some() => {
                    self.in_workspace.values().for_each(|places| take(Some(places)));
                }
                None => {}
            }
        }
    }
}

/// The names, folded, where none of them is a pattern.
fn literals(names: &NameGlobs) -> Option<Vec<String>> {
    let plain = |name: &str| (!name.contains(['*', '?', '[', ']', '{', '}', '\\', '!'])).then(|| fold(name));
    names.patterns()?.map(plain).collect()
}

/// Folded, with single slashes, as the fixed part of a pattern is.
fn plain(path: &PathText) -> String {
    let mut text = fold(&path.lossy());
    while text.contains("//") {
        text = text.replace("//", "/");
    }
    text
}

/// The path itself and every folder above it, but for the root.
fn above(path: &str) -> impl Iterator<Item = &str> {
    let ends = path.match_indices('/').map(|(at, _)| at).filter(|at| *at > 0);
    ends.chain(std::iter::once(path.len())).map(|end| &path[..end])
}

/// Everything kept for this folder and for what lies in it.
fn beneath<'a>(kept: &'a BTreeMap<String, Places>, folder: &'a str) -> impl Iterator<Item = &'a Places> {
    kept.range(folder.to_owned()..).take_while(move |(at, _)| at.starts_with(folder)).map(|(_, places)| places)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use proptest::{prelude::*, sample::select};

    use super::*;
    use crate::{
        State,
        policy::{Decide, Matched, View},
        subject::UrlSubject,
        testing::{T0, bash, call, fetch, mcp, part, path, policy, session, uninspectable, url},
    };

    const PATHS: [&str; 18] = [
        "/w",
        "/w/",
        "/w/a",
        "/w/A",
        "/w/a/b.rs",
        "/w//a/b.rs",
        "/w/a/../a",
        "/W/a",
        "/w/\u{e9}",
        "/w/e\u{301}",
        "/v",
        "/v/a",
        "/",
        "//",
        "a/b.rs",
        "/w2/a",
        "/w/a2",
        "/w/[x]/y",
    ];
    const PATTERNS: [&str; 22] = [
        "${workspace}",
        "${workspace}/**",
        "${workspace}/a",
        "${workspace}/a/**",
        "${workspace}/a/*.rs",
        "${workspace}/E\u{301}",
        "${workspace}/é",
        "/w",
        "/w/",
        "/w/**",
        "/w/a/**",
        "/w/A",
        "/W/a/b.rs",
        "/v/a",
        "//w//a/**",
        "/**",
        "**/b.rs",
        "**/a/**",
        "/*/a",
        "/w/\\\\[x\\\\]/y",
        "/w/{a,b}/b.rs",
        "/",
    ];
    const TARGETS: [&str; 20] = [
        "",
        "tool = [\"Edit\"]",
        "tool = [\"edit\", \"Bash\"]",
        "tool = [\"E*\"]",
        "tool = [\"!dit\"]",
        "host = [\"a.b\"]",
        "host = [\"*.a.b\"]",
        "host = [\"*.b\", \"c.d\"]",
        "except_host = [\"a.b\"]",
        "network = [\"loopback\"]",
        "url_prefix = [\"https://a.b/x\"]",
        "url_prefix = [\"https://a.b/x\"]\nhost = [\"a.b\"]",
        "command = [\"git push\"]",
        "command = [\"/bin/GIT\"]",
        "command = [\"xargs\"]",
        "command = [\"rm\", \"cargo test\"]",
        "mcp_server = [\"tracker\"]",
        "mcp_server = [\"Track*\"]",
        "except_path = [\"/w/**\"]",
        "action = [\"delete\"]",
    ];
    const COMMANDS: [&str; 8] =
        ["git push", "git -C x push", "/usr/bin/git push", "GIT push", "cargo test", "xargs rm -f", "ls", "rm x"];

    fn a_rule() -> impl Strategy<Value = String> {
        let target = prop_oneof![
            3 => prop::collection::vec(select(&PATTERNS[..]), 1..3)
                .prop_map(|patterns| format!("path = [{}]", patterns.iter().map(|p| format!("\"{p}\"")).collect::<Vec<_>>().join(", "))),
            2 => select(&TARGETS[..]).prop_map(str::to_owned),
        ];
        (target, select(vec!["allow", "ask", "deny"]))
            .prop_map(|(target, decide)| format!("decide = \"{decide}\"\n{target}\n"))
    }

    fn a_subject() -> impl Strategy<Value = Subject> {
        let action = select(vec![Action::Read, Action::Write, Action::Delete]);
        let a_path = (action, select(&PATHS[..]), select(&PATHS[..]), select(&PATHS[..])).prop_map(
            |(action, asked, normalized, resolved)| {
                let (asked, normalized) = (PathText::from(asked), PathText::from(normalized));
                Subject::Path(PathSubject { asked, normalized, ..path(action, resolved) })
            },
        );
        let hosts = select(vec!["https://a.b/x/y", "https://a.b/xy", "https://c.a.b/", "https://c.d/x", "http://b/"]);
        let words = select(&COMMANDS[..]);
        prop_oneof![
            4 => a_path,
            2 => hosts.prop_map(|at| Subject::Url(UrlSubject { ..url(Action::Fetch, at) })),
            2 => words.clone().prop_map(|words| bash(vec![part(Action::Execute, words)]).facts.subjects.remove(0)),
            1 => words.prop_map(|words| Subject::Command(uninspectable(&format!("eval \"{words}\"")))),
            1 => select(vec!["tracker", "Tracker", "tracks"]).prop_map(|server| Subject::Mcp(mcp(server, "t"))),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

        /// A rule that matches or covers anything of a call is near it.
        #[test]
        fn a_rule_that_is_not_near_has_nothing_to_say(
            rules in prop::collection::vec(a_rule(), 1..24),
            subjects in prop::collection::vec(a_subject(), 0..3),
            tool in select(vec!["Edit", "EDIT", "Bash", "!dit"]),
        ) {
            let text = rules.iter().enumerate().fold("default = \"ask\"\n".to_owned(), |text, (n, rule)| {
                format!("{text}[[rule]]\nname = \"r{n}\"\n{rule}")
            });
            let policy = policy(&text);
            let (state, session, judged) = (State::default(), session(), call(tool, subjects));
            let view = View::new(&state, &judged, &session, T0, false);
            let near: Vec<&str> = policy.rules_near(&judged, &session).iter().map(|rule| rule.name()).collect();
            let all: Vec<&str> = policy.rules().iter().map(Rule::name).filter(|name| near.contains(name)).collect();
            prop_assert_eq!(&near, &all, "in the policy's order");
            for rule in policy.rules().iter().filter(|rule| !near.contains(&rule.name())) {
                for subject in &judged.facts.subjects {
                    let words = match subject {
                        Subject::Command(command) => command.commands.iter().any(|part| {
                            let inner = part.carrier_of.as_ref().into_iter();
                            inner.chain(std::iter::once(&part.argv)).any(|argv| {
                                rule.covers_words(&view, subject, part.effect, argv, 0) != Matched::No
                            })
                        }),
                        Subject::Path(_) | Subject::Url(_) | Subject::Mcp(_) | Subject::Tool(_) => false,
                    };
                    let says = match rule.decide() {
                        Decide::Allow => rule.covers(&view, subject) != Matched::No || words,
                        Decide::Ask | Decide::Deny => rule.matches(&view, subject) != Matched::No,
                    };
                    prop_assert!(!says, "{} says something of {subject:?}\n{text}", rule.name());
                }
            }
        }
    }

    #[test]
    fn among_many_rules_few_are_near() {
        let text = (0..2_000).fold("default = \"ask\"\n".to_owned(), |text, n| {
            format!("{text}[[rule]]\nname = \"r{n}\"\ndecide = \"allow\"\npath = [\"${{workspace}}/f{n}/**\"]\n")
        });
        let near = |judged: &Judged| policy(&text).rules_near(judged, &session()).len();
        assert_eq!(near(&call("Edit", vec![Subject::Path(path(Action::Write, "/w/f7/x"))])), 1);
        assert_eq!(near(&call("Edit", vec![Subject::Path(path(Action::Delete, "/w"))])), 2_000);
        assert_eq!(near(&fetch("https://a.b/")), 0);
    }
}
