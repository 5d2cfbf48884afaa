//! Opens a gate on a data directory and closes it in order. The window, `serve` and `serve --supervise` all do it here.

use std::{
    io,
    path::Path,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64},
    },
    thread::JoinHandle,
    time::Duration,
};

use placet_domain::{ApprovalId, At, Command, PathText, Refusal, State, policy::Bindings};
use placet_ipc::{GateLock, Holder, HostKind, Listener, LockError, PlaceError, Places, ServerError, TryLock};
use placet_store::{Broken, IgnoredGrant, Opened, Reader, RecentCall, Store, StoreError};
use placet_subject::{Known, NORMALIZER_VERSION, Programs, ProgramsError};

use crate::{
    Gate, Inner,
    agreed::Agreed,
    armed::Armed,
    clock::Clock,
    history_key, masking, otlp,
    policy_file::PolicyFile,
    process, socket, tightening, timer,
    upkeep::{DAY_MS, Upkeep},
    watch, writer,
    writer::{Loaded, Message},
};

/// Who hosts the gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Host {
    /// The desktop window.
    Window,
    /// `placet serve`: nobody is there to ask.
    Serve,
    /// `placet serve --supervise`: a program answers.
    Supervised,
}

impl Host {
    /// Whether anybody can answer.
    pub fn somebody_to_ask(self) -> bool {
        match self {
            Self::Window | Self::Supervised => true,
            Self::Serve => false,
        }
    }

    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Window => "window",
            Self::Serve => "serve",
            Self::Supervised => "supervised",
        }
    }

    fn lock_kind(self) -> HostKind {
        match self {
            Self::Window => HostKind::Window,
            Self::Serve => HostKind::Serve,
            Self::Supervised => HostKind::Supervised,
        }
    }
}

/// What to open.
#[derive(Clone, Debug)]
pub struct Options {
    /// Where everything lies.
    pub places: Places,
    /// Who hosts it.
    pub host: Host,
    /// The program's version.
    pub version: String,
}

/// Why a gate could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Another gate has this data directory.
    #[error("another Placet has this data directory open ({}); close it first", told(holder.as_ref()))]
    Locked {
        /// Which, where it has said so.
        holder: Option<Holder>,
    },
    /// A folder that cannot be trusted.
    #[error(transparent)]
    Place(#[from] PlaceError),
    /// The socket.
    #[error(transparent)]
    Socket(#[from] ServerError),
    /// The built-in table of programs.
    #[error(transparent)]
    Programs(#[from] ProgramsError),
    /// The lock itself.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// The history could not be opened.
    #[error("the history could not be opened: {0}")]
    Store(#[from] StoreError),
    /// Something of the operating system.
    #[error("{what}: {source}")]
    Io {
        /// What was being done.
        what: &'static str,
        /// What went wrong.
        source: io::Error,
    },
    /// The first fact could not be written.
    #[error("the history could not be written: {0}")]
    Refused(#[from] Refusal),
}

/// What was found at start.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Started {
    /// How many expired while nobody was here.
    pub(crate) expired_while_away: usize,
    /// When the gate opened.
    pub(crate) at_ms: At,
}

/// What runs and must be ended.
#[derive(Default)]
pub(crate) struct Running {
    parts: Mutex<Option<Parts>>,
}

struct Parts {
    tasks: Vec<tokio::task::JoinHandle<()>>,
    writer: JoinHandle<()>,
    lock: Arc<GateLock>,
}

/// Opens the gate: lock, history, clock, what is overdue, policy, and last the socket, so that no call comes before.
pub async fn open(options: Options) -> Result<Gate, OpenError> {
    let Options { places, host, version } = options;
    places.prepare()?;
    let lock = Arc::new(lock(&places, host).await?);
    let data = places.data.clone();
    let opened = tokio::task::spawn_blocking(move || open_store(&data)).await.map_err(|error| OpenError::Io {
        what: "the history could not be opened",
        source: io::Error::other(error),
    })??;
    let (clock, behind_ms) = Clock::start(opened.latest_ms);
    let (known, programs_alert) = known(&places)?;
    let known = Arc::new(known);
    let Found { loaded, reader, ignored_grants, ignored_approvals, broken } = found(opened, clock.now(), &known)?;
    let waiting_before = loaded.state.pending();
    let at_ms = clock.now();
    let clock = Arc::new(clock);
    let (data, again, programs) = (places.data.clone(), Arc::clone(&clock), Arc::clone(&known));
    let reopen = Box::new(move || Ok(found(open_store(&data)?, again.now(), &programs)?.loaded));
    let (writer, thread) = writer::start(loaded, reopen, clock, Upkeep::new(&places.config))
        .map_err(|source| OpenError::Io { what: "the writer could not be started", source })?;
    writer
        .decide(Command::StartApp {
            version: version.clone(),
            host: host.word().to_owned(),
            clock_behind_ms: behind_ms,
        })
        .await?;
    let expired_while_away = waiting_before - writer.look(State::pending);
    let outdated = writer.look(State::outdated_grants);
    if !outdated.is_empty() {
        writer.decide(Command::Bury { grants: outdated }).await?;
    }
    let mut alerts: Vec<(&str, String)> = Vec::new();
    for grant in ignored_grants {
        let which = grant.id.map_or_else(|| "A grant".to_owned(), |id| format!("The grant {id}"));
        alerts.push(("grant_forged", format!("{which} is ignored: {}", grant.why)));
    }
    for approval in ignored_approvals {
        alerts.push((
            "approval_forged",
            format!("The approval {approval} was changed behind Placet's back. It is ignored."),
        ));
    }
    if let Some(broken) = broken {
        let message = format!(
            "The history is broken at row {} ({}): it was changed behind Placet's back, or cut.",
            broken.seq,
            broken.kind.word()
        );
        alerts.push(("history_broken", message));
    }
    alerts.extend(programs_alert.map(|message| ("programs_refused", message)));
    for (alert, message) in alerts {
        writer.decide(Command::Alert { alert: alert.to_owned(), message }).await?;
    }
    let policy = PolicyFile::new(&places.config, &places.data, Path::new(tightening::ADMINISTRATORS), bindings()?);
    let commands = policy
        .first()
        .map_err(|source| OpenError::Io { what: "the policy file could not be read or written", source })?;
    for command in commands {
        writer.decide(command).await?;
    }
    let gate = Gate {
        inner: Arc::new(Inner {
            writer: writer.clone(),
            reader,
            known,
            runtime: tokio::runtime::Handle::current(),
            host,
            version,
            agreed: Agreed::default(),
            armed: Armed::default(),
            policy,
            places,
            started: Started { expired_while_away, at_ms },
            closing: AtomicBool::new(false),
            connections: AtomicU64::new(0),
            running: Running::default(),
        }),
    };
    gate.look_after_those_who_waited().await;
    let listener = Listener::bind(&gate.inner.places, &lock)?;
    let tasks = vec![
        tokio::spawn(timer::run(writer)),
        tokio::spawn(watch::run(gate.clone())),
        tokio::spawn(socket::serve(gate.clone(), listener)),
        tokio::spawn(otlp::run(gate.clone())),
    ];
    *gate.inner.running.parts.lock().unwrap_or_else(PoisonError::into_inner) =
        Some(Parts { tasks, writer: thread, lock });
    Ok(gate)
}

impl Gate {
    /// Closes in order: no new calls, what waits stays pending, the last fact is on disk when this returns.
    pub async fn close(&self) {
        self.inner.closing.store(true, std::sync::atomic::Ordering::Release);
        let parts = self.inner.running.parts.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(parts) = parts else { return };
        for task in parts.tasks {
            task.abort();
            // The socket is removed by its listener, which goes with its task.
            let _ = task.await;
        }
        if let Err(refusal) = self.writer().decide(Command::StopApp).await {
            tracing::warn!(%refusal, "the end was not written");
        }
        let _ = self.writer().send.send(Message::Stop);
        let joined = tokio::task::spawn_blocking(move || {
            // The store is closed before the lock is given up: the next gate finds it whole.
            if parts.writer.join().is_err() {
                tracing::error!("the writer ended badly");
            }
            drop(parts.lock);
        });
        let _ = joined.await;
    }

    /// After a restart: who waited and is gone is withdrawn, who lives may come back.
    async fn look_after_those_who_waited(&self) {
        let waiting = self.look(|state| {
            state.approvals.values().filter_map(|a| a.waiter.map(|waiter| (a.id, waiter))).collect::<Vec<_>>()
        });
        for (approval, waiter) in waiting {
            let gate = self.clone();
            if process::is_there(waiter) {
                tokio::spawn(async move { gate.cancel_when_gone(approval, waiter).await });
            } else {
                gate.cancel_when_gone(approval, waiter).await;
            }
        }
    }

    /// Reads the policy file again and says what came of it.
    pub(crate) async fn reload_policy(&self) {
        let gate = self.clone();
        let commands = tokio::task::spawn_blocking(move || gate.inner.policy.again()).await.unwrap_or_default();
        for command in commands {
            let Err(refusal) = self.writer().decide(command).await else { continue };
            tracing::error!(%refusal, "the policy was read but not recorded");
        }
    }
}

fn open_store(data: &Path) -> Result<Opened, StoreError> {
    let key = history_key::load_or_make(data, random)?;
    Store::open(&data.join("history.db"), key)
}

/// What an opened store is, and what is odd about it.
struct Found {
    loaded: Loaded,
    reader: Reader,
    ignored_grants: Vec<IgnoredGrant>,
    ignored_approvals: Vec<ApprovalId>,
    broken: Option<Broken>,
}

/// Builds the state from the projections; the calls of the last day count towards the policy's limits again.
fn found(opened: Opened, now: At, known: &Known) -> Result<Found, StoreError> {
    let Opened {
        store,
        reader,
        sessions,
        approvals,
        grants,
        settled,
        denials,
        definitions,
        paused,
        latest_ms: _,
        head,
        ignored_grants,
        ignored_approvals,
        broken,
    } = opened;
    let mut state = State::of(sessions, approvals, grants, paused);
    NORMALIZER_VERSION.clone_into(&mut state.normalizer);
    masking::unmask(&mut state, known);
    state.remember(settled);
    for (session, action, at) in denials {
        state.denials.entry((session, action)).or_default().push(at);
    }
    for RecentCall { session, call, at_ms, what } in reader.recent_calls(now.plus_ms(-DAY_MS))? {
        state.recall(session, &call, at_ms, what);
    }
    // These know of every yes, also of those that a day does not hold.
    state.remember_definitions(definitions);
    let loaded = Loaded { store, state, next_seq: head.seq + 1 };
    Ok(Found { loaded, reader, ignored_grants, ignored_approvals, broken })
}

/// How long a window waits for a `serve` to make room.
const ROOM: Duration = Duration::from_secs(5);

/// Takes the lock. A window takes over from a plain `serve`, which is asked to end.
async fn lock(places: &Places, host: Host) -> Result<GateLock, OpenError> {
    let places = places.clone();
    let taken = tokio::task::spawn_blocking(move || -> Result<GateLock, OpenError> {
        let holder = match GateLock::try_lock(&places, host.lock_kind())? {
            TryLock::Held(lock) => return Ok(lock),
            TryLock::Taken(holder) => holder,
        };
        let makes_room = host == Host::Window && holder.as_ref().is_some_and(|h| h.kind == HostKind::Serve);
        if let Some(holder) = holder.as_ref().filter(|_| makes_room) {
            holder.terminate()?;
            if let TryLock::Held(lock) = GateLock::lock_within(&places, host.lock_kind(), ROOM)? {
                return Ok(lock);
            }
        }
        Err(OpenError::Locked { holder })
    });
    taken
        .await
        .map_err(|error| OpenError::Io { what: "the lock could not be taken", source: io::Error::other(error) })?
}

/// What a policy may name of this machine: the home folder and the time zone.
pub fn bindings() -> Result<Bindings, OpenError> {
    let zone = std::fs::read_link("/etc/localtime")
        .ok()
        .and_then(|link| link.to_str().and_then(|link| link.split_once("zoneinfo/")).map(|(_, zone)| zone.to_owned()));
    Ok(Bindings { home: Some(crate::path_text(&placet_ipc::home()?)), zone })
}

fn told(holder: Option<&Holder>) -> String {
    holder.map_or_else(|| "which one is not known".to_owned(), |h| format!("process {}", h.pid))
}

/// What judging needs to know of this machine. Own tables of programs lie in `CONFIG/commands`; where one is broken
/// they are left out, which asks more often, and the alert says so.
pub fn known(places: &Places) -> Result<(Known, Option<String>), OpenError> {
    let folder = places.config.join("commands");
    let own_tables = if folder.is_dir() { Programs::builtin()?.with_folder(&folder) } else { Programs::builtin() };
    let (programs, alert) = match own_tables {
        Ok(programs) => (programs, None),
        Err(error) => (Programs::builtin()?, Some(format!("Your own tables of programs are not used: {error}"))),
    };
    let mut own: Vec<PathText> =
        [&places.data, &places.config, &places.socket].into_iter().map(|path| crate::path_text(path)).collect();
    if let Ok(binary) = std::env::current_exe() {
        own.push(crate::path_text(&binary));
    }
    let path_folders = ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"];
    let known = Known {
        home: crate::path_text(&placet_ipc::home()?),
        own,
        programs,
        path_folders: path_folders.into_iter().map(PathText::from).collect(),
    };
    Ok((known, alert))
}

/// 32 bytes from the kernel.
pub(crate) fn random() -> [u8; 32] {
    let mut bytes = [0; 32];
    let mut filled = 0;
    while filled < bytes.len() {
        match rustix::rand::getrandom(&mut bytes[filled..], rustix::rand::GetRandomFlags::empty()) {
            Ok(read) => filled += read,
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => panic!("the kernel gives no random bytes: {error}"),
        }
    }
    bytes
}

/// Asks the window that has this data directory open to show itself. False where there is none.
pub fn show_running_window(places: &Places) -> bool {
    Holder::of(places).is_some_and(|holder| holder.kind == HostKind::Window && holder.show().is_ok())
}
