//! What a file holds before a call changes it.

use std::io::Read as _;

use placet_domain::Digest;
use rustix::fs::{FileType, Mode, OFlags};
use sha2::{Digest as _, Sha256};

use crate::path::walk::Found;

/// Files up to this size are hashed; a call that would change a larger one is never granted.
pub(crate) const MAX_PREIMAGE: u64 = 16 * 1024 * 1024;

/// What is there before.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Before {
    /// Nothing.
    Absent,
    /// A file, with all of its bytes.
    File { sha256: Digest, bytes: Vec<u8> },
    /// A file too large to hash.
    TooLarge { size: u64 },
    /// A folder.
    Folder,
    /// A symbolic link that would itself be taken.
    Link { target: Vec<u8> },
    /// A device: `/dev/null`.
    Device,
    /// The kernel does not let us read it.
    Unreadable,
}

/// Reads what stands at the end of a walk, through the folder's handle; another file that took its place meanwhile
/// counts as unreadable.
pub(crate) fn before(found: &Found) -> Before {
    let Some(entry) = found.entry else { return Before::Absent };
    match entry.kind {
        FileType::Directory => Before::Folder,
        FileType::CharacterDevice => Before::Device,
        FileType::Symlink => rustix::fs::readlinkat(&found.folder, found.name.as_slice(), Vec::new())
            .map_or(Before::Unreadable, |target| Before::Link { target: target.into_bytes() }),
        FileType::RegularFile if entry.size > MAX_PREIMAGE => Before::TooLarge { size: entry.size },
        FileType::RegularFile => read(found).unwrap_or(Before::Unreadable),
        FileType::BlockDevice | FileType::Fifo | FileType::Socket | FileType::Unknown => Before::Unreadable,
    }
}

fn read(found: &Found) -> std::io::Result<Before> {
    // A fifo put in its place would block an open; a terminal would become ours.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let handle = rustix::fs::openat(&found.folder, found.name.as_slice(), flags, Mode::empty())?;
    let stat = rustix::fs::fstat(&handle)?;
    let same = found.entry.is_some_and(|entry| entry.inode == stat.st_ino);
    if !same || FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return Ok(Before::Unreadable);
    }
    let mut bytes = Vec::new();
    std::fs::File::from(handle).take(MAX_PREIMAGE + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_PREIMAGE {
        return Ok(Before::TooLarge { size: bytes.len() as u64 });
    }
    Ok(Before::File { sha256: Digest::new(Sha256::digest(&bytes).into()), bytes })
}
