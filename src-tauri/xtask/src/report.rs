//! Steps that are run one after the other, and the table that says how they went.

use std::fmt::Write;
use std::time::{Duration, Instant};

use crate::counts::Counts;
use crate::failures::Failures;
use crate::house;
use crate::program::{Kept, Program};

/// What became of a step.
enum Outcome {
    Passed,
    Failed(String),
    Skipped(String),
}

struct Row {
    name: &'static str,
    outcome: Outcome,
    took: Duration,
    counts: Counts,
    /// What failed within it, if it failed.
    failures: Failures,
}

/// The steps run so far.
#[derive(Default)]
pub(crate) struct Report {
    rows: Vec<Row>,
}

impl Report {
    /// Runs a step made of programs, which ends at the first that fails. Says whether it passed.
    pub(crate) fn step(&mut self, name: &'static str, programs: Vec<Program>) -> bool {
        println!("\n== {name}");
        let started = Instant::now();
        let (text, failed) = match run_all(name, programs) {
            Ok(kept) => (kept.text, kept.failed),
            Err(reason) => (String::new(), Some(reason)),
        };
        let mut counts = Counts::read(&text).unwrap_or_default();
        // A step without tests of its own counts as one; so does a failure that is no failed test.
        if failed.is_none() && counts == Counts::default() {
            counts = Counts::ONE_PASSED;
        } else if failed.is_some() && counts.failed == 0 {
            counts.add(Counts::ONE_FAILED);
        }
        // A runner that counts a failed test and still ends well would hide it.
        let failed = failed.or_else(|| (counts.failed > 0).then(|| format!("{} tests failed", counts.failed)));
        let passed = failed.is_none();
        let failures = if passed { Failures::default() } else { Failures::read(&text, tests_of) };
        // A program that crashed has not counted itself.
        counts.failed = counts.failed.max(failures.names.len());
        let outcome = failed.map_or(Outcome::Passed, Outcome::Failed);
        self.rows.push(Row { name, outcome, took: started.elapsed(), counts, failures });
        passed
    }

    /// Notes what a step that is not made of programs gave.
    pub(crate) fn note(&mut self, name: &'static str, took: Duration, done: Result<(), String>) -> bool {
        let passed = done.is_ok();
        let (outcome, counts) = match done {
            Ok(()) => (Outcome::Passed, Counts::ONE_PASSED),
            Err(reason) => (Outcome::Failed(reason), Counts::ONE_FAILED),
        };
        self.rows.push(Row { name, outcome, took, counts, failures: Failures::default() });
        passed
    }

    /// Notes that a step was not run, and why.
    pub(crate) fn skip(&mut self, name: &'static str, why: impl Into<String>) {
        let (outcome, failures) = (Outcome::Skipped(why.into()), Failures::default());
        self.rows.push(Row { name, outcome, took: Duration::ZERO, counts: Counts::ONE_SKIPPED, failures });
    }

    /// Prints the table, what failed, and, as the last line, the sum; an error if anything failed.
    pub(crate) fn finish(self) -> Result<(), String> {
        println!("\n{:<44} {:>8}  {:>22}", "step", "time", "passed failed skipped");
        let mut sum = Counts::default();
        let mut took = Duration::ZERO;
        for row in &self.rows {
            sum.add(row.counts);
            took += row.took;
            let Counts { passed, failed, skipped } = row.counts;
            let said = match &row.outcome {
                Outcome::Passed => String::new(),
                Outcome::Failed(reason) => format!("  FAILED: {reason}; {}", log_name(row.name)),
                Outcome::Skipped(why) => format!("  skipped: {why}"),
            };
            println!("{:<44} {:>7.1}s  {passed:>6} {failed:>6} {skipped:>8}{said}", row.name, row.took.as_secs_f64());
        }
        println!("{:<44} {:>7.1}s", "all", took.as_secs_f64());
        if let Ok(logs) = house::logs() {
            println!("logs: {}", logs.display());
        }
        print!("{}", self.what_failed());
        println!("\n{} passed, {} failed, {} skipped", sum.passed, sum.failed, sum.skipped);
        let failed: Vec<&str> =
            self.rows.iter().filter(|row| matches!(row.outcome, Outcome::Failed(_))).map(|row| row.name).collect();
        if failed.is_empty() { Ok(()) } else { Err(format!("failed: {}", failed.join(", "))) }
    }

    /// The failed steps once more, each with the tests that failed and what was printed around them.
    fn what_failed(&self) -> String {
        let mut text = String::new();
        for row in &self.rows {
            if let Outcome::Failed(reason) = &row.outcome {
                let heading = if text.is_empty() { "\nwhat failed\n" } else { "" };
                let _ = write!(text, "{heading}\n{}: {reason}\n{}", row.name, row.failures.told());
            }
        }
        text
    }
}

/// The tests that a test program has, in its order; none if it cannot say.
fn tests_of(program: &str) -> Vec<String> {
    let listed = Program::new(&[program, "--list", "--format", "terse"]).output().unwrap_or_default();
    listed.lines().filter_map(|line| line.strip_suffix(": test")).map(str::to_owned).collect()
}

fn run_all(name: &str, programs: Vec<Program>) -> Result<Kept, String> {
    let log = house::logs()?.join(log_name(name));
    let _ = std::fs::remove_file(&log);
    let mut all = Kept { text: String::new(), failed: None };
    for program in programs {
        let kept = program.run_and_keep(&log)?;
        all.text.push_str(&kept.text);
        if kept.failed.is_some() {
            all.failed = kept.failed;
            break;
        }
    }
    Ok(all)
}

/// What a step's log is called, in the folder of logs.
fn log_name(name: &str) -> String {
    let words: Vec<&str> =
        name.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    format!("{}.log", words.join("-"))
}
