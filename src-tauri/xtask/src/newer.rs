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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may end where it cannot go on")]

    use std::fs::{self, File};
    use std::time::{Duration, SystemTime};

    use super::is_stale;

    #[test]
    fn what_is_made_is_stale_once_anything_it_is_made_of_is_newer() {
        let folder = std::env::temp_dir().join(format!("xtask-newer-{}", std::process::id()));
        let (made, sources) = (folder.join("made"), folder.join("sources"));
        fs::create_dir_all(sources.join("deep")).unwrap();
        assert!(is_stale(&made, &[&sources]), "not made yet");

        let later = SystemTime::now() + Duration::from_secs(60);
        fs::write(&made, "").unwrap();
        File::options().append(true).open(&made).unwrap().set_modified(later).unwrap();
        assert!(!is_stale(&made, &[&sources, &folder.join("never there")]));

        let deep = sources.join("deep/file");
        fs::write(&deep, "").unwrap();
        File::options().append(true).open(&deep).unwrap().set_modified(later + Duration::from_secs(60)).unwrap();
        assert!(is_stale(&made, &[&sources]), "a file deep inside is newer");
        fs::remove_dir_all(&folder).unwrap();
    }
}
