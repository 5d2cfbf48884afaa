//! `cargo xtask test-clients`: real agent clients against a scripted model, with `placet hook` before their tools.

use std::path::PathBuf;

use crate::house;
use crate::program::{self, Program};
use crate::report::Report;

/// What the step is called in `cargo xtask test`.
pub(crate) const STEP: &str = "clients: Claude Code and Codex, offline";
/// The same in the window.
pub(crate) const IN_THE_WINDOW: &str = "clients: Claude Code in the window";

/// By names of clients, or all that there is a script for.
pub(crate) fn run(names: &[&str]) -> Result<(), String> {
    Program::cargo(&["build", "--bin", "placet"]).run()?;
    let mut report = Report::default();
    // The page's table is written only where all of it was seen.
    let flags: &[&str] = if names.is_empty() { &["--docs", "docs/clients.md"] } else { &[] };
    report.step("real clients", vec![kit(flags, names)?]);
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
    match kit(&["--or-skip", "--quick"], &["claude-code", "codex"]) {
        Ok(program) => {
            report.step(STEP, vec![program]);
        }
        Err(reason) => report.skip(STEP, reason),
    }
}

/// The same client before the real window, where a click answers it. The step before has installed it, if it could.
pub(crate) fn in_the_window(report: &mut Report, why_not: Option<&str>) {
    match why_not {
        Some(why) => report.skip(IN_THE_WINDOW, why),
        None if !is_installed("claude-code") => report.skip(IN_THE_WINDOW, "the client is not installed"),
        None => {
            let test = ["test", "--workspace", "--locked", "--test", "window", "--"];
            let which = ["--ignored", "--test-threads=1", "claude_code"];
            report.step(IN_THE_WINDOW, vec![Program::cargo(&[&test[..], &which[..]].concat())]);
        }
    }
}

/// As `tests/clients/install.sh` notes it.
fn is_installed(client: &str) -> bool {
    let from = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let cache = from("XDG_CACHE_HOME").or_else(|| from("HOME").map(|home| home.join(".cache")));
    let folder = from("CLIENTS_DIR").or_else(|| cache.map(|cache| cache.join("placet-clients")));
    folder.is_some_and(|folder| folder.join("apps").join(client).join(".installed").is_file())
}

fn kit(flags: &[&str], names: &[&str]) -> Result<Program, String> {
    let placet = house::debug_program("placet");
    let placet = placet.to_str().ok_or("the path of the target folder is no text")?;
    Ok(Program::new(&[&["python3", "tests/clients/check.py", "--placet", placet], flags, names].concat()))
}
