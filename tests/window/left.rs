//! What a window leaves behind when it ends: nothing that runs.

use std::time::Duration;

use placet_tests::ground::Ground;
use placet_tests::program::eventually;
use placet_tests::window::{Window, left_behind};

use crate::ASK_EVERYTHING;

#[test]
fn no_process_outlives_a_window_neither_a_bus_nor_a_helper() {
    let ground = Ground::new(Some(ASK_EVERYTHING));
    // Whatever the app starts, however it detaches itself, has the ground's path in its environment.
    let mark = ground.path().to_str().unwrap();
    let window = Window::open(&ground);
    window.until_count("nothing-waits", 1);
    assert!(left_behind(mark).iter().any(|one| one.contains("placet-desktop")), "the mark finds what runs");
    drop(window);
    let ended = || left_behind(mark).is_empty().then_some(());
    eventually(Duration::from_secs(20), "an end of all that was started", ended);
}
