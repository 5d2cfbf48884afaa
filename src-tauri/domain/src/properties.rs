//! What must hold whatever the policy, the grants and the call.
#![allow(clippy::unwrap_used)]

use proptest::prelude::*;

use crate::{
    Action, At, By, Command, Entry, Fact, Grant, GrantId, GrantState, Judged, PathText, Ruling, Scope, Session, State,
    Subject, decide,
    grant::{Covers, Effect, GrantWho, On, ScopeAction, ScopeWho, True, allows, denies},
    judge,
    subject::PathSubject,
    testing::{
        HOUR_MS, T0, agent, approval_id, bash, call, fetch, grant_id, part, path, policy, session, session_id, url,
    },
};

const FOLDERS: [&str; 5] = ["/w", "/w/src", "/w/src/deep", "/w/SRC", "/v"];

fn a_path() -> impl Strategy<Value = String> {
    (prop::sample::select(&FOLDERS[..]), prop::sample::select(vec!["", "/a", "/b.rs", "/A", "/.env"]))
        .prop_map(|(folder, name)| format!("{folder}{name}"))
}

fn an_action() -> impl Strategy<Value = Action> {
    prop::sample::select(vec![Action::Read, Action::Search, Action::Write, Action::Delete, Action::Execute])
}

fn a_call() -> impl Strategy<Value = Judged> {
    let a_path_subject = (a_path(), a_path(), an_action(), any::<[bool; 3]>()).prop_map(|(at, leads, action, bits)| {
        let resolved = if bits[0] { PathText::from(leads.as_str()) } else { PathText::from(at.as_str()) };
        Subject::Path(PathSubject {
            resolved,
            protected: bits[1] && bits[2],
            hard_linked: bits[2],
            ..path(action, &at)
        })
    });
    let paths = (prop::collection::vec(a_path_subject, 1..3), prop::sample::select(vec!["Write", "Edit"]))
        .prop_map(|(subjects, tool)| call(tool, subjects));
    let address = prop::sample::select(vec!["https://a.b/x/y", "https://a.b/x?q", "https://b.a.b/", "http://a.b/x"]);
    let words = prop::sample::select(vec!["cargo test", "cargo test -q", "cargo build", "git -C x push", "git push"]);
    prop_oneof![
        4 => paths,
        1 => address.prop_map(fetch),
        1 => (words, an_action()).prop_map(|(words, action)| bash(vec![part(action, words)])),
    ]
}

fn an_on() -> impl Strategy<Value = On> {
    prop_oneof![
        a_path().prop_map(|at| On::Path(PathText::from(at.as_str()))),
        prop::sample::select(&FOLDERS[..]).prop_map(|at| On::Folder(PathText::from(at))),
        prop::sample::select(vec!["https://a.b", "http://a.b"]).prop_map(|o| On::Origin(o.to_owned())),
        prop::sample::select(vec!["https://a.b/x", "https://a.b/x/"]).prop_map(|o| On::UrlPrefix(o.to_owned())),
        Just(On::Url(url(Action::Fetch, "https://a.b/x?q").normalized)),
        prop::sample::select(vec!["cargo", "cargo test", "git push"])
            .prop_map(|text| On::CommandPrefix(text.split(' ').map(str::to_owned).collect())),
        Just(On::Command("cargo test".to_owned())),
        Just(On::Exact(True)),
    ]
}

fn a_who() -> impl Strategy<Value = GrantWho> {
    let workspace = PathText::from("/w");
    prop::sample::select(vec![
        GrantWho::Session { session: session_id(1) },
        GrantWho::Session { session: session_id(2) },
        GrantWho::Agent { agent: agent("claude-code") },
        GrantWho::Agent { agent: agent("codex") },
        GrantWho::AgentInWorkspace { agent: agent("claude-code"), workspace: workspace.clone() },
        GrantWho::Workspace { workspace },
        GrantWho::Workspace { workspace: PathText::from("/v") },
    ])
}

fn a_grant(id: u128) -> impl Strategy<Value = Grant> {
    let tool = prop::sample::select(vec![Some("Write"), Some("Edit"), Some("Bash"), Some("WebFetch"), None]);
    (a_who(), an_on(), an_action(), tool, any::<bool>(), -1_i64..3, prop::option::of(0_u32..3), a_call()).prop_map(
        move |(who, on, action, tool, allow, hours, uses_left, exact)| Grant {
            id: grant_id(id),
            effect: if allow { Effect::Allow } else { Effect::Deny },
            scope: Scope { who: ScopeWho::Session, action: ScopeAction::Tool, on, expires_in_ms: HOUR_MS, uses: None },
            who,
            tool: tool.map(str::to_owned),
            action,
            from_approval: approval_id(1),
            by: By::User,
            issued_at_ms: T0,
            expires_at_ms: T0.plus_ms(hours * HOUR_MS),
            uses_left,
            used: 0,
            last_used_at_ms: None,
            root: None,
            action_digest: Some(exact.facts.action_digest),
            ran_in: Some(PathText::from("/w")),
            beside: Vec::new(),
            definition: None,
            normalizer: String::new(),
            sentence: String::new(),
            state: GrantState::Active,
        },
    )
}

fn grants() -> impl Strategy<Value = Vec<Grant>> {
    prop::collection::vec(any::<u8>(), 0..24)
        .prop_flat_map(|seeds| (1..=seeds.len() as u128).map(a_grant).collect::<Vec<_>>())
}

const RULES: [&str; 9] = [
    "name = \"a\"\ndecide = \"allow\"\naction = [\"read\", \"write\"]\npath = [\"${workspace}/**\"]\n",
    "name = \"b\"\ndecide = \"allow\"\ntool = [\"Bash\"]\n",
    "name = \"c\"\ndecide = \"ask\"\npath = [\"**/src/**\"]\ntimeout = \"1m\"\n",
    "name = \"d\"\ndecide = \"deny\"\npath = [\"**/.env\"]\n",
    "name = \"e\"\ndecide = \"deny\"\naction = [\"delete\"]\nreason = \"Nothing is deleted.\"\n",
    "name = \"f\"\ndecide = \"allow\"\nhost = [\"a.b\"]\n",
    "name = \"g\"\ndecide = \"ask\"\nhost = [\"*.a.b\"]\ntimeout = \"2m\"\n",
    "name = \"h\"\ndecide = \"deny\"\ncommand = [\"git push\"]\n",
    "name = \"i\"\ndecide = \"deny\"\nwhen = 'subject.kind == \"path\" && subject.missing == 1'\ntool = [\"Edit\"]\n",
];

fn a_policy() -> impl Strategy<Value = (String, String)> {
    let some = prop::sample::subsequence(RULES.to_vec(), 0..=RULES.len());
    (some, prop::sample::select(vec!["ask", "deny"])).prop_flat_map(|(rules, default)| {
        let text = move |rules: &[&str]| {
            rules.iter().fold(format!("default = \"{default}\"\n"), |text, rule| text + "[[rule]]\n" + rule)
        };
        let in_order = text(&rules);
        Just(rules).prop_shuffle().prop_map(move |rules| (in_order.clone(), text(&rules)))
    })
}

fn a_state(policy_text: &str, grants: &[Grant]) -> (State, Session) {
    let session = session();
    let mut state = State::of(vec![session.clone()], Vec::new(), grants.to_vec(), false);
    state.policy = policy(policy_text);
    (state, session)
}

fn is_yes(ruling: &Ruling) -> bool {
    matches!(ruling, Ruling::Allow { .. })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 192, failure_persistence: None, ..ProptestConfig::default() })]

    /// What the index finds is what looking at every grant finds.
    /// Who wants a person to look gets one, or a no: never a yes of a rule or a grant, and no no is lost by it.
    #[test]
    fn a_doubt_makes_a_yes_a_question_and_leaves_every_no(judged in a_call(), grants in grants(), policy in a_policy()) {
        let (state, session) = a_state(&policy.0, &grants);
        let plain = judge(&state, &judged, &session, T0);
        let mut doubted = judged;
        doubted.facts.doubted(Some("A hook asks: odd\u{202E} name"));
        let ruling = judge(&state, &doubted, &session, T0);
        match (&plain, &ruling) {
            (Ruling::Deny { .. }, ruling) => prop_assert_eq!(&plain, ruling),
            (_, Ruling::Ask { reason, .. }) => {
                prop_assert!(reason.starts_with("A hook asks: odd⟨U+202E⟩ name. "), "{}", reason);
            }
            (_, ruling) => prop_assert!(false, "{:?}", ruling),
        }
    }

    #[test]
    fn the_index_finds_what_looking_at_all_finds(grants in grants(), judged in a_call()) {
        let (state, session) = a_state("default = \"ask\"\n", &grants);
        for subject in &judged.facts.subjects {
            for effect in [Effect::Allow, Effect::Deny] {
                let covers = |grant: &Grant| match effect {
                    Effect::Allow => allows(grant, &state, &judged.facts, subject, &session, T0) == Covers::Yes,
                    Effect::Deny => denies(grant, &judged.facts, subject, &session, T0),
                };
                let found: Vec<GrantId> = state
                    .index
                    .near(effect, &session, &judged.facts, subject)
                    .into_iter()
                    .filter(|id| covers(&state.grants[id]))
                    .collect();
                let all: Vec<GrantId> = state.grants.values().filter(|grant| covers(grant)).map(|g| g.id).collect();
                prop_assert_eq!(found, all);
            }
        }
    }

    /// A grant answers what would be asked; it never overrides a denial.
    #[test]
    fn another_grant_never_turns_a_denial_into_a_yes(
        texts in a_policy(), before in grants(), more in a_grant(999), judged in a_call(),
    ) {
        let (state, session) = a_state(&texts.0, &before);
        let (with_more, _) = a_state(&texts.0, &[before, vec![more.clone()]].concat());
        let (was, is) = (judge(&state, &judged, &session, T0), judge(&with_more, &judged, &session, T0));
        if matches!(was, Ruling::Deny { .. }) {
            prop_assert!(!is_yes(&is), "{was:?} became {is:?}");
        }
        if more.effect == Effect::Deny {
            prop_assert!(!is_yes(&is) || is_yes(&was), "a no made a yes of {was:?}");
        } else {
            prop_assert!(!is_yes(&was) || is_yes(&is), "a yes took a yes away");
        }
    }

    /// Rules mean the same in whatever order they are written.
    #[test]
    fn the_order_of_rules_is_irrelevant(texts in a_policy(), grants in grants(), judged in a_call()) {
        let (state, session) = a_state(&texts.0, &grants);
        let (shuffled, _) = a_state(&texts.1, &grants);
        prop_assert_eq!(judge(&state, &judged, &session, T0), judge(&shuffled, &judged, &session, T0));
    }

    /// A further rule that denies, or asks, never gives anything.
    #[test]
    fn a_stricter_rule_never_gives(texts in a_policy(), judged in a_call(), strict in "(deny|ask)") {
        let (state, session) = a_state(&texts.0, &[]);
        let more = format!("{}\n[[rule]]\nname = \"zz\"\ndecide = \"{strict}\"\npath = [\"/w/src/**\"]\n", texts.0);
        let (stricter, _) = a_state(&more, &[]);
        if is_yes(&judge(&stricter, &judged, &session, T0)) {
            prop_assert!(is_yes(&judge(&state, &judged, &session, T0)));
        }
    }

    /// The same state, command and moment give the same facts.
    #[test]
    fn deciding_twice_decides_the_same(texts in a_policy(), grants in grants(), calls in prop::collection::vec(a_call(), 1..6)) {
        let (mut state, _) = a_state(&texts.0, &grants);
        for (n, judged) in (0_i64..).zip(&calls) {
            let command = Command::Check(Box::new(crate::Check {
                approval: approval_id(n.unsigned_abs().into()),
                session: session_id(1),
                judged: judged.clone(),
                input_sha256: judged.facts.digest,
                card_sha256: judged.facts.digest,
                again: None,
                deadline_ms: None,
                waiter: None,
                somebody_to_ask: true,
                can_edit: false,
                refused_rewrite: None,
            }));
            let now = T0.plus_ms(n);
            let decided = decide(&state, &command, now);
            prop_assert_eq!(&decided, &decide(&state.clone(), &command, now));
            for fact in decided.unwrap().facts {
                state.apply(&Entry { seq: 1, at_ms: now, fact }, Some(judged));
            }
        }
    }

    /// Whatever is loaded, judging a call that nobody granted or allowed is not a yes.
    #[test]
    fn without_rules_and_grants_nothing_is_allowed(judged in a_call()) {
        let (state, session) = a_state("default = \"ask\"\n", &[]);
        prop_assert!(!is_yes(&judge(&state, &judged, &session, At(0))));
    }
}

/// A hundred thousand grants are looked through no longer than ten: the same few candidates are found.
#[test]
fn matching_is_flat() {
    let one = |id: u128, at: String| {
        let on = On::Path(PathText::from(at.as_str()));
        let scope = Scope { who: ScopeWho::Session, action: ScopeAction::Tool, on, expires_in_ms: HOUR_MS, uses: None };
        Grant {
            id: grant_id(id),
            effect: Effect::Allow,
            scope,
            who: GrantWho::Session { session: session_id(1) },
            tool: Some("Write".to_owned()),
            action: Action::Write,
            from_approval: approval_id(1),
            by: By::User,
            issued_at_ms: T0,
            expires_at_ms: T0.plus_ms(HOUR_MS),
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
    };
    for many in [10, 100_000] {
        let grants: Vec<Grant> = (1..=many).map(|n| one(n, format!("/w/f{n}"))).collect();
        let state = State::of(vec![session()], Vec::new(), grants, false);
        let judged = crate::testing::write("/w/f7");
        let near = state.index.near(Effect::Allow, &session(), &judged.facts, &judged.facts.subjects[0]);
        assert_eq!(near, [grant_id(7)], "only what is under the subject's own keys is looked at");
        assert!(is_yes(&judge(&state, &judged, &session(), T0)));
    }
    let mut state = State::of(vec![session()], Vec::new(), vec![one(1, "/w/a".to_owned())], false);
    let revoked = Fact::GrantRevoked { grant: grant_id(1), by: By::User, note: None };
    state.apply(&Entry { seq: 1, at_ms: T0, fact: revoked }, None);
    let judged = crate::testing::write("/w/a");
    assert!(state.index.near(Effect::Allow, &session(), &judged.facts, &judged.facts.subjects[0]).is_empty());
}
