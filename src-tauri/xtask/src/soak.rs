//! `cargo xtask soak`: calls, answers and crashes at random for as long as it is told, then as long the property tests,
//! again and again, each time from another place.

use std::time::{Duration, Instant};

use crate::program::Program;
use crate::system;

const USAGE: &str = "usage: cargo xtask soak [MINUTES]";

pub(crate) fn run(words: &[&str]) -> Result<(), String> {
    let minutes = match words {
        [] => 10,
        [minutes] => minutes.parse::<u32>().map_err(|_| USAGE)?,
        _ => return Err(USAGE.into()),
    };
    system::set_up_to_test()?;
    Program::cargo(&["build", "--workspace", "--all-targets", "--locked"]).run()?;
    Program::cargo(&["test", "--workspace", "--locked", "--test", "scenarios", "--", "--ignored", "--nocapture"])
        .with("PLACET_SOAK_MINUTES", minutes.to_string())
        .run()?;
    let end = Instant::now() + Duration::from_secs(u64::from(minutes) * 60);
    while Instant::now() < end {
        let rooms = ["-p", "placet-domain", "-p", "placet-subject", "-p", "placet-store", "-p", "placet-cli"];
        Program::cargo(&[&["test", "--locked", "--quiet"][..], &rooms].concat()).run()?;
    }
    Ok(())
}
