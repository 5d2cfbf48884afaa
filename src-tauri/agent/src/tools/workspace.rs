//! The folder a session works in, held open. Every file a tool touches is reached from this handle.
//!
//! The judged call says where a path really leads, links followed. From the workspace's handle that place is opened
//! once, with every link refused: should anything on the way have become a link since, the kernel says so and the
//! tool stops. What was approved is what is touched.

use std::{
    ffi::OsStr,
    fs::File,
    os::{
        fd::{AsFd, OwnedFd},
        unix::ffi::OsStrExt,
    },
    path::{Component, Path, PathBuf},
};

use placet_domain::{Digest, PathText, subject::PathSubject};
use rustix::{
    fs::{AtFlags, FileType, Mode, OFlags, ResolveFlags},
    io::Errno,
};
use sha2::Digest as _;

use super::error::{ToolErrorCode, Trouble};

/// A workspace, opened once. Its path is the resolved one.
#[derive(Debug)]
pub struct Workspace {
    root: OwnedFd,
    path: PathBuf,
}

/// Device and inode: which file it is, whatever it is called.
type Identity = (u64, u64);

/// What a judged path means here: where it is within the workspace, and which file stood there when it was judged.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    pub(crate) inner: PathBuf,
    judged: Option<Identity>,
    /// The hash of what is to be changed, where it was small enough to be hashed.
    content: Option<Digest>,
}

impl Target {
    /// What is to be changed must be what the person saw: the same file, and nothing else written into it since.
    pub(crate) fn must_hold(&self, bytes: &[u8]) -> Result<(), Trouble> {
        let now = || Digest::new(sha2::Sha256::digest(bytes).into());
        if self.content.is_none_or(|judged| judged == now()) {
            return Ok(());
        }
        Err(ToolErrorCode::Changed.because("The file was written to after the call was judged. Read it and ask again."))
    }

    /// The same for a file that is not read otherwise.
    pub(crate) fn must_hold_still(&self, file: &File) -> Result<(), Trouble> {
        use std::io::Read as _;
        if self.content.is_none() {
            return Ok(());
        }
        let mut bytes = Vec::new();
        let mut reader = file;
        reader.read_to_end(&mut bytes)?;
        self.must_hold(&bytes)
    }

    /// The file that was opened must be the one that was judged.
    fn must_be(&self, opened: impl AsFd) -> Result<(), Trouble> {
        if self.judged == Some(identity(opened)?) { Ok(()) } else { Err(changed()) }
    }
}

fn identity(opened: impl AsFd) -> Result<Identity, Errno> {
    let stat = rustix::fs::fstat(opened)?;
    Ok((stat.st_dev, stat.st_ino))
}

fn changed() -> Trouble {
    ToolErrorCode::Changed.because("Another file stands there than when the call was judged. Ask again.")
}

/// A file's folder, held open, and its name in it.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) folder: OwnedFd,
    pub(crate) name: PathBuf,
}

impl Workspace {
    /// Opens a folder as a workspace; links on the way to it are followed now and never again.
    pub fn open(path: &Path) -> std::io::Result<Self> {
        let path = path.canonicalize()?;
        let root = rustix::fs::open(&path, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
        Ok(Self { root, path })
    }

    /// The resolved path, for messages and for the session's start.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The resolved path as the gate takes it.
    pub fn path_text(&self) -> PathText {
        PathText::from_bytes(self.path.as_os_str().as_bytes())
    }

    /// What a judged path means here.
    pub(crate) fn target(&self, subject: &PathSubject) -> Result<Target, Trouble> {
        Ok(Target { inner: self.within(&subject.resolved)?, judged: subject.inode, content: subject.content })
    }

    fn within(&self, resolved: &PathText) -> Result<PathBuf, Trouble> {
        let absolute = Path::new(OsStr::from_bytes(resolved.bytes()));
        let inner = absolute.strip_prefix(&self.path).map_err(|_| {
            ToolErrorCode::OutsideWorkspace
                .because("The path leads out of the workspace; file tools act beneath it only.")
        })?;
        let plain = inner.components().all(|part| matches!(part, Component::Normal(_)));
        if plain { Ok(inner.to_path_buf()) } else { Err(Errno::XDEV.into()) }
    }

    /// Opens an existing regular file for reading.
    pub(crate) fn file(&self, target: &Target) -> Result<File, Trouble> {
        let file = self.open_beneath(&target.inner, OFlags::RDONLY | OFlags::NONBLOCK)?;
        target.must_be(&file)?;
        match FileType::from_raw_mode(rustix::fs::fstat(&file)?.st_mode) {
            FileType::RegularFile => Ok(file.into()),
            FileType::Directory
            | FileType::Symlink
            | FileType::Fifo
            | FileType::Socket
            | FileType::CharacterDevice
            | FileType::BlockDevice
            | FileType::Unknown => Err(ToolErrorCode::WrongKind.because("It is not a regular file.")),
        }
    }

    /// Opens the folder that was judged.
    pub(crate) fn listed(&self, target: &Target) -> Result<OwnedFd, Trouble> {
        let folder = self.folder(&target.inner)?;
        target.must_be(&folder)?;
        Ok(folder)
    }

    /// Opens a folder.
    pub(crate) fn folder(&self, inner: &Path) -> Result<OwnedFd, Trouble> {
        self.open_beneath(inner, OFlags::RDONLY | OFlags::DIRECTORY)
    }

    /// Opens the folder that holds a file, existing or to be made; missing folders are made on the way.
    pub(crate) fn place(&self, inner: &Path, make_folders: bool) -> Result<Place, Trouble> {
        let name =
            inner.file_name().ok_or_else(|| ToolErrorCode::WrongKind.because("The workspace itself is no file."))?;
        let parent = inner.parent().unwrap_or(Path::new(""));
        let folder = match self.folder(parent) {
            Err(trouble) if make_folders && trouble.code == ToolErrorCode::NotFound => self.make_folders(parent)?,
            other => other?,
        };
        Ok(Place { folder, name: PathBuf::from(name) })
    }

    fn make_folders(&self, inner: &Path) -> Result<OwnedFd, Trouble> {
        let mut folder = self.root.try_clone()?;
        for part in inner.components() {
            match rustix::fs::mkdirat(&folder, part.as_os_str(), Mode::from_raw_mode(0o777)) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(errno) => return Err(errno.into()),
            }
            folder = open_beneath(&folder, Path::new(part.as_os_str()), OFlags::RDONLY | OFlags::DIRECTORY)?;
        }
        Ok(folder)
    }

    fn open_beneath(&self, inner: &Path, flags: OFlags) -> Result<OwnedFd, Trouble> {
        open_beneath(&self.root, inner, flags).map_err(Trouble::from)
    }
}

impl Place {
    /// Opens what is there for reading; none where nothing is there, and nothing was when it was judged.
    pub(crate) fn existing(&self, target: &Target) -> Result<Option<File>, Trouble> {
        match open_beneath(&self.folder, &self.name, OFlags::RDONLY | OFlags::NONBLOCK) {
            Ok(file) => {
                target.must_be(&file)?;
                Ok(Some(file.into()))
            }
            Err(Errno::NOENT) if target.judged.is_none() => Ok(None),
            Err(Errno::NOENT) => Err(changed()),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Puts new content in the file's place at once: readers see the old or the new, never a half.
    /// What stands there must still be `before`, the very file that was read.
    pub(crate) fn replace(&self, before: Option<&File>, content: &[u8]) -> Result<(), Trouble> {
        use std::io::Write as _;
        let mode = match before {
            Some(file) => Mode::from_raw_mode(rustix::fs::fstat(file)?.st_mode & 0o7777),
            None => Mode::from_raw_mode(0o666),
        };
        let temporary = PathBuf::from(format!(".placet-{}", random_hex()?));
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut file = File::from(rustix::fs::openat(&self.folder, &temporary, flags, mode)?);
        let written = (|| {
            if before.is_some() {
                rustix::fs::fchmod(&file, mode)?;
            }
            file.write_all(content)?;
            file.sync_all()?;
            self.still_holds(before)?;
            rustix::fs::renameat(&self.folder, &temporary, &self.folder, &self.name)?;
            rustix::fs::fsync(&self.folder)?;
            Ok(())
        })();
        if written.is_err() {
            let _ = rustix::fs::unlinkat(&self.folder, &temporary, AtFlags::empty());
        }
        written
    }

    /// Removes the file, which must still be `before`.
    pub(crate) fn remove(&self, before: &File) -> Result<(), Trouble> {
        self.still_holds(Some(before))?;
        rustix::fs::unlinkat(&self.folder, &self.name, AtFlags::empty())?;
        Ok(())
    }

    fn still_holds(&self, before: Option<&File>) -> Result<(), Trouble> {
        let now: Option<Identity> = match rustix::fs::statat(&self.folder, &self.name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Some((stat.st_dev, stat.st_ino)),
            Err(Errno::NOENT) => None,
            Err(errno) => return Err(errno.into()),
        };
        let then = before.map(identity).transpose()?;
        if now == then { Ok(()) } else { Err(changed()) }
    }
}

/// Opens `inner` from a handle, never leaving it and following no link. The empty path is the folder itself.
pub(crate) fn open_beneath(folder: impl AsFd, inner: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    let inner = if inner.as_os_str().is_empty() { Path::new(".") } else { inner };
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS | ResolveFlags::NO_SYMLINKS;
    rustix::fs::openat2(folder, inner, flags | OFlags::CLOEXEC, Mode::empty(), resolve)
}

/// 32 random hexadecimal digits.
pub(crate) fn random_hex() -> std::io::Result<String> {
    let mut bytes = [0_u8; 16];
    rustix::rand::getrandom(&mut bytes[..], rustix::rand::GetRandomFlags::empty())?;
    Ok(u128::from_ne_bytes(bytes)).map(|number| format!("{number:032x}"))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use std::fs;

    fn code(result: Result<impl std::fmt::Debug, Trouble>) -> ToolErrorCode {
        result.unwrap_err().code
    }

    /// What the path means while it is judged.
    fn target(workspace: &Workspace, inner: &str) -> Target {
        let judged = fs::File::open(workspace.path().join(inner)).ok().map(|file| identity(file).unwrap());
        Target { inner: inner.into(), judged, content: None }
    }

    #[test]
    fn a_link_put_in_the_way_after_judging_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let outside = tempfile::tempdir().unwrap();
        fs::write(outside.path().join("secret"), "x").unwrap();
        fs::create_dir(dir.path().join("a")).unwrap();
        fs::write(dir.path().join("a/secret"), "fine").unwrap();
        let workspace = Workspace::open(dir.path()).unwrap();
        let target = target(&workspace, "a/secret");
        assert!(workspace.file(&target).is_ok());
        fs::rename(dir.path().join("a"), dir.path().join("b")).unwrap();
        std::os::unix::fs::symlink(outside.path(), dir.path().join("a")).unwrap();
        assert_eq!(code(workspace.file(&target)), ToolErrorCode::Changed);
        assert_eq!(code(workspace.place(&target.inner, true)), ToolErrorCode::Changed);
    }

    #[test]
    fn nothing_outside_the_workspace_has_a_path_in_it() {
        let dir = tempfile::tempdir().unwrap();
        let workspace = Workspace::open(dir.path()).unwrap();
        let beside = format!("{}-evil/x", workspace.path().display());
        let climbing = format!("{}/../x", workspace.path().display());
        for path in ["/etc/passwd", &beside, &climbing] {
            assert_eq!(code(workspace.within(&path.into())), ToolErrorCode::OutsideWorkspace, "{path}");
        }
    }

    #[test]
    fn a_file_swapped_after_judging_is_neither_read_nor_overwritten() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("f"), "one").unwrap();
        let workspace = Workspace::open(dir.path()).unwrap();
        let judged = target(&workspace, "f");
        let place = workspace.place(&judged.inner, false).unwrap();
        let before = place.existing(&judged).unwrap().unwrap();
        fs::write(dir.path().join("g"), "two").unwrap();
        fs::rename(dir.path().join("g"), dir.path().join("f")).unwrap();
        assert_eq!(code(workspace.file(&judged)), ToolErrorCode::Changed);
        assert_eq!(code(place.existing(&judged)), ToolErrorCode::Changed);
        assert_eq!(code(place.replace(Some(&before), b"three")), ToolErrorCode::Changed);
        assert_eq!(fs::read_to_string(dir.path().join("f")).unwrap(), "two");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "no temporary file is left");
    }

    #[test]
    fn what_was_written_into_the_same_file_after_judging_is_neither_edited_over_nor_deleted() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("f"), "one").unwrap();
        let workspace = Workspace::open(dir.path()).unwrap();
        let judged =
            Target { content: Some(Digest::new(sha2::Sha256::digest("one").into())), ..target(&workspace, "f") };
        let open = || workspace.place(Path::new("f"), false).unwrap().existing(&judged).unwrap().unwrap();
        assert!(judged.must_hold_still(&open()).is_ok());
        fs::write(dir.path().join("f"), "two").unwrap();
        assert_eq!(code(judged.must_hold_still(&open())), ToolErrorCode::Changed);
        assert_eq!(code(judged.must_hold(b"two")), ToolErrorCode::Changed);
    }

    #[test]
    fn a_file_that_came_or_went_since_it_was_judged_is_not_written() {
        let dir = tempfile::tempdir().unwrap();
        let workspace = Workspace::open(dir.path()).unwrap();
        let judged_as_new = target(&workspace, "f");
        fs::write(dir.path().join("f"), "one").unwrap();
        let judged_as_there = target(&workspace, "f");
        let place = workspace.place(Path::new("f"), false).unwrap();
        assert_eq!(code(place.existing(&judged_as_new)), ToolErrorCode::Changed);
        fs::remove_file(dir.path().join("f")).unwrap();
        assert_eq!(code(place.existing(&judged_as_there)), ToolErrorCode::Changed);
        assert!(place.existing(&judged_as_new).unwrap().is_none());
    }
}
