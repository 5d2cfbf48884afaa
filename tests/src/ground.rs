//! The ground a test stands on: data, configuration and a workspace of its own, gone when it ends.

use std::fs;
use std::path::{Path, PathBuf};

/// A data folder, a configuration folder and a workspace that no other test shares.
pub struct Ground {
    folder: tempfile::TempDir,
}

impl Ground {
    /// With this policy, or the default one that Placet writes itself.
    pub fn new(policy: Option<&str>) -> Self {
        let folder = tempfile::Builder::new().prefix("placet-").tempdir().unwrap();
        let ground = Self { folder };
        fs::create_dir(ground.workspace()).unwrap();
        fs::create_dir(ground.config()).unwrap();
        if let Some(policy) = policy {
            ground.write_policy(policy);
        }
        ground
    }

    /// The data folder; Placet makes it.
    pub fn data(&self) -> PathBuf {
        self.path().join("data")
    }

    /// The configuration folder.
    pub fn config(&self) -> PathBuf {
        self.path().join("config")
    }

    /// The folder that agents work in.
    pub fn workspace(&self) -> PathBuf {
        // Some systems reach their temporary folder through a link; agents are told where they really are.
        self.path().canonicalize().unwrap().join("workspace")
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
