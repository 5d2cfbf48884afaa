//! Where it happens: the one door that every call passes. It decides, appends, applies, and only then tells.
//!
//! The agents' face (`Gate`) can ask, withdraw and report; the person's face (`Desk`) answers. Both are faces of one
//! writer over one store. What is right is decided in `domain`; this room adds the clock, the disk, and who waits.

mod agreed;
mod armed;
mod autostart;
mod cleared;
mod clock;
mod corridor;
mod desk;
mod history_key;
mod host;
mod ids;
mod log;
mod masking;
mod offline;
mod otlp;
mod policy_file;
mod process;
mod readable;
mod remote;
mod restore;
mod settings;
mod socket;
mod tightening;
mod timer;
mod upkeep;
mod watch;
mod workspace;
mod writer;

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicU64, Ordering},
};

use placet_domain::{Digest, Entry, State};
use placet_store::Reader;
use placet_subject::Known;
use sha2::Digest as _;
use tokio::sync::broadcast;

pub use autostart::Autostart;
pub use cleared::{Cleared, Verdict};
pub use corridor::{Ask, Ran, Told};
pub use desk::{Desk, Export, Key, METHODS, Walk, shapes};
pub use history_key::{KeyPlace, MoveError, move_key};
pub use host::{Host, OpenError, Options, bindings, known, open, show_running_window};
pub use log::start_log;
pub use offline::{ExportFormat, History};
pub use placet_ipc::ErrorBody;
pub use placet_ipc::{Flags, PlaceError, Places};
pub use placet_subject::definition_digest;
pub use remote::{ReachError, Remote};
pub use restore::RestoreError;
pub use settings::{Notifications, Quiet, Settings, TimeOfDay, WhenNoGate, is_the_persons_own, when_no_gate};
pub use tracing_appender::non_blocking::WorkerGuard as LogGuard;

use crate::{agreed::Agreed, armed::Armed, policy_file::PolicyFile, writer::Writer};

/// The gate of one data directory. Cheap to clone.
#[derive(Clone)]
pub struct Gate {
    inner: Arc<Inner>,
}

struct Inner {
    writer: Writer,
    reader: Reader,
    known: Arc<Known>,
    runtime: tokio::runtime::Handle,
    host: Host,
    version: String,
    agreed: Agreed,
    armed: Armed,
    policy: PolicyFile,
    places: Places,
    started: host::Started,
    closing: AtomicBool,
    connections: AtomicU64,
    running: host::Running,
}

impl std::fmt::Debug for Gate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Gate").field("host", &self.inner.host).finish_non_exhaustive()
    }
}

impl Gate {
    /// Facts as they happen, each after it is on disk. A receiver that lags has missed some and must read again.
    pub fn facts(&self) -> broadcast::Receiver<Arc<Entry>> {
        self.inner.writer.facts.subscribe()
    }

    /// The person's face, for answers by the given authority.
    pub fn desk(&self, by: desk::Seat) -> Desk {
        Desk::new(self.clone(), by)
    }

    /// Looks at the state as it is on disk.
    pub fn look<T>(&self, look: impl FnOnce(&State) -> T) -> T {
        self.inner.writer.look(look)
    }

    /// Now, by the gate's clock; it never runs backwards.
    pub fn now(&self) -> placet_domain::At {
        self.inner.writer.clock.now()
    }

    /// Whether it is on its way out: new calls are refused, what waits stays pending.
    pub fn is_closing(&self) -> bool {
        self.inner.closing.load(Ordering::Acquire)
    }

    /// The settings as the file says them now. Where it cannot be read, what stands without it.
    pub fn settings(&self) -> Settings {
        Settings::read(&self.inner.places.config).unwrap_or_else(|problem| {
            tracing::warn!(problem, "the settings are not followed");
            Settings::default()
        })
    }

    /// Whether the policy file is not the one in force.
    pub fn policy_is_broken(&self) -> bool {
        self.inner.policy.seen().problem.is_some()
    }

    fn writer(&self) -> &Writer {
        &self.inner.writer
    }

    fn reader(&self) -> Reader {
        self.inner.reader.clone()
    }

    fn known(&self) -> Arc<Known> {
        Arc::clone(&self.inner.known)
    }

    fn runtime(&self) -> &tokio::runtime::Handle {
        &self.inner.runtime
    }

    fn somebody_to_ask(&self) -> bool {
        self.inner.host.somebody_to_ask()
    }
}

pub use desk::Seat;

fn path_text(path: &std::path::Path) -> placet_domain::PathText {
    placet_domain::PathText::from_bytes(std::os::unix::ffi::OsStrExt::as_bytes(path.as_os_str()))
}

fn sha256(bytes: &[u8]) -> Digest {
    Digest::new(sha2::Sha256::digest(bytes).into())
}
