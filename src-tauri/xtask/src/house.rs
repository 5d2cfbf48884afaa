//! Where things are in the repository.

use std::path::{Path, PathBuf};

/// The repository's root: this package lies two folders below it.
pub(crate) fn root() -> &'static Path {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().and_then(Path::parent).unwrap_or(here)
}

/// The front end's folder.
pub(crate) fn ui() -> PathBuf {
    root().join("ui")
}

/// Where cargo builds to.
pub(crate) fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}

/// A program that a debug build left behind.
pub(crate) fn debug_program(name: &str) -> PathBuf {
    target().join("debug").join(name)
}

/// A folder for what steps print, made if it is missing.
pub(crate) fn logs() -> Result<PathBuf, String> {
    let folder = target().join("xtask");
    std::fs::create_dir_all(&folder).map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
    Ok(folder)
}
