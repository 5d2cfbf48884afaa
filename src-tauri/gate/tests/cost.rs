//! What one call costs, counted in allocations rather than in seconds, so that a change which makes every call dearer
//! is seen on any machine. The bounds are the counts of today with a little room; who needs more says why here.
#![allow(clippy::unwrap_used, missing_docs)]

mod ground;

use std::hint::black_box;

use ground::{NOW, check, grants, known, read, rules, state};
use placet_domain::{Grant, command::Decision, decide, decide::Outcome};

const MOST_BY_A_GRANT: u64 = 280;
// Five of them find the few rules that could be about the call, so that there may be ten thousand others.
const MOST_BY_A_RULE: u64 = 30;
const MOST_OF_A_JUDGE: u64 = 270;

/// The allocations of one decision that allows.
fn allocations(policy: &str, grants: Vec<Grant>) -> u64 {
    let state = state(policy, grants);
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
