//! Files and folders that only their owner can read.

use std::{fs, path::Path};

use crate::StoreError;

/// Makes a new file of mode 0600; one that is there already is an error.
pub(crate) fn create_private(path: &Path) -> Result<fs::File, StoreError> {
    if let Some(folder) = path.parent() {
        make_private_folder(folder)?;
    }
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).map_err(|e| StoreError::io(path, e))
}

/// Makes a folder of mode 0700 where there is none; one that is there is left as it is.
pub(crate) fn make_private_folder(folder: &Path) -> Result<(), StoreError> {
    if folder.as_os_str().is_empty() || folder.is_dir() {
        return Ok(());
    }
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder).map_err(|e| StoreError::io(folder, e))
}

/// Takes away whatever others may do with a file.
pub(crate) fn make_private(path: &Path) -> Result<(), StoreError> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        fs::set_permissions(path, fs::Permissions::from_mode(0o600)).map_err(|e| StoreError::io(path, e))?;
    }
    #[cfg(not(unix))]
    let _ = path;
    Ok(())
}

/// Whether nobody but the owner may read or write it.
pub(crate) fn is_private(file: &fs::File) -> std::io::Result<bool> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        Ok((file.metadata()?.permissions().mode() & 0o077).count_ones() == 0)
    }
    #[cfg(not(unix))]
    {
        file.metadata().map(|_| true)
    }
}

/// Makes a new name in a folder durable.
pub(crate) fn sync_folder_of(path: &Path) -> Result<(), StoreError> {
    #[cfg(unix)]
    if let Some(folder) = path.parent().filter(|f| !f.as_os_str().is_empty()) {
        fs::File::open(folder).and_then(|f| f.sync_all()).map_err(|e| StoreError::io(folder, e))?;
    }
    #[cfg(not(unix))]
    let _ = path;
    Ok(())
}
