//! Whether something made is older than what it is made of.

use std::fs;
use std::path::Path;
use std::time::SystemTime;

/// Whether any of `sources` (files, or folders with all that is in them) changed after `made` was made, or `made` is
/// not there at all.
pub(crate) fn is_stale(made: &Path, sources: &[&Path]) -> bool {
    let Some(made_at) = changed_at(made) else { return true };
    sources.iter().filter_map(|source| newest(source)).any(|at| at > made_at)
}

fn newest(path: &Path) -> Option<SystemTime> {
    let own = changed_at(path)?;
    let Ok(entries) = fs::read_dir(path) else { return Some(own) };
    let inner = entries.flatten().filter_map(|entry| newest(&entry.path())).max();
    Some(inner.map_or(own, |inner| own.max(inner)))
}

fn changed_at(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).ok()?.modified().ok()
}
