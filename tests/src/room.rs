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

    /// Its Rust files without comments and without tests: neither those at the end of a file nor files of their own.
    pub fn code_that_runs(&self) -> Vec<Text> {
        let mut code = self.code();
        let tests: BTreeSet<String> = code.iter().flat_map(|file| test_modules(&file.text)).collect();
        code.retain(|file| !file.path.split('/').any(|part| tests.contains(part.trim_end_matches(".rs"))));
        for file in &mut code {
            let tests = file.text.find("#[cfg(test)]\nmod tests {").unwrap_or(file.text.len());
            file.text.truncate(tests);
        }
        code
    }
}

/// Names of the modules that a file declares for tests only and that have a file of their own.
fn test_modules(code: &str) -> Vec<String> {
    let after = code.split("#[cfg(test)]").skip(1);
    let declared = after.filter_map(|rest| rest.trim_start().lines().next()?.strip_suffix(';'));
    let names = declared.filter_map(|line| line.rsplit_once("mod ").map(|(_, name)| name.trim().to_owned()));
    names.chain(["tests".to_owned()]).collect()
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
