//! Virtual time: random asks, answers, grants, revokes, pauses, clock jumps and restarts, each step compared with a
//! model so naive that it can be seen to be right. A failure prints its seed; `PLACET_SEED` runs it again.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;

use crate::{
    Action, ApprovalId, ApprovalState, At, By, CancelReason, Command, GrantId, Judged, PathText, Scope, Selection,
    SessionId, State,
    grant::{Effect, GrantWho, On, ScopeWho},
    testing::{HOUR_MS, T0, World, grant_id, scope, session_id, verdict, write},
    time::{DEFAULT_TIMEOUT_MS, FETCH_WITHIN_MS},
};

const STEPS: usize = 10_000;
const SESSIONS: u64 = 3;
const WAITING: usize = 20;

/// Small, seeded and the same everywhere (`SplitMix64`).
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) % n
    }

    fn one_of<T: Copy>(&mut self, items: &[T]) -> Option<T> {
        if items.is_empty() { None } else { Some(items[usize::try_from(self.below(items.len() as u64)).unwrap()]) }
    }
}

/// The model: lists that are looked through from the first to the last.
#[derive(Default)]
struct Model {
    now: i64,
    paused: bool,
    approvals: BTreeMap<ApprovalId, Asked>,
    grants: BTreeMap<GrantId, Given>,
    denials: BTreeMap<(SessionId, String), Vec<i64>>,
    /// Those, and what a restart from projections has forgotten.
    all_denials: BTreeMap<(SessionId, String), Vec<i64>>,
}

#[derive(Clone)]
struct Asked {
    session: SessionId,
    file: String,
    state: &'static str,
    due: i64,
    by_grant: Option<GrantId>,
}

#[derive(Clone, Debug)]
struct Given {
    allow: bool,
    /// None for every session.
    session: Option<SessionId>,
    file: Option<String>,
    folder: Option<String>,
    ends: i64,
    left: Option<u32>,
    used: u32,
}

impl Given {
    fn is_about(&self, session: SessionId, file: &str) -> bool {
        let same = |a: &str, b: &str| if self.allow { a == b } else { a.eq_ignore_ascii_case(b) };
        let within = |folder: &str| {
            file.len() > folder.len() && same(&file[..folder.len()], folder) && file[folder.len()..].starts_with('/')
        };
        self.session.is_none_or(|s| s == session)
            && (self.file.as_ref().is_some_and(|f| same(f, file)) || self.folder.as_ref().is_some_and(|f| within(f)))
    }
}

impl Model {
    fn live(&self, session: SessionId, file: &str, allow: bool) -> Option<GrantId> {
        let now = self.now;
        let holds = |g: &Given| g.allow == allow && now < g.ends && g.left != Some(0) && g.is_about(session, file);
        self.grants.iter().find(|(_, g)| holds(g)).map(|(id, _)| *id)
    }

    fn use_up(&mut self, id: GrantId) {
        let grant = self.grants.get_mut(&id).unwrap();
        grant.used += 1;
        if let Some(left) = &mut grant.left {
            *left -= 1;
            if *left == 0 {
                self.grants.remove(&id);
            }
        }
    }

    fn expected(&mut self, session: SessionId, file: &str) -> &'static str {
        if self.paused || self.live(session, file, false).is_some() {
            return "denied";
        }
        if let Some(grant) = self.live(session, file, true) {
            self.use_up(grant);
            return "allowed";
        }
        let silenced = self
            .denials
            .get(&(session, file.to_owned()))
            .is_some_and(|times| times.len() >= 3 && self.now - times[times.len() - 1] < 5 * 60 * 1_000);
        let waiting = self.approvals.values().filter(|a| a.session == session && a.state == "pending").count();
        if silenced || waiting >= WAITING { "denied" } else { "asked" }
    }

    fn tick(&mut self, now: i64) {
        for asked in self.approvals.values_mut().filter(|a| a.due <= now) {
            asked.state = match asked.state {
                "pending" => "expired",
                "approved" => "lapsed",
                other => other,
            };
        }
        self.grants.retain(|_, g| g.ends > now);
    }

    /// A new grant answers what waits, oldest first; a no takes back what is not fetched.
    fn answer_waiting(&mut self, id: GrantId, except: ApprovalId) {
        let grant = self.grants[&id].clone();
        let now = self.now;
        let matching: Vec<ApprovalId> = self
            .approvals
            .iter()
            .filter(|(other, a)| **other != except && now < a.due && grant.is_about(a.session, &a.file))
            .map(|(id, _)| *id)
            .collect();
        for other in matching {
            let asked = self.approvals[&other].clone();
            let denied = self.live(asked.session, &asked.file, false).is_some();
            let state = match (asked.state, grant.allow) {
                ("pending", true) if !denied && !self.paused && self.grants.contains_key(&id) => {
                    self.use_up(id);
                    "approved"
                }
                ("pending", false) => "denied",
                ("approved", false) => "void",
                (same, _) => same,
            };
            let asked = self.approvals.get_mut(&other).unwrap();
            if asked.state == "pending" && state == "approved" {
                asked.due = now + FETCH_WITHIN_MS;
                asked.by_grant = Some(id);
            }
            asked.state = state;
        }
    }
}

struct Simulation {
    world: World,
    model: Model,
    dice: Dice,
}

#[test]
fn ten_thousand_steps_agree_with_the_naive_model() {
    let seeds: Vec<u64> = match std::env::var("PLACET_SEED") {
        Ok(seed) => vec![seed.parse().unwrap()],
        Err(_) => (1..=10).collect(),
    };
    let mut seen = std::collections::BTreeSet::new();
    for seed in &seeds {
        let mut simulation = Simulation::new(*seed);
        for step in 0..STEPS / seeds.len() {
            let run = std::panic::AssertUnwindSafe(|| simulation.step());
            if let Err(panic) = std::panic::catch_unwind(run) {
                eprintln!("step {step} of seed {seed} differs; run it again with PLACET_SEED={seed}");
                std::panic::resume_unwind(panic);
            }
        }
        seen.extend(simulation.model.approvals.values().map(|asked| asked.state));
        seen.extend(simulation.world.history.iter().map(|(entry, _)| entry.fact.kind()));
    }
    if seeds.len() > 1 {
        // Agreement is worth nothing where nothing happened.
        for happened in [
            "consumed",
            "lapsed",
            "void",
            "denied",
            "expired",
            "cancelled",
            "call_allowed",
            "call_denied",
            "grant_issued",
            "grant_ended",
            "grant_revoked",
            "grant_shortened",
            "paused",
            "resumed",
        ] {
            assert!(seen.contains(happened), "{happened} never came to pass");
        }
    }
}

impl Simulation {
    fn new(seed: u64) -> Self {
        let mut world = World::new();
        for n in 2..=u128::from(SESSIONS) {
            world.start("claude-code", &format!("c{n}"), "/w", n);
        }
        Self { world, model: Model { now: T0.0, ..Model::default() }, dice: Dice(seed) }
    }

    fn step(&mut self) {
        match self.dice.below(100) {
            0..40 => self.call(),
            40..58 => self.approve(),
            58..70 => self.deny(),
            70..75 => self.cancel(),
            75..82 => self.consume(),
            82..87 => self.revoke(),
            87..90 => self.shorten(),
            90..92 => self.pause(),
            92..98 => self.pass(),
            _ => self.restart(),
        }
        self.compare();
    }

    fn file(&mut self) -> String {
        let folder = self.dice.one_of(&["/w/a", "/w/b", "/w/A", "/w/ab"]).unwrap();
        format!("{folder}/{}", self.dice.below(3))
    }

    fn call(&mut self) {
        let session = session_id(u128::from(self.dice.below(SESSIONS)) + 1);
        let file = self.file();
        let judged: Judged = write(&file);
        let expected = self.model.expected(session, &file);
        let check = self.world.asking(session, &judged);
        let id = check.approval;
        let decided = self.world.run(&Command::Check(Box::new(check))).unwrap();
        self.world.state.attended.insert(id);
        let heard = verdict(decided);
        assert!(heard.starts_with(expected), "{file} was {heard}, not {expected}");
        if expected == "asked" {
            let due = self.model.now + DEFAULT_TIMEOUT_MS;
            self.model.approvals.insert(id, Asked { session, file, state: "pending", due, by_grant: None });
        }
    }

    fn any_approval(&mut self) -> Option<ApprovalId> {
        // Mostly one that is open; now and then one that is not, to see the answer refused.
        let open: Vec<ApprovalId> = self.world.state.approvals.keys().copied().collect();
        let all: Vec<ApprovalId> = self.model.approvals.keys().copied().collect();
        if self.dice.below(10) == 0 { self.dice.one_of(&all) } else { self.dice.one_of(&open) }
    }

    fn scope(&mut self, file: &str) -> Scope {
        let folder = file.rsplit_once('/').unwrap().0;
        let on =
            if self.dice.below(2) == 0 { On::Path(PathText::from(file)) } else { On::Folder(PathText::from(folder)) };
        let who = self.dice.one_of(&[ScopeWho::Session, ScopeWho::Workspace]).unwrap();
        let uses = self.dice.one_of(&[None, Some(1), Some(2), Some(5)]).unwrap();
        let expires_in_ms = self.dice.one_of(&[1_000, 60_000, HOUR_MS, 8 * HOUR_MS]).unwrap();
        Scope { who, expires_in_ms, uses, ..scope(on) }
    }

    fn given(&self, asked: &Asked, scope: &Scope, allow: bool) -> Given {
        let text = |path: &PathText| path.as_str().unwrap().to_owned();
        let folder = scope.on.folder().map(text);
        let file = if let On::Path(path) = &scope.on { Some(text(path)) } else { None };
        Given {
            allow,
            session: (scope.who == ScopeWho::Session).then_some(asked.session),
            file,
            folder,
            ends: self.model.now + scope.expires_in_ms,
            left: scope.uses,
            used: 0,
        }
    }

    fn approve(&mut self) {
        let Some(id) = self.any_approval() else { return };
        let asked = self.model.approvals[&id].clone();
        let scope = (self.dice.below(3) == 0).then(|| self.scope(&asked.file));
        let grant = scope.clone().map(|scope| (grant_id(self.world.fresh()), scope));
        let digest = write(&asked.file).facts.digest;
        let command =
            Command::Approve { approval: id, digest, by: By::User, note: None, grant: grant.clone(), edited: None };
        let done = self.world.run(&command).is_ok_and(|d| matches!(d.outcome, crate::decide::Outcome::Settled { .. }));
        let model = &mut self.model;
        let overdue = asked.state == "pending" && model.now >= asked.due;
        if overdue {
            model.approvals.get_mut(&id).unwrap().state = "expired";
        }
        let forbidden = model.paused || model.live(asked.session, &asked.file, false).is_some();
        let expected = asked.state == "pending" && !overdue && !forbidden;
        assert_eq!(done, expected, "approving {}", asked.file);
        if done {
            let entry = self.model.approvals.get_mut(&id).unwrap();
            (entry.state, entry.due) = ("approved", self.model.now + FETCH_WITHIN_MS);
            self.issue(id, &asked, grant, true);
        }
    }

    fn issue(&mut self, id: ApprovalId, asked: &Asked, grant: Option<(GrantId, Scope)>, allow: bool) {
        if let Some((grant, scope)) = grant {
            let given = self.given(asked, &scope, allow);
            self.model.grants.insert(grant, given);
            self.model.answer_waiting(grant, id);
        }
    }

    fn deny(&mut self) {
        let Some(id) = self.any_approval() else { return };
        let asked = self.model.approvals[&id].clone();
        let scope = (self.dice.below(5) == 0).then(|| Scope { uses: None, ..self.scope(&asked.file) });
        let grant = scope.map(|scope| (grant_id(self.world.fresh()), scope));
        let command = Command::Deny { approval: id, by: By::User, note: None, grant: grant.clone() };
        let done = self.world.run(&command).is_ok_and(|d| matches!(d.outcome, crate::decide::Outcome::Settled { .. }));
        let overdue = asked.state == "pending" && self.model.now >= asked.due;
        assert_eq!(done, asked.state == "pending" && !overdue, "denying {}", asked.file);
        let entry = self.model.approvals.get_mut(&id).unwrap();
        if overdue {
            entry.state = "expired";
        }
        if done {
            entry.state = "denied";
            for denials in [&mut self.model.denials, &mut self.model.all_denials] {
                denials.entry((asked.session, asked.file.clone())).or_default().push(self.model.now);
            }
            self.issue(id, &asked, grant, false);
        }
    }

    fn cancel(&mut self) {
        let chosen: Vec<ApprovalId> = (0..3).filter_map(|_| self.any_approval()).collect();
        let selection = Selection::Ids(chosen.clone());
        let command = Command::Cancel { selection, reason: CancelReason::Batch, by: Some(By::User), note: None };
        self.world.run(&command).unwrap();
        for id in chosen {
            let entry = self.model.approvals.get_mut(&id).unwrap();
            if entry.state == "pending" {
                entry.state = if self.model.now >= entry.due { "expired" } else { "cancelled" };
            }
        }
    }

    fn consume(&mut self) {
        let Some(id) = self.any_approval() else { return };
        let done = self.world.run(&Command::Consume { approval: id }).map(|d| d.outcome);
        let (now, paused) = (self.model.now, self.model.paused);
        let entry = self.model.approvals.get_mut(&id).unwrap();
        let ready = entry.state == "approved" && !paused;
        assert_eq!(done == Ok(crate::decide::Outcome::Done), ready && now < entry.due, "handing over {}", entry.file);
        if ready {
            entry.state = if now < entry.due { "consumed" } else { "lapsed" };
        }
    }

    fn any_grant(&mut self) -> Option<GrantId> {
        let ids: Vec<GrantId> = self.model.grants.keys().copied().collect();
        self.dice.one_of(&ids)
    }

    fn revoke(&mut self) {
        let Some(grant) = self.any_grant() else { return };
        self.world.run(&Command::Revoke { grants: vec![grant], by: By::User, note: None }).unwrap();
        self.model.grants.remove(&grant);
        let now = self.model.now;
        let unfetched = |a: &&mut Asked| a.state == "approved" && a.by_grant == Some(grant) && now < a.due;
        for asked in self.model.approvals.values_mut().filter(unfetched) {
            asked.state = "void";
        }
    }

    fn shorten(&mut self) {
        let Some(grant) = self.any_grant() else { return };
        let ends = self.model.now + i64::try_from(self.dice.below(2 * HOUR_MS as u64)).unwrap();
        let done = self.world.run(&Command::Shorten { grant, expires_at_ms: At(ends) }).is_ok();
        let given = self.model.grants.get_mut(&grant).unwrap();
        assert_eq!(done, ends > self.model.now && ends < given.ends, "shortening");
        if done {
            given.ends = ends;
        }
    }

    fn pause(&mut self) {
        self.model.paused = !self.model.paused;
        let command =
            if self.model.paused { Command::Pause { by: By::Command } } else { Command::Resume { by: By::User } };
        self.world.run(&command).unwrap();
    }

    /// Time goes by, sometimes to the very millisecond of a deadline; the timer runs late as often as not.
    fn pass(&mut self) {
        let next = self.world.state.next_due().map_or(self.model.now, |at| at.0);
        let to = match self.dice.below(4) {
            0 => next,
            1 => next - 1,
            2 => self.model.now + 200_000,
            _ => self.model.now + 2_000,
        };
        self.model.now = self.model.now.max(to);
        self.world.now = At(self.model.now);
        if self.dice.below(2) == 0 {
            self.world.run(&Command::Tick).unwrap();
            self.model.tick(self.model.now);
        }
    }

    /// The gate is killed and opens again, from its projections or by replaying its history, now and then after a
    /// jump of the clock.
    fn restart(&mut self) {
        let old = &self.world.state;
        let mut state = if self.dice.below(2) == 0 {
            self.model.denials.clear();
            State::of(
                old.sessions.values().cloned().collect(),
                old.approvals.values().cloned().collect(),
                old.grants.values().cloned().collect(),
                old.paused,
            )
        } else {
            self.model.denials = self.model.all_denials.clone();
            let mut replayed = State::default();
            for (entry, judged) in &self.world.history {
                replayed.apply(entry, judged.as_ref());
            }
            replayed
        };
        state.attended = old.approvals.keys().copied().collect();
        self.world.state = state;
        let clock_behind_ms = self.dice.one_of(&[0, 0, 0, -HOUR_MS, 24 * HOUR_MS, 25 * HOUR_MS]).unwrap();
        let command = Command::StartApp { version: "1".to_owned(), host: "serve".to_owned(), clock_behind_ms };
        self.world.run(&command).unwrap();
        let until = if clock_behind_ms > 24 * HOUR_MS { i64::MAX } else { self.model.now };
        self.model.tick(until);
    }

    /// Both hold the same to be the case.
    fn compare(&self) {
        let state = &self.world.state;
        for (id, asked) in &self.model.approvals {
            let open = state.approvals.get(id).map(|a| a.state.word());
            let is_open = matches!(asked.state, "pending" | "approved");
            assert_eq!(open, is_open.then_some(asked.state), "{} of {:?}", asked.file, asked.session);
            if let Some(settled) = state.settled.get(id) {
                assert_eq!(settled.state.word(), asked.state);
            }
        }
        assert_eq!(state.grants.len(), self.model.grants.len(), "grants");
        for (id, given) in &self.model.grants {
            let grant = &state.grants[id];
            assert_eq!((grant.used, grant.uses_left, grant.expires_at_ms.0), (given.used, given.left, given.ends));
            assert_eq!(grant.effect == Effect::Allow, given.allow);
            assert!(matches!(grant.who, GrantWho::Session { .. } | GrantWho::Workspace { .. }));
            assert_eq!(grant.action, Action::Write);
        }
        let pending = state.approvals.values().filter(|a| a.state == ApprovalState::Pending).count();
        assert_eq!(pending, state.pending());
        assert_eq!(state.paused, self.model.paused);
        let due = state.approvals.len() + state.grants.len();
        assert_eq!(state.due.len(), due, "every open approval and grant is due some time, and nothing else");
    }
}
