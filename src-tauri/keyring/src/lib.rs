//! What is kept secret: the keyring of the person's session (the Secret Service of GNOME and KDE, the Keychain of macOS).
//!
//! Any program that runs as this person can read it there while it is unlocked; what it protects against is written in
//! SECURITY.md. Everything here may wait for the person, who is asked to unlock it, so each call has a limit.

use std::{sync::mpsc, time::Duration};

use keyring::v1::{Entry, Error};

/// Under which all of it stands.
const SERVICE: &str = "Placet";
/// How long the person has to unlock it.
const PATIENCE: Duration = Duration::from_secs(60);
/// The longest name of a secret, in bytes.
const MOST_OF_A_NAME: usize = 100;

/// Why a secret cannot be had or kept.
#[derive(Debug, thiserror::Error)]
pub enum KeyringError {
    /// No session bus, or nobody on it who keeps secrets.
    #[error("there is no keyring in this session ({0}); keep the key in a file instead")]
    NoKeyring(String),
    /// It is locked, and stayed so.
    #[error("the keyring was not unlocked within {} s", PATIENCE.as_secs())]
    NotUnlocked,
    /// Nothing has this name.
    #[error("the keyring has no “{0}”; put it there with: placet keys set {0}")]
    Absent(String),
    /// The name cannot be one.
    #[error("“{0}” is no name for a key: letters, digits, “-”, “_” and “.”, at most {MOST_OF_A_NAME}")]
    BadName(String),
    /// What is kept is no text.
    #[error("what the keyring has as “{0}” is no text")]
    NotText(String),
    /// Something else.
    #[error("the keyring could not be used: {0}")]
    Failed(String),
}

/// The secret of this name.
///
/// # Errors
/// [`KeyringError::Absent`] where there is none, and the others where that cannot be told.
pub fn read(name: &str) -> Result<String, KeyringError> {
    let named = checked(name)?;
    with_limit(move || Entry::new(SERVICE, &named)?.get_password()).map_err(|error| told(error, name))
}

/// Keeps a secret under this name, in place of the one before, and reads it back.
pub fn write(name: &str, secret: &str) -> Result<(), KeyringError> {
    let (named, secret) = (checked(name)?, secret.to_owned());
    let kept = with_limit(move || {
        let entry = Entry::new(SERVICE, &named)?;
        entry.set_password(&secret)?;
        Ok(entry.get_password()? == secret)
    });
    if kept.map_err(|error| told(error, name))? {
        return Ok(());
    }
    Err(KeyringError::Failed("it gives back another secret than it was given".to_owned()))
}

/// Removes the secret of this name.
pub fn remove(name: &str) -> Result<(), KeyringError> {
    let named = checked(name)?;
    with_limit(move || Entry::new(SERVICE, &named)?.delete_credential()).map_err(|error| told(error, name))
}

fn checked(name: &str) -> Result<String, KeyringError> {
    let fits = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.');
    if (1..=MOST_OF_A_NAME).contains(&name.len()) && name.bytes().all(fits) {
        Ok(name.to_owned())
    } else {
        Err(KeyringError::BadName(name.chars().take(MOST_OF_A_NAME).flat_map(char::escape_debug).collect()))
    }
}

/// Why not, before it is known of which name.
enum Not {
    InTime,
    By(Error),
}

/// The library waits for ever for whoever has to unlock it; the caller does not.
fn with_limit<T: Send + 'static>(ask: impl FnOnce() -> Result<T, Error> + Send + 'static) -> Result<T, Not> {
    let (tell, hear) = mpsc::channel();
    std::thread::spawn(move || tell.send(ask()));
    hear.recv_timeout(PATIENCE).map_err(|_| Not::InTime)?.map_err(Not::By)
}

fn told(not: Not, name: &str) -> KeyringError {
    let Not::By(error) = not else { return KeyringError::NotUnlocked };
    match error {
        Error::NoEntry => KeyringError::Absent(name.to_owned()),
        Error::NoDefaultStore => {
            let why = Entry::store_status().as_ref().err().map_or_else(String::new, ToString::to_string);
            KeyringError::NoKeyring(why)
        }
        // What these hold is not shown: it may be the secret.
        Error::BadEncoding(_) | Error::BadDataFormat(..) => KeyringError::NotText(name.to_owned()),
        other @ (Error::PlatformFailure(_)
        | Error::NoStorageAccess(_)
        | Error::BadStoreFormat(_)
        | Error::TooLong(..)
        | Error::Invalid(..)
        | Error::Ambiguous(_)
        | Error::NotSupportedByStore(_)
        | _) => KeyringError::Failed(other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_name_that_could_mean_another_thing_is_refused_and_shown_without_what_cannot_be_seen() {
        for name in ["", "a b", "a/b", "ä", "a\u{202E}b", &"x".repeat(101)] {
            let error = read(name).unwrap_err();
            assert!(matches!(error, KeyringError::BadName(_)), "{name:?}: {error}");
            assert!(!error.to_string().contains('\u{202E}'));
        }
        assert_eq!(checked("anthropic-2.key_a").unwrap(), "anthropic-2.key_a");
    }
}
