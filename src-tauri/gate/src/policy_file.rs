//! The policy file: read at start and 200 ms after its last change, taken whole or refused whole. The last good one
//! stays in force, and is kept beside the history so that it also outlives a restart. An administrator's policy and a
//! workspace's own `.placet.toml` are added to it; both can only tighten.

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use placet_domain::{Command, Digest, PathText, Policy, policy::Bindings};

use crate::{sha256, tightening};

/// The file and what was last seen of it.
#[derive(Debug)]
pub(crate) struct PolicyFile {
    path: PathBuf,
    admin: PathBuf,
    last_good: PathBuf,
    bindings: Bindings,
    seen: Mutex<Seen>,
}

/// What was last seen of the files.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    /// The person's file.
    pub(crate) text: String,
    /// SHA-256 of it.
    pub(crate) digest: Option<Digest>,
    /// The digest of the policy in force.
    pub(crate) in_force: Option<Digest>,
    /// Why the person's file is not in force.
    pub(crate) problem: Option<Problem>,
    /// The person's text that is in force: theirs, the last good one, or the default.
    good: Option<String>,
    /// The administrator's text that is in force.
    admin: Option<String>,
    /// Why the administrator's file is not.
    admin_problem: Option<String>,
    /// By workspace, its own file.
    workspaces: BTreeMap<PathText, Local>,
}

/// A workspace's own file.
#[derive(Clone, Debug, Default, PartialEq)]
struct Local {
    /// As it was last seen; none where there is none.
    text: Option<String>,
    /// As it is in force.
    good: Option<String>,
    /// Why it is not in force as it is.
    problem: Option<String>,
}

/// Why a policy was refused.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Problem {
    pub(crate) message: String,
    pub(crate) line: Option<u32>,
    pub(crate) column: Option<u32>,
}

impl PolicyFile {
    pub(crate) fn new(config: &Path, data: &Path, admin: &Path, bindings: Bindings) -> Self {
        Self {
            path: config.join("policy.toml"),
            admin: admin.to_path_buf(),
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

    /// Writes the documented default where there is no file, and reads all of them. Where the file is broken, the last
    /// good one comes into force; where there is none, the default. The commands are for the writer, in this order.
    pub(crate) fn first(&self) -> io::Result<Vec<Command>> {
        if let Some(folder) = self.path.parent() {
            fs::create_dir_all(folder)?;
        }
        if !self.path.exists() {
            fs::write(&self.path, Policy::default_text())?;
        }
        {
            let kept = fs::read_to_string(&self.last_good).ok().filter(|text| self.parse(text).is_ok());
            let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
            seen.good = Some(kept.unwrap_or_else(|| Policy::default_text().to_owned()));
        }
        Ok(self.again())
    }

    /// Reads the files again. Nothing to do where all of them are as they were.
    pub(crate) fn again(&self) -> Vec<Command> {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let mut commands = Vec::new();
        let mut changed = seen.in_force.is_none();
        changed |= self.read_own(&mut seen, &mut commands);
        changed |= self.read_admin(&mut seen, &mut commands);
        let workspaces: Vec<PathText> = seen.workspaces.keys().cloned().collect();
        for workspace in workspaces {
            changed |= self.read_workspace(&mut seen, &workspace, &mut commands);
        }
        if changed {
            commands.extend(self.compose(&mut seen));
        }
        commands
    }

    /// A session begins in this workspace: its own file, if it has one, holds from its first call on.
    pub(crate) fn enter(&self, workspace: &PathText) -> Vec<Command> {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.workspaces.contains_key(workspace) {
            return Vec::new();
        }
        seen.workspaces.insert(workspace.clone(), Local::default());
        let mut commands = Vec::new();
        if self.read_workspace(&mut seen, workspace, &mut commands) {
            commands.extend(self.compose(&mut seen));
        }
        commands
    }

    /// True where another text of the person comes into force.
    fn read_own(&self, seen: &mut Seen, commands: &mut Vec<Command>) -> bool {
        let text = match fs::read_to_string(&self.path) {
            Ok(text) => text,
            Err(error) => {
                let message = format!(
                    "{} could not be read ({error}). The last good policy stays in force; put the file back.",
                    self.path.display()
                );
                commands.extend(refuse(seen, String::new(), None, Problem { message, line: None, column: None }));
                return false;
            }
        };
        let digest = sha256(text.as_bytes());
        if seen.digest == Some(digest) {
            return false;
        }
        if let Err(problem) = self.parse(&text) {
            commands.extend(refuse(seen, text, Some(digest), problem));
            return false;
        }
        if let Err(error) = fs::write(&self.last_good, &text) {
            tracing::warn!(%error, "the last good policy could not be kept");
        }
        seen.good = Some(text.clone());
        seen.text = text;
        seen.digest = Some(digest);
        seen.problem = None;
        true
    }

    fn read_admin(&self, seen: &mut Seen, commands: &mut Vec<Command>) -> bool {
        let read = tightening::administrators(&self.admin).and_then(|text| match text {
            Some(text) => self.parse(&text).map(|_| Some(text)).map_err(|problem| problem.message),
            None => Ok(None),
        });
        match read {
            Ok(text) => {
                seen.admin_problem = None;
                let changed = seen.admin != text;
                seen.admin = text;
                changed
            }
            // The last good one stays: a rule that takes away is not lost because its file was broken.
            Err(message) => {
                if seen.admin_problem.as_ref() != Some(&message) {
                    seen.admin_problem = Some(message.clone());
                    commands.push(Command::Alert { alert: "admin_policy_refused".to_owned(), message });
                }
                false
            }
        }
    }

    /// A workspace's own file that is broken makes everything there ask: what it wanted to forbid is not known.
    fn read_workspace(&self, seen: &mut Seen, workspace: &PathText, commands: &mut Vec<Command>) -> bool {
        let text = tightening::of_workspace(workspace);
        let Some(local) = seen.workspaces.get_mut(workspace) else { return false };
        if local.text == text {
            return false;
        }
        local.text.clone_from(&text);
        let checked = text.map(|text| self.parse(&text).map(|_| text)).transpose();
        let before = local.good.take();
        match checked {
            Ok(text) => {
                local.problem = None;
                local.good = text;
            }
            Err(problem) => {
                let message =
                    format!("{workspace:?}/.placet.toml is broken, so every call there asks: {}", problem.message);
                local.problem = Some(message.clone());
                local.good = Some(tightening::ASK_ABOUT_ALL.to_owned());
                commands.push(Command::Alert { alert: "workspace_policy_refused".to_owned(), message });
            }
        }
        local.good != before
    }

    /// The policy of all texts that are in force, under the digest of all of them.
    fn compose(&self, seen: &mut Seen) -> Option<Command> {
        let good = seen.good.clone().unwrap_or_else(|| Policy::default_text().to_owned());
        let mut texts = good.clone().into_bytes();
        let mut policy = self.parse(&good).ok()?;
        let mut tightened = false;
        if let Some(text) = &seen.admin {
            policy = policy.with_tightening(vec![self.parse(text).ok()?]);
            texts.push(0);
            texts.extend_from_slice(text.as_bytes());
            tightened = true;
        }
        for (workspace, local) in &seen.workspaces {
            let Some(text) = &local.good else { continue };
            policy = policy.with_workspace(workspace, self.parse(text).ok()?);
            texts.push(0);
            texts.extend_from_slice(workspace.bytes());
            texts.push(0);
            texts.extend_from_slice(text.as_bytes());
            tightened = true;
        }
        if tightened {
            policy = policy.with_digest(sha256(&texts));
        }
        seen.in_force = Some(policy.digest());
        Some(Command::LoadPolicy(Arc::new(policy)))
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
