//! What a hook call costs as a process, beside the hooks that people write.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use nix::sys::resource::{UsageWho, getrusage};
use serde_json::json;

use super::row::{Bar, Row, least, median, time};
use super::{compile_c, desk};

/// Ends at once, without any library: what the system itself takes to start a process.
const BARE: &str = "void _start(void) { __asm__ volatile(\"mov $60, %eax; xor %edi, %edi; syscall\"); }\n";
/// Ends at once, with the C library linked in: the least that a program written in C or Rust takes.
const NOTHING: &str = "int main(void) { return 0; }\n";
const JQ: &str = r#"#!/usr/bin/env bash
if jq -r '.tool_input.file_path // ""' | grep -q '/secret'; then
  echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny"}}'
fi
"#;
const PYTHON: &str = r#"import json, re, sys
if re.search("/secret", json.load(sys.stdin)["tool_input"].get("file_path", "")):
    print(json.dumps({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny"}}))
"#;
const NODE: &str = r#"const call = JSON.parse(require("fs").readFileSync(0, "utf8"));
if (/\/secret/.test(call.tool_input.file_path ?? ""))
  console.log(JSON.stringify({ hookSpecificOutput: { hookEventName: "PreToolUse", permissionDecision: "deny" } }));
"#;

struct Contender {
    name: &'static str,
    words: Vec<String>,
    /// The slow ones take part in fewer rounds.
    every: usize,
    cpu_us: Vec<f64>,
    wall_us: Vec<f64>,
}

pub(super) fn measure(placet: &Path, folder: &Path, effort: usize) -> Result<Vec<Row>, String> {
    let mut all = contenders(placet, folder)?;
    let payload = payload(folder);
    for round in 0..25 * effort {
        for contender in all.iter_mut().filter(|contender| round % contender.every == 0) {
            contender.run(&payload)?;
        }
    }
    Ok(rows(&all))
}

fn contenders(placet: &Path, folder: &Path) -> Result<Vec<Contender>, String> {
    let script = |name: &str, text: &str| {
        let path = folder.join(name);
        fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display())).map(|()| path)
    };
    let bare = compile_c(folder, "bare", BARE, &["-nostdlib"])?;
    let nothing = compile_c(folder, "nothing", NOTHING, &[])?;
    let mut hook = vec![placet.to_string_lossy().into_owned(), "hook".into(), "claude-code".into()];
    hook.extend(desk::flags(folder));
    let one = |path: PathBuf| vec![path.to_string_lossy().into_owned()];
    let with = |program: &str, path: PathBuf| vec![program.to_owned(), path.to_string_lossy().into_owned()];
    Ok(vec![
        Contender::new("a static program without a library that ends at once", one(bare), 1),
        Contender::new("a static C program that ends at once", one(nothing), 1),
        Contender::new("`bash -c :`", vec!["bash".into(), "-c".into(), ":".into()], 1),
        Contender::new("`placet hook`, a rule allows", hook, 1),
        Contender::new("a bash hook with one jq and one local rule", with("bash", script("hook.sh", JQ)?), 4),
        Contender::new("a python3 hook with one local rule", with("python3", script("hook.py", PYTHON)?), 4),
        Contender::new("a node hook with one local rule", with("node", script("hook.js", NODE)?), 4),
    ])
}

fn payload(folder: &Path) -> String {
    let workspace = folder.join("workspace");
    json!({
        "session_id": "bench", "transcript_path": "/dev/null", "cwd": workspace, "permission_mode": "default",
        "hook_event_name": "PreToolUse", "tool_name": "Read", "tool_use_id": "toolu_01",
        "tool_input": {"file_path": workspace.join("notes.txt")},
    })
    .to_string()
}

fn rows(all: &[Contender]) -> Vec<Row> {
    let [bare, nothing, bash, hook, jq, python, node] = all else { return Vec::new() };
    let cpu = |against: &Contender, bar| {
        let (ours, theirs) = (median(hook.cpu_us.clone()), median(against.cpu_us.clone()));
        Row {
            what: format!("{}: CPU", hook.name),
            ours: time(ours),
            against: against.name.to_owned(),
            theirs: time(theirs),
            ratio: ours / theirs,
            bar,
        }
    };
    let (ours, theirs) = (least(&hook.wall_us), least(&bash.wall_us));
    let wall = Row {
        what: format!("{}: wall time, least", hook.name),
        ours: time(ours),
        against: bash.name.to_owned(),
        theirs: time(theirs),
        ratio: ours / theirs,
        bar: Bar::AtMost(0.6),
    };
    vec![
        cpu(bare, Bar::AtMost(4.5)),
        cpu(nothing, Bar::AtMost(1.8)),
        wall,
        cpu(jq, Bar::AtMost(1.0 / 20.0)),
        cpu(python, Bar::AtMost(1.0 / 20.0)),
        cpu(node, Bar::AtMost(1.0 / 80.0)),
    ]
}

impl Contender {
    fn new(name: &'static str, words: Vec<String>, every: usize) -> Self {
        Self { name, words, every, cpu_us: Vec::new(), wall_us: Vec::new() }
    }

    fn run(&mut self, payload: &str) -> Result<(), String> {
        let problem = |error: std::io::Error| format!("{}: {error}", self.name);
        let before = children_cpu_us()?;
        let started = Instant::now();
        let mut command = Command::new(&self.words[0]);
        command.args(&self.words[1..]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
        let mut child = command.spawn().map_err(problem)?;
        // Those that read nothing may be gone already.
        let _ = child.stdin.take().map(|mut stdin| stdin.write_all(payload.as_bytes()));
        let output = child.wait_with_output().map_err(problem)?;
        self.wall_us.push(started.elapsed().as_secs_f64() * 1e6);
        self.cpu_us.push(children_cpu_us()? - before);
        if !output.status.success() {
            return Err(format!("{} ended with {}", self.name, output.status));
        }
        if self.words.iter().any(|word| word == "hook")
            && !String::from_utf8_lossy(&output.stdout).contains("\"allow\"")
        {
            return Err(format!("the hook did not allow: {}", String::from_utf8_lossy(&output.stdout)));
        }
        Ok(())
    }
}

/// The CPU time of all children that have ended, and of theirs.
fn children_cpu_us() -> Result<f64, String> {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).map_err(|error| format!("getrusage: {error}"))?;
    #[expect(clippy::cast_precision_loss, reason = "below 2^52 microseconds, which is a century")]
    let us = |time: nix::sys::time::TimeVal| time.tv_sec() as f64 * 1e6 + time.tv_usec() as f64;
    Ok(us(usage.user_time()) + us(usage.system_time()))
}
