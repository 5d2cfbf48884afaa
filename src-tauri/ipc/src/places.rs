//! Where Placet keeps its things, and whether those places can be trusted.
//!
//! The home folder is that of the passwd entry and no environment variable moves anything: what a project can set in
//! an agent's environment must not decide which gate is asked.

use std::{
    fs,
    os::{fd::OwnedFd, unix::ffi::OsStrExt as _},
    path::{Path, PathBuf},
};

use rustix::{
    fs::{CWD, FileType, Mode, OFlags},
    io::Errno,
};

/// The longest path that fits into a Unix socket's address on Linux, without the closing zero.
const MAX_SOCKET_PATH_BYTES: usize = 107;

/// The places of one Placet. All paths are absolute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Places {
    /// The history, the approvals, the lock. Mode 0700.
    pub data: PathBuf,
    /// `policy.toml` and the settings.
    pub config: PathBuf,
    /// The agents' door.
    pub socket: PathBuf,
    /// The logs.
    pub log: PathBuf,
}

/// The flags that move the places: `--data-dir`, `--config-dir`, `--socket`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Flags {
    /// Instead of `~/.local/share/placet`.
    pub data_dir: Option<PathBuf>,
    /// Instead of `~/.config/placet`.
    pub config_dir: Option<PathBuf>,
    /// Instead of `DATA/run/gate.sock`.
    pub socket: Option<PathBuf>,
}

/// A place that cannot be used, and why.
#[derive(Debug, thiserror::Error)]
pub enum PlaceError {
    /// The passwd entry of this user cannot be read or names no home.
    #[error("the home folder of user {uid} is not known to the system; give --data-dir and --config-dir")]
    NoHome {
        /// Whose.
        uid: u32,
    },
    /// A Unix socket's address holds 107 bytes.
    #[error(
        "the socket path is too long: {path} has {bytes} bytes and a Unix socket's address holds {MAX_SOCKET_PATH_BYTES}; give a shorter --data-dir or --socket"
    )]
    SocketPathTooLong {
        /// Which.
        path: String,
        /// Its length.
        bytes: usize,
    },
    /// It is not there, or it cannot be opened or made.
    #[error("{path} cannot be used: {source}")]
    Io {
        /// Which.
        path: String,
        /// What the system says.
        source: std::io::Error,
    },
    /// A link, a file, a socket: no folder.
    #[error("{path} is no folder of its own: links are not followed here")]
    NotAFolder {
        /// Which.
        path: String,
    },
    /// It belongs to somebody else.
    #[error("{path} belongs to user {owner}, not to user {uid}")]
    ForeignOwner {
        /// Which.
        path: String,
        /// Whose it is.
        owner: u32,
        /// Who we are.
        uid: u32,
    },
    /// Others may enter.
    #[error("{path} is open to other users (mode {mode:04o}); it must be 0700")]
    OpenToOthers {
        /// Which.
        path: String,
        /// Its permission bits.
        mode: u32,
    },
}

impl PlaceError {
    pub(crate) fn io(path: &Path, source: impl Into<std::io::Error>) -> Self {
        Self::Io { path: path.display().to_string(), source: source.into() }
    }
}

impl Places {
    /// The places as the flags say; what they leave open is where it always is.
    ///
    /// # Errors
    /// `NoHome` where a default is needed and there is no home; `SocketPathTooLong`.
    pub fn new(flags: &Flags) -> Result<Self, PlaceError> {
        let absolute = |path: &Path| std::path::absolute(path).map_err(|e| PlaceError::io(path, e));
        let data = match &flags.data_dir {
            Some(dir) => absolute(dir)?,
            None => default_data()?,
        };
        let config = match &flags.config_dir {
            Some(dir) => absolute(dir)?,
            None => home()?.join(".config/placet"),
        };
        let socket = match &flags.socket {
            Some(socket) => absolute(socket)?,
            None => data.join("run/gate.sock"),
        };
        let bytes = socket.as_os_str().as_bytes().len();
        if bytes > MAX_SOCKET_PATH_BYTES {
            return Err(PlaceError::SocketPathTooLong { path: socket.display().to_string(), bytes });
        }
        let log = data.join("log");
        Ok(Self { data, config, socket, log })
    }

    /// Whether the data lie where the person's own Placet keeps them, however the path is spelled.
    pub fn is_default_data(&self) -> bool {
        let Ok(default) = default_data() else { return false };
        let resolved = |path: &Path| fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        self.data == default || resolved(&self.data) == resolved(&default)
    }

    /// Makes what is missing of the data, run, log and configuration folders with mode 0700, and checks the first
    /// two: they must be ours, closed to others and no links.
    pub fn prepare(&self) -> Result<(), PlaceError> {
        for dir in [&self.data, &self.run(), &self.log, &self.config] {
            make(dir)?;
        }
        checked(&self.data)?;
        checked(&self.run())?;
        checked(self.socket_dir()).map(drop)
    }

    /// The folder of the socket and the lock.
    pub fn run(&self) -> PathBuf {
        self.data.join("run")
    }

    /// The folder that the socket lies in.
    pub fn socket_dir(&self) -> &Path {
        self.socket.parent().unwrap_or(Path::new("/"))
    }
}

/// Home from the passwd entry. The file is read first, since that is what almost every machine has and costs one
/// read; the name services are asked where it has no such user.
///
/// # Errors
/// `NoHome`.
pub fn home() -> Result<PathBuf, PlaceError> {
    let uid = rustix::process::geteuid().as_raw();
    let listed = fs::read("/etc/passwd").ok().and_then(|passwd| home_in(&passwd, uid));
    let asked = || nix::unistd::User::from_uid(uid.into()).ok().flatten().map(|user| user.dir);
    listed.or_else(asked).filter(|home| home.is_absolute()).ok_or(PlaceError::NoHome { uid })
}

fn home_in(passwd: &[u8], uid: u32) -> Option<PathBuf> {
    let uid = uid.to_string();
    passwd.split(|byte| *byte == b'\n').find_map(|line| {
        let fields: Vec<&[u8]> = line.split(|byte| *byte == b':').collect();
        let same = fields.len() == 7 && fields[2] == uid.as_bytes() && !fields[5].is_empty();
        same.then(|| PathBuf::from(std::ffi::OsStr::from_bytes(fields[5])))
    })
}

fn default_data() -> Result<PathBuf, PlaceError> {
    Ok(home()?.join(".local/share/placet"))
}

fn make(dir: &Path) -> Result<(), PlaceError> {
    use std::os::unix::fs::DirBuilderExt as _;
    fs::DirBuilder::new().recursive(true).mode(0o700).create(dir).map_err(|e| PlaceError::io(dir, e))
}

/// Opens a folder that must be ours, closed to others and no link. What is then reached through the handle is
/// reached in this very folder, whatever becomes of its name.
pub(crate) fn checked(dir: &Path) -> Result<OwnedFd, PlaceError> {
    let path = || dir.display().to_string();
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::RDONLY | OFlags::CLOEXEC;
    let handle = rustix::fs::openat(CWD, dir, flags, Mode::empty()).map_err(|errno| match errno {
        Errno::NOTDIR | Errno::LOOP => PlaceError::NotAFolder { path: path() },
        other => PlaceError::io(dir, other),
    })?;
    let stat = rustix::fs::fstat(&handle).map_err(|e| PlaceError::io(dir, e))?;
    let uid = rustix::process::geteuid().as_raw();
    let mode = stat.st_mode & 0o7777;
    if FileType::from_raw_mode(stat.st_mode) != FileType::Directory {
        return Err(PlaceError::NotAFolder { path: path() });
    }
    if stat.st_uid != uid {
        return Err(PlaceError::ForeignOwner { path: path(), owner: stat.st_uid, uid });
    }
    if mode & 0o077 != 0 {
        return Err(PlaceError::OpenToOthers { path: path(), mode });
    }
    Ok(handle)
}

/// A name in an open folder as a path: short enough for any socket, and bound to that folder.
pub(crate) fn through(handle: &OwnedFd, name: &std::ffi::OsStr) -> PathBuf {
    use std::os::fd::AsRawFd as _;
    let mut path = PathBuf::from(format!("/proc/self/fd/{}", handle.as_raw_fd()));
    path.push(name);
    path
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn places_in(dir: &Path) -> Places {
        let flags =
            Flags { data_dir: Some(dir.join("data")), config_dir: Some(dir.join("config")), ..Flags::default() };
        Places::new(&flags).unwrap()
    }

    #[test]
    fn the_socket_follows_the_data_directory() {
        let places = places_in(Path::new("/x"));
        assert_eq!(places.socket, Path::new("/x/data/run/gate.sock"));
        assert_eq!(places.log, Path::new("/x/data/log"));
    }

    #[test]
    fn a_socket_path_that_does_not_fit_is_an_error_that_says_so() {
        let long = PathBuf::from(format!("/{}", "d".repeat(100)));
        let error = Places::new(&Flags { data_dir: Some(long), ..Flags::default() }).unwrap_err();
        assert!(error.to_string().contains("socket path is too long"), "{error}");
    }

    #[test]
    fn home_is_that_of_the_passwd_entry() {
        let passwd = b"root:x:0:0:root:/root:/bin/sh\nbroken\nann:x:1000:1000::/home/ann:/bin/sh\n";
        assert_eq!(home_in(passwd, 1000), Some("/home/ann".into()));
        assert_eq!(home_in(passwd, 7), None);
    }

    #[test]
    fn what_is_made_is_closed_to_others() {
        let dir = tempfile::tempdir().unwrap();
        let places = places_in(dir.path());
        places.prepare().unwrap();
        let mode = fs::metadata(&places.data).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
        assert!(places.run().is_dir() && places.config.is_dir() && places.log.is_dir());
    }

    #[test]
    fn a_folder_open_to_others_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let places = places_in(dir.path());
        places.prepare().unwrap();
        fs::set_permissions(&places.data, fs::Permissions::from_mode(0o750)).unwrap();
        assert!(matches!(places.prepare(), Err(PlaceError::OpenToOthers { mode: 0o750, .. })));
    }

    #[test]
    fn a_link_in_place_of_a_folder_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let places = places_in(dir.path());
        fs::create_dir(dir.path().join("elsewhere")).unwrap();
        std::os::unix::fs::symlink(dir.path().join("elsewhere"), &places.data).unwrap();
        assert!(matches!(places.prepare(), Err(PlaceError::NotAFolder { .. })));
    }
}
