//! What decisions are measured on: one session, one call of a file, many rules and grants.

use std::sync::Arc;

use placet_domain::{
    Action, At, By, Check, Command, Digest, Grant, GrantState, Judged, PathText, Policy, Scope, Session, State,
    grant::{Effect, GrantWho, On, ScopeAction, ScopeWho},
};
use placet_subject::{Known, Programs, RawCall, judge};
use serde_json::json;

pub(crate) const NOW: At = At(1_790_000_000_000);
pub(crate) const WORKSPACE: &str = "/nowhere/workspace";

/// The session under this policy and these grants.
pub(crate) fn state(policy: &str, grants: Vec<Grant>) -> State {
    let mut state = State::of(vec![session()], Vec::new(), grants, false);
    state.policy = Arc::new(Policy::parse(policy, Digest::new([1; 32])).unwrap());
    state
}

pub(crate) fn id<T: std::str::FromStr>(number: u64) -> T {
    let text = format!("0193{:04x}-{:04x}-7000-8000-{number:012x}", number >> 16 & 0xffff, number & 0xffff);
    text.parse().unwrap_or_else(|_| panic!("{text}"))
}

pub(crate) fn session() -> Session {
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

pub(crate) fn known() -> Known {
    Known::new("/nowhere/home".into(), vec!["/nowhere/own".into()], Programs::builtin().unwrap())
}

pub(crate) fn read(name: &str, known: &Known) -> Judged {
    let input = json!({"file_path": format!("{WORKSPACE}/{name}")}).to_string();
    let folder = PathText::from(WORKSPACE);
    let raw = RawCall { call_id: Some("call"), ..RawCall::in_folder("bench", "Read", input.as_bytes(), &folder) };
    judge(&raw, known)
}

pub(crate) fn check(judged: Judged) -> Command {
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

pub(crate) fn grants(count: u64) -> Vec<Grant> {
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
pub(crate) fn rules(count: usize) -> String {
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
