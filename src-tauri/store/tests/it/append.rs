use std::ops::ControlFlow;

use placet_domain::{
    Action, ApprovalState, At, By, CancelReason, DeniedBy, Entry, Fact, Grant, GrantState, State, call::RefusedCode,
    state::Recalled,
};
use placet_store::{ApprovalFilter, Body, CallDecision, GrantFilter, HistoryFilter, SessionFilter, StoreError};

use crate::world::*;

/// A history in which everything happens that can happen.
fn eventful() -> World {
    let mut w = World::new();
    w.write(vec![Fact::AppStarted { version: "0.1.0".to_owned(), host: "window".to_owned() }]).unwrap();
    w.write(vec![started(1, "claude-code", "/w"), started(2, "codex", "/v")]).unwrap();
    w.write(vec![Fact::PolicyLoaded { policy: digest(1) }]).unwrap();
    w.write(vec![allowed(1, call("Read", vec![path(Action::Read, "/w/a.txt")], 10), vec![])]).unwrap();
    for (n, by) in (20..).zip([
        DeniedBy::Policy { rule: "no secrets".to_owned() },
        DeniedBy::Default,
        DeniedBy::Pause,
        DeniedBy::Refused { code: RefusedCode::MagicPath },
        DeniedBy::NobodyToAsk,
        DeniedBy::RepeatedDenial,
        DeniedBy::TooManyWaiting,
    ]) {
        let call = call("Read", vec![path(Action::Read, "/w/.env")], n);
        let (reason, policy) = ("It may not.".to_owned(), digest(1));
        w.write(vec![Fact::CallDenied { session: session(1), call, by, reason, policy }]).unwrap();
    }
    // One for each end of an approval, and two that stay open.
    let judged: Vec<_> = (100..110).map(|n| judged(call("Write", vec![path(Action::Write, "/w/a.txt")], n))).collect();
    for (n, judged) in (100..).zip(&judged) {
        w.ask(n, 1 + n % 2, judged).unwrap();
    }
    w.write(vec![yes(100, &judged[0])]).unwrap();
    w.write(vec![Fact::ApprovalConsumed { approval: approval(100) }]).unwrap();
    let mut given = grant(500, 101, w.now.plus_ms(1_000), Some(3));
    given.who = placet_domain::grant::GrantWho::Session { session: session(2) };
    w.write(vec![
        Fact::ApprovalApproved {
            approval: approval(101),
            by: By::User,
            digest: judged[1].facts.digest,
            note: None,
            grant: Some(given.id),
            also: Vec::new(),
        },
        Fact::GrantIssued { grant: given.clone() },
        Fact::ApprovalApproved {
            approval: approval(102),
            by: By::Grant { grant: given.id },
            digest: judged[2].facts.digest,
            note: None,
            grant: None,
            also: Vec::new(),
        },
    ])
    .unwrap();
    w.write(vec![Fact::ApprovalLapsed { approval: approval(101) }]).unwrap();
    w.write(vec![Fact::ApprovalVoided { approval: approval(102), changed: vec!["a.txt changed.".to_owned()] }])
        .unwrap();
    w.write(vec![no(103)]).unwrap();
    w.write(vec![Fact::ApprovalDenied {
        approval: approval(104),
        by: By::Policy { rule: "r".to_owned() },
        note: None,
    }])
    .unwrap();
    w.write(vec![Fact::ApprovalExpired { approval: approval(105) }]).unwrap();
    w.write(vec![Fact::ApprovalCancelled {
        approval: approval(106),
        reason: CancelReason::AnsweredElsewhere,
        by: None,
        note: None,
    }])
    .unwrap();
    w.write(vec![Fact::ApprovalAttached { approval: approval(107), waiter: None }]).unwrap();
    let changed = self::judged_again(&judged[8]);
    let refreshed = Fact::ApprovalRefreshed {
        approval: approval(108),
        call: changed.facts.clone(),
        card_sha256: card_body(&changed).sha256,
        changed: vec!["The file changed.".to_owned()],
    };
    w.now = w.now.plus_ms(1_000);
    w.write_with(vec![refreshed], &[changed]).unwrap();
    w.write(vec![yes(109, &judged[9])]).unwrap();
    w.write(vec![allowed(2, call("Write", vec![path(Action::Write, "/w/b.txt")], 30), vec![given.id])]).unwrap();
    w.write(vec![Fact::GrantShortened { grant: given.id, expires_at_ms: w.now.plus_ms(100_000) }]).unwrap();
    let other = grant(501, 100, w.now.plus_ms(1_000), None);
    w.write(vec![Fact::GrantIssued { grant: other.clone() }]).unwrap();
    w.write(vec![Fact::GrantRevoked { grant: other.id, by: By::User, note: Some("enough".to_owned()) }]).unwrap();
    let dead = grant(502, 100, w.now.plus_ms(1_000), None);
    w.write(vec![Fact::GrantIssued { grant: dead.clone() }]).unwrap();
    w.write(vec![Fact::GrantEnded { grant: dead.id, how: GrantState::Dead }]).unwrap();
    w.write(vec![ran(1, 10, "Read", None), ran(2, 999, "Bash", None), ran(1, 100, "Write", Some(100))]).unwrap();
    w.write(vec![Fact::Paused { by: By::Command }]).unwrap();
    w.write(vec![started(3, "gemini-cli", "/u")]).unwrap();
    w.write(vec![Fact::SessionStopped { session: session(3), summary: Some("done".to_owned()) }]).unwrap();
    w
}

fn judged_again(judged: &placet_domain::Judged) -> placet_domain::Judged {
    let mut again = judged.clone();
    again.facts.digest = digest(77);
    let mut card = (*again.card).clone();
    "to one file, changed".clone_into(&mut card.headline);
    again.card = std::sync::Arc::new(card);
    again
}

fn ran(session_no: u64, n: u64, tool: &str, of: Option<u64>) -> Fact {
    Fact::CallRan {
        session: session(session_no),
        call_id: Some(format!("toolu_{n}")),
        tool: tool.to_owned(),
        outcome: "ok".to_owned(),
        duration_ms: 12,
        output_sha256: Some(digest(5)),
        action_digest: digest(n + 1_000_000),
        approval: of.map(approval),
    }
}

#[test]
fn what_is_loaded_is_what_the_facts_add_up_to() {
    let mut w = eventful();
    w.reopen();
    let (state, opened) = (&w.state, &w.opened);
    assert_eq!(opened.sessions.len(), 3);
    assert_eq!(opened.sessions, sessions_of(state));
    assert_eq!(opened.approvals, open_of(state));
    assert_eq!(opened.approvals.iter().map(|a| a.id).collect::<Vec<_>>(), [107, 108, 109].map(approval));
    assert_eq!(opened.approvals[1].judged.card.headline, "to one file, changed");
    let grants: Vec<Grant> = state.grants.values().cloned().collect();
    assert_eq!(opened.grants, grants);
    assert_eq!((grants.len(), grants[0].used, grants[0].uses_left), (1, 2, Some(1)));
    assert!(opened.ignored_grants.is_empty() && opened.ignored_approvals.is_empty());
    assert_eq!(opened.broken, None);
    assert!(opened.paused && state.paused);
    assert_eq!(opened.latest_ms, Some(w.now));
    assert_eq!(opened.settled.len(), state.settled.len());
    for (id, settled) in &opened.settled {
        let kept = &state.settled[id];
        assert_eq!(settled.state, kept.state);
        assert_eq!((settled.session, &settled.call_id), (kept.session, &kept.call_id));
        assert_eq!(settled.action_digest, kept.action_digest);
    }
    let denials: Vec<_> = opened.denials.iter().map(|(s, d, at)| ((*s, *d), vec![*at])).collect();
    assert_eq!(denials, state.denials.clone().into_iter().collect::<Vec<_>>());
    let recent = opened.reader.recent_calls(At(0)).unwrap();
    assert_eq!(recent.iter().filter(|r| r.what == Recalled::Allowed).count(), 2);
    assert_eq!(recent.iter().filter(|r| r.what == Recalled::Asked).count(), 10);
    assert!(recent.is_sorted_by_key(|r| r.at_ms));
    assert_eq!(opened.reader.recent_calls(w.now).unwrap(), []);
}

#[test]
fn a_session_is_tainted_by_what_is_let_in_and_not_by_what_is_asked() {
    let mut w = World::new();
    w.write((1..=3).map(|n| started(n, "claude-code", "/w")).collect()).unwrap();
    w.write(vec![allowed(1, call("WebFetch", vec![url("example.com", "/")], 1), vec![])]).unwrap();
    let judged = judged(call("WebFetch", vec![url("example.com", "/")], 2));
    w.ask(100, 2, &judged).unwrap();
    w.ask(101, 3, &judged).unwrap();
    w.write(vec![yes(100, &judged)]).unwrap();
    w.write(vec![Fact::ApprovalConsumed { approval: approval(100) }]).unwrap();
    w.reopen();
    assert_eq!(w.opened.sessions, sessions_of(&w.state));
    assert_eq!(w.opened.sessions.iter().map(|s| s.tainted).collect::<Vec<_>>(), [true, true, false]);
}

#[test]
fn a_replay_of_the_facts_gives_the_same_state() {
    let w = eventful();
    let mut replayed = State::default();
    for entry in w.opened.reader.facts(0, 10_000).unwrap() {
        replayed.apply(&entry, None);
    }
    assert_eq!(sessions_of(&replayed), sessions_of(&w.state));
    assert_eq!(replayed.grants, w.state.grants);
    assert_eq!(replayed.due, w.state.due);
    assert_eq!(replayed.paused, w.state.paused);
    assert_eq!(w.opened.reader.head().unwrap(), w.head);
}

#[test]
fn the_history_has_a_row_for_each_call_with_what_became_of_it() {
    let w = eventful();
    let rows = w.opened.reader.history(&HistoryFilter::default()).unwrap().items;
    let words: Vec<_> = rows.iter().rev().map(|row| row.decision.word()).collect();
    assert_eq!(
        words,
        [
            "allowed_by_rule",
            "denied_by_rule",
            "denied_by_default",
            "denied_by_pause",
            "refused",
            "nobody_to_ask",
            "repeated_denial",
            "too_many_waiting",
            "consumed",
            "lapsed",
            "void",
            "denied",
            "denied",
            "expired",
            "cancelled",
            "pending",
            "pending",
            "approved",
            "allowed_by_grant",
            "unasked",
        ]
    );
    let read = rows.last().unwrap();
    assert_eq!((read.outcome.as_deref(), read.duration_ms), (Some("ok"), Some(12)));
    assert_eq!(read.subject_text, "/w/a.txt");
    let consumed = rows.iter().find(|r| r.decision == CallDecision::Consumed).unwrap();
    assert_eq!(consumed.by.as_deref(), Some("user"));
    assert_eq!(consumed.note.as_deref(), Some("go on"));
    assert_eq!(consumed.waited_ms, Some(10_000));
    assert_eq!(consumed.outcome.as_deref(), Some("ok"));
    let denied = rows.iter().find(|r| r.approval == Some(approval(104))).unwrap();
    assert_eq!((denied.by.as_deref(), denied.rule.as_deref()), (Some("policy"), Some("r")));
}

#[test]
fn the_life_of_a_call_is_told_in_order() {
    let w = eventful();
    let kinds = |life: placet_store::CallLife| life.facts.iter().map(|f| f.entry.fact.kind()).collect::<Vec<_>>();
    let life = w.opened.reader.call_of(approval(100)).unwrap().unwrap();
    let seq = life.row.seq;
    assert_eq!(life.card.as_ref().unwrap().headline, "to one file");
    let ran = life.facts.last().unwrap().entry.seq;
    assert_eq!(kinds(life), ["approval_asked", "approval_approved", "approval_consumed", "call_ran"]);
    for of_it in [seq, ran] {
        assert_eq!(w.opened.reader.call(of_it).unwrap().unwrap().row.approval, Some(approval(100)));
    }
    let refreshed = w.opened.reader.call_of(approval(108)).unwrap().unwrap();
    assert_eq!(refreshed.row.digest, Some(digest(77)));
    assert_eq!(refreshed.card.as_ref().unwrap().headline, "to one file, changed");
    assert_eq!(w.opened.reader.call(1).unwrap(), None);
}

#[test]
fn each_list_is_read_page_by_page() {
    let w = eventful();
    let reader = &w.opened.reader;
    let mut seen = Vec::new();
    let mut filter = ApprovalFilter { limit: 3, ..Default::default() };
    loop {
        let page = reader.approvals(&filter).unwrap();
        seen.extend(page.items.iter().map(|a| a.id));
        filter.after = page.next;
        if filter.after.is_none() {
            break;
        }
    }
    assert_eq!(seen, (100..110).map(approval).collect::<Vec<_>>());
    let only = |state: &str| ApprovalFilter { state: Some(state.to_owned()), ..Default::default() };
    for state in ["consumed", "lapsed", "void", "expired", "cancelled", "approved"] {
        let items = reader.approvals(&only(state)).unwrap().items;
        assert_eq!(items.len(), 1, "{state}");
        assert_eq!(items[0].state.word(), state);
    }
    assert_eq!(reader.approvals(&only("denied")).unwrap().items.len(), 2);
    let of_codex = ApprovalFilter { agent: Some(agent("codex")), ..Default::default() };
    assert_eq!(reader.approvals(&of_codex).unwrap().items.len(), 5);
    let of_one = ApprovalFilter { session: Some(session(1)), ..only("pending") };
    assert_eq!(reader.approvals(&of_one).unwrap().items.len(), 1);
    let void = reader.approval(approval(102)).unwrap().unwrap();
    assert!(matches!(&void.state, ApprovalState::Void { by: By::Grant { .. }, changed, .. } if changed.len() == 1));
    assert_eq!(reader.approval(approval(9_999)).unwrap(), None);

    let grants = reader.grants(&GrantFilter::default()).unwrap().items;
    assert_eq!(grants.iter().map(|g| g.grant.id).collect::<Vec<_>>(), [500, 501, 502].map(grant_id));
    assert_eq!(grants[1].revoked.as_ref().unwrap().note.as_deref(), Some("enough"));
    let dead = GrantFilter { state: Some(GrantState::Dead), ..Default::default() };
    assert_eq!(reader.grants(&dead).unwrap().items.len(), 1);
    assert_eq!(reader.grant(grant_id(501)).unwrap().unwrap().grant.state, GrantState::Revoked);
    let running = SessionFilter { running: Some(true), ..Default::default() };
    assert_eq!(reader.sessions(&running).unwrap().items.len(), 2);
    assert_eq!(reader.session(session(3)).unwrap().unwrap().agent, agent("gemini-cli"));
    let events: Vec<_> = reader.events(None, 3).unwrap().iter().map(|e| e.fact.kind()).collect();
    assert_eq!(events, ["session_stopped", "session_started", "paused"]);
}

#[test]
fn figures_follow_what_becomes_of_calls() {
    let w = eventful();
    let stats = w.opened.reader.stats(At(0), At(i64::MAX), placet_store::Bucket::Day).unwrap();
    assert_eq!(stats.calls, 20);
    assert_eq!(stats.asked, 10);
    let count = |decision| stats.timeline.iter().filter(|c| c.decision == decision).map(|c| c.calls).sum::<u64>();
    assert_eq!(count(CallDecision::Pending), 2);
    assert_eq!(count(CallDecision::Denied), 2);
    assert_eq!(count(CallDecision::Consumed), 1);
    assert_eq!(stats.agents, [("claude-code".to_owned(), 13), ("codex".to_owned(), 7)]);
    assert!(stats.median_wait_ms.is_some());
    let alike = w.opened.reader.alike(digest(1_000_103), At(0)).unwrap();
    assert_eq!((alike.approved, alike.denied), (0, 1));
    let alike = w.opened.reader.alike(digest(1_000_100), At(0)).unwrap();
    assert_eq!((alike.approved, alike.denied), (1, 0));
}

#[test]
fn a_late_yes_is_refused_by_the_transaction_and_takes_everything_with_it() {
    let mut w = World::new();
    w.write(vec![started(1, "claude-code", "/w")]).unwrap();
    let judged = judged(call("Write", vec![path(Action::Write, "/w/a.txt")], 1));
    w.ask(100, 1, &judged).unwrap();
    let before = w.head;
    w.now = w.now.plus_ms(60_000 - 1_000);
    let late = w.write(vec![Fact::Paused { by: By::User }, yes(100, &judged)]);
    assert!(matches!(late, Err(StoreError::Conflict { table: "approvals", .. })), "{late:?}");
    assert_eq!(w.opened.reader.head().unwrap(), before);
    let late = w.write(vec![no(100)]);
    assert!(matches!(late, Err(StoreError::Conflict { .. })), "{late:?}");
    // What does follow is taken as if nothing had been.
    assert_eq!(w.write(vec![Fact::ApprovalExpired { approval: approval(100) }]).unwrap().seq, before.seq + 1);
    w.reopen();
    assert!(!w.opened.paused);
    assert!(w.opened.approvals.is_empty());
}

#[test]
fn an_approval_is_settled_exactly_once() {
    let judged = judged(call("Write", vec![path(Action::Write, "/w/a.txt")], 1));
    let ends: [fn(u64, &placet_domain::Judged) -> Fact; 4] = [
        yes,
        |id, _| no(id),
        |id, _| Fact::ApprovalExpired { approval: approval(id) },
        |id, _| Fact::ApprovalCancelled { approval: approval(id), reason: CancelReason::User, by: None, note: None },
    ];
    let mut w = World::new();
    w.write(vec![started(1, "claude-code", "/w")]).unwrap();
    for (n, first) in (100..).step_by(10).zip(ends) {
        for (m, second) in (n..).zip(ends) {
            w.ask(m, 1, &judged).unwrap();
            w.write(vec![first(m, &judged)]).unwrap();
            let twice = w.write(vec![second(m, &judged)]);
            assert!(matches!(twice, Err(StoreError::Conflict { .. })), "{twice:?}");
        }
    }
    let never = w.write(vec![Fact::ApprovalConsumed { approval: approval(110) }]);
    assert!(matches!(never, Err(StoreError::Conflict { .. })), "{never:?}");
    w.write(vec![Fact::ApprovalConsumed { approval: approval(100) }]).unwrap();
    let twice = w.write(vec![Fact::ApprovalConsumed { approval: approval(100) }]);
    assert!(matches!(twice, Err(StoreError::Conflict { .. })), "{twice:?}");
}

#[test]
fn a_grant_that_has_ended_lets_nothing_through() {
    let mut w = World::new();
    w.write(vec![started(1, "claude-code", "/w")]).unwrap();
    let once = grant(500, 1, w.now, Some(1));
    let timed = grant(501, 1, w.now, None);
    w.write(vec![Fact::GrantIssued { grant: once.clone() }, Fact::GrantIssued { grant: timed.clone() }]).unwrap();
    let use_of = |n, id| allowed(1, call("Write", vec![path(Action::Write, "/w/a.txt")], n), vec![id]);
    w.write(vec![use_of(1, once.id)]).unwrap();
    assert!(matches!(w.write(vec![use_of(2, once.id)]), Err(StoreError::Conflict { table: "grants", .. })));
    w.write(vec![use_of(3, timed.id)]).unwrap();
    w.now = w.now.plus_ms(3_600_000);
    assert!(matches!(w.write(vec![use_of(4, timed.id)]), Err(StoreError::Conflict { table: "grants", .. })));
    w.write(vec![Fact::GrantEnded { grant: timed.id, how: GrantState::Expired }]).unwrap();
    let again = w.write(vec![Fact::GrantEnded { grant: timed.id, how: GrantState::Expired }]);
    assert!(matches!(again, Err(StoreError::Conflict { table: "grants", .. })));
}

#[test]
fn what_does_not_fit_is_refused_whole() {
    let mut w = World::new();
    w.write(vec![started(1, "claude-code", "/w")]).unwrap();
    let gap = Entry { seq: 5, at_ms: w.now, fact: Fact::AppStopped {} };
    let gap = w.opened.store.append(&[gap], &[]);
    assert!(matches!(gap, Err(StoreError::OutOfOrder { expected: 2, got: 5 })));
    let unknown = w.write(vec![allowed(9, call("Read", vec![], 1), vec![])]);
    assert!(matches!(unknown, Err(StoreError::Conflict { table: "sessions", .. })), "{unknown:?}");
    let twice = w.write(vec![started(1, "claude-code", "/w")]);
    assert!(matches!(twice, Err(StoreError::Conflict { .. })), "{twice:?}");
    let liar = Body { sha256: digest(1), bytes: b"other".to_vec() };
    let stop = Entry { seq: 2, at_ms: w.now, fact: Fact::AppStopped {} };
    assert!(matches!(w.opened.store.append(std::slice::from_ref(&stop), &[liar]), Err(StoreError::BodyMismatch(_))));
    assert_eq!(w.opened.store.append(&[stop], &[]).unwrap().seq, 2);
    let verified = w.opened.reader.verify(None, &mut |_| ControlFlow::Continue(())).unwrap();
    assert_eq!((verified.intact, verified.rows), (true, 2));
}

#[test]
fn bodies_can_be_forgotten_and_the_chain_holds() {
    let mut w = eventful();
    let kept = w.opened.reader.approval(approval(107)).unwrap().unwrap();
    assert_ne!(*kept.judged.input, serde_json::Value::Null);
    assert!(w.opened.store.forget_bodies(At(i64::MAX), 1_000).unwrap() <= 1);
    assert_eq!(w.opened.reader.approval(approval(107)).unwrap().unwrap(), kept);
    assert!(w.opened.reader.verify(None, &mut |_| ControlFlow::Continue(())).unwrap().intact);
}
