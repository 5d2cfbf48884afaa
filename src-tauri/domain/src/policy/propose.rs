//! "Make this a rule": what was answered once, or for a while, as text to put at the end of the policy. The person
//! sees it as a diff and puts it; nothing here changes a policy.

use std::fmt::Write as _;

use super::{Decide, Policy, glob::escape};
use crate::{
    Action, CallFacts, Grant, PathText, Session, Subject,
    grant::{Effect, GrantWho, On},
};

/// Rules to put at the end of a policy's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proposal {
    /// The names of the rules in it.
    pub names: Vec<String>,
    /// The text of the rules.
    pub text: String,
}

/// One rule, key by key.
struct Block {
    title: String,
    keys: Vec<(&'static str, String)>,
    /// What the rule covers beyond what it is made from.
    wider: &'static str,
}

const WITH_QUERIES: &str = "covers addresses with a query too";
const WITH_MORE_WORDS: &str = "covers commands with more words after these too";

impl Policy {
    /// A grant as a rule without an end; none where no rule can say it: an exact input, a name that is answered once
    /// only, a name that is no text. `session` is the one it was given in.
    pub fn propose_for_grant(&self, grant: &Grant, session: &Session) -> Option<Proposal> {
        let mut keys = Vec::new();
        let (agent, workspace) = match &grant.who {
            GrantWho::Session { .. } => (Some(&session.agent), Some(&session.workspace)),
            GrantWho::AgentInWorkspace { agent, workspace } => (Some(agent), Some(workspace)),
            GrantWho::Agent { agent } => (Some(agent), None),
            GrantWho::Workspace { workspace } => (None, Some(workspace)),
        };
        keys.extend(agent.map(|agent| ("agent", list(&[escape(agent.as_str())]))));
        if let Some(workspace) = workspace {
            keys.push(("workspace", list(&[escape(workspace.as_str()?)])));
        }
        keys.extend(grant.tool.as_ref().map(|tool| ("tool", list(&[escape(tool)]))));
        let actions = match grant.action {
            Action::Search | Action::List | Action::Read => vec!["read", "list", "search"],
            Action::None
            | Action::Fetch
            | Action::Write
            | Action::Delete
            | Action::Execute
            | Action::Send
            | Action::Other => vec![grant.action.word()],
        };
        keys.push(("action", list(&actions)));
        // A pattern under the workspace would mean another folder in another workspace.
        let place = if workspace.is_some() { Some(&session.workspace) } else { None };
        let (key, value, title, wider) = match &grant.scope.on {
            On::Exact(_) => return None,
            On::Path(path) => ("path", pattern(path, place, "")?, path.lossy(), ""),
            On::Folder(folder) => ("path", pattern(folder, place, "/**")?, folder.lossy(), ""),
            On::Url(url) if url.contains(['?', '#']) => return None,
            On::Url(url) | On::UrlPrefix(url) | On::Origin(url) => {
                ("url_prefix", url.clone(), url.clone(), WITH_QUERIES)
            }
            On::Command(text) => ("command", plain_words(text)?, text.clone(), WITH_MORE_WORDS),
            On::CommandPrefix(words) => ("command", plain_words(&words.join(" "))?, words.join(" "), ""),
            On::McpTool(name) => {
                grant.tool.as_ref()?;
                ("mcp_server", escape(name.split_once('/')?.0), name.clone(), "")
            }
        };
        keys.push((key, list(&[value])));
        let decide = match grant.effect {
            Effect::Allow => Decide::Allow,
            Effect::Deny => Decide::Deny,
        };
        Some(self.proposal(decide, vec![Block { title, keys, wider }]))
    }

    /// A call as rules: one for each thing it acts on, for its agent, workspace and tool; none where no rule can say
    /// it. To deny it, what the tool names is enough.
    pub fn propose_for_call(&self, call: &CallFacts, session: &Session, decide: Decide) -> Option<Proposal> {
        let mut blocks: Vec<Block> = Vec::new();
        for subject in &call.subjects {
            if let Some(block) = block_of(call, subject, session, decide)?
                && !blocks.iter().any(|known| known.keys == block.keys)
            {
                blocks.push(block);
            }
            if decide == Decide::Deny && !blocks.is_empty() {
                break;
            }
        }
        (!blocks.is_empty()).then(|| self.proposal(decide, blocks))
    }

    fn proposal(&self, decide: Decide, blocks: Vec<Block>) -> Proposal {
        let mut proposal = Proposal { names: Vec::new(), text: String::new() };
        for block in blocks {
            let name = self.free_name(&format!("{} {}", decide.word(), short(&block.title)), &proposal.names);
            let text = &mut proposal.text;
            let _ = write!(text, "\n[[rule]]\nname = {}\ndecide = \"{}\"\n", quoted(&name), decide.word());
            for (key, value) in &block.keys {
                let note = if block.wider.is_empty() || !matches!(*key, "url_prefix" | "command") {
                    String::new()
                } else {
                    format!("  # {}", block.wider)
                };
                let _ = writeln!(text, "{key} = {value}{note}");
            }
            proposal.names.push(name);
        }
        proposal
    }

    fn free_name(&self, wanted: &str, proposed: &[String]) -> String {
        let taken = |name: &str| {
            self.rules.iter().any(|rule| rule.name == name)
                || self.rewrites.iter().any(|rewrite| rewrite.name == name)
                || proposed.iter().any(|known| known == name)
        };
        let numbered = (2_u32..).map(|n| format!("{wanted} ({n})"));
        std::iter::once(wanted.to_owned()).chain(numbered).find(|name| !taken(name)).unwrap_or_default()
    }
}

/// The rule for one subject; an inner none where another subject's rule covers it.
#[expect(
    clippy::option_option,
    reason = "not expressible, expressible by itself, and needing no rule are three things"
)]
fn block_of(call: &CallFacts, subject: &Subject, session: &Session, decide: Decide) -> Option<Option<Block>> {
    let mut keys = vec![
        ("agent", list(&[escape(session.agent.as_str())])),
        ("workspace", list(&[escape(session.workspace.as_str()?)])),
        ("tool", list(&[escape(&call.tool)])),
        ("action", list(&[subject.action().word()])),
    ];
    let allow = decide == Decide::Allow;
    let (title, wider) = match subject {
        Subject::Path(path) => {
            if allow && (path.protected || path.normalized != path.resolved) {
                return None;
            }
            keys.push(("path", list(&[pattern(&path.normalized, Some(&session.workspace), "")?])));
            (path.normalized.lossy(), "")
        }
        Subject::Url(url) => {
            if allow && (url.odd || url.has_query) {
                return None;
            }
            let address = url.normalized.split(['?', '#']).next().unwrap_or_default().to_owned();
            keys.push(("url_prefix", list(std::slice::from_ref(&address))));
            (address, WITH_QUERIES)
        }
        Subject::Command(command) => {
            if allow && !command.inspectable {
                return None;
            }
            let runs = |effect: Action| effect.strength() >= Action::Execute.strength() || effect == Action::None;
            if allow && !command.commands.iter().any(|part| runs(part.effect)) {
                return Some(None);
            }
            let parts = command.commands.iter().filter(|part| !allow || runs(part.effect));
            let words = parts.map(|part| plain_words(&part.argv.join(" "))).collect::<Option<Vec<_>>>()?;
            let words = if words.is_empty() { vec![plain_words(&command.asked)?] } else { words };
            let effects = command.commands.iter().map(|part| part.effect.word());
            let mut effects: Vec<&str> = effects.chain([command.action.word()]).collect();
            effects.sort_unstable();
            effects.dedup();
            keys.retain(|(key, _)| *key != "action");
            keys.push(("action", list(&effects)));
            keys.push(("command", list(&words)));
            (command.asked.clone(), WITH_MORE_WORDS)
        }
        Subject::Mcp(mcp) => {
            keys.push(("mcp_server", list(&[escape(&mcp.server)])));
            (format!("{}/{}", mcp.server, mcp.tool), "")
        }
        Subject::Tool(tool) => (tool.tool.clone(), ""),
    };
    Some(Some(Block { title, keys, wider }))
}

fn pattern(path: &PathText, workspace: Option<&PathText>, end: &str) -> Option<String> {
    let text = path.as_str()?;
    let text = text.strip_suffix('/').unwrap_or(text);
    let start = match workspace.and_then(PathText::as_str) {
        Some(workspace) if path.is_within(&PathText::from(workspace)) => {
            format!("${{workspace}}{}", escape(&text[workspace.trim_end_matches('/').len().min(text.len())..]))
        }
        _ => escape(text),
    };
    Some(start + end)
}

/// The words of a command, if the policy file can hold them.
fn plain_words(text: &str) -> Option<String> {
    let plain = !text.trim().is_empty() && !super::parse::has_operator(text) && !text.contains(char::is_control);
    plain.then(|| text.split_whitespace().collect::<Vec<_>>().join(" "))
}

fn list<T: AsRef<str>>(items: &[T]) -> String {
    format!("[{}]", items.iter().map(|item| quoted(item.as_ref())).collect::<Vec<_>>().join(", "))
}

fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

fn short(title: &str) -> String {
    let clean: String = title.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    if clean.chars().count() <= 80 { clean } else { clean.chars().take(79).chain(['…']).collect() }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::{
        Judged, Ruling, State,
        judge::judge_by,
        testing::{T0, World, bash, call, digest_of, fetch, mcp, part, path, read, scope, session, write},
    };

    /// The proposal's text, after it was put and found to say yes to the call (and to parse).
    fn put(proposal: &Proposal, judged: &Judged, decide: Decide) -> String {
        let text = format!("{}{}", Policy::default_text(), proposal.text);
        let policy = Policy::parse(&text, digest_of(&text)).unwrap_or_else(|e| panic!("{}", e.report(&text, "policy")));
        let ruling = judge_by(&policy, &State::default(), judged, &session(), T0);
        match decide {
            Decide::Allow => assert!(matches!(ruling, Ruling::Allow { .. }), "{ruling:?}\n{}", proposal.text),
            Decide::Deny => assert!(matches!(ruling, Ruling::Deny { .. }), "{ruling:?}\n{}", proposal.text),
            Decide::Ask => assert!(matches!(ruling, Ruling::Ask { .. }), "{ruling:?}\n{}", proposal.text),
        }
        proposal.text.clone()
    }

    #[test]
    fn a_call_becomes_rules_that_say_the_same_again() {
        let policy = Policy::default();
        let calls = [
            write("/w/src/a.rs"),
            write("/w/od\\d [na$me]*{1}?.rs"),
            write("/elsewhere/a \"quoted\" name"),
            fetch("https://docs.rs/serde/latest"),
            bash(vec![part(Action::Execute, "cargo test --all")]),
            bash(vec![part(Action::Execute, "cargo test"), part(Action::None, "echo done")]),
            call("mcp__gh__list", vec![Subject::Mcp(mcp("gh", "list"))]),
            call("Edit", vec![Subject::Path(path(Action::Write, "/w/a")), Subject::Path(path(Action::Write, "/w/b"))]),
        ];
        let mut all = String::new();
        for judged in &calls {
            for decide in [Decide::Allow, Decide::Deny] {
                let proposal = policy.propose_for_call(&judged.facts, &session(), decide).unwrap();
                all.push_str(&put(&proposal, judged, decide));
            }
        }
        insta::assert_snapshot!(all);
    }

    #[test]
    fn what_no_rule_can_say_is_not_proposed() {
        let policy = Policy::default();
        let protected = crate::subject::PathSubject { protected: true, ..path(Action::Write, "/w/.envrc") };
        for judged in [
            fetch("https://docs.rs/a?data=1"),
            call("Bash", vec![Subject::Command(crate::testing::uninspectable("eval $x"))]),
            call("Write", vec![Subject::Path(protected)]),
            call("Write", vec![Subject::Path(crate::testing::link(Action::Write, "/w/l", "/etc/x"))]),
            bash(vec![part(Action::Execute, "grep a|b")]),
        ] {
            assert_eq!(policy.propose_for_call(&judged.facts, &session(), Decide::Allow), None);
        }
    }

    #[test]
    fn a_grant_becomes_a_rule() {
        let mut all = String::new();
        for (judged, on) in [
            (write("/w/src/a.rs"), On::Folder(PathText::from("/w/src"))),
            (read("/etc/ssl/a"), On::Path(PathText::from("/etc/ssl/a"))),
            (fetch("https://docs.rs/a"), On::Origin("https://docs.rs".to_owned())),
            (
                bash(vec![part(Action::Execute, "cargo test -q")]),
                On::CommandPrefix(vec!["cargo".into(), "test".into()]),
            ),
            (call("mcp__gh__list", vec![Subject::Mcp(mcp("gh", "list"))]), On::McpTool("gh/list".to_owned())),
        ] {
            let mut world = World::new();
            let id = world.given(&judged, scope(on));
            let proposal = Policy::default().propose_for_grant(&world.state.grants[&id], &session()).unwrap();
            all.push_str(&put(&proposal, &judged, Decide::Allow));
        }
        insta::assert_snapshot!(all);
        let mut world = World::new();
        let id = world.given(&write("/w/a"), scope(On::Exact(crate::grant::True)));
        assert_eq!(Policy::default().propose_for_grant(&world.state.grants[&id], &session()), None);
    }

    #[test]
    fn a_proposed_name_is_free() {
        let judged = write("/w/a");
        let first = Policy::default().propose_for_call(&judged.facts, &session(), Decide::Allow).unwrap();
        let policy = Policy::parse(&first.text, digest_of(&first.text)).unwrap();
        let second = policy.propose_for_call(&judged.facts, &session(), Decide::Allow).unwrap();
        assert_eq!((first.names, second.names), (vec!["allow /w/a".to_owned()], vec!["allow /w/a (2)".to_owned()]));
    }
}
