//! Grants in life-cycle order: what can be given, what it says, what it lets through, and how it ends.
#![allow(clippy::unwrap_used)]

use serde_json::json;

use super::{Effect, GrantState, On, Past, Scope, ScopeAction, ScopeWho, True, preview};
use crate::{
    Action, At, By, Command, Fact, Flag, Judged, PathText, Refusal, Subject,
    subject::PathSubject,
    testing::{
        HOUR_MS, T0, World, bash, call, command, fetch, grant_id, link, mcp, part, path, read, scope, session_id,
        uninspectable, url, verdict, write,
    },
};

fn folder(at: &str) -> On {
    On::Folder(PathText::from(at))
}

fn at(path: &str) -> On {
    On::Path(PathText::from(path))
}

fn words(text: &str) -> On {
    On::CommandPrefix(text.split(' ').map(str::to_owned).collect())
}

/// The refusal of a grant for this call, or its sentence.
fn tried(judged: &Judged, scope: Scope) -> String {
    let mut world = World::new();
    let id = world.ask(judged);
    match world.grant(id, scope) {
        Ok(grant) => world.state.grants[&grant].sentence.clone(),
        Err(Refusal { code, message }) => format!("{}: {message}", code.word()),
    }
}

#[test]
fn what_can_be_given_and_what_it_says() {
    let protected =
        call("Write", vec![Subject::Path(PathSubject { protected: true, ..path(Action::Write, "/w/.git/hooks/x") })]);
    let linked = call("Write", vec![Subject::Path(PathSubject { hard_linked: true, ..path(Action::Write, "/w/a") })]);
    let dark = call("Bash", vec![Subject::Command(uninspectable("eval $x"))]);
    let odd = {
        let mut odd = url(Action::Fetch, "https://docs.rs/a");
        odd.odd = true;
        call("WebFetch", vec![Subject::Url(odd)])
    };
    let mut once = write("/w/a");
    once.facts.grantable.clear();
    let test = bash(vec![part(Action::Execute, "cargo test --all")]);
    let mcp_call = call("mcp__gh__list", vec![Subject::Mcp(mcp("gh", "list"))]);
    let week = 7 * 24 * HOUR_MS;
    let for_ms = |expires_in_ms, who| Scope { who, expires_in_ms, ..scope(at("/w/a")) };
    let cases = [
        tried(&write("/w/src/a.rs"), scope(On::Exact(True))),
        tried(&write("/w/src/a.rs"), scope(at("/w/src/a.rs"))),
        tried(&write("/w/src/a.rs"), Scope { uses: Some(1), ..scope(folder("/w/src")) }),
        tried(
            &write("/w/src/a.rs"),
            Scope {
                action: ScopeAction::Kind,
                who: ScopeWho::Workspace,
                uses: Some(5),
                expires_in_ms: week,
                ..scope(folder("/w"))
            },
        ),
        tried(
            &read("/etc/ssl/a"),
            Scope { action: ScopeAction::Kind, who: ScopeWho::Agent, ..scope(folder("/etc/ssl")) },
        ),
        tried(&fetch("https://docs.rs/a?q"), scope(On::Url("https://docs.rs/a?q".to_owned()))),
        tried(
            &fetch("https://docs.rs/a/b"),
            Scope { who: ScopeWho::AgentInWorkspace, ..scope(On::UrlPrefix("https://docs.rs/a".to_owned())) },
        ),
        tried(
            &fetch("https://docs.rs/a/b"),
            Scope { expires_in_ms: 90_000, ..scope(On::Origin("https://docs.rs".to_owned())) },
        ),
        tried(&test, scope(On::Command("cargo test --all".to_owned()))),
        tried(&test, scope(words("cargo test"))),
        tried(&mcp_call, scope(On::McpTool("gh/list".to_owned()))),
        tried(&dark, scope(On::Exact(True))),
        tried(&write("/w/a\u{202e}b"), scope(at("/w/a\u{202e}b"))),
        String::new(),
        tried(&once, scope(On::Exact(True))),
        tried(&protected, scope(On::Exact(True))),
        tried(&linked, scope(at("/w/a"))),
        tried(&dark, scope(On::Command("eval $x".to_owned()))),
        tried(&odd, scope(On::Origin("https://docs.rs".to_owned()))),
        tried(&write("/w/a"), scope(On::Origin("https://docs.rs".to_owned()))),
        String::new(),
        tried(&write("/w/src/a.rs"), scope(folder("/"))),
        tried(&write("/w/src/a.rs"), scope(folder("/w/srcs"))),
        tried(&read("/etc/ssl/a"), scope(folder("/etc"))),
        tried(&write("/w/a"), scope(at("/w/b"))),
        tried(&call("Write", vec![Subject::Path(link(Action::Write, "/w/l", "/etc/x"))]), scope(folder("/w"))),
        tried(&fetch("https://docs.rs/a"), scope(On::Origin("https://rs".to_owned()))),
        tried(&fetch("https://docs.rs/a"), scope(On::UrlPrefix("https://docs.rs/".to_owned()))),
        tried(&fetch("https://docs.rs/ab"), scope(On::UrlPrefix("https://docs.rs/a".to_owned()))),
        tried(&fetch("https://docs.rs/a?q"), scope(On::Origin("https://docs.rs".to_owned()))),
        tried(&test, scope(words("cargo"))),
        tried(&test, scope(On::CommandPrefix(vec![]))),
        tried(&bash(vec![part(Action::Execute, "a b"), part(Action::Execute, "c")]), scope(words("a b"))),
        tried(&mcp_call, scope(On::McpTool("gh/delete".to_owned()))),
        tried(&write("/w/a"), Scope { uses: Some(0), ..scope(at("/w/a")) }),
        String::new(),
        tried(&write("/w/a"), for_ms(999, ScopeWho::Session)),
        tried(&write("/w/a"), for_ms(24 * HOUR_MS + 1, ScopeWho::Session)),
        tried(&write("/w/a"), for_ms(30 * 24 * HOUR_MS + 1, ScopeWho::Agent)),
        tried(&write("/w/a"), for_ms(i64::MAX, ScopeWho::Agent)),
        tried(&write("/w/a"), for_ms(-1, ScopeWho::Agent)),
        tried(&write("/w/a"), for_ms(30 * 24 * HOUR_MS, ScopeWho::Agent)),
    ];
    let said = cases.join("\n");
    insta::assert_snapshot!(said);
}

#[test]
fn refusals_come_in_the_order_of_the_contract() {
    let wrong_in_all = Scope { expires_in_ms: 0, ..scope(folder("/")) };
    let mut once = write("/w/a");
    once.facts.grantable.clear();
    assert!(tried(&once, wrong_in_all.clone()).starts_with("not_grantable"));
    assert!(tried(&write("/w/a"), wrong_in_all).starts_with("scope_too_wide"));
    assert!(tried(&write("/w/a"), Scope { expires_in_ms: 0, ..scope(at("/w/a")) }).starts_with("bad_expiry"));

    let mut world = World::new();
    let id = world.ask(&write("/w/a"));
    world.load("[[rule]]\nname = \"r\"\ndecide = \"ask\"\n");
    let refused = world.grant(id, Scope { expires_in_ms: 0, ..scope(at("/w/a")) }).unwrap_err();
    assert_eq!(refused.code.word(), "bad_expiry");
    assert!(world.state.approvals.contains_key(&id), "a refused answer leaves it waiting");
    assert!(world.state.grants.is_empty());
}

#[test]
fn a_grant_lets_through_what_it_says_and_nothing_else() {
    let mut world = World::new();
    world.given(&write("/w/src/a.rs"), scope(folder("/w/src")));
    let via = |subject: PathSubject| call("Write", vec![Subject::Path(subject)]);
    let mut table = String::new();
    for (what, judged) in [
        ("beside it", write("/w/src/b.rs")),
        ("deeper", write("/w/src/x/y.rs")),
        ("the folder's name as a beginning", write("/w/src-evil/a.rs")),
        ("in other letters", write("/w/SRC/b.rs")),
        ("another tool", call("Edit", vec![Subject::Path(path(Action::Write, "/w/src/b.rs"))])),
        ("a stronger action", via(path(Action::Delete, "/w/src/b.rs"))),
        ("a weaker action", via(path(Action::Read, "/w/src/b.rs"))),
        ("a link that leads out", via(link(Action::Write, "/w/src/l", "/etc/x"))),
        ("a link that leads in", via(link(Action::Write, "/w/l", "/w/src/b.rs"))),
        ("a protected name", via(PathSubject { protected: true, ..path(Action::Write, "/w/src/.envrc") })),
        ("a file with two names", via(PathSubject { hard_linked: true, ..path(Action::Write, "/w/src/b.rs") })),
        ("on another file system", via(PathSubject { other_device: true, ..path(Action::Write, "/w/src/m/b.rs") })),
        (
            "with a second file elsewhere",
            call(
                "Write",
                vec![Subject::Path(path(Action::Write, "/w/src/b.rs")), Subject::Path(path(Action::Write, "/w/b.rs"))],
            ),
        ),
    ] {
        use std::fmt::Write as _;
        let decided = world.check(&judged);
        let reason =
            |fact: &Fact| if let Fact::ApprovalAsked { reason, .. } = fact { Some(reason.clone()) } else { None };
        let why = decided.facts.iter().find_map(reason);
        writeln!(table, "{what:<34} {} {}", verdict(decided), why.unwrap_or_default()).unwrap();
    }
    insta::assert_snapshot!(table);
}

#[test]
fn whose_calls_a_grant_covers() {
    let reach = |who| {
        let mut world = World::new();
        world.start("claude-code", "c2", "/w", 2);
        world.start("claude-code", "c3", "/v", 3);
        world.start("codex", "c4", "/w", 4);
        world.start("codex", "c5", "/v", 5);
        world.given(&read("/x/y/a"), Scope { who, ..scope(at("/x/y/a")) });
        (1..=5).map(|n| verdict(world.check_in(session_id(n), &read("/x/y/a"))) == "allowed").collect::<Vec<_>>()
    };
    assert_eq!(reach(ScopeWho::Session), [true, false, false, false, false]);
    assert_eq!(reach(ScopeWho::AgentInWorkspace), [true, true, false, false, false]);
    assert_eq!(reach(ScopeWho::Agent), [true, true, true, false, false]);
    assert_eq!(reach(ScopeWho::Workspace), [true, true, false, true, false]);
}

#[test]
fn addresses_and_commands() {
    let mut world = World::new();
    world.given(&fetch("https://docs.rs/a/b"), scope(On::UrlPrefix("https://docs.rs/a".to_owned())));
    assert_eq!(world.verdict(&fetch("https://docs.rs/a/c")), "allowed");
    assert_eq!(world.verdict(&fetch("https://docs.rs/a")), "allowed");
    assert_eq!(world.verdict(&fetch("https://docs.rs/ab")), "asked");
    assert_eq!(world.verdict(&fetch("https://docs.rs/a/c?data=1")), "asked", "a query carries data out");
    assert_eq!(world.verdict(&fetch("http://docs.rs/a/c")), "asked");

    let test = |words: &str, effect| bash(vec![part(effect, words)]);
    world.given(&test("cargo test -q", Action::Execute), scope(words("cargo test")));
    assert_eq!(world.verdict(&test("cargo test --all", Action::Execute)), "allowed");
    assert_eq!(world.verdict(&test("cargo test", Action::Send)), "asked", "stronger than what it was given for");
    assert_eq!(world.verdict(&test("cargo tests", Action::Execute)), "asked");
    let two = bash(vec![part(Action::Execute, "cargo test"), part(Action::Execute, "cargo test")]);
    assert_eq!(world.verdict(&two), "asked", "a list is no simple command");
    let mut interpreter = part(Action::Execute, "cargo test x.py");
    interpreter.prefix_grantable = false;
    assert_eq!(world.verdict(&bash(vec![interpreter])), "asked");

    let removes = |target: &str| {
        call(
            "Bash",
            vec![
                Subject::Command(command(vec![part(Action::Delete, "rm -r build")])),
                Subject::Path(path(Action::Delete, target)),
            ],
        )
    };
    world.given(&removes("/w/build"), scope(On::Command("rm -r build".to_owned())));
    assert_eq!(world.verdict(&removes("/w/build")), "allowed");
    let mut elsewhere = removes("/w/build");
    elsewhere.facts.cwd = PathText::from("/w/sub");
    assert_eq!(world.verdict(&elsewhere), "asked", "the same words in another folder");
    assert_eq!(world.verdict(&removes("/home/ann")), "asked", "the folder became a link");

    let dark = call("Bash", vec![Subject::Command(uninspectable("eval $x"))]);
    world.given(&dark, scope(On::Exact(True)));
    assert_eq!(world.verdict(&dark), "allowed", "exactly what was looked at");
    assert_eq!(world.verdict(&call("Bash", vec![Subject::Command(uninspectable("eval $y"))])), "asked");
}

#[test]
fn a_deny_rule_beats_a_grant_and_a_deny_grant_beats_an_allow_grant() {
    let mut world = World::new();
    world.given(&write("/w/src/a"), scope(folder("/w/src")));
    assert_eq!(world.verdict(&write("/w/src/b")), "allowed");
    let id = world.ask(&write("/w/other"));
    let no = Scope { action: ScopeAction::Kind, ..scope(at("/w/other")) };
    world.run(&Command::Deny { approval: id, by: By::User, note: None, grant: Some((grant_id(9), no)) }).unwrap();
    assert!(world.verdict(&write("/w/other")).starts_with("denied"));
    assert!(world.verdict(&write("/w/OTHER")).starts_with("denied"), "a no is read widely");
    let through_a_link = call("Edit", vec![Subject::Path(link(Action::Write, "/w/src/l", "/w/other"))]);
    assert!(world.verdict(&through_a_link).starts_with("denied"));
    world.load("[[rule]]\nname = \"no\"\ndecide = \"deny\"\npath = [\"/w/src/**\"]\n");
    assert!(world.verdict(&write("/w/src/b")).starts_with("denied"));
}

#[test]
fn a_new_grant_answers_what_waits_oldest_first_and_counts_uses() {
    let mut world = World::new();
    let [first, second, third, fourth] = ["a", "b", "c", "d"].map(|name| world.ask(&write(&format!("/w/src/{name}"))));
    let elsewhere = world.ask(&write("/w/x"));
    let grant = world.grant(first, Scope { uses: Some(2), ..scope(folder("/w/src")) }).unwrap();
    let state = |world: &World, id| world.state.approvals.get(&id).map(|a| a.state.word());
    assert_eq!(state(&world, second), Some("approved"));
    assert_eq!(state(&world, third), Some("approved"));
    assert_eq!(state(&world, fourth), Some("pending"), "its two uses are used up");
    assert_eq!(state(&world, elsewhere), Some("pending"));
    assert!(!world.state.grants.contains_key(&grant));
    assert_eq!(world.state.ended.back().unwrap().state, GrantState::Exhausted);
    assert_eq!(world.state.approvals[&second].state.reason(), Some("grant"));
}

/// Two files of one call, each under a folder of its own.
fn both(a: &str, b: &str) -> Judged {
    call("Write", vec![Subject::Path(path(Action::Write, a)), Subject::Path(path(Action::Write, b))])
}

#[test]
fn what_waits_may_use_several_counted_grants_at_once() {
    let mut world = World::new();
    let [one, two, three] = ["1", "2", "3"].map(|n| world.ask(&both(&format!("/w/a/{n}"), &format!("/w/b/{n}"))));
    let in_a = world.given(&write("/w/a/x"), Scope { uses: Some(3), ..scope(folder("/w/a")) });
    assert_eq!(world.state.approvals[&one].state.word(), "pending", "half of it is covered");
    let id = world.ask(&write("/w/b/x"));
    let in_b = world.grant(id, Scope { uses: Some(2), ..scope(folder("/w/b")) }).unwrap();
    for id in [one, two] {
        assert_eq!(world.state.approvals[&id].state.by(), Some(&By::Grant { grant: in_b }));
    }
    assert_eq!(world.state.approvals[&three].state.word(), "pending", "the second grant is used up");
    assert_eq!(world.state.ended.back().map(|grant| (grant.id, grant.state)), Some((in_b, GrantState::Exhausted)));
    let first = &world.state.grants[&in_a];
    assert_eq!((first.uses_left, first.used), (Some(1), 2), "each call used the first grant too");
}

#[test]
fn a_yes_that_rests_on_two_grants_is_void_when_either_is_taken_back() {
    for first_is_taken in [true, false] {
        let mut world = World::new();
        let waiting = world.ask(&both("/w/a/1", "/w/b/1"));
        let in_a = world.given(&write("/w/a/x"), scope(folder("/w/a")));
        let unrelated = world.given(&write("/w/c/x"), scope(folder("/w/c")));
        let id = world.ask(&write("/w/b/x"));
        let in_b = world.grant(id, scope(folder("/w/b"))).unwrap();
        let revoke = |grant| Command::Revoke { grants: vec![grant], by: By::User, note: None };
        world.run(&revoke(unrelated)).unwrap();
        assert_eq!(world.state.approvals[&waiting].state.word(), "approved");
        world.run(&revoke(if first_is_taken { in_a } else { in_b })).unwrap();
        assert_eq!(world.state.settled[&waiting].state.word(), "void");
    }
}

#[test]
fn a_deny_grant_answers_what_waits_and_voids_what_is_not_fetched() {
    let mut world = World::new();
    let [first, second, third] = ["a", "b", "c"].map(|name| world.ask(&write(&format!("/w/src/{name}"))));
    world.approve(third).unwrap();
    let no = (grant_id(9), scope(folder("/w/src")));
    world.run(&Command::Deny { approval: first, by: By::User, note: None, grant: Some(no) }).unwrap();
    assert_eq!(world.state.settled[&second].state.word(), "denied");
    assert_eq!(world.state.settled[&third].state.word(), "void");
}

#[test]
fn a_grant_ends_with_its_last_use_in_the_same_decision() {
    let mut world = World::new();
    let grant = world.given(&write("/w/src/a"), Scope { uses: Some(2), ..scope(folder("/w/src")) });
    assert_eq!(world.check(&write("/w/src/b")).facts.len(), 1);
    let last = world.check(&write("/w/src/c")).facts;
    assert!(matches!(&last[0], Fact::CallAllowed { grants, .. } if *grants == [grant]));
    assert_eq!(last[1], Fact::GrantEnded { grant, how: GrantState::Exhausted });
    let asked = world.check(&write("/w/src/d"));
    assert!(matches!(&asked.facts[0], Fact::ApprovalAsked { reason, .. } if reason.contains("its uses are used up")));
}

#[test]
fn a_grant_ends_at_its_end_however_late_the_timer_is() {
    let mut world = World::new();
    let first = world.given(&write("/w/src/a"), scope(folder("/w/src")));
    let second = world.given(&write("/w/b"), scope(at("/w/b")));
    world.now = T0.plus_ms(HOUR_MS - 1);
    assert_eq!(world.verdict(&write("/w/src/x")), "allowed");
    world.run(&Command::Revoke { grants: vec![first], by: By::User, note: None }).unwrap();
    assert_eq!(world.verdict(&write("/w/b")), "allowed", "revoking one leaves the other");
    world.now = T0.plus_ms(HOUR_MS);
    assert_eq!(world.verdict(&write("/w/b")), "asked", "no timer ran yet");
    let ended = world.run(&Command::Tick).unwrap().facts;
    assert!(ended.contains(&Fact::GrantEnded { grant: second, how: GrantState::Expired }));
}

#[test]
fn revoke_takes_effect_at_the_next_call_and_on_what_is_not_fetched() {
    let mut world = World::new();
    let [first, second] = ["a", "b"].map(|name| world.ask(&write(&format!("/w/src/{name}"))));
    let grant = world.grant(first, scope(folder("/w/src"))).unwrap();
    let revoke = Command::Revoke { grants: vec![grant, grant, grant_id(5)], by: By::Command, note: None };
    let decided = world.run(&revoke).unwrap();
    assert_eq!(decided.facts.iter().filter(|f| matches!(f, Fact::GrantRevoked { .. })).count(), 1);
    assert_eq!(world.state.settled[&second].state.word(), "void", "approved by the grant, not handed over");
    assert_eq!(world.state.approvals[&first].state.word(), "approved", "approved by the person, not by the grant");
    assert_eq!(world.verdict(&write("/w/src/c")), "asked");
}

#[test]
fn a_grant_is_shortened_never_lengthened() {
    let mut world = World::new();
    let grant = world.given(&write("/w/a"), scope(at("/w/a")));
    let shorten = |expires_at_ms| Command::Shorten { grant, expires_at_ms };
    assert!(world.run(&shorten(T0.plus_ms(HOUR_MS))).is_err());
    assert!(world.run(&shorten(T0)).is_err());
    world.run(&shorten(T0.plus_ms(10))).unwrap();
    world.now = T0.plus_ms(10);
    assert_eq!(world.verdict(&write("/w/a")), "asked");
}

#[test]
fn a_session_s_grant_ends_with_it() {
    let mut world = World::new();
    world.given(&write("/w/a"), scope(at("/w/a")));
    let stays = world.given(&write("/w/b"), Scope { who: ScopeWho::AgentInWorkspace, ..scope(at("/w/b")) });
    world.run(&Command::StopSession { session: session_id(1), summary: None }).unwrap();
    assert_eq!(world.state.grants.keys().collect::<Vec<_>>(), [&stays]);
}

#[test]
fn a_folder_that_was_replaced_is_another_folder() {
    let mut world = World::new();
    world.state.roots.insert(PathText::from("/w/src"), (1, 10));
    let grant = world.given(&write("/w/src/a"), scope(folder("/w/src")));
    assert_eq!(world.state.grants[&grant].root, Some((1, 10)));
    assert_eq!(world.verdict(&write("/w/src/b")), "allowed");
    let call = write("/w/src/c");
    assert_eq!(world.state.roots_to_look_at(&call.facts, session_id(1)), [PathText::from("/w/src")]);
    world.state.roots.remove(&PathText::from("/w/src"));
    assert_eq!(world.verdict(&call), "asked", "a folder that cannot be looked at is not known to be the same");
    world.state.roots.insert(PathText::from("/w/src"), (1, 11));
    let decided = world.check(&write("/w/src/d"));
    assert_eq!(decided.facts[0], Fact::GrantEnded { grant, how: GrantState::Dead });
    assert_eq!(verdict(decided), "asked");
    world.state.roots.insert(PathText::from("/w/src"), (1, 10));
    assert_eq!(world.verdict(&write("/w/src/e")), "asked", "what is dead stays dead");
}

#[test]
fn a_tool_whose_definition_changed_is_another_tool() {
    let mut world = World::new();
    let defined = |text: &str| {
        let mut tool = mcp("gh", "list");
        tool.definition = Some(crate::testing::digest_of(text));
        call("mcp__gh__list", vec![Subject::Mcp(tool)])
    };
    let grant = world.given(&defined("one"), scope(On::McpTool("gh/list".to_owned())));
    assert_eq!(world.verdict(&defined("one")), "allowed");
    let decided = world.check(&defined("two"));
    assert_eq!(decided.facts[0], Fact::GrantEnded { grant, how: GrantState::Dead });
    assert!(is_flagged(&world, &decided), "the person is told why it is asked again");
}

fn is_flagged(world: &World, decided: &crate::decide::Decided) -> bool {
    let crate::decide::Outcome::Waits(id) = decided.outcome else { panic!("it was not asked: {decided:?}") };
    let told =
        |fact: &Fact| matches!(fact, Fact::ApprovalAsked { call, .. } if call.flags.contains(&Flag::ToolChanged));
    let shown = world.state.approvals[&id].judged.facts.flags.contains(&Flag::ToolChanged);
    assert_eq!(decided.facts.iter().any(told), shown, "what is shown is what is in the history");
    shown
}

#[test]
fn a_tool_let_through_once_and_described_otherwise_since_is_flagged() {
    let mut world = World::new();
    let defined = |tool: &str, text: &str| {
        let subject =
            crate::subject::McpSubject { definition: Some(crate::testing::digest_of(text)), ..mcp("gh", tool) };
        call(&format!("mcp__gh__{tool}"), vec![Subject::Mcp(subject)])
    };
    let first = world.check(&defined("list", "one"));
    assert!(!is_flagged(&world, &first), "it was never seen before");
    let crate::decide::Outcome::Waits(id) = first.outcome else { panic!("{first:?}") };
    world.deny(id).unwrap();
    let denied = world.ask(&defined("list", "two"));
    assert!(!world.state.approvals[&denied].judged.facts.flags.contains(&Flag::ToolChanged), "it was never allowed");
    world.approve(denied).unwrap();
    world.run(&Command::Consume { approval: denied }).unwrap();
    let same = world.check(&defined("list", "two"));
    assert!(!is_flagged(&world, &same));
    let other = world.check(&defined("show", "one"));
    assert!(!is_flagged(&world, &other), "another tool");
    let changed = world.check(&defined("list", "three"));
    assert!(is_flagged(&world, &changed));
}

#[test]
fn no_rule_and_no_exact_grant_lets_a_changed_tool_through_before_a_person_did() {
    let defined = |text: &str| {
        let definition = Some(crate::testing::digest_of(text));
        let subject = crate::subject::McpSubject { definition, ..mcp("gh", "list") };
        call("mcp__gh__list", vec![Subject::Mcp(subject)])
    };
    let rule = "[[rule]]\nname = \"a\"\ndecide = \"allow\"\ntool = [\"mcp__gh__*\"]\n";
    let mut world = World::with(rule);
    assert_eq!(world.verdict(&defined("one")), "allowed", "what was never seen is as the rule says");
    let changed = world.check(&defined("two"));
    assert!(is_flagged(&world, &changed));
    let crate::decide::Outcome::Waits(id) = changed.outcome else { panic!("{changed:?}") };
    world.deny(id).unwrap();
    let again = world.ask(&defined("two"));
    world.approve(again).unwrap();
    world.run(&Command::Consume { approval: again }).unwrap();
    assert_eq!(world.verdict(&defined("two")), "allowed", "the person let it through");
    assert_eq!(world.verdict(&defined("one")), "asked", "changed back is changed");

    let mut world = World::new();
    let first = defined("one");
    let exact = serde_json::from_value(json!({"exact": true})).unwrap();
    let grant = world.given(&first, scope(exact));
    assert_eq!(world.verdict(&first), "allowed");
    let mut same_input = defined("two");
    same_input.facts.action_digest = first.facts.action_digest;
    let decided = world.check(&same_input);
    assert_eq!(decided.facts[0], Fact::GrantEnded { grant, how: GrantState::Dead });
    assert!(is_flagged(&world, &decided));
}

#[test]
fn a_preview_says_what_the_grant_would_say_and_answer() {
    let mut world = World::new();
    let [first, second] = ["a", "b"].map(|name| world.ask(&write(&format!("/w/src/{name}"))));
    let past: Vec<Past> = ["/w/src/x", "/w/y", "/w/src/z"]
        .iter()
        .map(|at| Past { at_ms: T0, session: session_id(1), call: write(at).facts })
        .collect();
    let wanted = Scope { uses: Some(1), ..scope(folder("/w/src")) };
    let shown = preview(&world.state, first, &wanted, &past, world.now).unwrap();
    assert_eq!((shown.matched, shown.also_pending.as_slice()), (2, [second].as_slice()));
    assert_eq!(shown.examples[0].call, past[2].call, "the newest first");
    let given = world.grant(first, wanted).unwrap();
    let stored = world.state.grants.get(&given).or(world.state.ended.back()).unwrap();
    assert_eq!(shown.sentence, stored.sentence, "what was read is what is stored");
    assert_eq!(
        preview(&world.state, second, &scope(folder("/")), &[], At(0)).unwrap_err().code.word(),
        "no_such_approval",
    );
}

#[test]
fn a_grant_answers_a_rule_that_asks_and_no_default_that_denies() {
    let mut world = World::with("default = \"deny\"\n[[rule]]\nname = \"a\"\ndecide = \"ask\"\naction = [\"write\"]\n");
    world.given(&write("/w/src/a"), Scope { action: ScopeAction::Tool, ..scope(folder("/w/src")) });
    assert_eq!(world.verdict(&write("/w/src/b")), "allowed");
    let reads = call("Write", vec![Subject::Path(path(Action::Read, "/w/src/b"))]);
    assert!(world.verdict(&reads).starts_with("denied"));
}

#[test]
fn the_scope_of_the_desk_is_read_strictly() {
    let parse = |value: serde_json::Value| serde_json::from_value::<Scope>(value);
    assert!(parse(json!({"who": "session", "on": {"exact": true}, "expires_in_ms": 1000})).is_ok());
    for wrong in [
        json!({"who": "session", "on": {"exact": false}, "expires_in_ms": 1000}),
        json!({"who": "session", "on": {"exact": true}}),
        json!({"who": "anyone", "on": {"exact": true}, "expires_in_ms": 1000}),
        json!({"who": "session", "on": {"exact": true, "folder": "/"}, "expires_in_ms": 1000}),
        json!({"who": "session", "on": {"exact": true}, "expires_in_ms": 1000, "for_ever": true}),
        json!({"who": "session", "on": {"exact": true}, "expires_in_ms": null}),
    ] {
        assert!(parse(wrong.clone()).is_err(), "{wrong}");
    }
    assert_eq!(serde_json::to_value(Effect::Deny).unwrap(), json!("deny"));
}
