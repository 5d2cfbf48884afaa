//! Whatever is asked of the history, the answer is what a naive look at every call gives.

use placet_domain::{Action, At, CallFacts, Fact, Subject};
use placet_store::{CallDecision, CallRow, HistoryFilter};
use proptest::{prelude::*, sample::select};

use crate::world::*;

const AGENTS: [&str; 3] = ["claude-code", "codex", "gemini-cli"];
const TOOLS: [&str; 4] = ["Read", "Write", "Bash", "WebFetch"];

fn subjects(n: u64) -> Vec<Subject> {
    let tails = ["/w/src/main.rs", "/w/src/Deep/er.txt", "/w/100%_sure.md", "/v/größe.txt", "/w/srcs/x"];
    let hosts = ["api.example.com", "example.com", "notexample.com", "10.0.0.1"];
    let tail = tails[usize::try_from(n % 5).unwrap()];
    let host = hosts[usize::try_from(n % 4).unwrap()];
    match n % 3 {
        0 => vec![path(Action::Write, tail)],
        1 => vec![url(host, &format!("/v{n}"))],
        _ => vec![command(&format!("curl {host} > {tail}"), &[host]), path(Action::Write, tail)],
    }
}

/// Many calls, some answered, and a grant that lets some through.
fn busy(seed: u64, calls: u64, indexed: u64) -> World {
    let mut w = World::new();
    w.write((1..=3).map(|n| started(n, AGENTS[usize::try_from(n - 1).unwrap()], "/w")).collect()).unwrap();
    let mut given = grant(900_000, 1, w.now, None);
    given.expires_at_ms = w.now.plus_ms(2_000_000_000);
    w.write(vec![Fact::GrantIssued { grant: given.clone() }]).unwrap();
    for n in 0..calls {
        let mixed = (n + seed).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 17;
        let facts = call(TOOLS[usize::try_from(mixed % 4).unwrap()], subjects(mixed), 5_000 + n);
        // Some pass in a moment, some after hours.
        w.now = w.now.plus_ms(if mixed.is_multiple_of(7) { 5_000_000 } else { 10 });
        let of = 1 + mixed % 3;
        match mixed % 5 {
            0 => drop(w.write(vec![allowed(of, facts, vec![])]).unwrap()),
            1 if given.expires_at_ms > w.now.plus_ms(1_000) => {
                w.write(vec![allowed(of, facts, vec![given.id])]).unwrap();
            }
            _ => {
                let judged = judged(facts);
                w.ask(10_000 + n, of, &judged).unwrap();
                match mixed % 11 {
                    0..4 => drop(w.write(vec![yes(10_000 + n, &judged)]).unwrap()),
                    4..8 => drop(w.write(vec![no(10_000 + n)]).unwrap()),
                    _ => {}
                }
            }
        }
        if n == indexed {
            while w.opened.store.index_some(7).unwrap() {}
        }
    }
    w
}

/// Every call as its facts tell it, the oldest first.
struct Naive {
    row: CallRow,
    calls: Vec<CallFacts>,
    words: Vec<String>,
    grants: Vec<placet_domain::GrantId>,
}

fn naive(w: &World) -> Vec<Naive> {
    let mut all = Vec::new();
    let mut after = None;
    loop {
        let page = w.opened.reader.history(&HistoryFilter { after, limit: 13, ..Default::default() }).unwrap();
        all.extend(page.items);
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    all.into_iter()
        .map(|row| {
            let (mut calls, mut words, mut grants) = (Vec::new(), Vec::new(), Vec::new());
            for chained in w.opened.reader.call(row.seq).unwrap().unwrap().facts {
                let fact = chained.entry.fact;
                if let Fact::CallAllowed { call, rules, grants: by, .. } = fact {
                    calls.push(call);
                    words.extend(rules);
                    grants.extend(by);
                } else if let Fact::ApprovalAsked { call, rule, reason, .. } = fact {
                    calls.push(call);
                    words.extend(rule);
                    words.push(reason);
                } else if let Fact::ApprovalApproved { note, .. } | Fact::ApprovalDenied { note, .. } = fact {
                    words.extend(note);
                }
            }
            Naive { row, calls, words, grants }
        })
        .collect()
}

impl Naive {
    fn fits(&self, filter: &HistoryFilter) -> bool {
        let row = &self.row;
        let subjects = || self.calls.iter().flat_map(|c| &c.subjects);
        let text = || {
            let mut text = format!("{}\n{}\n{}", row.agent, row.tool, self.words.join("\n"));
            for subject in subjects() {
                text.push('\n');
                match subject {
                    Subject::Path(p) => text.push_str(&p.resolved.lossy()),
                    Subject::Url(u) => text.push_str(&u.normalized),
                    Subject::Command(c) => text.push_str(&c.asked),
                    Subject::Mcp(_) | Subject::Tool(_) => {}
                }
            }
            text.to_ascii_lowercase()
        };
        let hosts = || {
            subjects().flat_map(|s| match s {
                Subject::Url(u) => vec![u.host.clone()],
                Subject::Command(c) => c.commands.iter().flat_map(|c| c.hosts.clone()).collect(),
                Subject::Path(_) | Subject::Mcp(_) | Subject::Tool(_) => Vec::new(),
            })
        };
        let by_digest = filter.text.as_ref().and_then(|t| t.strip_prefix("sha256:"));
        let text_fits = match (by_digest, &filter.text) {
            (Some(hex), _) => row.digest.unwrap().hex().starts_with(hex) || row.action_digest.hex().starts_with(hex),
            (None, Some(words)) => words.split_whitespace().all(|w| text().contains(&w.to_ascii_lowercase())),
            (None, None) => true,
        };
        text_fits
            && filter.agent.as_ref().is_none_or(|a| *a == row.agent)
            && filter.tool.as_ref().is_none_or(|t| *t == row.tool)
            && (filter.decisions.is_empty() || filter.decisions.contains(&row.decision))
            && filter
                .under
                .as_ref()
                .is_none_or(|folder| subjects().any(|s| matches!(s, Subject::Path(p) if p.resolved.is_within(folder))))
            && filter.host.as_ref().is_none_or(|host| {
                hosts().any(|h| h == *host || (!h.starts_with("10.") && h.ends_with(&format!(".{host}"))))
            })
            && filter.from_ms.is_none_or(|from| row.at_ms >= from)
            && filter.to_ms.is_none_or(|to| row.at_ms < to)
            && filter.session.is_none_or(|s| s == row.session)
            && filter.grant.is_none_or(|g| self.grants.contains(&g))
            && filter.after.is_none_or(|after| row.seq < after)
    }
}

fn filters() -> impl Strategy<Value = HistoryFilter> {
    let text = select(vec![
        "main",
        "src/",
        "SRC",
        "deep er.txt",
        "%_",
        "100%",
        "größe",
        "curl example",
        "not that",
        "a",
        "go",
        "v1",
        "sha256:",
        "sha256:1",
        "sha256:a",
        "sha256:c0",
        "nothing like it",
        "\"",
        "read in the workspace",
        "claude",
    ]);
    let at = (0_i64..60_000_000).prop_map(|ms| START.plus_ms(ms));
    let sparse = |odds: f64| proptest::bool::weighted(odds);
    (
        (sparse(0.5), text).prop_map(|(some, t)| some.then(|| t.to_owned())),
        (sparse(0.3), select(AGENTS.to_vec())).prop_map(|(some, a)| some.then(|| agent(a))),
        (sparse(0.3), select(TOOLS.to_vec())).prop_map(|(some, t)| some.then(|| t.to_owned())),
        prop_oneof![Just(Vec::new()), proptest::collection::vec(select(CallDecision::ALL.to_vec()), 1..6)],
        (sparse(0.3), select(vec!["/w", "/w/src", "/w/src/", "/", "/v", "/nowhere"]))
            .prop_map(|(some, p)| some.then(|| p.into())),
        (sparse(0.2), select(vec!["example.com", "API.example.com.", "com", "10.0.0.1", "0.0.1", "x.y"]))
            .prop_map(|(some, h)| some.then(|| h.to_owned())),
        (sparse(0.3), at.clone()).prop_map(|(some, at)| some.then_some(at)),
        (sparse(0.3), at).prop_map(|(some, at)| some.then_some(at)),
        (sparse(0.2), 1_u64..4).prop_map(|(some, n)| some.then(|| session(n))),
        sparse(0.1).prop_map(|some| some.then(|| grant_id(900_000))),
        (sparse(0.3), 1_u64..400).prop_map(|(some, n)| some.then_some(n)),
    )
        .prop_map(|(text, agent, tool, decisions, under, host, from_ms, to_ms, session, grant, after)| {
            HistoryFilter { text, agent, tool, decisions, under, host, from_ms, to_ms, session, grant, after, limit: 7 }
        })
}

fn normal(filter: &HistoryFilter) -> HistoryFilter {
    let mut filter = filter.clone();
    filter.host = filter.host.map(|h| h.trim_end_matches('.').to_ascii_lowercase());
    filter
}

#[test]
fn every_filter_gives_what_a_naive_look_gives() {
    for (seed, indexed) in [(1, 0), (2, 60), (3, 119), (4, 500)] {
        let w = busy(seed, 120, indexed);
        let all = naive(&w);
        assert_eq!(all.len(), 120);
        let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig {
            cases: 400,
            failure_persistence: None,
            ..ProptestConfig::default()
        });
        let mut found_something = 0;
        runner
            .run(&filters(), |filter| {
                let plain = normal(&filter);
                let want: Vec<u64> = all.iter().filter(|n| n.fits(&plain)).map(|n| n.row.seq).collect();
                let mut got = Vec::new();
                let mut next = filter.clone();
                loop {
                    let page = w.opened.reader.history(&next).unwrap();
                    prop_assert!(page.items.len() <= 7);
                    got.extend(page.items.iter().map(|row| row.seq));
                    if page.next.is_none() {
                        break;
                    }
                    next.after = page.next;
                }
                prop_assert_eq!(got, want);
                Ok(())
            })
            .unwrap();
        for n in all.iter().take(20) {
            let text = n.row.digest.map(|d| format!("sha256:{}", &d.hex()[..20]));
            let page = w.opened.reader.history(&HistoryFilter { text, ..Default::default() }).unwrap();
            assert_eq!(page.items.iter().map(|r| r.seq).collect::<Vec<_>>(), [n.row.seq]);
            found_something += 1;
        }
        assert_eq!(found_something, 20);
    }
}

#[test]
fn a_note_given_after_indexing_is_found_before_and_after_the_index_comes_by_again() {
    let mut w = World::new();
    w.write(vec![started(1, "claude-code", "/w")]).unwrap();
    let judged = judged(call("Write", vec![path(Action::Write, "/w/a.txt")], 1));
    let seq = w.ask(100, 1, &judged).unwrap().seq;
    while w.opened.store.index_some(100).unwrap() {}
    let found = |w: &World, text: &str| -> Vec<u64> {
        let filter = HistoryFilter { text: Some(text.to_owned()), ..Default::default() };
        w.opened.reader.history(&filter).unwrap().items.iter().map(|r| r.seq).collect()
    };
    assert_eq!(found(&w, "that file"), Vec::<u64>::new());
    w.write(vec![no(100)]).unwrap();
    assert_eq!(found(&w, "that file"), [seq]);
    while w.opened.store.index_some(100).unwrap() {}
    assert_eq!(found(&w, "that file"), [seq]);
    assert_eq!(found(&w, "a.txt"), [seq]);
}

#[test]
fn times_are_found_even_where_the_clock_was_set_back() {
    let mut w = World::new();
    w.write(vec![started(1, "claude-code", "/w")]).unwrap();
    let at = |w: &mut World, ms: i64, n| {
        w.now = At(ms);
        w.write_with(vec![allowed(1, call("Read", vec![], n), vec![])], &[]).unwrap().seq
    };
    let late = at(&mut w, START.0 + 90_000_000, 1);
    let early = at(&mut w, START.0, 2);
    let filter = |from: i64, to: i64| HistoryFilter {
        from_ms: Some(START.plus_ms(from)),
        to_ms: Some(START.plus_ms(to)),
        ..Default::default()
    };
    let seqs = |w: &World, f| w.opened.reader.history(&f).unwrap().items.iter().map(|r| r.seq).collect::<Vec<_>>();
    assert_eq!(seqs(&w, filter(0, 1)), [early]);
    assert_eq!(seqs(&w, filter(80_000_000, 100_000_000)), [late]);
    assert_eq!(seqs(&w, filter(0, 100_000_000)), [early, late]);
}

#[test]
fn an_id_finds_the_calls_of_what_it_names() {
    let w = busy(5, 60, 30);
    let found =
        |filter: HistoryFilter| w.opened.reader.history(&HistoryFilter { limit: 1_000, ..filter }).unwrap().items;
    let by_id = |id: String| HistoryFilter { text: Some(id), ..Default::default() };
    let of_session = HistoryFilter { session: Some(session(2)), ..Default::default() };
    assert_eq!(found(by_id(session(2).to_string())), found(of_session));
    let of_grant = HistoryFilter { grant: Some(grant_id(900_000)), ..Default::default() };
    let granted = found(by_id(grant_id(900_000).to_string().to_uppercase()));
    assert!(!granted.is_empty());
    assert_eq!(granted, found(of_grant));
    let asked = found(HistoryFilter::default()).into_iter().find(|row| row.approval.is_some()).unwrap();
    let id = asked.approval.unwrap().to_string();
    assert_eq!(found(by_id(id.clone())), std::slice::from_ref(&asked));
    let elsewhere = HistoryFilter { after: Some(asked.seq), ..by_id(id) };
    assert_eq!(found(elsewhere), []);
    let another = HistoryFilter { session: Some(session(1)), ..by_id(session(2).to_string()) };
    assert_eq!(found(another), []);
    assert_eq!(found(by_id(session(77).to_string())), []);
}
