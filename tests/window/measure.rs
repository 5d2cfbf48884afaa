//! How long the window takes, for `cargo xtask bench`: one line of JSON after the word `measured`.

use std::os::unix::fs::DirBuilderExt as _;
use std::process::Command;

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

/// The window over a long history with many waiting: when something was painted and when the queue was there, in
/// milliseconds; frames while nothing happens and while a list is scrolled through, in microseconds, and the share of the
/// latter that came late; and what passes between a key in a field and the list that it asks for, in milliseconds.
const UNDER_LOAD: &str = "const done = arguments[arguments.length - 1];
    const find = (id) => document.querySelector(`[data-testid='${id}']`);
    const frame = () => new Promise((shown) => requestAnimationFrame(shown));
    const middle = (values) => values.sort((a, b) => a - b)[values.length >> 1];
    const frames = async (count, step) => {
      const all = [];
      for (let at = 0, before = await frame(); at < count; at += 1) {
        step();
        const now = await frame();
        all.push((now - before) * 1000);
        before = now;
      }
      return all;
    };
    const until = async (holds) => { while (!holds()) await frame(); };
    const type = async (id, words, holds) => {
      const field = find(id);
      const began = performance.now();
      Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set.call(field, words);
      field.dispatchEvent(new Event('input', { bubbles: true }));
      await until(holds);
      return performance.now() - began;
    };
    const rows = (id) => [...document.querySelectorAll(`[data-testid='${id}']`)];
    const scrolled = async (id) => {
      const idle = middle(await frames(30, () => undefined));
      const list = find(id);
      const all = await frames(240, () => { list.scrollTop += 120; });
      return { idle_us: idle, frame_us: all.reduce((sum, one) => sum + one, 0) / all.length, late: all.filter((one) => one > 1.5 * idle).length / all.length };
    };
    (async () => {
      await until(() => rows('queue-row').length > 0);
      const painted = performance.getEntriesByName('first-contentful-paint')[0];
      const ready = performance.getEntriesByName('ready')[0];
      const queue = await scrolled('queue-list');
      find('queue-list').scrollTop = 0;
      const asked = 'no-such-file';
      const queue_typed = await type('queue-filter', asked, () => rows('queue-row').length === 0);
      await type('queue-filter', '', () => rows('queue-row').length > 0);
      find('place-history').click();
      await until(() => rows('history-row').length > 10);
      const history = await scrolled('history-list');
      const history_typed = await type('history-text', 'file-777', () => { const all = rows('history-row'); return all.length > 0 && all.every((row) => row.textContent.includes('file-777')); });
      done({ painted_ms: painted?.startTime ?? null, ready_ms: ready.startTime, queue, history, queue_typed_ms: queue_typed, history_typed_ms: history_typed });
    })().catch((error) => done({ error: String(error) }));";

#[test]
#[ignore = "a measurement; `cargo xtask bench` runs it"]
fn under_load() {
    let ground = Ground::new(Some(ASK_EVERYTHING));
    let of =
        |name: &str| std::env::var(name).unwrap_or_else(|_| panic!("{name} is not set: `cargo xtask bench` sets it"));
    let data = ground.data();
    std::fs::DirBuilder::new().mode(0o700).create(&data).unwrap();
    let words = ["window", data.to_str().unwrap(), &of("PLACET_BENCH_CALLS"), &of("PLACET_BENCH_WAITING")];
    let filled = Command::new(of("PLACET_BENCH_FILL")).args(words).status().unwrap();
    assert!(filled.success(), "{filled}");
    let window = Window::open(&ground);
    let times = window.script_async(UNDER_LOAD);
    assert!(times["ready_ms"].as_f64().is_some_and(|ms| ms > 0.0), "{times}");
    #[expect(clippy::print_stdout, reason = "what it prints is what it is for")]
    {
        println!("measured {times}");
    }
}
