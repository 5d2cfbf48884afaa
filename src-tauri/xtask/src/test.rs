//! `cargo xtask test`: everything that CI runs, in an order in which what fails cheaply fails first.

use std::{env, time::Instant};

use crate::program::{self, Program};
use crate::report::Report;
use crate::{check, clients, front_end, system};

/// Where property tests begin. In CI always at the same place, so that a push is judged by what it changed; elsewhere at
/// another each time, and `cargo xtask soak` goes on for long.
const SEED: &str = "PROPTEST_RNG_SEED";

pub(crate) fn run() -> Result<(), String> {
    let mut report = Report::default();
    let started = Instant::now();
    // Without these nothing further would say anything true, so their failure ends the run.
    if !report.note("set up the system", started.elapsed(), system::set_up_to_test()) {
        return report.finish();
    }
    let started = Instant::now();
    if !report.note("set up npm packages", started.elapsed(), front_end::install_packages()) {
        return report.finish();
    }

    check::format(&mut report);
    check::front_end(&mut report);
    report.step("ui: tests", vec![Program::npm(&["run", "test"])]);
    let ui_built = report.step("ui: build", vec![Program::npm(&["run", "build"])]);
    if ui_built {
        in_a_browser(&mut report);
    } else {
        report.skip("ui: in a browser", "the front end was not built");
    }

    check::walls(&mut report);
    check::lints(&mut report);
    rust(&mut report, ui_built);
    report.finish()
}

fn in_a_browser(report: &mut Report) {
    if ["chromium", "chromium-browser", "google-chrome"].iter().any(|name| program::find(name).is_some()) {
        report.step("ui: in a browser", vec![Program::npm(&["run", "e2e"])]);
    } else {
        report.skip("ui: in a browser", "no Chromium or Chrome on PATH");
    }
}

/// Builds all programs and tests at once, so that Tauri is compiled once, then runs them.
fn rust(report: &mut Report, ui_built: bool) {
    let built =
        report.step("rust: build", vec![Program::cargo(&["build", "--workspace", "--all-targets", "--locked"])]);
    let not_built = (!built).then_some("the programs were not built");
    let mut tests = Program::cargo(&["test", "--workspace", "--locked", "--no-fail-fast"]);
    if env::var_os("CI").is_some() && env::var_os(SEED).is_none() {
        tests = tests.with(SEED, "5312");
    }
    step_unless(report, "rust: tests", not_built, tests);
    step_unless(report, "scenarios: real processes", not_built, end_to_end("scenarios"));
    let no_window = not_built.or((!ui_built).then_some("the front end was not built")).or_else(no_screen);
    step_unless(report, "window: the real app under Xvfb", no_window, end_to_end("window"));
    match not_built {
        Some(why) => report.skip(clients::STEP, why),
        None => clients::step(report),
    }
    clients::in_the_window(report, no_window);
}

fn step_unless(report: &mut Report, name: &'static str, why_not: Option<&str>, program: Program) {
    match why_not {
        Some(why) => report.skip(name, why),
        None => {
            report.step(name, vec![program]);
        }
    }
}

/// Why the window cannot be opened and driven here.
pub(crate) fn no_screen() -> Option<&'static str> {
    if program::find("Xvfb").is_none() {
        Some("Xvfb is not on PATH")
    } else if program::find("WebKitWebDriver").is_none() {
        Some("WebKitWebDriver is not on PATH")
    } else {
        None
    }
}

/// One at a time: each starts programs of its own, and two cores do not hold many.
fn end_to_end(target: &str) -> Program {
    Program::cargo(&["test", "--workspace", "--locked", "--test", target, "--", "--test-threads=1"])
}
