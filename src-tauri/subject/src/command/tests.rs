//! What is asserted of commands. The data are in `tests/data`.
#![allow(clippy::unwrap_used)]

use std::sync::OnceLock;

use serde::Deserialize;

use super::*;

mod attacks;
mod hostile;
mod labelled;
mod meaning;
mod shells;

fn programs() -> &'static Programs {
    static PROGRAMS: OnceLock<Programs> = OnceLock::new();
    PROGRAMS.get_or_init(|| Programs::builtin().unwrap_or_else(|error| panic!("{error}")))
}

fn shell() -> Shell {
    Shell { cwd: PathText::from("/ws"), name: "bash".to_owned(), path: Vec::new() }
}

fn read(text: &str) -> Understood {
    understand(text, &shell(), programs())
}

fn is_reading(action: Action) -> bool {
    matches!(action, Action::None | Action::Read | Action::List | Action::Search)
}

fn data(name: &str) -> String {
    std::fs::read_to_string(format!("{}/../../tests/data/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

fn lines<T: for<'de> Deserialize<'de>>(name: &str) -> Vec<T> {
    data(name).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn paths(paths: &[PathText]) -> Vec<String> {
    paths.iter().map(PathText::lossy).collect()
}
