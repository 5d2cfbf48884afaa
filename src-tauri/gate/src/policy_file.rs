//! The policy file: read at start and 200 ms after its last change, taken whole or refused whole. The last good one
//! stays in force, and is kept beside the history so that it also outlives a restart.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use placet_domain::{Command, Digest, Policy, policy::Bindings};

use crate::sha256;

/// The file and what was last seen of it.
#[derive(Debug)]
pub(crate) struct PolicyFile {
    path: PathBuf,
    last_good: PathBuf,
    bindings: Bindings,
    seen: Mutex<Seen>,
}

/// What was last seen of the file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    /// The file's text.
    pub(crate) text: String,
    /// SHA-256 of it.
    pub(crate) digest: Option<Digest>,
    /// The digest of the policy in force.
    pub(crate) in_force: Option<Digest>,
    /// Why the file is not in force.
    pub(crate) problem: Option<Problem>,
}

/// Why a policy was refused.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Problem {
    pub(crate) message: String,
    pub(crate) line: Option<u32>,
    pub(crate) column: Option<u32>,
}

impl PolicyFile {
    pub(crate) fn new(config: &Path, data: &Path, bindings: Bindings) -> Self {
        Self {
            path: config.join("policy.toml"),
            last_good: data.join("policy.last-good.toml"),
            bindings,
            seen: Mutex::default(),
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn seen(&self) -> Seen {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Writes the documented default where there is no file, and reads it. Where the file is broken, the last good
    /// one comes into force; where there is none, the default. The commands are for the writer, in this order.
    pub(crate) fn first(&self) -> io::Result<Vec<Command>> {
        if let Some(folder) = self.path.parent() {
            fs::create_dir_all(folder)?;
        }
        if !self.path.exists() {
            fs::write(&self.path, Policy::default_text())?;
        }
        let mut commands = self.again().into_iter().collect::<Vec<_>>();
        if !commands.iter().any(|command| matches!(command, Command::LoadPolicy(_))) {
            let fallback = fs::read_to_string(&self.last_good).ok().and_then(|text| self.parse(&text).ok());
            let policy = match fallback {
                Some(policy) => policy,
                None => self
                    .parse(Policy::default_text())
                    .map_err(|problem| io::Error::other(format!("the default policy: {}", problem.message)))?,
            };
            self.seen.lock().unwrap_or_else(PoisonError::into_inner).in_force = Some(policy.digest());
            commands.insert(0, Command::LoadPolicy(Arc::new(policy)));
        }
        Ok(commands)
    }

    /// Reads the file again. Nothing to do where its text is the one last seen.
    pub(crate) fn again(&self) -> Option<Command> {
        let read = fs::read_to_string(&self.path);
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let text = match read {
            Ok(text) => text,
            Err(error) => {
                let message = format!(
                    "{} could not be read ({error}). The last good policy stays in force; put the file back.",
                    self.path.display()
                );
                return refuse(&mut seen, String::new(), None, Problem { message, line: None, column: None });
            }
        };
        let digest = sha256(text.as_bytes());
        if seen.digest == Some(digest) {
            return None;
        }
        match self.parse(&text) {
            Ok(policy) => {
                if let Err(error) = fs::write(&self.last_good, &text) {
                    tracing::warn!(%error, "the last good policy could not be kept");
                }
                *seen = Seen { text, digest: Some(digest), in_force: Some(digest), problem: None };
                Some(Command::LoadPolicy(Arc::new(policy)))
            }
            Err(problem) => refuse(&mut seen, text, Some(digest), problem),
        }
    }
}

impl PolicyFile {
    /// Checks a policy's text.
    pub(crate) fn parse(&self, text: &str) -> Result<Policy, Problem> {
        Policy::parse_for(text, sha256(text.as_bytes()), &self.bindings).map_err(|error| Problem {
            message: match &error.hint {
                Some(hint) => format!("{} {hint}", error.message),
                None => error.message.clone(),
            },
            line: error.line,
            column: error.column,
        })
    }
}

fn refuse(seen: &mut Seen, text: String, digest: Option<Digest>, problem: Problem) -> Option<Command> {
    if seen.problem.as_ref() == Some(&problem) && seen.digest == digest {
        return None;
    }
    let command =
        Command::RefusePolicy { message: problem.message.clone(), line: problem.line, column: problem.column };
    seen.text = text;
    seen.digest = digest;
    seen.problem = Some(problem);
    Some(command)
}
