//! How long the window takes, for `cargo xtask bench`: one line of JSON after the word `measured`.

use placet_tests::ground::Ground;
use placet_tests::window::Window;

use crate::ASK_EVERYTHING;

/// When the page was loaded after it was called for, in milliseconds; the round trip of a command to the Rust
/// side and back, in microseconds; and two frames, which no answer can be seen sooner than.
const TIMES: &str = "const done = arguments[arguments.length - 1];
    const middle = (values) => values.sort((a, b) => a - b)[values.length >> 1];
    const times = async (count, step) => {
      const started = performance.now();
      for (let at = 0; at < count; at += 1) await step();
      return ((performance.now() - started) * 1000) / count;
    };
    const frame = () => new Promise((shown) => requestAnimationFrame(shown));
    (async () => {
      const [page] = performance.getEntriesByType('navigation');
      const rounds = [];
      for (let round = 0; round < 9; round += 1)
        rounds.push(await times(50, () => window.__TAURI_INTERNALS__.invoke('window_snapshot', { params: {} })));
      const frames = [];
      for (let round = 0; round < 9; round += 1) frames.push(await times(10, frame));
      done({ loaded_ms: page.loadEventEnd, invoke_us: middle(rounds), frame_us: middle(frames) });
    })().catch((error) => done({ error: String(error) }));";

#[test]
#[ignore = "a measurement; `cargo xtask bench` runs it"]
fn loading_and_round_trip() {
    let ground = Ground::new(Some(ASK_EVERYTHING));
    let window = Window::open(&ground);
    window.until_count("queue-row", 0);
    let times = window.script_async(TIMES);
    assert!(times["invoke_us"].as_f64().is_some_and(|us| us > 0.0), "{times}");
    #[expect(clippy::print_stdout, reason = "what it prints is what it is for")]
    {
        println!("measured {times}");
    }
}
