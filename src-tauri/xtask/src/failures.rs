//! What failed in a step, told once more where it is found: only the last pages of a long log are read.

use std::collections::BTreeSet;
use std::fmt::Write;

use crate::counts::without_colours;

/// How many lines are repeated for each failure or crash.
const LINES: usize = 40;
/// How many failures of one step are repeated; all of them are named.
const SHOWN: usize = 8;
/// How many tests are named that had not ended when their program crashed.
const UNENDED: usize = 5;

/// What is to be said of a step that failed.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Failures {
    /// The names of failed tests, and of programs that crashed with why, in the order printed.
    pub(crate) names: Vec<String>,
    /// What was printed around each.
    pub(crate) excerpts: Vec<String>,
}

impl Failures {
    /// Reads what a step printed. `tests_of` lists the tests of a program, for one that crashed before it could say
    /// how they went.
    pub(crate) fn read(text: &str, tests_of: impl Fn(&str) -> Vec<String>) -> Self {
        let plain: Vec<String> = text.lines().map(without_colours).collect();
        let lines: Vec<&str> = plain.iter().map(String::as_str).collect();
        let mut found = Self::default();
        let mut ended = BTreeSet::new();
        // Where the present test program began to print.
        let mut began = 0;
        for (at, line) in lines.iter().enumerate() {
            if is_start_of_a_program(line) {
                began = at;
                ended.clear();
            }
            if let Some((name, how)) = result_of_a_test(line) {
                // One that crashed its program has another program's words behind its name.
                if ["ok", "FAILED", "ignored"].iter().any(|outcome| how.starts_with(outcome) || how.ends_with(outcome))
                {
                    ended.insert(name.to_owned());
                }
                if how.ends_with("FAILED") {
                    found.add(name.to_owned(), None);
                }
            } else if let Some(name) = name_of_a_block(line) {
                found.excerpts.push(block(&lines, at, name));
            } else if let Some(crash) = Crash::of_line(line) {
                let unended = tests_of(crash.program).into_iter().filter(|name| !ended.contains(name));
                found.add(crash.told(&unended.take(UNENDED).collect::<Vec<_>>()), Some(tail(&lines, began, at)));
            } else if let Some(name) = failure_of_another_runner(line) {
                found.add(name.to_owned(), Some(around(&lines, at)));
            }
        }
        if found.excerpts.is_empty() {
            found.excerpts.push(tail(&lines, 0, lines.len().saturating_sub(1)));
        }
        found
    }

    fn add(&mut self, name: String, excerpt: Option<String>) {
        if !self.names.contains(&name) {
            self.names.push(name);
            self.excerpts.extend(excerpt);
        }
    }

    /// As it is printed below the step's name.
    pub(crate) fn told(&self) -> String {
        let mut text = String::new();
        for name in &self.names {
            let _ = writeln!(text, "  failed: {name}");
        }
        for excerpt in self.excerpts.iter().take(SHOWN) {
            text.push('\n');
            for line in excerpt.lines() {
                let _ = writeln!(text, "  | {line}");
            }
        }
        if let Some(more @ 1..) = self.excerpts.len().checked_sub(SHOWN) {
            let _ = writeln!(text, "\n  and {more} more, in the log");
        }
        text
    }
}

/// A program that did not come to its end by itself.
struct Crash<'a> {
    /// The whole command.
    command: &'a str,
    program: &'a str,
    /// For instance `signal: 11, SIGSEGV: invalid memory reference`.
    why: &'a str,
}

impl<'a> Crash<'a> {
    /// Of cargo's `process didn't exit successfully: COMMAND (signal: N, NAME)`. That a test program ended with
    /// status 101 is only that tests failed, and those are named.
    fn of_line(line: &'a str) -> Option<Self> {
        let told = line.trim().strip_prefix("process didn't exit successfully: `")?;
        let (command, why) = told.rsplit_once("` (")?;
        let why = why.trim_end_matches(')');
        let program = command.split(' ').next().unwrap_or_default();
        (why != "exit status: 101").then_some(Self { command, program, why })
    }

    fn told(&self, unended: &[String]) -> String {
        let file = self.program.rsplit('/').next().unwrap_or(self.command);
        let mut text = format!("{file} ({})", self.why);
        if !unended.is_empty() {
            let _ = write!(text, "; its first tests that had not ended: {}", unended.join(", "));
        }
        text
    }
}

fn is_start_of_a_program(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("Running ") || line.starts_with("Doc-tests ")
}

/// The name and the outcome of `test NAME ... OUTCOME`, also where a test itself printed between the two.
fn result_of_a_test(line: &str) -> Option<(&str, &str)> {
    let (name, how) = line.strip_prefix("test ")?.split_once(" ... ")?;
    Some((name.trim_end_matches(" - should panic"), how.trim()))
}

/// The name in libtest's `---- NAME stdout ----`.
fn name_of_a_block(line: &str) -> Option<&str> {
    line.strip_prefix("---- ")?.strip_suffix(" stdout ----")
}

/// What a failed test printed, without the backtrace: the last lines of it.
fn block(lines: &[&str], at: usize, name: &str) -> String {
    let mut kept = vec![format!("{name}:")];
    let mut in_backtrace = false;
    for line in lines.get(at + 1..).unwrap_or_default() {
        if *line == "failures:" || name_of_a_block(line).is_some() {
            break;
        }
        in_backtrace = (in_backtrace || *line == "stack backtrace:") && !line.starts_with("note: ");
        if !in_backtrace && !line.starts_with("note: ") && !line.trim().is_empty() {
            kept.push((*line).to_owned());
        }
    }
    if kept.len() > LINES {
        kept.drain(1..kept.len() - LINES);
    }
    kept.join("\n")
}

/// The name in what vitest, our browser scenarios and our client scenarios print of a failed test.
fn failure_of_another_runner(line: &str) -> Option<&str> {
    let line = line.trim();
    if let Some(name) = line.strip_prefix("FAIL ") {
        return Some(name.trim());
    }
    let (name, rest) = line.split_once(": FAILED")?;
    (rest.is_empty() || rest.starts_with(',')).then_some(name)
}

/// Up to and with this line, not further back than `from`.
fn tail(lines: &[&str], from: usize, to: usize) -> String {
    let from = from.max((to + 1).saturating_sub(LINES));
    lines.get(from..=to).unwrap_or_default().join("\n")
}

/// Half of the lines before, half of them after.
fn around(lines: &[&str], at: usize) -> String {
    let to = (at + LINES / 2).min(lines.len());
    lines.get(at.saturating_sub(LINES / 2)..to).unwrap_or_default().join("\n")
}

#[cfg(test)]
mod tests {
    use super::{Failures, LINES};

    const LIBTEST: &str = "\
     Running unittests src/lib.rs (target/debug/deps/crash-1)

running 3 tests
test tests::a_fine ... ok
test tests::b_wrong ... FAILED

failures:

---- tests::b_wrong stdout ----
said before

thread 'tests::b_wrong' (350) panicked at src/lib.rs:4:53:
assertion `left == right` failed: one is not two
stack backtrace:
   0: __rustc::rust_begin_unwind
note: Some details are omitted

failures:
    tests::b_wrong

test result: FAILED. 1 passed; 1 failed; 0 ignored
error: test failed, to rerun pass `--lib`
";

    const CRASH: &str = "\
     Running tests/boom.rs (/t/debug/deps/boom-f05f)

running 3 tests
test a_ok ... ok

thread 'm_deep' (357) has overflowed its stack
fatal runtime error: stack overflow, aborting
error: test failed, to rerun pass `--test boom`

Caused by:
  process didn't exit successfully: `/t/debug/deps/boom-f05f` (signal: 6, SIGABRT: process abort signal)
   Doc-tests crash
error: 1 target failed:
    `--test boom`
";

    fn nothing_listed(_program: &str) -> Vec<String> {
        Vec::new()
    }

    #[test]
    fn a_failed_test_is_named_and_its_words_repeated_without_the_backtrace() {
        let found = Failures::read(LIBTEST, nothing_listed);
        assert_eq!(found.names, ["tests::b_wrong"]);
        assert_eq!(found.excerpts.len(), 1);
        assert!(found.excerpts[0].contains("said before"), "{found:?}");
        assert!(found.excerpts[0].contains("one is not two"), "{found:?}");
        assert!(!found.excerpts[0].contains("rust_begin_unwind"), "{found:?}");
    }

    #[test]
    fn a_crash_is_named_with_its_signal_and_the_tests_that_had_not_ended() {
        let found = Failures::read(CRASH, |program| {
            assert_eq!(program, "/t/debug/deps/boom-f05f");
            ["a_ok", "m_deep", "z_never"].map(String::from).to_vec()
        });
        let told = "boom-f05f (signal: 6, SIGABRT: process abort signal); \
                    its first tests that had not ended: m_deep, z_never";
        assert_eq!(found.names, [told]);
        assert!(found.excerpts[0].contains("has overflowed its stack"), "{found:?}");
        assert!(found.excerpts[0].ends_with("process abort signal)"), "{found:?}");
    }

    #[test]
    fn a_test_that_crashed_while_its_name_was_on_the_line_had_not_ended() {
        let text =
            CRASH.replace("test a_ok ... ok\n", "test a_ok ... error: test failed, to rerun pass `--test boom`\n");
        let found = Failures::read(&text, |_| vec!["a_ok".into()]);
        assert!(found.names[0].ends_with("had not ended: a_ok"), "{found:?}");
    }

    #[test]
    fn that_tests_failed_is_no_crash_of_its_own() {
        let text = format!("{LIBTEST}\nCaused by:\n  process didn't exit successfully: `/t/x` (exit status: 101)\n");
        assert_eq!(Failures::read(&text, nothing_listed).names, ["tests::b_wrong"]);
    }

    #[test]
    fn the_other_runners_failures_are_named() {
        let vitest = "\u{1b}[31m FAIL \u{1b}[39m src/a.test.ts > it adds\nAssertionError: 1 is not 2\n";
        let found = Failures::read(vitest, nothing_listed);
        assert_eq!(found.names, ["src/a.test.ts > it adds"]);
        assert!(found.excerpts[0].contains("1 is not 2"), "{found:?}");
        let ours = "AssertionError: hi\ncodex: an approved call runs: FAILED\ncodex: another: FAILED, no hook\n";
        let names = Failures::read(ours, nothing_listed).names;
        assert_eq!(names, ["codex: an approved call runs", "codex: another"]);
    }

    #[test]
    fn where_no_test_is_named_the_last_lines_are_repeated() {
        let text = (0..100).map(|number| format!("line {number}")).collect::<Vec<_>>().join("\n");
        let found = Failures::read(&text, nothing_listed);
        assert!(found.names.is_empty());
        assert_eq!(found.excerpts[0].lines().count(), LINES);
        assert!(found.told().ends_with("  | line 99\n"), "{}", found.told());
    }

    #[test]
    fn many_failures_are_all_named_and_the_first_are_repeated() {
        let text = (0..20).map(|number| format!("x: check {number}: FAILED")).collect::<Vec<_>>().join("\n");
        let told = Failures::read(&text, nothing_listed).told();
        assert!(told.contains("failed: x: check 19\n"), "{told}");
        assert!(told.ends_with("and 12 more, in the log\n"), "{told}");
    }
}
