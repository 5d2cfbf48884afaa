//! `cargo xtask check`: what can be said without running anything: format, walls, types, lints, documentation.

use crate::program::Program;
use crate::report::Report;

pub(crate) fn run() -> Result<(), String> {
    crate::front_end::install_packages()?;
    let mut report = Report::default();
    format(&mut report);
    front_end(&mut report);
    walls(&mut report);
    lints(&mut report);
    report.finish()
}

pub(crate) fn format(report: &mut Report) {
    report.step("rust: format", vec![Program::cargo(&["fmt", "--all", "--check"])]);
}

/// The front end's types and lints.
pub(crate) fn front_end(report: &mut Report) {
    report.step("ui: types", vec![Program::npm(&["run", "check"])]);
    report.step("ui: lints", vec![Program::npm(&["run", "lint"])]);
}

/// What each room may touch, under which licences, and that nothing is depended on for nothing.
pub(crate) fn walls(report: &mut Report) {
    // `--workspace` on every cargo line, so that features are resolved alike and nothing is compiled twice.
    let words = ["test", "--workspace", "--locked", "--test", "rooms", "--test", "documents"];
    report.step("rust: walls, licences, documents", vec![Program::cargo(&words)]);
}

pub(crate) fn lints(report: &mut Report) {
    let clippy = ["clippy", "--workspace", "--all-targets", "--locked", "--", "--deny", "warnings"];
    report.step("rust: lints", vec![Program::cargo(&clippy)]);
    let doc = ["doc", "--workspace", "--no-deps", "--locked"];
    report.step("rust: documentation", vec![Program::cargo(&doc).with("RUSTDOCFLAGS", "--deny warnings")]);
}
