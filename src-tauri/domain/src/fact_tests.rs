//! The stored format, frozen: kinds and fields may be added, never renamed. A change of this snapshot that is no
//! addition breaks every history there is.
#![allow(clippy::unwrap_used)]

use std::{collections::BTreeMap, fmt::Write as _};

use crate::{
    Action, At, By, CallFacts, CancelReason, Entry, Fact, Flag, Grant, GrantState, PathText, RefusedCode, Scope,
    Subject, Waiter,
    call::{OnForm, Refused},
    fact::DeniedBy,
    grant::{Effect, GrantWho, On, ScopeAction, ScopeWho, True},
    subject::{NetworkClass, PathSubject, SimpleCommand},
    testing::{
        T0, agent, approval_id, call, command, digest_of, grant_id, mcp, only_tool, part, path, session_id, url,
    },
};

fn a_call() -> CallFacts {
    let carried = SimpleCommand {
        operator: "|".to_owned(),
        exe: Some(PathText::from("/usr/bin/env")),
        reads: vec![PathText::from("/w/a")],
        writes: vec![PathText::from_bytes(b"/w/\xff".to_vec())],
        hosts: vec!["docs.rs".to_owned()],
        carrier_of: Some(vec!["ls".to_owned()]),
        why_not: Some("an expansion".to_owned()),
        ..part(Action::Execute, "env ls")
    };
    let linked = PathSubject {
        via_symlink: true,
        hard_linked: true,
        other_device: true,
        protected: true,
        is_folder: true,
        inode: Some((1, 2)),
        content: Some(digest_of("content")),
        ..path(Action::Write, "/w/a")
    };
    let mut address = url(Action::Fetch, "https://docs.rs/a?q");
    address.host_unicode = Some("docs.rs".to_owned());
    address.registrable_domain = Some("docs.rs".to_owned());
    address.network = Some(NetworkClass::LinkLocal);
    address.odd = true;
    let mut tool = mcp("gh", "list");
    tool.definition = Some(digest_of("definition"));
    let mut facts = call(
        "Bash",
        vec![
            Subject::Command(command(vec![part(Action::Read, "cat a"), carried])),
            Subject::Path(linked),
            Subject::Path(path(Action::Read, "/w/b")),
            Subject::Url(address),
            Subject::Mcp(tool),
            Subject::Tool(only_tool(Action::Other, "T")),
        ],
    )
    .facts;
    facts.call_id = Some("call-1".to_owned());
    facts.flags = vec![Flag::Dotdot, Flag::MetadataHost];
    facts.refused = Some(Refused { code: RefusedCode::MagicPath, reason: "no".to_owned() });
    facts
}

fn a_small_call() -> CallFacts {
    let mut facts = call("Read", vec![Subject::Path(path(Action::Read, "/w/a"))]).facts;
    facts.grantable = vec![OnForm::Exact];
    facts
}

fn a_grant(on: On, who: GrantWho) -> Grant {
    let scope = Scope {
        who: ScopeWho::AgentInWorkspace,
        action: ScopeAction::Kind,
        on,
        expires_in_ms: 3_600_000,
        uses: Some(2),
    };
    Grant {
        id: grant_id(3),
        effect: Effect::Allow,
        scope,
        who,
        tool: Some("Bash".to_owned()),
        action: Action::Write,
        from_approval: approval_id(2),
        by: By::Supervisor,
        issued_at_ms: T0,
        expires_at_ms: T0.plus_ms(3_600_000),
        uses_left: Some(2),
        used: 0,
        last_used_at_ms: None,
        root: Some((1, 2)),
        action_digest: Some(digest_of("action")),
        ran_in: Some(PathText::from("/w")),
        beside: vec![Subject::Tool(only_tool(Action::Other, "T"))],
        definition: Some(digest_of("definition")),
        normalizer: "n/1".to_owned(),
        sentence: "claude-code may.".to_owned(),
        state: GrantState::Active,
    }
}

/// Every kind, once with everything and, where something may be left away, once without.
fn every_fact() -> Vec<Fact> {
    let (session, approval, grant) = (session_id(1), approval_id(2), grant_id(3));
    let digest = digest_of("digest");
    let note = || Some("words".to_owned());
    let changed = || vec!["The file changed.".to_owned()];
    let workspace = PathText::from("/w");
    let issued = |on, who| Fact::GrantIssued { grant: a_grant(on, who) };
    let denied = |by| Fact::CallDenied { session, call: a_small_call(), by, reason: "no".to_owned(), policy: digest };
    let in_session = || GrantWho::Session { session };
    vec![
        Fact::AppStarted { version: "0.1.0".to_owned(), host: "window".to_owned() },
        Fact::AppStopped {},
        Fact::SessionStarted {
            session,
            agent: agent("claude-code"),
            client_session: Some("c1".to_owned()),
            workspace: workspace.clone(),
            parent: Some(session_id(9)),
            context: BTreeMap::from([("user".to_owned(), "u_004".to_owned())]),
        },
        Fact::SessionStarted {
            session,
            agent: agent("codex"),
            client_session: None,
            workspace: workspace.clone(),
            parent: None,
            context: BTreeMap::new(),
        },
        Fact::SessionResumed { session },
        Fact::SessionStopped { session, summary: note() },
        Fact::CallAllowed {
            session,
            call: a_call(),
            rules: vec!["read".to_owned()],
            grants: vec![grant],
            policy: digest,
        },
        Fact::CallAllowed { session, call: a_small_call(), rules: vec![], grants: vec![], policy: digest },
        denied(DeniedBy::Policy { rule: "no".to_owned() }),
        denied(DeniedBy::Default),
        denied(DeniedBy::Grant { grant }),
        denied(DeniedBy::Pause),
        denied(DeniedBy::Refused { code: RefusedCode::DotdotThroughMissingComponent }),
        denied(DeniedBy::NobodyToAsk),
        denied(DeniedBy::RepeatedDenial),
        denied(DeniedBy::TooManyWaiting),
        Fact::ApprovalAsked {
            approval,
            session,
            call: a_small_call(),
            number: 1,
            input_sha256: digest,
            card_sha256: digest,
            rule: Some("ask".to_owned()),
            reason: "why".to_owned(),
            expires_at_ms: At(7),
            waiter: Some(Waiter { pid: 7, start: 8 }),
            can_edit: true,
            policy: digest,
        },
        Fact::ApprovalAttached { approval, waiter: Some(Waiter { pid: 7, start: 8 }) },
        Fact::ApprovalAttached { approval, waiter: None },
        Fact::ApprovalRefreshed { approval, call: a_small_call(), card_sha256: digest, changed: changed() },
        Fact::ApprovalApproved { approval, by: By::User, digest, note: note(), grant: Some(grant), also: Vec::new() },
        Fact::ApprovalApproved { approval, by: By::Grant { grant }, digest, note: None, grant: None, also: Vec::new() },
        Fact::ApprovalDenied { approval, by: By::Policy { rule: "no".to_owned() }, note: note() },
        Fact::ApprovalDenied { approval, by: By::Command, note: None },
        Fact::ApprovalExpired { approval },
        Fact::ApprovalCancelled { approval, reason: CancelReason::Batch, by: Some(By::Supervisor), note: note() },
        Fact::ApprovalCancelled { approval, reason: CancelReason::User, by: None, note: None },
        Fact::ApprovalCancelled { approval, reason: CancelReason::AgentGone, by: None, note: None },
        Fact::ApprovalCancelled { approval, reason: CancelReason::Withdrawn, by: None, note: None },
        Fact::ApprovalCancelled { approval, reason: CancelReason::AnsweredElsewhere, by: None, note: None },
        Fact::ApprovalConsumed { approval },
        Fact::ApprovalLapsed { approval },
        Fact::ApprovalVoided { approval, changed: changed() },
        issued(On::Exact(True), in_session()),
        issued(On::Path(workspace.clone()), GrantWho::Agent { agent: agent("codex") }),
        issued(On::Folder(workspace.clone()), GrantWho::Workspace { workspace: workspace.clone() }),
        issued(On::Url("https://a.b/".to_owned()), GrantWho::AgentInWorkspace { agent: agent("codex"), workspace }),
        issued(On::UrlPrefix("https://a.b/c".to_owned()), in_session()),
        issued(On::Origin("https://a.b".to_owned()), in_session()),
        issued(On::Command("cargo test".to_owned()), in_session()),
        issued(On::CommandPrefix(vec!["cargo".to_owned(), "test".to_owned()]), in_session()),
        issued(On::McpTool("gh/list".to_owned()), in_session()),
        Fact::GrantEnded { grant, how: GrantState::Expired },
        Fact::GrantEnded { grant, how: GrantState::Exhausted },
        Fact::GrantEnded { grant, how: GrantState::Dead },
        Fact::GrantRevoked { grant, by: By::User, note: note() },
        Fact::GrantShortened { grant, expires_at_ms: At(9) },
        Fact::CallRan {
            session,
            call_id: Some("call-1".to_owned()),
            tool: "Bash".to_owned(),
            outcome: "ok".to_owned(),
            duration_ms: 12,
            output_sha256: Some(digest),
            action_digest: digest,
            approval: Some(approval),
        },
        Fact::PolicyLoaded { policy: digest },
        Fact::PolicyRefused { message: "no".to_owned(), line: Some(1), column: Some(2) },
        Fact::PolicyRefused { message: "no".to_owned(), line: None, column: None },
        Fact::HookFailed { session: Some(session), hook: "h".to_owned(), message: "m".to_owned() },
        Fact::Paused { by: By::Command },
        Fact::Resumed { by: By::User },
        Fact::AlertRaised { alert: "a".to_owned(), message: "m".to_owned() },
    ]
}

#[test]
fn the_stored_form_of_every_fact_is_frozen() {
    let lines = every_fact().into_iter().zip(1..).fold(String::new(), |mut lines, (fact, seq)| {
        let _ = writeln!(lines, "{}", serde_json::to_string(&Entry { seq, at_ms: T0, fact }).unwrap());
        lines
    });
    insta::assert_snapshot!(lines);
}

#[test]
fn every_fact_reads_as_it_was_written_and_names_its_kind() {
    let mut kinds = std::collections::BTreeSet::new();
    for (fact, seq) in every_fact().into_iter().zip(1..) {
        let kind = fact.kind();
        kinds.insert(kind);
        let entry = Entry { seq, at_ms: T0, fact };
        let value = serde_json::to_value(&entry).unwrap();
        assert_eq!(value["kind"], kind);
        assert_eq!(serde_json::from_value::<Entry>(value.clone()).unwrap(), entry);
        assert_eq!(
            value.get("approval").and_then(|v| v.as_str()).map(str::to_owned),
            entry.fact.approval().map(|id| id.to_string()),
        );
    }
    assert_eq!(kinds.len(), 28, "one of every kind stands in the snapshot");
}

#[test]
fn a_history_written_before_a_field_was_added_still_reads() {
    let old = r#"{"seq":1,"at_ms":5,"kind":"grant_issued","grant":{"id":"00000000-0000-0000-0000-000000000003","effect":"allow","scope":{"who":"session","on":{"exact":true},"expires_in_ms":1000},"who":{"kind":"session","session":"00000000-0000-0000-0000-000000000001"},"tool":"Bash","action":"write","from_approval":"00000000-0000-0000-0000-000000000002","by":{"who":"user"},"issued_at_ms":1,"expires_at_ms":1001,"uses_left":null,"used":0,"last_used_at_ms":null,"root":null,"sentence":"s","state":"active"}}"#;
    let entry: Entry = serde_json::from_str(old).unwrap();
    assert!(
        matches!(entry.fact, Fact::GrantIssued { grant } if grant.action_digest.is_none() && grant.beside.is_empty())
    );
}
