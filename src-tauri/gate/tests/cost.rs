//! What one call costs, counted in allocations rather than in seconds, so that a change which makes every call dearer
//! is seen on any machine. The bounds are the counts of today with a little room; who needs more says why here.
#![allow(clippy::unwrap_used, missing_docs)]

use std::{hint::black_box, sync::Arc};

use placet_domain::{
    Action, At, By, Check, Command, Digest, Grant, GrantState, Judged, PathText, Policy, Scope, Session, State,
    command::Decision,
    decide,
    decide::Outcome,
    grant::{Effect, GrantWho, On, ScopeAction, ScopeWho},
};
use placet_subject::{Known, Programs, RawCall, judge};
use serde_json::json;

const NOW: At = At(1_790_000_000_000);
const WORKSPACE: &str = "/nowhere/workspace";

const MOST_BY_A_GRANT: u64 = 280;
// Five of them find the few rules that could be about the call, so that there may be ten thousand others.
const MOST_BY_A_RULE: u64 = 30;
const MOST_OF_A_JUDGE: u64 = 270;

/// The allocations of one decision that allows.
fn allocations(policy: &str, grants: Vec<Grant>) -> u64 {
    let mut state = State::of(vec![session()], Vec::new(), grants, false);
    state.policy = Arc::new(Policy::parse(policy, Digest::new([1; 32])).unwrap());
    let command = check(read("file-7.txt", &known()));
    let decided = decide(&state, &command, NOW).unwrap();
    let allowed = matches!(&decided.outcome, Outcome::Answered(answer) if answer.decision == Decision::Allow);
    assert!(allowed, "{:?}", decided.outcome);
    let counted = allocation_counter::measure(|| {
        black_box(decide(&state, &command, NOW).unwrap());
    });
    counted.count_total
}

#[test]
fn a_decision_allocates_little_and_no_more_among_many_grants() {
    let asks = "default = \"ask\"\n";
    let (few, many) = (allocations(asks, grants(10)), allocations(asks, grants(1_000)));
    assert_eq!(few, many);
    assert!(few <= MOST_BY_A_GRANT, "{few} allocations");
}

#[test]
fn a_decision_allocates_little_and_no_more_with_many_rules() {
    let (few, many) = (allocations(&rules(20), Vec::new()), allocations(&rules(500), Vec::new()));
    assert_eq!(few, many);
    assert!(few <= MOST_BY_A_RULE, "{few} allocations");
}

#[test]
fn judging_a_file_allocates_little() {
    let known = known();
    black_box(read("file-7.txt", &known));
    let counted = allocation_counter::measure(|| {
        black_box(read("file-7.txt", &known));
    });
    assert!(counted.count_total <= MOST_OF_A_JUDGE, "{} allocations", counted.count_total);
}

fn id<T: std::str::FromStr>(number: u64) -> T {
    let text = format!("0193{:04x}-{:04x}-7000-8000-{number:012x}", number >> 16 & 0xffff, number & 0xffff);
    text.parse().unwrap_or_else(|_| panic!("{text}"))
}

fn session() -> Session {
    Session {
        id: id(1),
        agent: "bench".parse().unwrap(),
        client_session: None,
        workspace: WORKSPACE.into(),
        parent: None,
        context: std::collections::BTreeMap::new(),
        started_at_ms: NOW,
        stopped_at_ms: None,
        calls: 0,
        tainted: false,
    }
}

fn known() -> Known {
    Known::new("/nowhere/home".into(), vec!["/nowhere/own".into()], Programs::builtin().unwrap())
}

fn read(name: &str, known: &Known) -> Judged {
    let input = json!({"file_path": format!("{WORKSPACE}/{name}")}).to_string();
    let folder = PathText::from(WORKSPACE);
    let raw = RawCall {
        agent: "bench",
        tool: "Read",
        input: input.as_bytes(),
        cwd: &folder,
        workspace: &folder,
        call_id: Some("call"),
        definition: None,
    };
    judge(&raw, known)
}

fn check(judged: Judged) -> Command {
    Command::Check(Box::new(Check {
        approval: id(2),
        session: id(1),
        input_sha256: judged.facts.raw_sha256,
        card_sha256: judged.facts.raw_sha256,
        judged,
        again: None,
        deadline_ms: None,
        waiter: None,
        somebody_to_ask: true,
        can_edit: false,
        refused_rewrite: None,
    }))
}

fn grants(count: u64) -> Vec<Grant> {
    (0..count).map(|number| grant(number, &format!("{WORKSPACE}/file-{number}.txt"))).collect()
}

fn grant(number: u64, path: &str) -> Grant {
    let scope = Scope {
        who: ScopeWho::Session,
        action: ScopeAction::Tool,
        on: On::Path(path.into()),
        expires_in_ms: 3_600_000,
        uses: None,
    };
    Grant {
        id: id(1_000 + number),
        effect: Effect::Allow,
        scope,
        who: GrantWho::Session { session: id(1) },
        tool: Some("Read".into()),
        action: Action::Read,
        from_approval: id(3),
        by: By::User,
        issued_at_ms: NOW,
        expires_at_ms: NOW.plus_ms(3_600_000),
        uses_left: None,
        used: 0,
        last_used_at_ms: None,
        root: None,
        action_digest: None,
        ran_in: None,
        beside: Vec::new(),
        definition: None,
        normalizer: String::new(),
        sentence: String::new(),
        state: GrantState::Active,
    }
}

/// So many rules about as many paths; the last of them allows the call.
fn rules(count: usize) -> String {
    use std::fmt::Write as _;
    let mut text = "default = \"ask\"\n".to_owned();
    for number in (0..count).rev() {
        let path = format!("${{workspace}}/file-{}.txt", number + 7);
        let _ = write!(
            text,
            "[[rule]]\nname = \"r{number}\"\ndecide = \"allow\"\naction = [\"read\"]\npath = [\"{path}\"]\n"
        );
    }
    text
}
