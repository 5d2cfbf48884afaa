//! The rooms of the house: the workspace's packages, and what each depends on.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::house::{self, Text};

/// One package of the workspace.
pub struct Room {
    /// The package's name.
    pub name: String,
    /// Its folder from the repository's root; the desktop's is where its source lies.
    pub folder: String,
    /// Names of the packages that it depends on directly, whatever for.
    pub dependencies: BTreeSet<String>,
    /// Those of them that are not for tests or the build only.
    pub at_run_time: BTreeSet<String>,
}

impl Room {
    /// Its text files.
    pub fn texts(&self) -> Vec<Text> {
        house::texts(&self.folder)
    }

    /// Its Rust files, with their comments taken out.
    pub fn code(&self) -> Vec<Text> {
        let mut texts = self.texts();
        texts.retain(|text| text.is_one_of(&["rs"]));
        for text in &mut texts {
            text.text = house::without_comments(&text.text);
        }
        texts
    }

    /// Its Rust files without comments and without their tests, which come last in a file.
    pub fn code_that_runs(&self) -> Vec<Text> {
        let mut code = self.code();
        for file in &mut code {
            let tests = file.text.find("#[cfg(test)]").unwrap_or(file.text.len());
            file.text.truncate(tests);
        }
        code
    }
}

/// All rooms.
pub fn all(metadata: &Value) -> Vec<Room> {
    let members: BTreeSet<&str> = array(&metadata["workspace_members"]).iter().filter_map(Value::as_str).collect();
    let ours = array(&metadata["packages"]).iter().filter(|package| members.contains(string(&package["id"])));
    ours.map(room).collect()
}

fn room(package: &Value) -> Room {
    let names = |which: fn(&Value) -> bool| {
        let found = array(&package["dependencies"]).iter().filter(|dependency| which(dependency));
        found.map(|dependency| string(&dependency["name"]).to_owned()).collect()
    };
    let manifest = std::path::Path::new(string(&package["manifest_path"]));
    let folder = manifest.parent().unwrap().strip_prefix(house::root()).expect("rooms lie in the repository");
    let folder = folder.to_string_lossy().into_owned();
    Room {
        name: string(&package["name"]).to_owned(),
        folder: if folder.is_empty() { "src-tauri/desktop".to_owned() } else { folder },
        dependencies: names(|_| true),
        at_run_time: names(|dependency| dependency["kind"].is_null()),
    }
}

/// The items of a JSON array, or none.
pub fn array(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// A JSON string, or an empty one.
pub fn string(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
