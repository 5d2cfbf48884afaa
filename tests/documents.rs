//! The documents say what the code says: whoever builds on Placet reads them, not the source.
#![allow(clippy::unwrap_used, reason = "a test may end where it cannot go on")]

use std::collections::BTreeSet;
use std::path::Path;

use placet_tests::house::{root, text, texts, without_comments};

#[test]
fn the_protocol_lists_every_method_of_both_sides() {
    let socket = quoted_after("src-tauri/ipc/src/message.rs", "pub mod method {", "\n}", "&str = ");
    let desk = quoted_after("src-tauri/gate/src/desk/mod.rs", "pub const METHODS", "];", "(");
    assert!(socket.len() > 10 && desk.len() > 10, "the lists of methods have moved");
    let window = quoted_after("src-tauri/desktop/commands.rs", "commands! {", "\n}", "= ");
    assert!(window.len() > desk.len(), "the window's commands have moved");
    let listed = first_columns("docs/protocol.md");
    let missing: Vec<&String> =
        socket.iter().chain(&desk).chain(&window).filter(|method| !listed.contains(*method)).collect();
    assert!(missing.is_empty(), "docs/protocol.md lacks {missing:#?}");
    let named = listed.iter().filter(|name| name.contains('.') && !name.contains(['/', ' ', '{']));
    let gone: Vec<&String> =
        named.filter(|name| !socket.contains(*name) && !desk.contains(*name) && !window.contains(*name)).collect();
    assert!(gone.is_empty(), "docs/protocol.md lists methods that are gone: {gone:#?}");
}

#[test]
fn the_protocol_shows_the_examples_that_are_run() {
    let page = text("docs/protocol.md").unwrap();
    for (language, file) in [("python", "ask.py"), ("ts", "ask.ts"), ("rust", "ask.rs")] {
        let example = text(&format!("docs/examples/{file}")).unwrap();
        assert!(page.contains(&format!("```{language}\n{example}```\n")), "docs/protocol.md shows another {file}");
    }
}

#[test]
fn the_protocol_lists_every_error_code() {
    let codes = quoted_after("src-tauri/domain/src/refusal.rs", "pub fn word", "\n    }", "=> ");
    assert!(codes.len() > 10, "the codes have moved");
    let listed = first_columns("docs/protocol.md");
    let missing: Vec<&String> = codes.iter().filter(|code| !listed.contains(*code)).collect();
    assert!(missing.is_empty(), "docs/protocol.md lacks {missing:#?}");
}

#[test]
fn the_protocol_lists_every_kind_of_fact() {
    let source = without_comments(&text("src-tauri/domain/src/fact.rs").unwrap());
    let (_, body) = source.split_once("pub enum Fact {").unwrap();
    let (body, _) = body.split_once("\n}").unwrap();
    let variants =
        body.lines().filter_map(|line| line.strip_prefix("    ").filter(|line| !line.starts_with([' ', '#', '}'])));
    let kinds: Vec<String> = variants
        .filter_map(|line| line.split([' ', '(', ',']).next())
        .filter(|name| !name.is_empty())
        .map(snake)
        .collect();
    assert!(kinds.len() > 20, "the facts have moved: {kinds:?}");
    let listed = first_columns("docs/protocol.md");
    let missing: Vec<&String> = kinds.iter().filter(|kind| !listed.contains(*kind)).collect();
    assert!(missing.is_empty(), "docs/protocol.md lacks {missing:#?}");
}

#[test]
fn the_policy_page_lists_every_key() {
    let source = text("src-tauri/domain/src/policy/file.rs").unwrap();
    let listed = first_columns("docs/policy.md");
    for keys in ["File", "Rule"] {
        let (_, body) = source.split_once(&format!("pub(super) struct {keys} {{")).unwrap();
        let (body, _) = body.split_once("\n}").unwrap();
        for key in body.lines().filter_map(|line| line.trim().strip_prefix("pub(super) ")?.split(':').next()) {
            let named = ["name", "decide"].contains(&key);
            let listed = listed.contains(key) || listed.contains(&format!("[[{key}]]"));
            assert!(named || listed, "docs/policy.md lacks `{key}`");
        }
    }
}

#[test]
fn every_invariant_names_tests_that_are_there() {
    let tests: BTreeSet<String> = texts("")
        .iter()
        .filter(|file| file.is_one_of(&["rs"]))
        .flat_map(|file| file.text.lines().filter_map(test_name).map(str::to_owned).collect::<Vec<_>>())
        .collect();
    let architecture = text("ARCHITECTURE.md").unwrap();
    let (_, invariants) = architecture.split_once("## Invariants").unwrap();
    let (invariants, _) = invariants.split_once("\n## ").unwrap();
    let mut rows = 0;
    for row in invariants.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| ---")).skip(1) {
        rows += 1;
        let held_by: Vec<&str> =
            row.trim_matches('|').rsplit('|').next().unwrap().split('`').skip(1).step_by(2).collect();
        assert!(!held_by.is_empty(), "no test holds: {row}");
        for name in held_by {
            assert!(tests.contains(name), "ARCHITECTURE.md names a test `{name}` that is not there");
        }
    }
    assert!(rows >= 8, "the invariants have moved");
}

#[test]
fn links_between_documents_lead_somewhere() {
    for document in texts("").iter().filter(|file| file.is_one_of(&["md"])) {
        let folder = Path::new(&document.path).parent().unwrap();
        for link in document.text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let target = link.split('#').next().unwrap();
            if target.is_empty() || target.contains(':') {
                continue;
            }
            assert!(root().join(folder).join(target).exists(), "{} links to {link}", document.path);
        }
    }
}

/// The strings in a piece of a source file that stand right after a mark.
fn quoted_after(file: &str, begin: &str, end: &str, mark: &str) -> Vec<String> {
    let source = without_comments(&text(file).unwrap_or_else(|| panic!("{file} is gone")));
    let (_, rest) = source.split_once(begin).unwrap_or_else(|| panic!("{file} has no {begin}"));
    let (piece, _) = rest.split_once(end).unwrap();
    let mark = format!("{mark}\"");
    let found = piece.match_indices(&mark).filter_map(|(at, _)| piece[at + mark.len()..].split('"').next());
    found.map(str::to_owned).collect()
}

/// What stands in backticks in the first column of a document's tables.
fn first_columns(document: &str) -> BTreeSet<String> {
    let text = text(document).unwrap_or_else(|| panic!("{document} is missing"));
    let rows = text.lines().filter_map(|line| line.strip_prefix("| ")?.split(" |").next());
    rows.flat_map(|cell| cell.split('`').skip(1).step_by(2).map(str::to_owned).collect::<Vec<_>>()).collect()
}

fn test_name(line: &str) -> Option<&str> {
    let line = line.trim();
    line.strip_prefix("fn ").or_else(|| line.strip_prefix("async fn "))?.split(['(', '<']).next()
}

fn snake(name: &str) -> String {
    let mut snake = String::new();
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.push(letter.to_ascii_lowercase());
    }
    snake
}
