//! Which program a name stands for.

use placet_domain::PathText;

/// Answers whether a file can be run; the disk, or a list in tests.
pub trait Lookup {
    /// Whether there is a file at `path` that may be executed.
    fn is_executable(&self, path: &PathText) -> bool;
}

/// Looks on this machine's disk.
#[derive(Clone, Copy, Debug)]
pub struct Disk;

impl Lookup for Disk {
    #[cfg(unix)]
    fn is_executable(&self, path: &PathText) -> bool {
        use std::os::unix::{ffi::OsStrExt, fs::PermissionsExt};
        let path = std::path::Path::new(std::ffi::OsStr::from_bytes(path.bytes()));
        path.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
    }

    #[cfg(not(unix))]
    fn is_executable(&self, path: &PathText) -> bool {
        path.as_str().is_some_and(|path| std::path::Path::new(path).is_file())
    }
}

/// The file that a shell in `cwd` with this PATH would run for `name`, not yet with links followed.
pub(crate) fn resolve(name: &str, cwd: &PathText, path: &[PathText], lookup: &dyn Lookup) -> Option<PathText> {
    if name.contains('/') {
        let file = crate::command::place::join(cwd, name);
        return lookup.is_executable(&file).then_some(file);
    }
    path.iter().find_map(|folder| {
        // A relative folder in PATH is one of the cwd; so is an empty one.
        let folder = folder.as_str().map_or_else(|| folder.clone(), |text| crate::command::place::join(cwd, text));
        let file = crate::command::place::join(&folder, name);
        lookup.is_executable(&file).then_some(file)
    })
}

/// The name to look up in the table: a path counts as its last part only in the system's own folders.
pub(crate) fn table_name(argv0: &str) -> Option<&str> {
    match argv0.rsplit_once('/') {
        None => Some(argv0),
        Some((folder, name)) => {
            matches!(folder, "/bin" | "/usr/bin" | "/sbin" | "/usr/sbin" | "/usr/local/bin" | "/opt/homebrew/bin")
                .then_some(name)
        }
    }
}
