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
use placet_domain::{Approval, ApprovalId, ApprovalState, Fact, PathText, State, Subject};
use tokio::{
    sync::{broadcast, mpsc},
    time::Instant,
};

use crate::{Gate, tightening};

/// The policy file is read this long after its last change.
const POLICY_SETTLES: Duration = Duration::from_millis(200);
/// Cards are refreshed this long after the last change of what they are about.
const CARDS_SETTLE: Duration = Duration::from_millis(100);

/// Runs until the gate closes.
pub(crate) async fn run(gate: Gate) {
    let (send, mut changes) = mpsc::unbounded_channel::<PathBuf>();
    let watcher = notify::recommended_watcher(move |event: notify::Result<Event>| {
        if let Ok(event) = event
            && !event.kind.is_access()
        {
            for path in event.paths {
                let _ = send.send(path);
            }
        }
    });
    let mut watcher = match watcher {
        Ok(watcher) => watcher,
        Err(error) => {
            tracing::error!(%error, "files cannot be watched: changes are seen when a card is looked at and answered");
            return;
        }
    };
    let policy_folder = gate.inner.policy.path().parent().map(Path::to_path_buf).unwrap_or_default();
    if let Err(error) = watcher.watch(&policy_folder, RecursiveMode::NonRecursive) {
        tracing::error!(%error, "the policy's folder cannot be watched");
    }
    // Where there is no such folder there is nothing to watch; a restart sees one that is made later.
    if let Some(folder) = Path::new(tightening::ADMINISTRATORS).parent()
        && folder.is_dir()
        && let Err(error) = watcher.watch(folder, RecursiveMode::NonRecursive)
    {
        tracing::warn!(%error, "the administrator's policy is not watched");
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
    }
}

fn follow(gate: &Gate, watcher: &mut RecommendedWatcher, folders: &mut Watched, fact: &Fact) {
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
    fn add_workspace(&mut self, watcher: &mut RecommendedWatcher, workspace: &PathText) {
        let folder = PathBuf::from(OsStr::from_bytes(workspace.bytes()));
        if self.workspaces.insert(folder.clone())
            && let Err(error) = watcher.watch(&folder, RecursiveMode::NonRecursive)
        {
            tracing::debug!(%error, "a workspace cannot be watched");
        }
    }

    fn add(&mut self, watcher: &mut RecommendedWatcher, approval: &Approval) {
        for folder in folders_of(approval) {
            let ids = self.folders.entry(folder.clone()).or_default();
            if ids.is_empty()
                && let Err(error) = watcher.watch(&folder, RecursiveMode::NonRecursive)
            {
                tracing::debug!(%error, "a folder cannot be watched");
            }
            ids.insert(approval.id);
        }
    }

    fn remove(&mut self, watcher: &mut RecommendedWatcher, id: ApprovalId) {
        self.folders.retain(|folder, ids| {
            ids.remove(&id);
            if ids.is_empty() && !self.workspaces.contains(folder) {
                // A folder that is gone is not watched any more anyway.
                let _ = watcher.unwatch(folder);
            }
            !ids.is_empty()
        });
    }

    fn keep_only(&mut self, watcher: &mut RecommendedWatcher, open: &[Approval]) {
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
