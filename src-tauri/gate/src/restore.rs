//! A copy of the history taken, and put in the place of the one that is there. A copy may be older than what was taken
//! back since: so nothing in it that stands open or gives leave survives being restored.

use std::{
    fs,
    io::{self, Write as _},
    ops::ControlFlow,
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
};

use placet_domain::{ApprovalState, At, By, CancelReason, Entry, Fact};
use placet_ipc::{GateLock, HostKind, LockError, Places, TryLock};
use placet_store::{ChainKey, Opened, Store, StoreError};
use serde_json::{Value, json};

use crate::{clock, history_key, offline::History};

const NOTE: &str = "The history was restored from a copy.";

/// Why a copy was not restored. The history that was there is as it was.
#[derive(Debug, thiserror::Error)]
pub enum RestoreError {
    /// A gate writes this history.
    #[error("a gate runs on this history; close it first")]
    Running,
    /// There is no key, so nothing can be believed.
    #[error("there is no key beside the history ({0}); a copy proves nothing without it")]
    NoKey(PathBuf),
    /// The copy is still being written by somebody.
    #[error("{0} has a log beside it: it is a history in use and no copy; make one with `placet history backup`")]
    InUse(PathBuf),
    /// The chain of the copy is broken.
    #[error("the copy is broken at fact {seq} ({kind}), or was made with another key; it was not restored")]
    Broken {
        /// The first broken fact.
        seq: u64,
        /// In one word.
        kind: &'static str,
    },
    /// The lock.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// The copy cannot be read or is none.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A file.
    #[error("{path}: {source}")]
    Io {
        /// Which.
        path: PathBuf,
        /// What went wrong.
        source: io::Error,
    },
}

fn at(path: &Path) -> impl FnOnce(io::Error) -> RestoreError {
    let path = path.to_owned();
    move |source| RestoreError::Io { path, source }
}

impl History {
    /// Copies the history into a new file, beside a running gate or without one.
    ///
    /// # Errors
    /// The file is there already, or one of the two cannot be read or written.
    pub fn backup(&self, to: &Path) -> Result<(), StoreError> {
        self.reader().backup(to, &mut |_, _| ControlFlow::Continue(())).map(drop)
    }

    /// Puts the copy `from` in the place of the history, which is kept beside it: `{restored, facts, kept?}`. Grants
    /// that are active in the copy are revoked, what waits is cancelled, a yes that nobody fetched lapses, and a pause
    /// stays; each of these is a fact.
    ///
    /// # Errors
    /// A gate runs, or the copy is from a newer version, of another program, or does not verify.
    pub fn restore(places: &Places, from: &Path) -> Result<Value, RestoreError> {
        let _lock = match GateLock::try_lock(places, HostKind::Serve)? {
            TryLock::Held(lock) => lock,
            TryLock::Taken(_) => return Err(RestoreError::Running),
        };
        if !history_key::is_there(&places.data) {
            return Err(RestoreError::NoKey(places.data.join("history.key")));
        }
        let key = history_key::load_or_make(&places.data, || [0; 32])?;
        if fs::metadata(beside(from, "-wal")).is_ok_and(|log| log.len() > 0) {
            return Err(RestoreError::InUse(from.to_owned()));
        }
        let copy = places.data.join("history.restoring.db");
        remove(&copy);
        let prepared = copy_private(from, &copy).and_then(|()| prepare(&copy, key.clone(), &places.data));
        match prepared.and_then(|facts| Ok((facts, exchange(&places.data, &copy)?))) {
            Ok((facts, kept)) => {
                let kept = kept.map(|path| path.to_string_lossy().into_owned());
                Ok(json!({ "restored": true, "facts": facts, "kept": kept }))
            }
            Err(error) => {
                remove(&copy);
                Err(error)
            }
        }
    }
}

/// Verifies the copy and takes back in it whatever gives leave. The number of its last fact.
fn prepare(copy: &Path, key: ChainKey, data: &Path) -> Result<u64, RestoreError> {
    let mut opened = Store::open(copy, key.clone())?;
    let verified = opened.reader.verify(None, &mut |_| ControlFlow::Continue(()))?;
    if let Some(broken) = verified.broken {
        return Err(RestoreError::Broken { seq: broken.seq, kind: broken.kind.word() });
    }
    let present = data.join("history.db");
    // One that cannot be read may have been paused.
    let paused = present.exists() && Store::open(&present, key).map_or(true, |present| present.paused);
    let now = opened.latest_ms.unwrap_or_default().max(At(clock::wall_ms()));
    let entries: Vec<Entry> = (opened.head.seq + 1..)
        .zip(taking_back(&opened, paused, now))
        .map(|(seq, fact)| Entry { seq, at_ms: now, fact })
        .collect();
    Ok(opened.store.append(&entries, &[])?.seq)
}

fn taking_back(opened: &Opened, paused: bool, now: At) -> Vec<Fact> {
    let mut facts: Vec<Fact> = opened
        .grants
        .iter()
        .map(|grant| Fact::GrantRevoked { grant: grant.id, by: By::Command, note: Some(NOTE.to_owned()) })
        .collect();
    for approval in &opened.approvals {
        let id = approval.id;
        facts.push(if let ApprovalState::Approved { .. } = approval.state {
            Fact::ApprovalLapsed { approval: id }
        } else if approval.expires_at_ms <= now {
            Fact::ApprovalExpired { approval: id }
        } else {
            let (reason, by) = (CancelReason::User, Some(By::Command));
            Fact::ApprovalCancelled { approval: id, reason, by, note: Some(NOTE.to_owned()) }
        });
    }
    if paused && !opened.paused {
        facts.push(Fact::Paused { by: By::Command });
    }
    facts.push(Fact::AlertRaised { alert: "history_restored".to_owned(), message: NOTE.to_owned() });
    facts
}

fn copy_private(from: &Path, to: &Path) -> Result<(), RestoreError> {
    let mut source = fs::File::open(from).map_err(at(from))?;
    let mut copy = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(to).map_err(at(to))?;
    io::copy(&mut source, &mut copy).and_then(|_| copy.flush()).and_then(|()| copy.sync_all()).map_err(at(to))
}

/// Moves the history aside, with what lies beside it, and the copy into its place. Where the old one is now.
fn exchange(data: &Path, copy: &Path) -> Result<Option<PathBuf>, RestoreError> {
    let present = data.join("history.db");
    let mut kept = None;
    if present.exists() {
        let aside = data.join(format!("history.before-{}.db", clock::wall_ms()));
        for end in ["-wal", "-shm"] {
            let (log, to) = (beside(&present, end), beside(&aside, end));
            if log.exists() {
                fs::rename(&log, &to).map_err(at(&log))?;
            }
        }
        fs::rename(&present, &aside).map_err(at(&present))?;
        kept = Some(aside);
    }
    fs::rename(copy, &present).map_err(at(copy))?;
    fs::File::open(data).and_then(|folder| folder.sync_all()).map_err(at(data))?;
    Ok(kept)
}

fn beside(file: &Path, end: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(end);
    PathBuf::from(name)
}

/// A copy that was begun is worth nothing.
fn remove(copy: &Path) {
    for file in [copy.to_owned(), beside(copy, "-wal"), beside(copy, "-shm")] {
        let _ = fs::remove_file(file);
    }
}
