//! The table of programs: what each does, as data.
//!
//! `commands/README.md` explains the form. Everything that is not said in a table is `execute`.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use serde::Deserialize;

use crate::command::form::{Form, Written};

/// Why a table could not be taken.
#[derive(Debug, thiserror::Error)]
pub enum ProgramsError {
    /// The file cannot be read.
    #[error("{file} cannot be read: {source}")]
    Unreadable {
        /// Which file or folder.
        file: String,
        /// Why.
        source: std::io::Error,
    },
    /// The file is not TOML, or has a field that there is not.
    #[error("{file}: {source}")]
    Malformed {
        /// Which file.
        file: String,
        /// Where and why.
        source: Box<toml::de::Error>,
    },
    /// The file says something that cannot be meant.
    #[error("{file}: {place}: {problem}")]
    Wrong {
        /// Which file.
        file: String,
        /// Program and subcommand.
        place: String,
        /// What is wrong, in a sentence.
        problem: String,
    },
}

/// What is known of programs, by name.
#[derive(Clone, Debug, Default)]
pub struct Programs {
    forms: BTreeMap<String, Arc<Form>>,
}

macro_rules! builtin {
    ($($name:literal)*) => { [$(($name, include_str!(concat!("../../commands/", $name, ".toml")))),*] };
}

/// The tables that come with Placet. A test compares the list with the folder.
pub(crate) const BUILTIN: &[(&str, &str)] = &builtin!(
    "apple" "archive" "build" "cargo" "cloud" "coreutils" "containers" "database" "documents" "editors" "find" "git" "github" "go"
    "grep" "infrastructure" "interpreters" "javascript" "kubernetes" "languages" "media" "network" "openssl" "packages" "processes" "python" "sed-awk" "shell"
    "system" "wrappers"
);

impl Programs {
    /// The tables that come with Placet.
    pub fn builtin() -> Result<Self, ProgramsError> {
        let mut programs = Self::default();
        for (file, text) in BUILTIN {
            programs.add(&format!("{file}.toml"), text)?;
        }
        Ok(programs)
    }

    /// Adds the tables of a folder (`*.toml`, by name); a program named there replaces the built-in one.
    pub fn with_folder(mut self, folder: &Path) -> Result<Self, ProgramsError> {
        let unreadable = |file: &Path| {
            let file = file.display().to_string();
            move |source| ProgramsError::Unreadable { file, source }
        };
        let mut files = Vec::new();
        for entry in std::fs::read_dir(folder).map_err(unreadable(folder))? {
            let path = entry.map_err(unreadable(folder))?.path();
            if path.extension().is_some_and(|e| e == "toml") {
                files.push(path);
            }
        }
        files.sort();
        for path in files {
            let text = std::fs::read_to_string(&path).map_err(unreadable(&path))?;
            programs_add(&mut self, &path.display().to_string(), &text)?;
        }
        Ok(self)
    }

    /// How many names are known.
    pub fn len(&self) -> usize {
        self.forms.len()
    }

    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        self.forms.is_empty()
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Form> {
        self.forms.get(name).map(Arc::as_ref)
    }

    pub(crate) fn add(&mut self, file: &str, text: &str) -> Result<(), ProgramsError> {
        programs_add(self, file, text)
    }
}

fn programs_add(programs: &mut Programs, file: &str, text: &str) -> Result<(), ProgramsError> {
    let read: FileForm = toml::from_str(text)
        .map_err(|source| ProgramsError::Malformed { file: file.to_owned(), source: Box::new(source) })?;
    let mut seen = std::collections::BTreeSet::new();
    for written in &read.program {
        let place = written.names.first().cloned().unwrap_or_else(|| "a program without a name".to_owned());
        let wrong = |problem: String| ProgramsError::Wrong { file: file.to_owned(), place: place.clone(), problem };
        if written.names.is_empty() {
            return Err(wrong("it needs “names”".to_owned()));
        }
        let form = Arc::new(Form::compile(written, None).map_err(wrong)?);
        for name in &written.names {
            if name.is_empty() || name.contains(['/', ' ']) {
                return Err(wrong(format!("“{name}” is no program's name")));
            }
            if !seen.insert(name.clone()) {
                return Err(wrong(format!("“{name}” is there twice")));
            }
            programs.forms.insert(name.clone(), Arc::clone(&form));
        }
    }
    Ok(())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileForm {
    program: Vec<Written>,
}
