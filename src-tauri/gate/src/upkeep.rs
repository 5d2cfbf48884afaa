//! What the history needs now and then: forgetting what is older or larger than the person wants to keep, and putting
//! down where the chain ends outside of its file. Done by the writer once an hour, when nothing else is to do; a gate
//! that nobody asks anything does nothing.

use std::{
    fs,
    io::Write as _,
    os::unix::{fs::OpenOptionsExt as _, net::UnixDatagram},
    path::{Path, PathBuf},
};

use placet_domain::{At, Digest};
use placet_store::{Head, Store, StoreError};
use serde::{Deserialize, Serialize};

const HOUR_MS: i64 = 60 * 60 * 1_000;
pub(crate) const DAY_MS: i64 = 24 * HOUR_MS;
/// So many facts or inputs at a time: whoever decides meanwhile waits no longer than that takes.
const AT_ONCE: u16 = 200;

/// `[history]` in `settings.toml`. What is left out is kept, and nothing is anchored.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub(crate) struct Retention {
    /// Facts that are older go. Never less than a day.
    keep_days: Option<u32>,
    /// While the history holds more, its oldest facts go, but none of the last day.
    keep_mb: Option<u64>,
    /// Inputs and cards that were not used for so long go; their digests stay in the facts.
    keep_inputs_days: Option<u32>,
    /// Where the chain ends is appended to this file.
    anchor_file: Option<PathBuf>,
    /// And told to the system's log.
    #[serde(default)]
    anchor_syslog: bool,
}

impl Retention {
    /// What the settings say. Where they cannot be read, everything is kept.
    pub(crate) fn read(config: &Path) -> Self {
        #[derive(Deserialize)]
        struct Settings {
            #[serde(default)]
            history: Retention,
        }
        let file = config.join("settings.toml");
        let Ok(text) = fs::read_to_string(&file) else { return Self::default() };
        match toml::from_str::<Settings>(&text) {
            Ok(settings) => settings.history,
            Err(error) => {
                tracing::error!(%error, "settings.toml cannot be read, so the whole history is kept");
                Self::default()
            }
        }
    }

    /// The anchors in the person's file, oldest first; lines that are none are left out.
    pub(crate) fn anchors(&self) -> Vec<Head> {
        let text = self.anchor_file.as_ref().and_then(|file| fs::read_to_string(file).ok()).unwrap_or_default();
        let anchors = text.lines().filter_map(|line| serde_json::from_str::<Anchor>(line).ok());
        anchors.map(|Anchor { seq, hash, .. }| Head { seq, hash }).collect()
    }
}

/// A line of the anchor file.
#[derive(Debug, Serialize, Deserialize)]
struct Anchor {
    at_ms: At,
    seq: u64,
    hash: Digest,
}

/// When it was done last, and what is to be done.
#[derive(Debug)]
pub(crate) struct Upkeep {
    config: PathBuf,
    keep: Retention,
    next_ms: At,
    anchored: u64,
}

impl Upkeep {
    pub(crate) fn new(config: &Path) -> Self {
        Self { config: config.to_owned(), keep: Retention::default(), next_ms: At(0), anchored: 0 }
    }

    /// Does a little of what is due; whether there is more.
    pub(crate) fn step(&mut self, store: &mut Store, now: At) -> bool {
        if now < self.next_ms {
            return false;
        }
        self.keep = Retention::read(&self.config);
        let forgotten = self.forget(store, now).unwrap_or_else(|error| {
            tracing::error!(%error, "what is old could not be forgotten");
            false
        });
        if forgotten {
            return true;
        }
        self.anchor(store.head(), now);
        self.next_ms = now.plus_ms(HOUR_MS);
        false
    }

    fn forget(&self, store: &mut Store, now: At) -> Result<bool, StoreError> {
        let days_ago = |days: u32| now.plus_ms(-DAY_MS.saturating_mul(i64::from(days.max(1))));
        if let Some(days) = self.keep.keep_inputs_days
            && store.forget_bodies(days_ago(days), usize::from(AT_ONCE))? == usize::from(AT_ONCE)
        {
            return Ok(true);
        }
        if let Some(days) = self.keep.keep_days
            && store.prune(days_ago(days), u64::from(AT_ONCE), now)?.is_some_and(|pruned| pruned.more)
        {
            return Ok(true);
        }
        let Some(megabytes) = self.keep.keep_mb else { return Ok(false) };
        if store.used_bytes()? <= megabytes.saturating_mul(1 << 20) {
            return Ok(false);
        }
        Ok(store.prune(days_ago(1), u64::from(AT_ONCE), now)?.is_some_and(|pruned| pruned.more))
    }

    fn anchor(&mut self, head: Head, now: At) {
        if head.seq == self.anchored {
            return;
        }
        self.anchored = head.seq;
        let anchor = Anchor { at_ms: now, seq: head.seq, hash: head.hash };
        let Ok(mut line) = serde_json::to_string(&anchor) else { return };
        if self.keep.anchor_syslog {
            // Facility auth, severity info. Without a system log there is nobody to tell.
            let told = format!("<38>placet: history anchor {line}");
            let _ = UnixDatagram::unbound().and_then(|socket| {
                socket.set_nonblocking(true)?;
                socket.send_to(told.as_bytes(), "/dev/log")
            });
        }
        if let Some(file) = &self.keep.anchor_file {
            line.push('\n');
            let written = fs::OpenOptions::new().append(true).create(true).mode(0o600).open(file);
            if let Err(error) = written.and_then(|mut file| file.write_all(line.as_bytes())) {
                tracing::error!(%error, file = %file.display(), "the history could not be anchored");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use placet_domain::{Entry, Fact};
    use placet_store::{Break, Broken, ChainKey};

    use super::*;

    fn stopped(seq: u64, at_ms: At) -> Entry {
        Entry { seq, at_ms, fact: Fact::AppStopped {} }
    }

    fn settings(folder: &Path, text: &str) {
        fs::write(folder.join("settings.toml"), text).unwrap();
    }

    #[test]
    fn what_is_older_than_the_settings_say_is_forgotten_a_little_at_a_time_and_once_an_hour() {
        let folder = tempfile::tempdir().unwrap();
        let mut opened = Store::open(&folder.path().join("history.db"), ChainKey::new([7; 32])).unwrap();
        let now = At(1_790_000_000_000);
        let old = now.plus_ms(-3 * DAY_MS);
        let facts: Vec<Entry> = (1..=500).map(|seq| stopped(seq, old)).chain([stopped(501, now)]).collect();
        opened.store.append(&facts, &[]).unwrap();
        let mut upkeep = Upkeep::new(folder.path());
        let oldest = |opened: &placet_store::Opened| opened.reader.facts(0, 1).unwrap()[0].seq;
        let mut all = |opened: &mut placet_store::Opened, now| {
            let mut steps = 1;
            while upkeep.step(&mut opened.store, now) {
                steps += 1;
            }
            steps
        };
        // Nothing said, and what cannot be read, keep everything.
        assert_eq!((all(&mut opened, now), oldest(&opened)), (1, 1));
        let now = now.plus_ms(HOUR_MS);
        settings(folder.path(), "[history]\nkeep_days = \"two\"\n");
        assert_eq!((all(&mut opened, now), oldest(&opened)), (1, 1));
        // Not before the hour is over.
        settings(folder.path(), "when_no_gate = \"deny\"\n[history]\nkeep_days = 2\n");
        assert_eq!((all(&mut opened, now), oldest(&opened)), (1, 1));
        let now = now.plus_ms(HOUR_MS);
        assert_eq!((all(&mut opened, now), oldest(&opened)), (3, 501));
        assert_eq!(opened.reader.head().unwrap().seq, 501);
    }

    #[test]
    fn what_is_larger_than_the_settings_say_loses_its_oldest_but_nothing_of_the_last_day() {
        let folder = tempfile::tempdir().unwrap();
        let mut opened = Store::open(&folder.path().join("history.db"), ChainKey::new([7; 32])).unwrap();
        let now = At(1_790_000_000_000);
        let message = "x".repeat(20_000);
        let alert = |seq, at_ms| {
            let fact = Fact::AlertRaised { alert: "large".to_owned(), message: message.clone() };
            Entry { seq, at_ms, fact }
        };
        let old = now.plus_ms(-2 * DAY_MS);
        let facts: Vec<Entry> = (1..=300).map(|seq| alert(seq, if seq <= 200 { old } else { now })).collect();
        opened.store.append(&facts, &[]).unwrap();
        settings(folder.path(), "[history]\nkeep_mb = 1\n");
        let before = opened.store.used_bytes().unwrap();
        let mut upkeep = Upkeep::new(folder.path());
        while upkeep.step(&mut opened.store, now) {}
        assert_eq!(opened.reader.facts(0, 1).unwrap()[0].seq, 201);
        let after = opened.store.used_bytes().unwrap();
        assert!(after < before / 2 + 200_000, "{before} became {after}");
    }

    #[test]
    fn an_anchor_shows_a_tail_that_was_cut_off_together_with_its_seal() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("history.db");
        let anchors = folder.path().join("anchors.jsonl");
        settings(folder.path(), &format!("[history]\nanchor_file = {:?}\n", anchors.display().to_string()));
        let now = At(1_790_000_000_000);
        let mut opened = Store::open(&file, ChainKey::new([7; 32])).unwrap();
        opened.store.append(&[stopped(1, now), stopped(2, now)], &[]).unwrap();
        let older = folder.path().join("older.db");
        assert!(opened.reader.backup(&older, &mut |_, _| std::ops::ControlFlow::Continue(())).unwrap());
        opened.store.append(&[stopped(3, now)], &[]).unwrap();
        let mut upkeep = Upkeep::new(folder.path());
        assert!(!upkeep.step(&mut opened.store, now));
        assert!(!upkeep.step(&mut opened.store, now.plus_ms(HOUR_MS)), "an end that is anchored is not anchored again");
        assert_eq!(fs::read_to_string(&anchors).unwrap().lines().count(), 1);
        let anchors = Retention::read(folder.path()).anchors();
        assert_eq!(anchors, [opened.reader.head().unwrap()]);
        assert_eq!(opened.reader.check_anchors(&anchors).unwrap(), None);
        // Somebody puts an older copy in its place: by itself it verifies.
        let mut cut = Store::open(&older, ChainKey::new([7; 32])).unwrap();
        assert_eq!(cut.broken, None);
        let broken = Some(Broken { seq: 3, kind: Break::Truncated });
        assert_eq!(cut.reader.check_anchors(&anchors).unwrap(), broken);
        // And goes on with it.
        cut.store.append(&[stopped(3, now.plus_ms(5))], &[]).unwrap();
        let broken = Some(Broken { seq: 3, kind: Break::Anchor });
        assert_eq!(cut.reader.check_anchors(&anchors).unwrap(), broken);
    }
}
