//! What the tests of this room are made of: calls, sessions and ids without a disk or a clock.
#![allow(clippy::unwrap_used, clippy::wildcard_enum_match_arm)]

use std::{collections::BTreeMap, sync::Arc};

use serde_json::{Value, json};
use uuid::Uuid;

use crate::{
    Action, AgentName, ApprovalId, At, Bindings, By, CallFacts, Check, Command, Digest, Entry, Fact, GrantId, Judged,
    PathText, Policy, Refusal, Scope, Session, SessionId, State, Subject, Waiter,
    call::OnForm,
    command::Decision,
    decide,
    decide::{Decided, Outcome},
    grant::{On, ScopeAction, ScopeWho},
    state::empty_card,
    subject::{CommandSubject, McpSubject, NetworkClass, PathSubject, SimpleCommand, ToolSubject, UrlSubject},
};

pub(crate) const T0: At = At(1_800_000_000_000);

pub(crate) fn session_id(n: u128) -> SessionId {
    SessionId::new(Uuid::from_u128(n))
}

pub(crate) fn approval_id(n: u128) -> ApprovalId {
    ApprovalId::new(Uuid::from_u128(n))
}

pub(crate) fn grant_id(n: u128) -> GrantId {
    GrantId::new(Uuid::from_u128(n))
}

pub(crate) fn agent(name: &str) -> AgentName {
    name.parse().unwrap()
}

pub(crate) fn session() -> Session {
    Session {
        id: session_id(1),
        agent: agent("claude-code"),
        client_session: Some("c1".to_owned()),
        workspace: PathText::from("/w"),
        parent: None,
        context: BTreeMap::new(),
        started_at_ms: T0,
        stopped_at_ms: None,
        calls: 0,
        tainted: false,
    }
}

/// A digest that differs for different texts; no hash is needed here.
pub(crate) fn digest_of(text: &str) -> Digest {
    let mut bytes = [0_u8; 32];
    for (i, byte) in text.bytes().enumerate() {
        let at = i % 32;
        bytes[at] = bytes[at].rotate_left(3) ^ byte ^ u8::try_from(i % 251).unwrap();
        bytes[31] = bytes[31].wrapping_mul(31).wrapping_add(byte);
    }
    Digest::new(bytes)
}

pub(crate) fn path(action: Action, at: &str) -> PathSubject {
    PathSubject {
        action,
        asked: PathText::from(at),
        normalized: PathText::from(at),
        resolved: PathText::from(at),
        exists: true,
        inside_workspace: PathText::from(at).is_within(&PathText::from("/w")),
        via_symlink: false,
        hard_linked: false,
        other_device: false,
        protected: false,
        is_folder: false,
        inode: None,
        content: None,
    }
}

pub(crate) fn link(action: Action, at: &str, leads_to: &str) -> PathSubject {
    PathSubject { resolved: PathText::from(leads_to), via_symlink: true, ..path(action, at) }
}

pub(crate) fn url(action: Action, text: &str) -> UrlSubject {
    let (scheme, rest) = text.split_once("://").unwrap();
    let (authority, tail) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let (host, port) = match authority.split_once(':') {
        Some((host, port)) => (host, port.parse().unwrap()),
        None => (authority, if scheme == "https" { 443 } else { 80 }),
    };
    let (path, query) = tail.split_once('?').map_or((tail, false), |(path, _)| (path, true));
    UrlSubject {
        action,
        asked: text.to_owned(),
        normalized: if tail.is_empty() { format!("{text}/") } else { text.to_owned() },
        scheme: scheme.to_owned(),
        host: host.to_owned(),
        host_unicode: None,
        registrable_domain: None,
        port,
        path: if path.is_empty() { "/".to_owned() } else { path.to_owned() },
        has_query: query,
        network: match host {
            "localhost" | "127.0.0.1" => Some(NetworkClass::Loopback),
            "10.0.0.1" => Some(NetworkClass::Private),
            "169.254.169.254" => Some(NetworkClass::Metadata),
            "169.254.1.1" => Some(NetworkClass::LinkLocal),
            _ => None,
        },
        odd: false,
    }
}

pub(crate) fn part(effect: Action, words: &str) -> SimpleCommand {
    SimpleCommand {
        operator: String::new(),
        argv: words.split(' ').map(str::to_owned).collect(),
        exe: None,
        effect,
        reads: Vec::new(),
        writes: Vec::new(),
        hosts: Vec::new(),
        carrier_of: None,
        why_not: None,
        prefix_grantable: true,
    }
}

pub(crate) fn command(parts: Vec<SimpleCommand>) -> CommandSubject {
    CommandSubject {
        action: Action::strongest(parts.iter().map(|part| part.effect)),
        asked: parts.iter().map(|p| p.argv.join(" ")).collect::<Vec<_>>().join(" && "),
        inspectable: true,
        why_not: None,
        shell: "bash".to_owned(),
        commands: parts,
    }
}

pub(crate) fn uninspectable(text: &str) -> CommandSubject {
    CommandSubject {
        action: Action::Other,
        asked: text.to_owned(),
        inspectable: false,
        why_not: Some("an expansion".to_owned()),
        shell: "bash".to_owned(),
        commands: Vec::new(),
    }
}

pub(crate) fn mcp(server: &str, tool: &str) -> McpSubject {
    McpSubject { action: Action::Other, server: server.to_owned(), tool: tool.to_owned(), definition: None }
}

pub(crate) fn only_tool(action: Action, tool: &str) -> ToolSubject {
    ToolSubject { action, tool: tool.to_owned() }
}

/// A call of `tool` on these subjects; its digests are over all of it but the call id.
pub(crate) fn call(tool: &str, subjects: Vec<Subject>) -> Judged {
    call_with(tool, subjects, json!({}))
}

pub(crate) fn call_with(tool: &str, subjects: Vec<Subject>, input: Value) -> Judged {
    let digest = digest_of(&format!("{tool}{}{input}", serde_json::to_string(&subjects).unwrap()));
    Judged {
        facts: CallFacts {
            tool: tool.to_owned(),
            call_id: None,
            parent: None,
            cwd: PathText::from("/w"),
            action: Action::strongest(subjects.iter().map(Subject::action)),
            subjects,
            flags: Vec::new(),
            digest,
            action_digest: digest,
            raw_sha256: digest,
            grantable: vec![
                OnForm::Exact,
                OnForm::Path,
                OnForm::Folder,
                OnForm::Url,
                OnForm::UrlPrefix,
                OnForm::Origin,
                OnForm::Command,
                OnForm::CommandPrefix,
                OnForm::McpTool,
            ],
            refused: None,
            rewritten: None,
            doubt: None,
            masked: None,
        },
        input: Arc::new(input),
        card: Arc::new(empty_card()),
    }
}

pub(crate) fn read(at: &str) -> Judged {
    call("Read", vec![Subject::Path(path(Action::Read, at))])
}

pub(crate) fn write(at: &str) -> Judged {
    call("Write", vec![Subject::Path(path(Action::Write, at))])
}

pub(crate) fn fetch(at: &str) -> Judged {
    call("WebFetch", vec![Subject::Url(url(Action::Fetch, at))])
}

pub(crate) fn bash(parts: Vec<SimpleCommand>) -> Judged {
    call("Bash", vec![Subject::Command(command(parts))])
}

pub(crate) fn policy(text: &str) -> Arc<Policy> {
    let bindings = Bindings { home: Some(PathText::from("/home/ann")), zone: Some("Europe/Berlin".to_owned()) };
    Arc::new(
        Policy::parse_for(text, digest_of(text), &bindings).unwrap_or_else(|e| panic!("{}", e.report(text, "policy"))),
    )
}

/// A gate without disk and clock: it decides, applies, and remembers what was written.
pub(crate) struct World {
    pub(crate) state: State,
    pub(crate) now: At,
    pub(crate) history: Vec<(Entry, Option<Judged>)>,
    next: u128,
}

impl World {
    /// One session is at work, under the policy that only says to ask.
    pub(crate) fn new() -> Self {
        let mut world = Self { state: State::default(), now: T0, history: Vec::new(), next: 100 };
        world.start("claude-code", "c1", "/w", 1);
        world
    }

    pub(crate) fn with(policy_text: &str) -> Self {
        let mut world = Self::new();
        world.load(policy_text);
        world
    }

    pub(crate) fn load(&mut self, policy_text: &str) -> Vec<Fact> {
        let policy = policy(policy_text);
        let facts = self.run(&Command::LoadPolicy(Arc::clone(&policy))).unwrap().facts;
        self.state.policy = policy;
        facts
    }

    pub(crate) fn start(&mut self, name: &str, client: &str, workspace: &str, id: u128) -> SessionId {
        let command = Command::StartSession {
            session: session_id(id),
            agent: agent(name),
            client_session: Some(client.to_owned()),
            workspace: PathText::from(workspace),
            parent: None,
        };
        match self.run(&command).unwrap().outcome {
            Outcome::Session(id) => id,
            other => panic!("{other:?}"),
        }
    }

    pub(crate) fn fresh(&mut self) -> u128 {
        self.next += 1;
        self.next
    }

    pub(crate) fn run(&mut self, command: &Command) -> Result<Decided, Refusal> {
        let decided = decide(&self.state, command, self.now)?;
        let judged = match command {
            Command::Check(check) => Some(&check.judged),
            Command::Refresh { judged, .. } | Command::Approve { edited: Some((judged, _)), .. } => {
                Some(judged.as_ref())
            }
            _ => None,
        };
        for fact in &decided.facts {
            let entry = Entry { seq: self.history.len() as u64 + 1, at_ms: self.now, fact: fact.clone() };
            self.state.apply(&entry, judged);
            self.history.push((entry, judged.cloned()));
        }
        Ok(decided)
    }

    /// A check by the first session, from a process that waits.
    pub(crate) fn check(&mut self, judged: &Judged) -> Decided {
        self.check_in(session_id(1), judged)
    }

    pub(crate) fn check_in(&mut self, session: SessionId, judged: &Judged) -> Decided {
        let check = self.asking(session, judged);
        let decided = self.run(&Command::Check(Box::new(check))).unwrap();
        if let Outcome::Waits(id) = decided.outcome {
            self.state.attended.insert(id);
        }
        decided
    }

    pub(crate) fn asking(&mut self, session: SessionId, judged: &Judged) -> Check {
        Check {
            approval: approval_id(self.fresh()),
            session,
            judged: judged.clone(),
            input_sha256: judged.facts.raw_sha256,
            card_sha256: judged.facts.raw_sha256,
            again: None,
            deadline_ms: None,
            waiter: Some(Waiter { pid: 7, start: 7 }),
            somebody_to_ask: true,
            can_edit: false,
            refused_rewrite: None,
        }
    }

    /// A check that has to wait; the approval it waits for.
    pub(crate) fn ask(&mut self, judged: &Judged) -> ApprovalId {
        self.ask_in(session_id(1), judged)
    }

    pub(crate) fn ask_in(&mut self, session: SessionId, judged: &Judged) -> ApprovalId {
        match self.check_in(session, judged).outcome {
            Outcome::Waits(id) => id,
            other => panic!("it was not asked: {other:?}"),
        }
    }

    pub(crate) fn approve(&mut self, id: ApprovalId) -> Result<Decided, Refusal> {
        self.answer(id, None)
    }

    pub(crate) fn grant(&mut self, id: ApprovalId, scope: Scope) -> Result<GrantId, Refusal> {
        let grant = grant_id(self.fresh());
        self.answer(id, Some((grant, scope))).map(|_| grant)
    }

    fn answer(&mut self, id: ApprovalId, grant: Option<(GrantId, Scope)>) -> Result<Decided, Refusal> {
        let digest = self.state.approvals.get(&id).map_or(digest_of(""), |a| a.judged.facts.digest);
        let command = Command::Approve { approval: id, digest, by: By::User, note: None, grant, edited: None };
        self.run(&command)
    }

    pub(crate) fn deny(&mut self, id: ApprovalId) -> Result<Decided, Refusal> {
        self.run(&Command::Deny { approval: id, by: By::User, note: None, grant: None })
    }

    /// `allowed`, `asked`, or `denied` with its reason.
    pub(crate) fn verdict(&mut self, judged: &Judged) -> String {
        let session = session_id(1);
        verdict(self.check_in(session, judged))
    }

    /// Asks, and gives a grant with the yes.
    pub(crate) fn given(&mut self, judged: &Judged, scope: Scope) -> GrantId {
        let id = self.ask(judged);
        self.grant(id, scope).unwrap()
    }
}

pub(crate) fn verdict(decided: Decided) -> String {
    match decided.outcome {
        Outcome::Answered(answer) => match answer.decision {
            Decision::Allow => "allowed".to_owned(),
            Decision::Deny => format!("denied: {}", answer.reason),
        },
        Outcome::Waits(_) => "asked".to_owned(),
        other => format!("{other:?}"),
    }
}

/// A scope for this session and tool, for an hour.
pub(crate) fn scope(on: On) -> Scope {
    Scope { who: ScopeWho::Session, action: ScopeAction::Tool, on, expires_in_ms: HOUR_MS, uses: None }
}

pub(crate) const HOUR_MS: i64 = 60 * 60 * 1_000;
