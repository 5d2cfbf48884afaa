//! The ground a test stands on: data, configuration and a workspace of its own, gone when it ends.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// A data folder, a configuration folder and a workspace that no other test shares.
pub struct Ground {
    folder: tempfile::TempDir,
    /// Data and configuration lie where they do for a person with this home.
    is_home: bool,
}

impl Ground {
    /// With this policy, or the default one that Placet writes itself.
    pub fn new(policy: Option<&str>) -> Self {
        Self::make(policy, false)
    }

    /// The same, in the places of a person whose home this is.
    pub fn at_home(policy: Option<&str>) -> Self {
        Self::make(policy, true)
    }

    fn make(policy: Option<&str>, is_home: bool) -> Self {
        let folder = tempfile::Builder::new().prefix("placet-").tempdir().unwrap();
        let ground = Self { folder, is_home };
        fs::create_dir(ground.workspace()).unwrap();
        fs::create_dir_all(ground.config()).unwrap();
        if let Some(policy) = policy {
            ground.write_policy(policy);
        }
        ground
    }

    /// The data folder; Placet makes it.
    pub fn data(&self) -> PathBuf {
        if self.is_home { self.home().join(".local/share/placet") } else { self.path().join("data") }
    }

    /// The configuration folder.
    pub fn config(&self) -> PathBuf {
        if self.is_home { self.home().join(".config/placet") } else { self.path().join("config") }
    }

    /// The folder that agents work in.
    pub fn workspace(&self) -> PathBuf {
        // Some systems reach their temporary folder through a link; agents are told where they really are.
        self.path().canonicalize().unwrap().join("workspace")
    }

    /// A home of its own.
    pub fn home(&self) -> PathBuf {
        self.path().join("home")
    }

    /// A list of users by which whoever runs this test is at home here.
    pub fn users(&self) -> PathBuf {
        let (users, uid) = (self.path().join("users"), fs::metadata("/proc/self").unwrap().uid());
        fs::write(&users, format!("person:x:{uid}:{uid}::{}:/bin/sh\n", self.home().display())).unwrap();
        users
    }

    /// The whole of it.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Replaces the policy.
    pub fn write_policy(&self, text: &str) {
        fs::write(self.config().join("policy.toml"), text).unwrap();
    }

    /// The flags that put any of the programs here.
    pub fn flags(&self) -> [String; 4] {
        let text = |path: PathBuf| path.to_str().unwrap().to_owned();
        ["--data-dir".into(), text(self.data()), "--config-dir".into(), text(self.config())]
    }
}
