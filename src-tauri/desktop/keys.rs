//! Which keys the window has. Its label says so, and the capability of that name holds it to it: a command whose key the
//! window has not is refused before it is heard here.

use clap::ValueEnum;
use tauri::{AppHandle, Manager as _};

/// What the window may do. Each has the keys before it as well.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Keys {
    /// Nothing at all.
    #[value(hide = true)]
    None,
    /// See what waits and what happened.
    Look,
    /// Answer, and take away.
    Decide,
    /// Change rules and settings, and start runs.
    #[default]
    All,
}

impl Keys {
    /// Those of the app's window.
    pub(crate) fn of(app: &AppHandle) -> Self {
        *app.state::<Self>()
    }

    /// The label that the capability names.
    pub(crate) fn label(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Look => "look",
            Self::Decide => "decide",
            Self::All => "main",
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::{collections::BTreeMap, fs, path::PathBuf};

    use super::*;
    use crate::commands::NAMES;

    const KEYS: [&str; 3] = ["look", "decide", "configure"];

    fn folder(name: &str) -> PathBuf {
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src-tauri").join(name)
    }

    /// The commands that each key opens, as its file says.
    fn keys() -> BTreeMap<String, Vec<String>> {
        let files = fs::read_dir(folder("permissions")).unwrap().map(|entry| entry.unwrap().path());
        let files = files.filter(|path| path.extension().is_some_and(|ending| ending == "toml"));
        let text = |path: &PathBuf| fs::read_to_string(path).unwrap();
        files
            .map(|path| {
                let names = text(&path)
                    .lines()
                    .filter_map(|line| Some(line.trim().strip_prefix('"')?.strip_suffix("\",")?.to_owned()))
                    .collect();
                (path.file_stem().unwrap().to_str().unwrap().to_owned(), names)
            })
            .collect()
    }

    #[test]
    fn every_command_is_opened_by_exactly_one_of_the_three_keys() {
        let keys = keys();
        assert_eq!(keys.keys().map(String::as_str).collect::<Vec<_>>(), ["configure", "decide", "look"]);
        for name in NAMES {
            let by = keys.iter().filter(|(_, commands)| commands.iter().any(|one| one == name)).count();
            assert_eq!(by, 1, "{name}");
        }
        for (key, commands) in &keys {
            for command in commands {
                assert!(NAMES.contains(&command.as_str()), "{key} opens {command}, which is none");
            }
        }
    }

    #[test]
    fn each_method_of_the_desk_needs_the_key_that_the_desk_says() {
        let keys = keys();
        for (method, key) in placet_gate::METHODS {
            let command = if *method == "snapshot" { "window_snapshot".to_owned() } else { method.replace('.', "_") };
            let key = format!("{key:?}").to_lowercase();
            assert!(keys[&key].contains(&command), "{command} is not opened by {key}");
        }
    }

    #[test]
    fn each_window_has_the_keys_that_its_label_says() {
        for (keys, label, count) in [(Keys::Look, "look", 1), (Keys::Decide, "decide", 2), (Keys::All, "main", 3)] {
            assert_eq!(keys.label(), label);
            let text = fs::read_to_string(folder("capabilities").join(format!("{label}.json"))).unwrap();
            let capability: serde_json::Value = serde_json::from_str(&text).unwrap();
            assert_eq!(capability["windows"], serde_json::json!([label]));
            let held: Vec<&str> =
                capability["permissions"].as_array().unwrap().iter().map(|one| one.as_str().unwrap()).collect();
            let events = ["core:event:allow-listen", "core:event:allow-unlisten"];
            assert_eq!(held, [&KEYS[..count], &events].concat());
        }
        assert!(!folder("capabilities").join("none.json").exists());
    }
}
