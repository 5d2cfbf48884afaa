//! Where the history's key is kept: in `history.key` itself, or in the keyring of the person's session, and then the file
//! says under which name. It is moved by the person alone, while no gate runs.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use placet_ipc::{GateLock, HostKind, LockError, Places, TryLock};
use placet_keyring::KeyringError;
use placet_store::{ChainKey, StoreError};
use serde::Serialize;

use crate::{host, settings};

/// How the file begins where the key is in the keyring; its name there follows, and a line's end.
const IN_KEYRING: &str = "keyring:";

/// Where the key is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum KeyPlace {
    /// In `history.key`, readable by its owner alone.
    File,
    /// In the keyring of the person's session.
    Keyring,
}

/// Why the key was not moved. It is where it was.
#[derive(Debug, thiserror::Error)]
pub enum MoveError {
    /// A gate writes under it.
    #[error("a gate runs on this history; close it first")]
    Running,
    /// There is none.
    #[error("there is no key of a history here ({0})")]
    NoKey(PathBuf),
    /// The keyring.
    #[error(transparent)]
    Keyring(#[from] KeyringError),
    /// The lock.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// The key cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The file cannot be written.
    #[error("{path}: {source}")]
    Io {
        /// Which.
        path: PathBuf,
        /// What went wrong.
        source: io::Error,
    },
}

/// The file of these places.
fn file_of(data: &Path) -> PathBuf {
    data.join("history.key")
}

/// Whether there is a key, wherever it is.
pub(crate) fn is_there(data: &Path) -> bool {
    file_of(data).is_file()
}

/// Reads the key, or makes it in its file from `random` where there is none at all. A keyring that does not give it is
/// an error: another key would make the whole history a broken one.
pub(crate) fn load_or_make(data: &Path, random: impl FnOnce() -> [u8; 32]) -> Result<ChainKey, StoreError> {
    let path = file_of(data);
    match name_in(&path)? {
        None => ChainKey::load_or_make(&path, random),
        Some(name) => from_keyring(&path, &name).map(ChainKey::new),
    }
}

/// Where the key is.
pub(crate) fn place(data: &Path) -> Result<KeyPlace, StoreError> {
    Ok(if name_in(&file_of(data))?.is_some() { KeyPlace::Keyring } else { KeyPlace::File })
}

/// Under which name the keyring has it, if the file says that.
fn name_in(path: &Path) -> Result<Option<String>, StoreError> {
    match fs::read(path) {
        Ok(bytes) => Ok(std::str::from_utf8(&bytes)
            .ok()
            .and_then(|text| text.strip_prefix(IN_KEYRING)?.strip_suffix('\n').map(str::to_owned))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(StoreError::Io { path: path.to_owned(), source }),
    }
}

fn from_keyring(path: &Path, name: &str) -> Result<[u8; 32], StoreError> {
    let refused = |what: String| StoreError::Key { path: path.to_owned(), what };
    let text = placet_keyring::read(name).map_err(|error| refused(error.to_string()))?;
    bytes_of(&text).ok_or_else(|| refused(format!("what the keyring has as “{name}” is no key")))
}

/// Moves the key. True where it was in the other place before.
///
/// # Errors
/// A gate runs, there is no key, or one of the two places cannot be used; then it is where it was.
pub fn move_key(places: &Places, to: KeyPlace) -> Result<bool, MoveError> {
    let _lock = match GateLock::try_lock(places, HostKind::Serve)? {
        TryLock::Held(lock) => lock,
        TryLock::Taken(_) => return Err(MoveError::Running),
    };
    let path = file_of(&places.data);
    if !path.is_file() {
        return Err(MoveError::NoKey(path));
    }
    match (name_in(&path)?, to) {
        (None, KeyPlace::File) | (Some(_), KeyPlace::Keyring) => Ok(false),
        (None, KeyPlace::Keyring) => {
            // Refused where others may read it.
            ChainKey::load_or_make(&path, || [0; 32])?;
            let bytes = fs::read(&path).map_err(|source| MoveError::Io { path: path.clone(), source })?;
            let name = format!("history-{}", &hex(&host::random())[..16]);
            placet_keyring::write(&name, &hex(&bytes))?;
            replace(&path, format!("{IN_KEYRING}{name}\n").as_bytes())?;
            Ok(true)
        }
        (Some(name), KeyPlace::File) => {
            replace(&path, &from_keyring(&path, &name)?)?;
            // It is in the file by now: one that stays behind in the keyring is no loss.
            if let Err(error) = placet_keyring::remove(&name) {
                tracing::warn!(%error, "the history's key is still in the keyring as well");
            }
            Ok(true)
        }
    }
}

fn replace(path: &Path, bytes: &[u8]) -> Result<(), MoveError> {
    settings::replace(path, bytes).map_err(|source| MoveError::Io { path: path.to_owned(), source })
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn bytes_of(text: &str) -> Option<[u8; 32]> {
    let digits: Option<Vec<u32>> = text.chars().map(|digit| digit.to_digit(16)).collect();
    let pairs = digits?;
    let bytes: Vec<u8> = pairs.chunks_exact(2).filter_map(|pair| u8::try_from(pair[0] * 16 + pair[1]).ok()).collect();
    if pairs.len() == 64 { bytes.try_into().ok() } else { None }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_key_is_written_as_text_and_read_back_and_nothing_else_is_a_key() {
        let key: [u8; 32] = std::array::from_fn(|at| u8::try_from(at * 8).unwrap());
        assert_eq!(bytes_of(&hex(&key)), Some(key));
        for text in ["", "00", &"0".repeat(63), &"0".repeat(65), &"g".repeat(64), &"+1".repeat(32), &"ä".repeat(32)] {
            assert_eq!(bytes_of(text), None, "{text}");
        }
    }

    #[test]
    fn a_file_that_names_the_keyring_is_no_key_and_no_other_is_made() {
        let dir = tempfile::tempdir().unwrap();
        let made = load_or_make(dir.path(), || [7; 32]);
        assert!(made.is_ok() && place(dir.path()).unwrap() == KeyPlace::File);
        replace(&file_of(dir.path()), b"keyring:a name that is none\n").unwrap();
        assert_eq!(place(dir.path()).unwrap(), KeyPlace::Keyring);
        let error = load_or_make(dir.path(), || panic!("another key would break the chain")).unwrap_err();
        assert!(error.to_string().contains("is no name for a key"), "{error}");
    }
}
