//! Where a path really ends: walked step by step through handles, as the kernel would, links followed by hand.
//!
//! Nothing is opened for its content. `..` is taken physically (after a link it leads elsewhere than the text says),
//! and what means another thing to us than to the agent (`/proc/self`, `/dev/stdin`) is refused before it is looked at.

use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;

use placet_domain::RefusedCode;
use rustix::fs::{AtFlags, FileType, Mode, OFlags, StatxFlags};
use rustix::io::Errno;

/// Links followed before giving up, as many as Linux follows.
const MAX_LINKS: usize = 40;
const MAX_NAME: usize = 255;

/// What stands at the end of a path.
pub(crate) struct Found {
    /// The folder it lies in, open (`O_PATH`); the deepest that is there for something new.
    pub(crate) folder: OwnedFd,
    /// Its name in that folder; empty for `/` itself and for a folder reached by `..`.
    pub(crate) name: Vec<u8>,
    /// The whole path, links followed.
    pub(crate) resolved: Vec<u8>,
    /// What is there, or nothing yet.
    pub(crate) entry: Option<Entry>,
    /// The deepest folder that is there.
    pub(crate) folder_entry: Entry,
    /// A link was followed.
    pub(crate) via_symlink: bool,
}

/// What the kernel says of a file or folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) device: u64,
    pub(crate) inode: u64,
    pub(crate) links: u64,
    pub(crate) size: u64,
    pub(crate) mount: u64,
    pub(crate) kind: FileType,
}

impl Entry {
    pub(crate) fn is_folder(&self) -> bool {
        self.kind == FileType::Directory
    }

    /// Device and inode.
    pub(crate) fn identity(&self) -> (u64, u64) {
        (self.device, self.inode)
    }
}

/// Why a walk ended early.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Stuck {
    /// `/proc`, `/sys` or `/dev`.
    Magic,
    /// `..` behind something that is not there.
    DotdotThroughMissing,
    /// Something that is no folder stands in the way, or the end is neither file nor folder.
    NotAFile,
    /// A name that no kernel takes.
    TooLong,
    /// The kernel does not let us look, or links go in circles.
    Unreadable(Errno),
}

impl Stuck {
    pub(crate) fn code(&self) -> RefusedCode {
        match self {
            Self::Magic => RefusedCode::MagicPath,
            Self::DotdotThroughMissing => RefusedCode::DotdotThroughMissingComponent,
            Self::NotAFile => RefusedCode::NotAFile,
            Self::TooLong => RefusedCode::PathMalformed,
            Self::Unreadable(_) => RefusedCode::Unreadable,
        }
    }
}

/// What a walk does with a link at the very end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Leaf {
    /// Reads and writes go through it.
    Follow,
    /// Deleting takes the link itself.
    Keep,
}

/// A folder on the way: open, with its name.
struct Step {
    handle: OwnedFd,
    name: Vec<u8>,
    entry: Entry,
}

/// The folders gone through so far. The root is never left.
struct Way {
    root: Step,
    below: Vec<Step>,
    via_symlink: bool,
}

impl Way {
    fn here(&self) -> &Step {
        self.below.last().unwrap_or(&self.root)
    }

    /// Ends here, at a name in the last folder.
    fn end(mut self, name: Vec<u8>, entry: Option<Entry>) -> Found {
        let mut resolved = Vec::new();
        for step in &self.below {
            resolved.push(b'/');
            resolved.extend(&step.name);
        }
        resolved.push(b'/');
        resolved.extend(&name);
        let last = self.below.pop().unwrap_or(self.root);
        Found { folder: last.handle, name, resolved, entry, folder_entry: last.entry, via_symlink: self.via_symlink }
    }
}

/// Walks an absolute path.
pub(crate) fn walk(path: &[u8], leaf: Leaf) -> Result<Found, Stuck> {
    debug_assert!(path.starts_with(b"/"));
    straight(path, leaf).map_or_else(|| step_by_step(path, leaf), Ok)
}

/// The same in one stride, for a path that nothing turns: the kernel itself goes to the last folder, and refuses if it
/// meets a link or another mount on the way. Most paths are such, and each step saved is two calls of the kernel. None
/// where it is not so plain, whatever the reason: then every step is looked at.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn straight(path: &[u8], leaf: Leaf) -> Option<Found> {
    use rustix::fs::ResolveFlags;
    let names = path.strip_prefix(b"/")?;
    let plain = |name: &[u8]| !matches!(name, b"" | b"." | b"..") && name.len() <= MAX_NAME;
    if !names.split(|byte| *byte == b'/').all(plain) || is_magic(names.split(|byte| *byte == b'/').next()?) {
        return None;
    }
    let (above, name) = path.split_at(path.iter().rposition(|byte| *byte == b'/')?);
    let above = if above.is_empty() { b"/" } else { above };
    let unturned = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS | ResolveFlags::NO_XDEV;
    let folder =
        rustix::fs::openat2(rustix::fs::CWD, OsStr::from_bytes(above), FOLDER, Mode::empty(), unturned).ok()?;
    let folder_entry = look_through(&folder).ok()?;
    let name = name[1..].to_vec();
    let entry = match look_at(&folder, &name) {
        Ok(entry) => Some(entry),
        Err(Errno::NOENT) => None,
        Err(_) => return None,
    };
    let is_end = entry.is_none_or(|entry| match entry.kind {
        FileType::RegularFile => true,
        FileType::Directory => entry.mount == folder_entry.mount,
        FileType::Symlink => leaf == Leaf::Keep,
        FileType::Fifo | FileType::Socket | FileType::CharacterDevice | FileType::BlockDevice | FileType::Unknown => {
            false
        }
    });
    is_end.then(|| Found { folder, name, resolved: path.to_vec(), entry, folder_entry, via_symlink: false })
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn straight(_: &[u8], _: Leaf) -> Option<Found> {
    None
}

fn step_by_step(path: &[u8], leaf: Leaf) -> Result<Found, Stuck> {
    let wants_folder = path.ends_with(b"/") || path.ends_with(b"/.") || path.ends_with(b"/..");
    let mut ahead: Vec<Vec<u8>> = components(path);
    let mut way = Way { root: open_root()?, below: Vec::new(), via_symlink: false };
    let mut links = 0;
    while let Some(name) = ahead.pop() {
        if name == b".." {
            way.below.pop();
            continue;
        }
        if name.len() > MAX_NAME {
            return Err(Stuck::TooLong);
        }
        if way.below.is_empty() && is_magic(&name) {
            return if name == b"dev" && ahead == [b"null".to_vec()] { null_device(way) } else { Err(Stuck::Magic) };
        }
        let here = way.here();
        let entry = match look_at(&here.handle, &name) {
            Ok(entry) => entry,
            Err(Errno::NOENT) => return not_there(way, name, ahead),
            Err(Errno::NOTDIR) => return Err(Stuck::NotAFile),
            Err(Errno::NAMETOOLONG) => return Err(Stuck::TooLong),
            Err(other) => return Err(Stuck::Unreadable(other)),
        };
        let is_last = ahead.is_empty();
        if entry.kind == FileType::Symlink && !(is_last && leaf == Leaf::Keep && !wants_folder) {
            links += 1;
            if links > MAX_LINKS {
                return Err(Stuck::Unreadable(Errno::LOOP));
            }
            let target = rustix::fs::readlinkat(&here.handle, OsStr::from_bytes(&name), Vec::new())
                .map_err(Stuck::Unreadable)?;
            let target = target.as_bytes();
            way.via_symlink = true;
            if target.starts_with(b"/") {
                way.below.clear();
            }
            ahead.extend(components(target));
            continue;
        }
        if !entry.is_folder() {
            let is_end = is_last && !wants_folder && matches!(entry.kind, FileType::RegularFile | FileType::Symlink);
            return if is_end { Ok(way.end(name, Some(entry))) } else { Err(Stuck::NotAFile) };
        }
        let handle = rustix::fs::openat(&here.handle, OsStr::from_bytes(&name), FOLDER, Mode::empty())
            .map_err(Stuck::Unreadable)?;
        // Looked at through the handle: what was opened counts, not what stood there a moment before.
        let entry = look_through(&handle)?;
        if entry.mount != here.entry.mount && is_magic_mount(&handle) {
            return Err(Stuck::Magic);
        }
        way.below.push(Step { handle, name, entry });
    }
    if let Some(last) = way.below.pop() {
        return Ok(way.end(last.name, Some(last.entry)));
    }
    let entry = way.root.entry;
    Ok(way.end(Vec::new(), Some(entry)))
}

/// `/proc` or `/sys` mounted in another place.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn is_magic_mount(folder: &OwnedFd) -> bool {
    const PROC: u64 = 0x9FA0;
    const SYSFS: u64 = 0x6265_6572;
    rustix::fs::fstatfs(folder).is_ok_and(|stat| matches!(u64::try_from(stat.f_type), Ok(PROC | SYSFS)))
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn is_magic_mount(_: &OwnedFd) -> bool {
    false
}

#[cfg(any(target_os = "linux", target_os = "android"))]
const FOLDER: OFlags = OFlags::PATH.union(OFlags::NOFOLLOW).union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
#[cfg(not(any(target_os = "linux", target_os = "android")))]
const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::NOFOLLOW).union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// The names of a path, last first; empty ones and `.` are left out.
fn components(path: &[u8]) -> Vec<Vec<u8>> {
    path.split(|b| *b == b'/').filter(|name| !name.is_empty() && *name != b".").rev().map(<[u8]>::to_vec).collect()
}

fn is_magic(name: &[u8]) -> bool {
    matches!(name, b"proc" | b"sys" | b"dev")
}

fn open_root() -> Result<Step, Stuck> {
    let handle = rustix::fs::open("/", FOLDER, Mode::empty()).map_err(Stuck::Unreadable)?;
    let entry = look_through(&handle)?;
    Ok(Step { handle, name: Vec::new(), entry })
}

/// `/dev/null` takes anything and gives nothing: the one device that is let through.
fn null_device(way: Way) -> Result<Found, Stuck> {
    let entry = look_at(&way.root.handle, b"dev/null").map_err(Stuck::Unreadable)?;
    if entry.kind != FileType::CharacterDevice {
        return Err(Stuck::Magic);
    }
    Ok(way.end(b"dev/null".to_vec(), Some(entry)))
}

/// Something new: what follows the last folder that is there may not climb.
fn not_there(way: Way, name: Vec<u8>, ahead: Vec<Vec<u8>>) -> Result<Found, Stuck> {
    if ahead.iter().any(|name| name == b"..") {
        return Err(Stuck::DotdotThroughMissing);
    }
    if ahead.iter().any(|name| name.len() > MAX_NAME) {
        return Err(Stuck::TooLong);
    }
    let mut rest = name;
    for next in ahead.into_iter().rev() {
        rest.push(b'/');
        rest.extend(next);
    }
    Ok(way.end(rest, None))
}

#[cfg(any(target_os = "linux", target_os = "android"))]
fn look_at(folder: &OwnedFd, name: &[u8]) -> Result<Entry, Errno> {
    let mask = StatxFlags::BASIC_STATS | StatxFlags::MNT_ID;
    let flags = AtFlags::SYMLINK_NOFOLLOW | AtFlags::EMPTY_PATH | AtFlags::NO_AUTOMOUNT;
    let stat = rustix::fs::statx(folder, OsStr::from_bytes(name), flags, mask)?;
    Ok(Entry {
        device: rustix::fs::makedev(stat.stx_dev_major, stat.stx_dev_minor),
        inode: stat.stx_ino,
        links: u64::from(stat.stx_nlink),
        size: stat.stx_size,
        mount: stat.stx_mnt_id,
        kind: FileType::from_raw_mode(stat.stx_mode.into()),
    })
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn look_at(folder: &OwnedFd, name: &[u8]) -> Result<Entry, Errno> {
    let stat = if name.is_empty() {
        rustix::fs::fstat(folder)?
    } else {
        rustix::fs::statat(folder, OsStr::from_bytes(name), AtFlags::SYMLINK_NOFOLLOW)?
    };
    let device = u64::try_from(stat.st_dev).unwrap_or_default();
    Ok(Entry {
        device,
        inode: stat.st_ino,
        links: u64::from(stat.st_nlink),
        size: u64::try_from(stat.st_size).unwrap_or_default(),
        mount: device,
        kind: FileType::from_raw_mode(stat.st_mode),
    })
}

fn look_through(handle: &OwnedFd) -> Result<Entry, Stuck> {
    look_at(handle, b"").map_err(Stuck::Unreadable)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::os::unix::fs::symlink;

    use super::*;

    /// What a walk found, comparable: where it ended, what is there, and which folder is open.
    fn seen(found: Found) -> (Vec<u8>, Vec<u8>, Option<Entry>, Entry, Entry, bool) {
        let Found { folder, name, resolved, entry, folder_entry, via_symlink } = found;
        (name, resolved, entry, folder_entry, look_through(&folder).unwrap(), via_symlink)
    }

    #[test]
    fn one_stride_ends_where_every_step_does_or_is_not_taken() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        std::fs::create_dir_all(root.join("a/b")).unwrap();
        std::fs::write(root.join("a/b/file"), "x").unwrap();
        std::fs::hard_link(root.join("a/b/file"), root.join("a/twin")).unwrap();
        symlink("b", root.join("a/link")).unwrap();
        symlink("/nowhere", root.join("a/dangling")).unwrap();
        symlink("loop", root.join("a/loop")).unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(root.join("a/socket")).unwrap();
        let root = root.to_str().unwrap();
        let long = "n".repeat(256);
        let (mut strides, mut steps) = (0, 0);
        for rest in [
            "",
            "/",
            "/a",
            "/a/",
            "/a/.",
            "/a/b",
            "/a/b/file",
            "/a/b/file/",
            "/a/b/file/under",
            "/a/twin",
            "/a/link",
            "/a/link/file",
            "/a/dangling",
            "/a/loop",
            "/a/socket",
            "/a/new",
            "/a/new/deeper",
            "/a/new/../b",
            "/a/../a/b",
            "/a//b",
            "/a/./b",
            "/a/b/..",
            "/a/B",
            &format!("/{long}"),
        ] {
            for leaf in [Leaf::Follow, Leaf::Keep] {
                let path = format!("{root}{rest}");
                let stepped = step_by_step(path.as_bytes(), leaf);
                let Some(strode) = straight(path.as_bytes(), leaf) else {
                    steps += 1;
                    continue;
                };
                strides += 1;
                assert_eq!(seen(strode), seen(stepped.unwrap_or_else(|stuck| panic!("{path}: {stuck:?}"))), "{path}");
            }
        }
        assert!(strides >= 14 && steps >= 20, "{strides} strides, {steps} by steps");
    }

    #[test]
    fn no_stride_leads_to_what_means_another_thing_to_each_who_looks() {
        for path in ["/proc/self/status", "/proc", "/sys/kernel", "/dev/null", "/dev/stdin", "/"] {
            assert!(straight(path.as_bytes(), Leaf::Follow).is_none(), "{path}");
        }
    }
}
