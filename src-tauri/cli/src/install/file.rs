//! Settings files on the disk: read, kept a copy of, replaced whole.

use std::{
    fs, io,
    io::Write as _,
    os::unix::fs::{MetadataExt as _, PermissionsExt as _},
    path::{Path, PathBuf},
};

/// The text of a settings file; empty where there is none.
pub(crate) fn read(path: &Path) -> io::Result<String> {
    match fs::read_to_string(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(String::new()),
        other => other,
    }
}

/// Replaces a file by a new text, whole or not at all, and keeps what it was beside it. Gives the path of the copy,
/// where there was something to keep. A link is followed: who keeps settings elsewhere wants them there. A file of
/// which nothing is left is removed.
pub(crate) fn replace(path: &Path, text: &str, at_ms: i64) -> io::Result<Option<PathBuf>> {
    let path = match fs::canonicalize(path) {
        Ok(real) => real,
        Err(error) if error.kind() == io::ErrorKind::NotFound => path.to_owned(),
        Err(error) => return Err(error),
    };
    let (Some(dir), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "the path names no file"));
    };
    fs::create_dir_all(dir)?;
    let beside = |suffix: String| {
        let mut name = name.to_owned();
        name.push(suffix);
        dir.join(name)
    };
    let mode = fs::metadata(&path).map(|meta| meta.mode() & 0o777);
    let copy = match mode {
        Ok(_) => {
            let copy = beside(format!(".before-placet-{at_ms}"));
            fs::copy(&path, &copy)?;
            Some(copy)
        }
        Err(_) => None,
    };
    if text.is_empty() {
        fs::remove_file(&path)?;
        return Ok(copy);
    }
    write(&path, text, mode.unwrap_or(0o600)).map(|()| copy)
}

/// Writes a file whole or not at all, with this mode.
pub(crate) fn write(path: &Path, text: &str, mode: u32) -> io::Result<()> {
    let (Some(dir), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "the path names no file"));
    };
    let mut new = name.to_owned();
    new.push(format!(".placet-{}", std::process::id()));
    let new = dir.join(new);
    // Of a process that had this number and died while it wrote.
    let _ = fs::remove_file(&new);
    let written = (|| {
        let mut file = fs::OpenOptions::new().write(true).create_new(true).open(&new)?;
        file.set_permissions(fs::Permissions::from_mode(mode))?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&new, path)?;
        fs::File::open(dir)?.sync_all()
    })();
    if written.is_err() {
        let _ = fs::remove_file(&new);
    }
    written
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn what_was_there_is_kept_and_the_mode_stays() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a/settings.json");
        assert_eq!(read(&path).unwrap(), "");
        assert_eq!(replace(&path, "{}", 1).unwrap(), None);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        let copy = replace(&path, "{\"a\":1}", 2).unwrap().unwrap();
        assert_eq!(read(&copy).unwrap(), "{}");
        assert_eq!(read(&path).unwrap(), "{\"a\":1}");
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o640);
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 2);
    }

    #[test]
    fn a_link_stays_a_link() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("dotfiles.json"), "{}").unwrap();
        let link = dir.path().join("settings.json");
        std::os::unix::fs::symlink("dotfiles.json", &link).unwrap();
        replace(&link, "{\"a\":1}", 3).unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(read(&dir.path().join("dotfiles.json")).unwrap(), "{\"a\":1}");
    }
}
