//! The programs that `docs/protocol.md` shows, run as they stand there.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use placet_tests::desk::Desk;
use placet_tests::ground::Ground;
use placet_tests::house::root;
use placet_tests::program::eventually;

use crate::ASK_EVERYTHING;

const WITHIN: Duration = Duration::from_secs(30);
/// Takes the types out of a TypeScript file, for a Node that does not do that itself.
const STRIP: &str = "const ts = require(process.argv[1]); const fs = require('node:fs'); \
    const options = { module: 'esnext', target: 'es2022' }; \
    const text = fs.readFileSync(process.argv[2], 'utf8'); \
    fs.writeFileSync(process.argv[3], ts.transpileModule(text, { compilerOptions: options }).outputText);";

#[test]
fn the_python_example_asks_and_obeys() {
    asks_and_obeys("from-python", |_ground| {
        let mut command = Command::new("python3");
        command.arg(root().join("docs/examples/ask.py"));
        command
    });
}

#[test]
fn the_typescript_example_asks_and_obeys() {
    asks_and_obeys("from-typescript", |ground| {
        let plain = ground.path().join("ask.mjs");
        let typescript = root().join("ui/node_modules/typescript");
        let example = root().join("docs/examples/ask.ts");
        let done = Command::new("node").arg("-e").arg(STRIP).args([&typescript, &example, &plain]).status().unwrap();
        assert!(done.success(), "npm packages are missing in ui: `cargo xtask test` installs them");
        let mut command = Command::new("node");
        command.arg(plain);
        command
    });
}

#[test]
fn the_rust_example_asks_and_obeys() {
    asks_and_obeys("from-rust", |_ground| Command::new(built_example()));
}

/// What was built with the same profile as this test.
fn built_example() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let example = test.parent().and_then(|deps| deps.parent()).unwrap().join("examples/ask");
    assert!(example.exists(), "{} is missing: `cargo build --workspace --all-targets` first", example.display());
    example
}

/// Runs it three times: approved, denied, and without a gate. It prints `word` if and only if it was approved.
fn asks_and_obeys(word: &str, example: impl Fn(&Ground) -> Command) {
    let ground = Ground::new(Some(ASK_EVERYTHING));
    let run = || Run::start(&ground, example(&ground));
    let mut desk = Desk::open(&ground);

    let first = run();
    let asked = desk.until_pending(1, WITHIN).remove(0);
    assert_eq!(asked["agent"], "example", "{asked}");
    desk.approve(&asked);
    let (ended_well, printed, said) = first.end();
    assert!(ended_well, "{said}");
    assert_eq!(printed.trim(), word, "{said}");

    let second = run();
    let asked = desk.until_pending(1, WITHIN).remove(0);
    desk.deny(&asked, "Not today.");
    let (ended_well, printed, said) = second.end();
    assert!(!ended_well && printed.is_empty(), "{printed}{said}");
    assert!(said.contains("Not today."), "{said}");

    desk.crash();
    let (ended_well, printed, said) = run().end();
    assert!(!ended_well && printed.is_empty(), "{printed}{said}");
}

/// An example that was started.
struct Run {
    child: Child,
}

impl Run {
    fn start(ground: &Ground, mut command: Command) -> Self {
        command.arg(ground.data().join("run/gate.sock")).current_dir(ground.workspace());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        Self { child: command.spawn().unwrap() }
    }

    /// Whether it ended well, what it printed, and what it said on stderr.
    fn end(mut self) -> (bool, String, String) {
        let status = eventually(WITHIN, "the end of the example", || self.child.try_wait().unwrap());
        let read = |from: Option<&mut dyn std::io::Read>| {
            let mut text = String::new();
            from.unwrap().read_to_string(&mut text).unwrap();
            text
        };
        let printed = read(self.child.stdout.as_mut().map(|out| out as _));
        let said = read(self.child.stderr.as_mut().map(|err| err as _));
        (status.success(), printed, said)
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
