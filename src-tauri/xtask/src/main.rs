//! `cargo xtask`: the caretaker. It sets up what is missing, builds, runs, tests, measures and packages.
//!
//! It knows nothing of Tauri and of no other room, so it builds in seconds on a machine that has only Rust and Node.
#![allow(clippy::print_stdout, reason = "what it prints is what it is for")]
#![allow(clippy::disallowed_methods, reason = "it measures how long steps take; nothing is decided by that time")]

mod bench;
mod check;
mod clients;
mod counts;
mod failures;
mod front_end;
mod house;
mod newer;
mod package;
mod program;
mod report;
mod run;
mod soak;
mod system;
mod test;

use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask COMMAND

  run            set up what is missing, build, and open the window with a demo agent waiting for approval
  test           set up, then every check and test that CI runs; exits non-zero on any failure
  check          format, lints, types: what is quick to say
  bench          what Placet costs, side by side with what others cost; the table goes to docs/performance.md
  test-clients   real agent clients against a scripted model, with `placet hook` between them and their tools
  soak           calls, answers and crashes at random, for ten minutes or as many as you say, then as long the properties
  package        a release build and a Debian package
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match words.split_first() {
        Some((&"run", rest)) => run::run(rest),
        Some((&"test", [])) => test::run(),
        Some((&"check", [])) => check::run(),
        Some((&"bench", words)) => bench::run(words),
        Some((&"test-clients", names)) => clients::run(names),
        Some((&"soak", words)) => soak::run(words),
        Some((&"package", [])) => package::run(),
        Some((&("help" | "--help" | "-h"), _)) => {
            print!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        Some(_) | None => {
            eprint!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            eprintln!("xtask: {reason}");
            ExitCode::FAILURE
        }
    }
}
