//! What a newcomer sees first: the demo, with calls of different kinds waiting.

use std::time::Duration;

use placet_tests::ground::Ground;
use placet_tests::program::eventually;
use placet_tests::window::Window;

#[test]
fn the_demo_fills_the_window_with_calls_of_different_kinds() {
    let ground = Ground::new(None);
    let window = Window::open_with(&ground, &["--demo"]);
    eventually(Duration::from_secs(30), "five calls or more", || (window.count("queue-row") >= 5).then_some(()));
    for verb in ["Write", "Delete", "Run", "Fetch", "Use"] {
        eventually(Duration::from_secs(10), verb, || {
            let rows = window.script("return document.querySelector('[data-testid=queue-list]').innerText");
            rows.as_str()?.contains(verb).then_some(())
        });
    }
    assert_eq!(window.text("badge"), window.text("queue-count"), "the badge says what waits");
}
