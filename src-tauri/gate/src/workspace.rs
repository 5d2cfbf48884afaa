//! The folder that a session works in.

use std::{ffi::OsStr, os::unix::ffi::OsStrExt as _, path::Path};

use placet_domain::PathText;

/// The folder as the kernel sees it: absolute, links followed. A session keeps it for good.
pub(crate) fn resolve(workspace: &PathText) -> Result<PathText, String> {
    let path = Path::new(OsStr::from_bytes(workspace.bytes()));
    if !path.is_absolute() {
        return Err(format!("the workspace {workspace:?} is no absolute path"));
    }
    let resolved = std::fs::canonicalize(path)
        .map_err(|error| format!("the workspace {workspace:?} cannot be found ({error})"))?;
    if !resolved.is_dir() {
        return Err(format!("the workspace {workspace:?} is no folder"));
    }
    Ok(PathText::from_bytes(resolved.as_os_str().as_bytes()))
}
