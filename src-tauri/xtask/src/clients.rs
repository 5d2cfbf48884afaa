//! `cargo xtask test-clients`: real agent clients against a scripted model, with `placet hook` before their tools.

use crate::house;
use crate::program::{self, Program};
use crate::report::Report;

/// What the step is called in `cargo xtask test`.
pub(crate) const STEP: &str = "clients: Claude Code, offline";

/// By names of clients, or all that there is a script for.
pub(crate) fn run(names: &[&str]) -> Result<(), String> {
    Program::cargo(&["build", "--bin", "placet"]).run()?;
    let mut report = Report::default();
    report.step("real clients", vec![kit(&[], names)?]);
    report.finish()
}

/// The quick part, within `cargo xtask test`.
pub(crate) fn step(report: &mut Report) {
    if program::find("python3").is_none() {
        return report.skip(STEP, "python3 is missing");
    }
    if cfg!(not(all(target_os = "linux", target_arch = "x86_64"))) {
        return report.skip(STEP, "the pinned clients are made for Linux on x86-64");
    }
    match kit(&["--or-skip"], &["claude-code"]) {
        Ok(program) => {
            report.step(STEP, vec![program]);
        }
        Err(reason) => report.skip(STEP, reason),
    }
}

fn kit(flags: &[&str], names: &[&str]) -> Result<Program, String> {
    let placet = house::debug_program("placet");
    let placet = placet.to_str().ok_or("the path of the target folder is no text")?;
    Ok(Program::new(&[&["python3", "tests/clients/check.py", "--placet", placet], flags, names].concat()))
}
