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
    /// Others may change it, or put something else in its place.
    #[error("{0} can be changed by {1} (mode {2:04o}); {MOVE}")]
    Writable(String, &'static str, u32),
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
    // Whoever may write to a folder above may put another folder in the place of the one below.
    for part in path.ancestors() {
        let meta = fs::metadata(part).map_err(Unfit::Unknown)?;
        if let Some(who) = written_by(&meta) {
            return Err(Unfit::Writable(part.display().to_string(), who, meta.mode() & 0o7777));
        }
    }
    Ok(())
}

/// Who besides its owner may change what is there. A folder with the sticky bit lets nobody exchange what others own.
fn written_by(meta: &fs::Metadata) -> Option<&'static str> {
    let mode = meta.mode();
    if meta.is_dir() && mode & 0o1000 != 0 {
        return None;
    }
    if mode & 0o002 != 0 {
        return Some("every user of this machine");
    }
    // A person's own group has their number; the system's groups have numbers below a thousand.
    let shared = meta.gid() != meta.uid() && meta.gid() >= 1_000 && Some(meta.gid()) != own_group();
    (mode & 0o020 != 0 && shared).then_some("every member of its group")
}

/// The group that files of this person get by themselves.
fn own_group() -> Option<u32> {
    fs::metadata("/proc/self").ok().map(|own| own.gid())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::os::unix::fs::PermissionsExt as _;

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

    #[test]
    fn a_folder_above_that_others_may_write_to_makes_it_unfit() {
        let dir = tempfile::tempdir_in(placet_ipc::home().unwrap()).unwrap();
        let above = dir.path().join("tools");
        let program = above.join("bin/placet");
        fs::create_dir_all(program.parent().unwrap()).unwrap();
        fs::write(&program, "").unwrap();
        fit(&program, &[]).unwrap();
        let mode = |bits| fs::set_permissions(&above, fs::Permissions::from_mode(bits)).unwrap();
        mode(0o757);
        assert!(matches!(fit(&program, &[]), Err(Unfit::Writable(part, ..)) if part == above.display().to_string()));
        mode(0o1777);
        fit(&program, &[]).unwrap();
        mode(0o770);
        fit(&program, &[]).unwrap();
    }
}
