//! The programs under test.

use std::path::PathBuf;
use std::time::{Duration, Instant};

/// The command line, as built with the same profile as this test.
pub fn placet() -> PathBuf {
    built("placet")
}

/// The window, as built with the same profile as this test.
pub fn placet_desktop() -> PathBuf {
    built("placet-desktop")
}

fn built(name: &str) -> PathBuf {
    let test = std::env::current_exe().expect("this test is a program");
    let folder = test.parent().and_then(|deps| deps.parent()).expect("tests lie in target/PROFILE/deps");
    let program = folder.join(name);
    assert!(program.exists(), "{} is missing: `cargo build --workspace` first", program.display());
    program
}

/// Looks again and again until there is something, and ends the test if there is nothing in time.
pub fn eventually<T>(within: Duration, what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let started = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(started.elapsed() < within, "not within {within:?}: {what}");
        std::thread::sleep(Duration::from_millis(15));
    }
}

/// Ends a process group that this test started, with whatever it has started in turn.
pub fn kill_group(leader: u32) {
    let group = format!("-{leader}");
    let _ = std::process::Command::new("kill").args(["-KILL", "--", &group]).status();
}
