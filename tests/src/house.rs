//! The repository, read as text.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The repository's root.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// Where cargo builds to.
pub fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}

/// A text file of the repository with its path from the root.
pub struct Text {
    /// From the repository's root, with `/` between folders.
    pub path: String,
    /// What it holds.
    pub text: String,
}

impl Text {
    /// Whether its name ends in one of these extensions.
    pub fn is_one_of(&self, extensions: &[&str]) -> bool {
        let own = Path::new(&self.path).extension().and_then(|extension| extension.to_str());
        own.is_some_and(|own| extensions.contains(&own))
    }
}

/// All text files under a folder of the repository (`""` for all), without what is built or installed there.
pub fn texts(under: &str) -> Vec<Text> {
    let mut found = Vec::new();
    collect(&root(), &root().join(under), &mut found);
    found.sort_by(|a, b| a.path.cmp(&b.path));
    found
}

/// One file of the repository, or nothing.
pub fn text(path: &str) -> Option<String> {
    fs::read_to_string(root().join(path)).ok()
}

fn collect(root: &Path, folder: &Path, found: &mut Vec<Text>) {
    const MADE_HERE: [&str; 7] = [".git", "target", "node_modules", "dist", "gen", "out", "__pycache__"];
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        let name = entry.file_name();
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            if !MADE_HERE.contains(&name.to_string_lossy().as_ref()) {
                collect(root, &path, found);
            }
        } else if let Ok(text) = fs::read_to_string(&path) {
            let path = path.strip_prefix(root).unwrap().to_string_lossy().replace('\\', "/");
            found.push(Text { path, text });
        }
    }
}

/// Rust source without its comments, so that what is searched for in code is not found in prose.
pub fn without_comments(source: &str) -> String {
    source.lines().map(|line| line.split("//").next().unwrap_or_default()).collect::<Vec<_>>().join("\n")
}

/// The words of a source: runs of letters and digits, with `snake_case` and `CamelCase` taken apart, in lower case.
pub fn words(source: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut before = ' ';
    for letter in source.chars().chain([' ']) {
        let ends = !letter.is_ascii_alphanumeric() || (letter.is_ascii_uppercase() && before.is_ascii_lowercase());
        if ends && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if letter.is_ascii_alphanumeric() {
            word.push(letter.to_ascii_lowercase());
        }
        before = letter;
    }
    words
}

/// What `cargo metadata` says of the workspace and all that it depends on.
pub fn metadata() -> serde_json::Value {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--locked"])
        .current_dir(root())
        .output()
        .expect("cargo starts");
    assert!(output.status.success(), "cargo metadata: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("cargo metadata is JSON")
}
