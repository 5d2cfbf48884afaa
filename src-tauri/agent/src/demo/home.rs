//! A home of the demo's own: a temporary folder, so that the demo touches neither the person's history nor their policy.

use std::{
    fs::OpenOptions,
    io::{self, Write as _},
    os::unix::fs::OpenOptionsExt as _,
    time::Duration,
};

use placet_domain::Policy;
use placet_gate::{Flags, Places};
use tempfile::TempDir;

use super::POLICY_ADDITION;

/// The folder of one demo, which no other demo shares. Dropped, it is removed.
#[derive(Debug)]
pub struct Home(TempDir);

impl Home {
    /// Makes it.
    pub fn new() -> io::Result<Self> {
        Ok(Self(tempfile::Builder::new().prefix("placet-demo-home-").tempdir()?))
    }

    /// The places of the demo: where the flags say, and what they leave open is in here. Where there is no policy yet,
    /// the demo's is written: the default one and `POLICY_ADDITION`.
    pub fn places(&self, flags: &Flags) -> io::Result<Places> {
        let here = |name: &str| Some(self.0.path().join(name));
        let flags = Flags {
            data_dir: flags.data_dir.clone().or_else(|| here("data")),
            config_dir: flags.config_dir.clone().or_else(|| here("config")),
            socket: flags.socket.clone(),
        };
        let places = Places::new(&flags).map_err(io::Error::other)?;
        places.prepare().map_err(io::Error::other)?;
        let policy = places.config.join("policy.toml");
        match OpenOptions::new().write(true).create_new(true).mode(0o600).open(policy) {
            Ok(mut file) => write!(file, "{}{POLICY_ADDITION}", Policy::default_text())?,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
        Ok(places)
    }

    /// Removes it. What draws the window may write there for a moment longer, so it is tried again.
    pub fn remove(self) {
        let path = self.0.keep();
        for _ in 0..TRIES {
            if let Err(error) = std::fs::remove_dir_all(&path) {
                tracing::debug!(%error, "the demo's own folder is still in use");
            }
            if !path.exists() {
                return;
            }
            std::thread::sleep(BETWEEN);
        }
        tracing::warn!(path = %path.display(), "the demo's own folder could not be removed");
    }
}

/// How often removing is tried, and how long is waited in between.
const TRIES: u32 = 10;
const BETWEEN: Duration = Duration::from_millis(50);

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn two_demos_share_nothing_and_each_has_the_rule_that_protects_the_tests() {
        let (one, other) = (Home::new().unwrap(), Home::new().unwrap());
        let places = one.places(&Flags::default()).unwrap();
        assert_ne!(places.data, other.places(&Flags::default()).unwrap().data);
        assert!(!places.is_default_data());
        let policy = std::fs::read_to_string(places.config.join("policy.toml")).unwrap();
        assert!(policy.contains("tests are the yardstick"));
        one.remove();
        assert!(!places.data.exists());
    }

    #[test]
    fn a_policy_that_is_there_stays_as_it_is() {
        let (home, own) = (Home::new().unwrap(), tempfile::tempdir().unwrap());
        std::fs::write(own.path().join("policy.toml"), "default = \"deny\"\n").unwrap();
        let flags = Flags { config_dir: Some(own.path().to_owned()), ..Flags::default() };
        let places = home.places(&flags).unwrap();
        assert_eq!(places.config, own.path());
        assert_eq!(std::fs::read_to_string(own.path().join("policy.toml")).unwrap(), "default = \"deny\"\n");
    }
}
