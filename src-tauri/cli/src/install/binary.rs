//! Which `placet` a client's settings may name: one that the agent's own tools cannot exchange for another.

use std::{
    fs, io,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};

/// Why this program must not stand in settings.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unfit {
    /// It cannot be found out where it lies.
    #[error("it is not known where this program lies: {0}")]
    Unknown(io::Error),
    /// Anybody may write there, and it will be cleaned away.
    #[error("{0} lies in a temporary folder, where an agent can replace it; {MOVE}")]
    Temporary(String),
    /// The agent's tools may write there.
    #[error("{0} lies in {1}, where an agent that works there can replace it; {MOVE}")]
    InWorkspace(String, String),
    /// Others may change it.
    #[error("{0} can be changed by every user of this machine (mode {1:04o}); {MOVE}")]
    Writable(String, u32),
}

const MOVE: &str = "copy it to ~/.local/bin or /usr/local/bin and run it from there";

/// The program that runs, by its real path, if it may stand in settings of agents that work in these folders.
pub(crate) fn own(workspaces: &[PathBuf]) -> Result<PathBuf, Unfit> {
    let path = std::env::current_exe().and_then(fs::canonicalize).map_err(Unfit::Unknown)?;
    fit(&path, workspaces)?;
    Ok(path)
}

fn fit(path: &Path, workspaces: &[PathBuf]) -> Result<(), Unfit> {
    let shown = path.display().to_string();
    let temporary = ["/tmp", "/var/tmp", "/dev/shm", "/run"].map(PathBuf::from);
    if temporary.iter().chain([&std::env::temp_dir()]).any(|dir| path.starts_with(dir)) {
        return Err(Unfit::Temporary(shown));
    }
    let real = |dir: &PathBuf| fs::canonicalize(dir).unwrap_or_else(|_| dir.clone());
    if let Some(dir) = workspaces.iter().map(real).find(|dir| path.starts_with(dir)) {
        return Err(Unfit::InWorkspace(shown, dir.display().to_string()));
    }
    for part in [Some(path), path.parent()].into_iter().flatten() {
        let mode = fs::metadata(part).map_err(Unfit::Unknown)?.mode() & 0o7777;
        if mode & 0o002 != 0 {
            return Err(Unfit::Writable(part.display().to_string(), mode));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_program_that_an_agent_can_exchange_is_unfit() {
        let dir = tempfile::tempdir().unwrap();
        let program = dir.path().join("placet");
        fs::write(&program, "").unwrap();
        assert!(matches!(fit(&program, &[]), Err(Unfit::Temporary(_))));
        assert!(matches!(fit(Path::new("/usr/bin/env"), &["/usr".into()]), Err(Unfit::InWorkspace(..))));
        fit(Path::new("/usr/bin/env"), &["/home".into()]).unwrap();
    }
}
