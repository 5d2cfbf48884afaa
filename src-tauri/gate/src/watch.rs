//! Watches the disk: the policy file, and what the waiting calls are about. A change of what would run refreshes its
//! card, which is then armed anew. Nothing is polled.

use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::OsStr,
    os::unix::ffi::OsStrExt as _,
    path::{Path, PathBuf},
    time::Duration,
};

use notify::{Event, RecommendedWatcher, RecursiveMode, Watcher};
use placet_domain::{Approval, ApprovalId, ApprovalState, Command, Fact, PathText, State, Subject};
use tokio::{
    sync::{broadcast, mpsc},
    time::Instant,
};

use crate::{Gate, tightening};

/// The policy file is read this long after its last change.
const POLICY_SETTLES: Duration = Duration::from_millis(200);
/// Cards are refreshed this long after the last change of what they are about.
const CARDS_SETTLE: Duration = Duration::from_millis(100);

/// Where files cannot be watched it is tried again so often.
const AGAIN: Duration = Duration::from_secs(60);

/// Runs until the gate closes.
pub(crate) async fn run(gate: Gate) {
    run_with::<RecommendedWatcher>(gate, AGAIN).await;
}

async fn run_with<W: Watcher>(gate: Gate, again: Duration) {
    let (send, mut changes) = mpsc::unbounded_channel::<PathBuf>();
    let mut watcher = watcher::<W>(&gate, &send, again).await;
    let policy_folder = gate.inner.policy.path().parent().map(Path::to_path_buf).unwrap_or_default();
    watcher.watch(&policy_folder);
    // Where there is no such folder there is nothing to watch; a restart sees one that is made later.
    if let Some(folder) = Path::new(tightening::ADMINISTRATORS).parent()
        && folder.is_dir()
    {
        watcher.watch(folder);
    }
    let mut facts = gate.facts();
    let mut folders = Watched::default();
    // A session that started before the facts were heard, or that goes on after a restart, works in its folder as well.
    let works_on = |state: &State| {
        let running = state.sessions.values().filter(|session| session.stopped_at_ms.is_none());
        running.map(|session| session.workspace.clone()).collect::<BTreeSet<_>>()
    };
    for workspace in gate.look(works_on) {
        folders.add_workspace(&mut watcher, &workspace);
    }
    for approval in gate.look(|state| state.approvals.values().cloned().collect::<Vec<_>>()) {
        folders.add(&mut watcher, &approval);
    }
    // A change between the first reading and the watch would not be heard.
    let mut policy_changed = true;
    let mut due = Instant::now() + POLICY_SETTLES;
    let mut stale = BTreeSet::new();
    loop {
        tokio::select! {
            change = changes.recv() => {
                let Some(path) = change else { return };
                let of_policy = path == gate.inner.policy.path()
                    || path == Path::new(tightening::ADMINISTRATORS)
                    || path.file_name() == Some(OsStr::new(tightening::OF_WORKSPACE));
                let about = folders.about(&path);
                // Only what matters puts the moment off: a busy folder must not keep a policy from being read.
                if of_policy || !about.is_empty() {
                    policy_changed |= of_policy;
                    stale.extend(about);
                    due = Instant::now() + if policy_changed { POLICY_SETTLES } else { CARDS_SETTLE };
                }
            }
            fact = facts.recv() => match fact {
                Ok(entry) => follow(&gate, &mut watcher, &mut folders, &entry.fact),
                Err(broadcast::error::RecvError::Lagged(_)) => {
                    let open = gate.look(|state| state.approvals.values().cloned().collect::<Vec<_>>());
                    folders.keep_only(&mut watcher, &open);
                }
                Err(broadcast::error::RecvError::Closed) => return,
            },
            () = tokio::time::sleep_until(due), if policy_changed || !stale.is_empty() => {
                if std::mem::take(&mut policy_changed) {
                    gate.reload_policy().await;
                }
                for approval in std::mem::take(&mut stale) {
                    if let Err(refusal) = gate.refresh(approval).await {
                        tracing::debug!(%refusal, "a card was not refreshed");
                    }
                }
            }
        }
        if gate.is_closing() {
            return;
        }
        if let Some(error) = watcher.failed.take() {
            tell_of(&gate, &error).await;
        }
    }
}

/// A watcher, as soon as there can be one. While there is none the person is told so, once: nothing else would show
/// that a change of the policy file is not heard.
async fn watcher<W: Watcher>(gate: &Gate, send: &mpsc::UnboundedSender<PathBuf>, again: Duration) -> Eyes<W> {
    let mut told = false;
    loop {
        let send = send.clone();
        let made = W::new(
            move |event: notify::Result<Event>| {
                if let Ok(event) = event
                    && !event.kind.is_access()
                {
                    for path in event.paths {
                        let _ = send.send(path);
                    }
                }
            },
            notify::Config::default(),
        );
        match made {
            Ok(watcher) => return Eyes { watcher, failed: None, told },
            Err(error) if told => tracing::debug!(%error, "files still cannot be watched"),
            Err(error) => {
                told = true;
                tell_of(gate, &error).await;
            }
        }
        tokio::time::sleep(again).await;
    }
}

async fn tell_of(gate: &Gate, error: &notify::Error) {
    tracing::error!(%error, "files cannot be watched");
    let message = format!(
        "Changed files cannot be noticed ({error}): a policy that is changed outside of Placet may not be in force until \
         Placet is started again. What waits is still looked at anew before it runs. Often other programs watch too many \
         files: fs.inotify.max_user_instances and max_user_watches say how many the system allows."
    );
    let told = gate.writer().decide(Command::Alert { alert: "files_unwatched".to_owned(), message }).await;
    if let Err(refusal) = told {
        tracing::error!(%refusal, "the alert was not written");
    }
}

/// A watcher that keeps why it could not watch a folder, for the person to be told once.
struct Eyes<W> {
    watcher: W,
    failed: Option<notify::Error>,
    told: bool,
}

impl<W: Watcher> Eyes<W> {
    fn watch(&mut self, folder: &Path) {
        let Err(error) = self.watcher.watch(folder, RecursiveMode::NonRecursive) else { return };
        tracing::debug!(%error, folder = %folder.display(), "a folder cannot be watched");
        // A folder that is gone is nothing to tell of.
        if folder.is_dir() && !std::mem::replace(&mut self.told, true) {
            self.failed = Some(error);
        }
    }

    fn unwatch(&mut self, folder: &Path) {
        // A folder that is gone is not watched any more anyway.
        let _ = self.watcher.unwatch(folder);
    }
}

fn follow<W: Watcher>(gate: &Gate, watcher: &mut Eyes<W>, folders: &mut Watched, fact: &Fact) {
    if let Fact::SessionStarted { workspace, .. } = fact {
        folders.add_workspace(watcher, workspace);
    }
    let Some(id) = fact.approval() else { return };
    match gate.look(|state| state.approvals.get(&id).filter(|a| a.state == ApprovalState::Pending).cloned()) {
        Some(approval) => folders.add(watcher, &approval),
        None => folders.remove(watcher, id),
    }
}

/// Which folder is watched for which approvals.
#[derive(Default)]
struct Watched {
    workspaces: BTreeSet<PathBuf>,
    folders: BTreeMap<PathBuf, BTreeSet<ApprovalId>>,
}

impl Watched {
    /// For its own policy file, for as long as the gate runs.
    fn add_workspace<W: Watcher>(&mut self, watcher: &mut Eyes<W>, workspace: &PathText) {
        let folder = PathBuf::from(OsStr::from_bytes(workspace.bytes()));
        if self.workspaces.insert(folder.clone()) {
            watcher.watch(&folder);
        }
    }

    fn add<W: Watcher>(&mut self, watcher: &mut Eyes<W>, approval: &Approval) {
        for folder in folders_of(approval) {
            let ids = self.folders.entry(folder.clone()).or_default();
            if ids.is_empty() {
                watcher.watch(&folder);
            }
            ids.insert(approval.id);
        }
    }

    fn remove<W: Watcher>(&mut self, watcher: &mut Eyes<W>, id: ApprovalId) {
        self.folders.retain(|folder, ids| {
            ids.remove(&id);
            if ids.is_empty() && !self.workspaces.contains(folder) {
                watcher.unwatch(folder);
            }
            !ids.is_empty()
        });
    }

    fn keep_only<W: Watcher>(&mut self, watcher: &mut Eyes<W>, open: &[Approval]) {
        let known: BTreeSet<ApprovalId> = self.folders.values().flatten().copied().collect();
        for id in known.iter().filter(|id| !open.iter().any(|a| a.id == **id)) {
            self.remove(watcher, *id);
        }
        for approval in open {
            self.add(watcher, approval);
        }
    }

    fn about(&self, path: &Path) -> BTreeSet<ApprovalId> {
        let of = |folder: &Path| self.folders.get(folder).cloned().unwrap_or_default();
        let mut ids = of(path);
        if let Some(folder) = path.parent() {
            ids.extend(of(folder));
        }
        ids
    }
}

/// The folders in which the approval's files lie, as written and as resolved: a replaced link changes the one, an
/// edit the other.
fn folders_of(approval: &Approval) -> BTreeSet<PathBuf> {
    let mut folders = BTreeSet::new();
    for subject in &approval.judged.facts.subjects {
        let Subject::Path(path) = subject else { continue };
        for form in [&path.normalized, &path.resolved] {
            let form = Path::new(OsStr::from_bytes(form.bytes()));
            folders.extend(form.ancestors().skip(1).find(|folder| folder.is_dir()).map(Path::to_path_buf));
        }
    }
    folders
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::sync::atomic::{AtomicUsize, Ordering};

    use notify::{Config, ErrorKind, EventHandler, WatcherKind};
    use placet_ipc::{Flags, Places};
    use serde_json::json;

    use super::*;
    use crate::{Host, Options, Seat};

    static MADE: AtomicUsize = AtomicUsize::new(0);

    /// Cannot be made the first two times, as when no more may be; then it can, and is refused every folder.
    struct Exhausted;

    impl Watcher for Exhausted {
        fn new<F: EventHandler>(_: F, _: Config) -> notify::Result<Self> {
            let full = std::io::Error::from_raw_os_error(rustix::io::Errno::MFILE.raw_os_error());
            if MADE.fetch_add(1, Ordering::SeqCst) < 2 { Err(notify::Error::io(full)) } else { Ok(Self) }
        }

        fn watch(&mut self, _: &Path, _: RecursiveMode) -> notify::Result<()> {
            Err(notify::Error::new(ErrorKind::MaxFilesWatch))
        }

        fn unwatch(&mut self, _: &Path) -> notify::Result<()> {
            Ok(())
        }

        fn kind() -> WatcherKind {
            WatcherKind::NullWatcher
        }
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_gate_that_can_watch_nothing_says_so_once_and_to_windows_that_open_later() {
        let folder = tempfile::tempdir().unwrap();
        let inside = |name: &str| Some(folder.path().join(name));
        let flags = Flags { data_dir: inside("data"), config_dir: inside("config"), socket: None };
        let places = Places::new(&flags).unwrap();
        let gate = crate::open(Options { places, host: Host::Window, version: "0".to_owned() }).await.unwrap();
        let mut facts = gate.facts();
        let watching = tokio::spawn(run_with::<Exhausted>(gate.clone(), Duration::from_millis(1)));
        let alert = loop {
            if let Fact::AlertRaised { alert, message } = &facts.recv().await.unwrap().fact {
                break (alert.clone(), message.clone());
            }
        };
        assert_eq!(alert.0, "files_unwatched");
        // A watcher is made in the end and refused each folder: that is no news.
        while MADE.load(Ordering::SeqCst) < 3 {
            tokio::task::yield_now().await;
        }
        gate.desk(Seat::Window).call("pause", json!({})).await.unwrap();
        loop {
            let kind = facts.recv().await.unwrap().fact.kind();
            assert_ne!(kind, "alert_raised");
            if kind == "paused" {
                break;
            }
        }
        let snapshot = gate.desk(Seat::Window).call("snapshot", json!({})).await.unwrap();
        assert_eq!(snapshot["alerts"][0]["alert"], "files_unwatched", "{snapshot}");
        assert_eq!(snapshot["alerts"][0]["message"], alert.1.as_str());
        watching.abort();
        gate.close().await;
    }

    #[test]
    fn a_folder_that_is_refused_is_told_of_once_and_one_that_is_gone_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let mut eyes = Eyes { watcher: Exhausted, failed: None, told: false };
        eyes.watch(&folder.path().join("gone"));
        assert!(eyes.failed.take().is_none());
        eyes.watch(folder.path());
        assert!(eyes.failed.take().is_some());
        eyes.watch(folder.path());
        assert!(eyes.failed.take().is_none());
    }
}
