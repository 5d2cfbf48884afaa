//! The walls of the house, held by reading it: who depends on whom, what is spoken of where, under which licences.
#![allow(clippy::unwrap_used, reason = "a test may end where it cannot go on")]

use std::collections::BTreeSet;

use placet_tests::house::{metadata, text, texts, words};
use placet_tests::licence::is_permitted;
use placet_tests::room::{Room, all, array, string};

/// Which rooms each room may know. ARCHITECTURE.md draws the same.
const NEIGHBOURS: &[(&str, &[&str])] = &[
    ("placet-domain", &[]),
    ("placet-keyring", &[]),
    ("placet-subject", &["placet-domain"]),
    ("placet-store", &["placet-domain"]),
    ("placet-ipc", &["placet-domain"]),
    ("placet-gate", &["placet-domain", "placet-keyring", "placet-subject", "placet-store", "placet-ipc"]),
    ("placet-agent", &["placet-domain", "placet-gate", "placet-keyring"]),
    ("placet-cli", &["placet-domain", "placet-keyring", "placet-subject", "placet-ipc", "placet-gate", "placet-agent"]),
    ("placet-desktop", &["placet-domain", "placet-gate", "placet-agent"]),
    ("placet-tests", &[]),
    ("xtask", &[]),
];

/// What the pure room may use beyond the standard library.
const PURE: &[&str] = &[
    "aho-corasick",
    "cel",
    "globset",
    "jiff",
    "regex",
    "serde",
    "serde_json",
    "thiserror",
    "toml",
    "unicode-normalization",
    "uuid",
];

/// Licences that may not come in by any door, not even as one of two.
const NEVER: &[&str] = &["AGPL", "BUSL", "FSL", "SSPL"];

#[test]
fn every_room_knows_only_its_neighbours() {
    let rooms = rooms();
    let known: BTreeSet<&str> = NEIGHBOURS.iter().map(|(name, _)| *name).collect();
    let found: BTreeSet<&str> = rooms.iter().map(|room| room.name.as_str()).collect();
    assert_eq!(found, known, "the list of rooms");
    for room in &rooms {
        let (_, allowed) = NEIGHBOURS.iter().find(|(name, _)| *name == room.name).unwrap();
        for neighbour in room.dependencies.iter().filter(|name| known.contains(name.as_str())) {
            assert!(allowed.contains(&neighbour.as_str()), "{} may not know {neighbour}", room.name);
        }
    }
}

#[test]
fn the_domain_is_pure() {
    let domain = room("placet-domain");
    for dependency in &domain.at_run_time {
        assert!(PURE.contains(&dependency.as_str()), "the domain may not use {dependency}");
    }
    let impure = ["std::fs", "std::net", "std::env", "std::process", "std::thread", "::now()", "now_v7", "async fn"];
    nowhere_in(&domain, &impure);
}

#[test]
fn sql_is_spoken_in_the_store_only() {
    for room in rooms().iter().filter(|room| room.name != "placet-store") {
        assert!(!room.dependencies.contains("rusqlite"), "{} depends on rusqlite", room.name);
        if room.name != "placet-tests" {
            nowhere_in(room, &["rusqlite", "INSERT INTO", "SELECT * FROM", "CREATE TABLE", "DELETE FROM"]);
        }
    }
}

#[test]
fn only_the_window_knows_tauri() {
    for room in rooms().iter().filter(|room| room.name != "placet-desktop") {
        let tauri = room.dependencies.iter().find(|name| name.starts_with("tauri") || *name == "wry" || *name == "tao");
        assert!(tauri.is_none(), "{} depends on {tauri:?}", room.name);
    }
    for file in texts("ui/src").iter().filter(|file| file.path != "ui/src/backend/tauri.ts") {
        assert!(!file.text.contains("@tauri-apps"), "{} imports @tauri-apps", file.path);
    }
}

#[test]
fn only_the_gate_knows_the_store() {
    for room in rooms().iter().filter(|room| !["placet-gate", "placet-store"].contains(&room.name.as_str())) {
        assert!(!room.dependencies.contains("placet-store"), "{} depends on the store", room.name);
    }
}

#[test]
fn the_agents_side_has_no_word_for_yes() {
    // `approved` is a state that agents may hear of; `approve` would be a thing they could say.
    for file in room("placet-ipc").code_that_runs() {
        let words = words(&file.text);
        for verb in ["approve", "issue", "resume", "propose"] {
            assert!(!words.iter().any(|word| word == verb), "{} knows the verb `{verb}`", file.path);
        }
    }
}

#[test]
fn text_of_agents_is_never_markup() {
    for file in texts("ui/src") {
        for door in
            ["{@html", "innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function"]
        {
            assert!(!file.text.contains(door), "{} holds {door}", file.path);
        }
    }
}

#[test]
fn colours_are_spelled_out_in_the_tokens_only() {
    for file in texts("ui/src").iter().filter(|file| file.is_one_of(&["css", "svelte"])) {
        if file.path != "ui/src/styles/tokens.css" {
            for spelled in ["oklch(", "rgb(", "rgba(", "hsl("] {
                assert!(!file.text.contains(spelled), "{} spells out a colour with {spelled}", file.path);
            }
        }
    }
}

#[test]
fn all_licences_are_permissive() {
    let metadata = metadata();
    for package in array(&metadata["packages"]) {
        let licence = string(&package["license"]);
        assert!(is_permitted(licence), "{} is under {licence:?}", string(&package["name"]));
        assert!(!NEVER.iter().any(|never| licence.contains(never)), "{} offers {licence}", string(&package["name"]));
    }
    let lock: serde_json::Value = serde_json::from_str(&text("ui/package-lock.json").unwrap()).unwrap();
    for (path, package) in lock["packages"].as_object().unwrap() {
        let licence = string(&package["license"]);
        assert!(is_permitted(licence), "ui/{path} is under {licence:?}");
    }
}

#[test]
fn licence_expressions_are_read_as_written() {
    for (expression, permitted) in [
        ("MIT", true),
        ("MIT/Apache-2.0", true),
        ("Apache-2.0 WITH LLVM-exception", true),
        ("MIT OR GPL-3.0", true),
        ("MIT AND GPL-3.0", false),
        ("(MIT OR Apache-2.0) AND Unicode-3.0", true),
        ("(MIT OR Apache-2.0) AND AGPL-3.0", false),
        ("GPL-2.0 WITH Classpath-exception-2.0", false),
        ("(MIT", false),
        ("MIT MIT", false),
        ("", false),
    ] {
        assert_eq!(is_permitted(expression), permitted, "{expression}");
    }
}

#[test]
fn nothing_is_depended_on_for_nothing() {
    let mut unused = Vec::new();
    for room in rooms() {
        let mut code = room.code();
        if room.name == "placet-desktop" {
            code.extend(texts("src-tauri").into_iter().filter(|file| file.path == "src-tauri/build.rs"));
        }
        for dependency in &room.dependencies {
            let name = dependency.replace('-', "_");
            let used = |line: &str| line.match_indices(&name).any(|(at, _)| is_whole(line, at, name.len()));
            if !code.iter().any(|file| file.text.lines().any(used)) {
                unused.push(format!("{}: {dependency}", room.name));
            }
        }
    }
    assert!(unused.is_empty(), "no source mentions {unused:#?}");
}

#[test]
fn the_repository_names_no_machine_and_nothing_outside_itself() {
    // Spelled in halves, so that this file does not hold what it looks for.
    let outside = [["/wo", "rk/"], ["../sha", "red"], ["/ho", "me/ubuntu"], ["/ro", "ot/"], ["/tmp/br", "ief"]];
    // What attackers write is kept as they write it.
    for file in texts("").iter().filter(|file| !file.path.starts_with("tests/data/")) {
        for halves in outside {
            assert!(!file.text.contains(&halves.concat()), "{} holds {}", file.path, halves.concat());
        }
    }
}

#[test]
fn files_are_short_enough_to_be_read() {
    // Tests may be long tables.
    for file in rooms().iter().flat_map(Room::code).filter(|file| !file.path.contains("tests")) {
        let lines = file.text.lines().count();
        assert!(lines <= 700, "{} has {lines} lines; split it by noun", file.path);
    }
}

fn rooms() -> Vec<Room> {
    all(&metadata())
}

fn room(name: &str) -> Room {
    rooms().into_iter().find(|room| room.name == name).unwrap()
}

fn nowhere_in(room: &Room, phrases: &[&str]) {
    for file in room.code_that_runs() {
        for phrase in phrases {
            assert!(!file.text.contains(phrase), "{} holds `{phrase}`", file.path);
        }
    }
}

/// Whether a match is a word of its own, not a piece of a longer one.
fn is_whole(line: &str, at: usize, length: usize) -> bool {
    let piece = |letter: Option<char>| letter.is_some_and(|letter| letter.is_alphanumeric() || letter == '_');
    !piece(line[..at].chars().next_back()) && !piece(line[at + length..].chars().next())
}
