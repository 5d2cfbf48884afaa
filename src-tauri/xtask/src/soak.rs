//! `cargo xtask soak`: calls, answers and crashes at random for as long as it is told.

use crate::program::Program;
use crate::system;

pub(crate) fn run(words: &[&str]) -> Result<(), String> {
    let minutes = match words {
        [] => "10",
        [minutes] if minutes.parse::<u32>().is_ok() => minutes,
        _ => return Err("usage: cargo xtask soak [MINUTES]".into()),
    };
    system::set_up_to_test()?;
    Program::cargo(&["build", "--workspace", "--all-targets", "--locked"]).run()?;
    Program::cargo(&["test", "--workspace", "--locked", "--test", "scenarios", "--", "--ignored", "--nocapture"])
        .with("PLACET_SOAK_MINUTES", minutes)
        .run()
}
