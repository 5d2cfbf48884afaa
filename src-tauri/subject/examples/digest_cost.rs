//! What a digest costs against parsing and hashing alone, and what a whole `explain` of a typical call costs.
//! `cargo run --release -p placet-subject --example digest_cost` prints one JSON object a line; times are medians.
#![allow(clippy::print_stdout, clippy::unwrap_used, clippy::disallowed_methods)]

use std::hint::black_box;
use std::time::Instant;

use placet_domain::PathText;
use placet_subject::canonical::{digest_of, sha256};
use placet_subject::{Known, Programs, RawCall, explain, strict_json};
use serde_json::{Value, json};

fn main() {
    for (name, bytes) in [("1 kB", 1_000), ("100 kB", 100_000), ("10 MB", 10_000_000)] {
        let input = input_of(bytes);
        let times = if bytes > 1_000_000 { 15 } else { 400 };
        let digest = median_ns(times, || {
            let value = strict_json(&input).unwrap();
            black_box(digest_of(&[("input", &value)]));
        });
        let alone = median_ns(times, || {
            black_box(serde_json::from_slice::<Value>(&input).unwrap());
            black_box(sha256(&input));
        });
        let by_crate = median_ns(times, || {
            let value = strict_json(&input).unwrap();
            black_box(sha256(&serde_json_canonicalizer::to_vec(&value).unwrap()));
        });
        let ratio = f64::from(u32::try_from(digest * 100 / alone).unwrap()) / 100.0;
        println!(
            "{}",
            json!({"what": "digest", "of": name, "us": digest / 1_000, "parse_and_sha256_us": alone / 1_000, "ratio": ratio, "with_serde_json_canonicalizer_us": by_crate / 1_000})
        );
    }
    let known = Known::new("/home/dev".into(), Vec::new(), Programs::builtin().unwrap());
    let folder = std::env::current_dir().unwrap();
    let cwd = PathText::from(folder.to_str().unwrap());
    for (tool, input) in [
        ("Read", json!({"file_path": "Cargo.toml"})),
        ("Edit", json!({"file_path": "Cargo.toml", "old_string": "[workspace]", "new_string": "[workspace] # here"})),
        ("Bash", json!({"command": "cat Cargo.toml | head -20 && git status --short"})),
        ("WebFetch", json!({"url": "https://docs.example.org/pool/limits", "prompt": "limits?"})),
    ] {
        let input = input.to_string();
        let call = RawCall::in_folder("claude-code", tool, input.as_bytes(), &cwd);
        let time = median_ns(400, || {
            black_box(explain(&call, &known));
        });
        println!("{}", json!({"what": "explain", "of": tool, "us": time / 1_000}));
    }
}

/// The input of a `Write`: text with the quotes, breaks and accents that source code has.
fn input_of(bytes: usize) -> Vec<u8> {
    let line = "    let greeting = \"Grüße\"; // said once\n";
    let content = line.repeat(bytes / (line.len() + 5) + 1);
    json!({"file_path": "/w/src/main.rs", "content": content, "mode": 420}).to_string().into_bytes()
}

fn median_ns(times: usize, mut run: impl FnMut()) -> u128 {
    let mut all: Vec<u128> = (0..times)
        .map(|_| {
            let start = Instant::now();
            run();
            start.elapsed().as_nanos()
        })
        .collect();
    all.sort_unstable();
    all[times / 2].max(1)
}
