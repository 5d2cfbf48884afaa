//! Policies of others than the person: they can only tighten, and are read only where they can be trusted to be theirs.

use std::{
    ffi::OsStr,
    fs,
    io::{self, Read as _},
    os::unix::{
        ffi::OsStrExt as _,
        fs::{MetadataExt as _, OpenOptionsExt as _},
    },
    path::Path,
};

use placet_domain::PathText;

/// Where an administrator's policy lies.
pub(crate) const ADMINISTRATORS: &str = "/etc/placet/policy.toml";
/// The name of a workspace's own.
pub(crate) const OF_WORKSPACE: &str = ".placet.toml";
/// In force in a workspace whose own file is broken.
pub(crate) const ASK_ABOUT_ALL: &str = "[[rule]]\nname = \".placet.toml is broken\"\ndecide = \"ask\"\n\
                                        reason = \"The workspace's own .placet.toml is broken.\"\n";
/// A policy is a page, not a book.
const AT_MOST_BYTES: u64 = 1 << 20;

/// The administrator's text; none where there is none. Refused unless the file and its folder belong to root and can
/// be written by nobody else.
pub(crate) fn administrators(path: &Path) -> Result<Option<String>, String> {
    let refused = |why: &str| Err(format!("{} is not used: {why}", path.display()));
    let opened = fs::OpenOptions::new().read(true).custom_flags(no_follow()).open(path);
    let file = match opened {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return refused(&error.to_string()),
    };
    let found = file.metadata().map_err(|error| error.to_string())?;
    let folder = path.parent().map(fs::symlink_metadata).transpose().map_err(|error| error.to_string())?;
    if !found.is_file() {
        return refused("it is no regular file");
    }
    for (what, found) in [("it", Some(&found)), ("its folder", folder.as_ref())] {
        let Some(found) = found else { continue };
        if found.uid() != 0 {
            return refused(&format!("{what} does not belong to root"));
        }
        if found.mode() & 0o022 != 0 {
            return refused(&format!("{what} can be written by others than root (mode {:04o})", found.mode() & 0o7777));
        }
    }
    read(file).map(Some).or_else(|error| refused(&error.to_string()))
}

/// A workspace's own text; none where there is no plain file. One that cannot be read counts as broken.
pub(crate) fn of_workspace(workspace: &PathText) -> Option<String> {
    let path = Path::new(OsStr::from_bytes(workspace.bytes())).join(OF_WORKSPACE);
    if fs::symlink_metadata(&path).is_err() {
        return None;
    }
    let opened = fs::OpenOptions::new().read(true).custom_flags(no_follow()).open(&path);
    Some(opened.and_then(read).unwrap_or_else(|error| format!("not readable = {error:?}")))
}

fn read(file: fs::File) -> io::Result<String> {
    let mut text = String::new();
    file.take(AT_MOST_BYTES + 1).read_to_string(&mut text)?;
    if text.len() as u64 > AT_MOST_BYTES {
        return Err(io::Error::other("it is larger than a megabyte"));
    }
    Ok(text)
}

/// Neither follows a link nor waits for a pipe.
fn no_follow() -> i32 {
    let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::CLOEXEC;
    i32::try_from(flags.bits()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn an_administrators_file_that_others_can_write_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("policy.toml");
        assert_eq!(administrators(&file), Ok(None));
        fs::write(&file, "default = \"deny\"\n").unwrap();
        let set = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        set(&file, 0o644);
        if rustix::process::geteuid().is_root() {
            assert_eq!(administrators(&file), Ok(Some("default = \"deny\"\n".to_owned())));
        } else {
            assert!(administrators(&file).unwrap_err().contains("does not belong to root"));
        }
        set(&file, 0o664);
        assert!(administrators(&file).is_err());
        set(&file, 0o644);
        set(dir.path(), 0o777);
        assert!(administrators(&file).is_err());
        set(dir.path(), 0o700);
        fs::rename(&file, dir.path().join("other")).unwrap();
        std::os::unix::fs::symlink(dir.path().join("other"), &file).unwrap();
        assert!(administrators(&file).is_err(), "a link is not followed");
    }
}
