//! A small world to write about: ids that count up, calls of every kind, and a history in a folder of its own.

use std::{path::PathBuf, sync::Arc};

use placet_domain::{
    Action, AgentName, Approval, ApprovalId, At, By, CallFacts, Card, Digest, Entry, Fact, Flag, Grant, GrantId,
    GrantState, Judged, PathText, Scope, Session, SessionId, Span, State, Subject, Waiter,
    call::OnForm,
    card::{Reach, Undo},
    grant::{Effect, GrantWho, On, ScopeAction, ScopeWho},
    subject::{CommandSubject, PathSubject, SimpleCommand, UrlSubject},
};
use placet_store::{Body, ChainKey, Head, Opened, Store, StoreError};
use serde_json::{Value, json};

pub(crate) const START: At = At(1_790_000_000_000);

pub(crate) fn text(n: u64) -> String {
    format!("0193{:04x}-0000-7000-8000-{n:012x}", n & 0xffff)
}

pub(crate) fn session(n: u64) -> SessionId {
    text(n).parse().unwrap()
}

pub(crate) fn approval(n: u64) -> ApprovalId {
    text(n).parse().unwrap()
}

pub(crate) fn grant_id(n: u64) -> GrantId {
    text(n).parse().unwrap()
}

pub(crate) fn digest(n: u64) -> Digest {
    Body::new(n.to_be_bytes().to_vec()).sha256
}

pub(crate) fn agent(name: &str) -> AgentName {
    name.parse().unwrap()
}

pub(crate) fn key() -> ChainKey {
    ChainKey::new([7; 32])
}

/// A history in a folder of its own, with the state that its facts add up to.
pub(crate) struct World {
    pub folder: tempfile::TempDir,
    pub opened: Opened,
    pub state: State,
    pub head: Head,
    pub now: At,
}

impl World {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let opened = Store::open(&folder.path().join("data/placet.db"), key()).unwrap();
        let head = opened.head;
        Self { folder, opened, state: State::default(), head, now: START }
    }

    pub(crate) fn file(&self) -> PathBuf {
        self.folder.path().join("data/placet.db")
    }

    /// Writes facts in one transaction, a second after the ones before.
    pub(crate) fn write(&mut self, facts: Vec<Fact>) -> Result<Head, StoreError> {
        self.now = self.now.plus_ms(1_000);
        self.write_with(facts, &[])
    }

    pub(crate) fn write_with(&mut self, facts: Vec<Fact>, judged: &[Judged]) -> Result<Head, StoreError> {
        let bodies: Vec<Body> = judged.iter().flat_map(|j| [input_body(j), card_body(j)]).collect();
        let entries: Vec<Entry> =
            (self.head.seq + 1..).zip(facts).map(|(seq, fact)| Entry { seq, at_ms: self.now, fact }).collect();
        let head = self.opened.store.append(&entries, &bodies)?;
        let mut judged = judged.iter();
        for entry in &entries {
            let has_body = matches!(entry.fact, Fact::ApprovalAsked { .. } | Fact::ApprovalRefreshed { .. });
            let with = if has_body { judged.next() } else { None };
            self.state.apply(entry, with);
        }
        self.head = head;
        Ok(head)
    }

    /// Asks about a call.
    pub(crate) fn ask(&mut self, id: u64, session_no: u64, judged: &Judged) -> Result<Head, StoreError> {
        self.now = self.now.plus_ms(1_000);
        let asked = asked(id, session_no, judged, self.now.plus_ms(60_000));
        self.write_with(vec![asked], std::slice::from_ref(judged))
    }

    /// Closes and opens the file.
    pub(crate) fn reopen(&mut self) {
        let file = self.file();
        // The old one has to let go of the file first.
        let elsewhere = tempfile::tempdir().unwrap();
        self.opened = Store::open(&elsewhere.path().join("x.db"), key()).unwrap();
        self.opened = Store::open(&file, key()).unwrap();
        self.head = self.opened.head;
    }
}

pub(crate) fn started(n: u64, name: &str, workspace: &str) -> Fact {
    Fact::SessionStarted {
        session: session(n),
        agent: agent(name),
        client_session: Some(format!("client-{n}")),
        workspace: workspace.into(),
        parent: None,
        context: [("tier".to_owned(), "free".to_owned())].into(),
    }
}

pub(crate) fn asked(id: u64, session_no: u64, judged: &Judged, expires_at_ms: At) -> Fact {
    Fact::ApprovalAsked {
        approval: approval(id),
        session: session(session_no),
        call: judged.facts.clone(),
        number: 1,
        input_sha256: input_body(judged).sha256,
        card_sha256: card_body(judged).sha256,
        rule: Some("ask before writing".to_owned()),
        reason: "It writes.".to_owned(),
        expires_at_ms,
        waiter: Some(Waiter { pid: 42, start: u64::MAX - 3 }),
        can_edit: true,
        policy: digest(1),
    }
}

pub(crate) fn yes(id: u64, judged: &Judged) -> Fact {
    Fact::ApprovalApproved {
        approval: approval(id),
        by: By::User,
        digest: judged.facts.digest,
        note: Some("go on".to_owned()),
        grant: None,
        also: Vec::new(),
    }
}

pub(crate) fn no(id: u64) -> Fact {
    Fact::ApprovalDenied { approval: approval(id), by: By::User, note: Some("not that file".to_owned()) }
}

pub(crate) fn allowed(session_no: u64, call: CallFacts, grants: Vec<GrantId>) -> Fact {
    let rules = if grants.is_empty() { vec!["read in the workspace".to_owned()] } else { Vec::new() };
    Fact::CallAllowed { session: session(session_no), call, rules, grants, policy: digest(1) }
}

pub(crate) fn input_body(judged: &Judged) -> Body {
    Body::new(serde_json::to_vec(&*judged.input).unwrap())
}

pub(crate) fn card_body(judged: &Judged) -> Body {
    Body::new(serde_json::to_vec(&*judged.card).unwrap())
}

pub(crate) fn judged(facts: CallFacts) -> Judged {
    let input: Value = json!({"file_path": "a", "n": facts.subjects.len()});
    let card = Card {
        headline: "to one file".to_owned(),
        shown: vec![Span::text("a")],
        subjects: Vec::new(),
        commands: Vec::new(),
        content: Vec::new(),
        says: Vec::new(),
        undo: Undo::WithEffort,
        reach: Reach::ThisFile,
        grave: false,
    };
    Judged { facts, input: Arc::new(input), card: Arc::new(card) }
}

pub(crate) fn call(tool: &str, subjects: Vec<Subject>, n: u64) -> CallFacts {
    CallFacts {
        tool: tool.to_owned(),
        call_id: Some(format!("toolu_{n}")),
        parent: None,
        cwd: "/w".into(),
        action: Action::strongest(subjects.iter().map(Subject::action)),
        subjects,
        flags: vec![Flag::Dotdot, Flag::OutsideWorkspace],
        digest: digest(n),
        action_digest: digest(n + 1_000_000),
        raw_sha256: digest(n + 2_000_000),
        grantable: vec![OnForm::Exact, OnForm::Path],
        refused: None,
        rewritten: None,
        doubt: None,
        masked: None,
    }
}

pub(crate) fn path(action: Action, resolved: &str) -> Subject {
    Subject::Path(PathSubject {
        action,
        asked: PathText::from_bytes(resolved.as_bytes()),
        normalized: resolved.into(),
        resolved: resolved.into(),
        exists: true,
        inside_workspace: true,
        via_symlink: false,
        hard_linked: false,
        other_device: false,
        protected: false,
        is_folder: false,
        inode: Some((66_306, u64::MAX)),
        content: None,
    })
}

pub(crate) fn url(host: &str, rest: &str) -> Subject {
    Subject::Url(UrlSubject {
        action: Action::Fetch,
        asked: format!("https://{host}{rest}"),
        normalized: format!("https://{host}{rest}"),
        scheme: "https".to_owned(),
        host: host.to_owned(),
        host_unicode: None,
        registrable_domain: None,
        port: 443,
        path: rest.to_owned(),
        has_query: false,
        network: None,
        odd: false,
    })
}

pub(crate) fn command(asked: &str, hosts: &[&str]) -> Subject {
    Subject::Command(CommandSubject {
        action: Action::Execute,
        asked: asked.to_owned(),
        inspectable: true,
        why_not: None,
        shell: "bash".to_owned(),
        commands: vec![SimpleCommand {
            operator: String::new(),
            argv: asked.split(' ').map(str::to_owned).collect(),
            exe: None,
            effect: Action::Execute,
            reads: Vec::new(),
            writes: Vec::new(),
            hosts: hosts.iter().map(|h| (*h).to_owned()).collect(),
            carrier_of: None,
            why_not: None,
            prefix_grantable: true,
        }],
    })
}

pub(crate) fn grant(n: u64, from: u64, issued_at_ms: At, uses: Option<u32>) -> Grant {
    let template = json!({
        "id": text(n),
        "effect": Effect::Allow,
        "scope": Scope {
            who: ScopeWho::Session,
            action: ScopeAction::Tool,
            on: On::Folder("/w".into()),
            expires_in_ms: 3_600_000,
            uses,
        },
        "who": GrantWho::Session { session: session(1) },
        "tool": "Write",
        "action": Action::Write,
        "from_approval": text(from),
        "by": By::User,
        "issued_at_ms": issued_at_ms,
        "expires_at_ms": issued_at_ms.plus_ms(3_600_000),
        "uses_left": uses,
        "used": 0,
        "last_used_at_ms": null,
        "root": [66_306, u64::MAX],
        "sentence": "Claude Code may write under /w for 1 hour.",
        "state": GrantState::Active,
    });
    serde_json::from_value(template).unwrap()
}

/// The same approvals, in the order of their ids.
pub(crate) fn open_of(state: &State) -> Vec<Approval> {
    state.approvals.values().cloned().collect()
}

pub(crate) fn sessions_of(state: &State) -> Vec<Session> {
    let mut sessions: Vec<Session> = state.sessions.values().cloned().collect();
    sessions.sort_by_key(|s| s.id);
    sessions
}
