//! The key under which the history is chained. It lies beside the database, readable for its owner alone: it makes
//! tampering by other users, by hand and by accident show. Who can read it can forge; anchors outside are for that.

use std::{
    io::{ErrorKind, Read as _, Write as _},
    path::Path,
};

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

use crate::{StoreError, files};

/// 32 secret bytes.
#[derive(Clone)]
pub struct ChainKey([u8; 32]);

impl ChainKey {
    /// Takes bytes as they are, from a keyring for instance.
    pub fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Reads the key from its file, or makes the file (mode 0600) from `random` where there is none. A file that is
    /// too short, too long or open to others is refused: a key that others know proves nothing.
    pub fn load_or_make(path: &Path, random: impl FnOnce() -> [u8; 32]) -> Result<Self, StoreError> {
        match std::fs::File::open(path) {
            Ok(file) => Self::read(path, file),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let bytes = random();
                let mut file = files::create_private(path)?;
                file.write_all(&bytes).and_then(|()| file.sync_all()).map_err(|e| StoreError::io(path, e))?;
                files::sync_folder_of(path)?;
                Ok(Self(bytes))
            }
            Err(error) => Err(StoreError::io(path, error)),
        }
    }

    fn read(path: &Path, file: std::fs::File) -> Result<Self, StoreError> {
        let refused = |what: &str| StoreError::Key { path: path.to_owned(), what: what.to_owned() };
        if !files::is_private(&file).map_err(|e| StoreError::io(path, e))? {
            return Err(refused("others may read it; make it readable for its owner only"));
        }
        let mut bytes = Vec::new();
        file.take(33).read_to_end(&mut bytes).map_err(|e| StoreError::io(path, e))?;
        bytes.try_into().map(Self).map_err(|_| refused("it does not have 32 bytes"))
    }

    /// HMAC-SHA256 over `parts` one after the other. `purpose` keeps the uses of the key apart and ends with NUL.
    pub(crate) fn mac(&self, purpose: &[u8], parts: &[&[u8]]) -> [u8; 32] {
        // HMAC takes keys of any length, so this cannot fail.
        let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(&self.0) else { return [0; 32] };
        mac.update(purpose);
        for part in parts {
            mac.update(part);
        }
        mac.finalize().into_bytes().into()
    }
}

impl std::fmt::Debug for ChainKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ChainKey")
    }
}
