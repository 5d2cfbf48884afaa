//! What Placet did to clients' settings and when each was last proved: `clients.json` beside the history.
//!
//! Nothing is decided by it. It is how an entry that vanished or changed can be told from one that never was, and how
//! `uninstall` gives back the very file that was there.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use placet_domain::Digest;
use placet_ipc::{Flags, Places};
use placet_subject::canonical;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{edit::Found, file, plan::Plan};

/// One settings file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Record {
    /// When the entry was put there, milliseconds since 1970.
    pub(crate) installed_at_ms: Option<i64>,
    /// The file as `install` left it.
    pub(crate) left: Option<Digest>,
    /// What was there before; none where that is not known.
    pub(crate) before: Option<Before>,
    /// When it was last proved that the gate blocks.
    pub(crate) proof: Option<Proof>,
}

/// A settings file before Placet touched it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Before {
    /// There was none.
    Nothing,
    /// It is kept here, with this digest.
    Kept { copy: PathBuf, digest: Digest },
}

/// A probe that was denied.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Proof {
    /// When, milliseconds since 1970.
    pub(crate) at_ms: i64,
    /// Of Placet.
    pub(crate) version: String,
    /// Of the client, as it calls itself; none where it could not be asked.
    pub(crate) client_version: Option<String>,
    /// Of the entries that stood there.
    pub(crate) entries: Digest,
}

/// All of them, by client and file.
#[derive(Debug)]
pub(crate) struct Records {
    places: Option<Places>,
    all: BTreeMap<String, Record>,
}

impl Records {
    /// As they are kept; none where they cannot be read, which costs a warning and no safety.
    pub(crate) fn read(places: &Places) -> Self {
        let text = file::read(&file_in(places)).unwrap_or_default();
        Self { places: Some(places.clone()), all: serde_json::from_str(&text).unwrap_or_default() }
    }

    /// The same, of the places that the flags say; nothing where those cannot be.
    pub(crate) fn of_flags(flags: &Flags) -> Self {
        Places::new(flags).map_or_else(|_| Self { places: None, all: BTreeMap::new() }, |places| Self::read(&places))
    }

    /// What is known of a plan's file.
    pub(crate) fn of(&self, plan: &Plan) -> Option<&Record> {
        self.all.get(&key(plan))
    }

    /// Changes what is known of a plan's file; none forgets it.
    pub(crate) fn set(&mut self, plan: &Plan, record: Option<Record>) {
        match record {
            Some(record) => self.all.insert(key(plan), record),
            None => self.all.remove(&key(plan)),
        };
    }

    /// Keeps them. A folder that cannot be written costs the memory of it, and is no reason to refuse a change.
    pub(crate) fn keep(&self) {
        let (Some(places), Ok(text)) = (&self.places, serde_json::to_string_pretty(&self.all)) else { return };
        if places.prepare().is_ok() {
            let _ = file::write(&file_in(places), &format!("{text}\n"), 0o600);
        }
    }
}

impl Record {
    /// What the settings were before, if they are still as `install` left them and the copy is what it was.
    pub(crate) fn gives_back(&self, now: &str) -> Option<String> {
        if self.left != Some(canonical::sha256(now.as_bytes())) {
            return None;
        }
        match self.before.as_ref()? {
            Before::Nothing => Some(String::new()),
            Before::Kept { copy, digest } => {
                let text = fs::read_to_string(copy).ok()?;
                (canonical::sha256(text.as_bytes()) == *digest).then_some(text)
            }
        }
    }

    /// As it is told of settings that read so now: when it was proved, and whether that still holds.
    pub(crate) fn told(&self, plan: &Plan, now: &str) -> Value {
        let found = super::edit::found(now, plan.client, plan.shape).unwrap_or_default();
        let proof = self.proof.as_ref().map(|proof| {
            json!({
                "at_ms": proof.at_ms, "version": proof.version, "client_version": proof.client_version,
                "holds": proof.entries == digest_of(&found),
            })
        });
        json!({ "installed_at_ms": self.installed_at_ms, "vanished": found.is_empty(), "proof": proof })
    }

    /// After `install` wrote `after` over `before`, of which `copy` was kept.
    pub(crate) fn installed(
        old: Option<&Self>,
        plan: &Plan,
        before: &str,
        copy: Option<&Path>,
        after: &str,
        at_ms: i64,
    ) -> Self {
        let digest = canonical::sha256(before.as_bytes());
        let known = old.filter(|old| old.left == Some(digest));
        let ours_already = super::edit::found(before, plan.client, plan.shape).map_or(true, |found| !found.is_empty());
        let before = match (known, copy) {
            // Ours over ours: what was there first is still what was there first.
            (Some(known), _) => known.before.clone(),
            (None, _) if ours_already => None,
            (None, None) => Some(Before::Nothing),
            (None, Some(copy)) => Some(Before::Kept { copy: copy.to_owned(), digest }),
        };
        let left = Some(canonical::sha256(after.as_bytes()));
        Self { installed_at_ms: Some(at_ms), left, before, proof: None }
    }
}

fn file_in(places: &Places) -> PathBuf {
    places.data.join("clients.json")
}

/// The digest of entries as they stand: what a proof was about.
pub(crate) fn digest_of(found: &[Found]) -> Digest {
    let all: Vec<_> = found.iter().map(|one| (&one.event, &one.matcher, &one.hook)).collect();
    canonical::sha256(serde_json::to_string(&all).unwrap_or_default().as_bytes())
}

fn key(plan: &Plan) -> String {
    format!("{} {}", plan.client.name(), plan.file.display())
}
