//! The same again and again, at random, with crashes: what is promised once must hold after hours.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use placet_tests::desk::Desk;
use placet_tests::ground::Ground;
use placet_tests::hook::Hook;
use placet_tests::program::eventually;
use serde_json::json;

const HOOKS_A_ROUND: usize = 12;
const WITHIN: Duration = Duration::from_secs(60);

/// `cargo xtask soak MINUTES` says how long; the seed is printed, so that a run can be had again.
#[test]
#[ignore = "takes as long as it is told to: cargo xtask soak"]
fn whatever_is_done_in_whatever_order_every_hook_hears_what_became_of_its_approval() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let minutes = number("PLACET_SOAK_MINUTES").unwrap_or(1);
    let seed = number("PLACET_SOAK_SEED").unwrap_or_else(|| u64::from(std::process::id()));
    println!("soaking for {minutes} min with PLACET_SOAK_SEED={seed}");
    let mut dice = Dice(seed);
    let ground = Ground::new(Some(crate::ASK_EVERYTHING));
    let started = Instant::now();
    let mut rounds = 0;
    while started.elapsed() < Duration::from_secs(minutes * 60) {
        round(&ground, &mut dice, rounds);
        rounds += 1;
    }
    println!("{rounds} rounds, {} calls", rounds * HOOKS_A_ROUND);
}

fn round(ground: &Ground, dice: &mut Dice, round: usize) {
    let mut desk = Desk::open(ground);
    let mut hooks: HashMap<String, Hook> = HashMap::new();
    for number in 0..HOOKS_A_ROUND {
        let file = ground.workspace().join(format!("{round}-{number}.txt")).to_str().unwrap().to_owned();
        let input = json!({"file_path": file, "content": "soak\n"});
        let session = format!("session-{round}-{}", number % 3);
        hooks.insert(file, Hook::before(ground, &session, &format!("call-{round}-{number}"), "Write", &input));
    }
    let mut all = desk.until_pending(HOOKS_A_ROUND, WITHIN);
    let ids: Vec<_> = all.iter().map(|approval| approval["id"].clone()).collect();
    let mut crashed = false;
    while !all.is_empty() {
        let approval = all.swap_remove(dice.below(all.len()));
        let throw = dice.below(6);
        println!("round {round}: {throw} for {}", subject(&approval));
        match throw {
            0 | 1 => drop(desk.approve(&approval)),
            2 => drop(desk.deny(&approval, "soaked")),
            3 => drop(desk.ask("approvals.cancel", &json!({"ids": [approval["id"]]}))),
            4 => {
                crashed = true;
                desk.crash();
                desk = Desk::open(ground);
                desk.approve(&approval);
            }
            _ => drop(hooks.remove(subject(&approval))),
        }
    }
    for (file, hook) in hooks {
        let decision = hook.answer(WITHIN).decision();
        let approvals: Vec<_> = ids.iter().map(|id| desk.ask("approvals.get", &json!({"id": id}))).collect();
        let id = &approvals.iter().find(|approval| subject(approval) == file).unwrap()["id"];
        // A yes is noted as consumed once it was written to the hook, which may have told us by then; after a crash in
        // between it stays approved until it lapses.
        eventually(WITHIN, &format!("{file} heard {decision}; the state that goes with it"), || {
            let state = desk.ask("approvals.get", &json!({"id": id}))["state"].clone();
            let yes = state == "consumed" || (state == "approved" && crashed);
            ((decision == "allow") == yes).then_some(())
        });
    }
    desk.until_pending(0, WITHIN);
    assert_eq!(desk.ask("history.verify", &json!({}))["intact"], true);
}

fn subject(approval: &serde_json::Value) -> &str {
    approval["subjects"][0]["resolved"].as_str().unwrap()
}

/// Numbers that look random and are the same for the same seed (splitmix64).
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
        usize::try_from(mixed % u64::try_from(end).unwrap()).unwrap()
    }
}
