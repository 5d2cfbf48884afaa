//! How commands that others have labelled come out.
//! `cargo run -p placet-subject --example measure_labels FILE…` takes lines of `{"command": …, "harmless": true}` and
//! prints one JSON object: how many harmless ones read, and how many others do, which should be none. With `--each`
//! every command that comes out otherwise than its label says is printed before, with what was made of it.
#![allow(clippy::print_stdout, clippy::unwrap_used, clippy::disallowed_methods)]

use placet_domain::{Action, PathText};
use placet_subject::Programs;
use placet_subject::command::{Shell, understand};
use serde::Deserialize;
use serde_json::json;

#[derive(Deserialize)]
struct Labelled {
    command: String,
    harmless: bool,
}

fn main() {
    let (options, files): (Vec<String>, Vec<String>) =
        std::env::args().skip(1).partition(|word| word.starts_with("--"));
    let each = options.iter().any(|option| option == "--each");
    let programs = Programs::builtin().unwrap();
    let shell = Shell { cwd: PathText::from("/ws"), name: "bash".to_owned(), path: Vec::new() };
    let (mut harmless, mut read, mut others, mut missed) = (0_u64, 0_u64, 0_u64, 0_u64);
    for file in files {
        for line in std::fs::read_to_string(file).unwrap().lines() {
            let case: Labelled = serde_json::from_str(line).unwrap();
            let understood = understand(&case.command, &shell, &programs);
            let effect = understood.effect();
            // What is fetched is covered by rules for hosts, as what is read is by those for paths.
            let reads = matches!(effect, Action::None | Action::Read | Action::List | Action::Search | Action::Fetch);
            let counts = if case.harmless { (&mut harmless, &mut read) } else { (&mut others, &mut missed) };
            *counts.0 += 1;
            *counts.1 += u64::from(reads);
            if each && case.harmless != reads {
                let why = understood.why_not.as_ref().map(|why| why.sentence.clone());
                let unknown = understood.all_parts().iter().find_map(|part| part.not_known.clone());
                let paths: Vec<String> =
                    understood.all_parts().iter().flat_map(|part| &part.reads).map(PathText::lossy).collect();
                println!(
                    "{}",
                    json!({"command": case.command, "harmless": case.harmless, "effect": effect, "reads": paths, "why": why.or(unknown)})
                );
            }
        }
    }
    let share = (read * 1000).checked_div(harmless).unwrap_or_default();
    println!(
        "{}",
        json!({"harmless": harmless, "of them read": read, "per mille": share, "others": others, "of them read, wrongly": missed})
    );
}
