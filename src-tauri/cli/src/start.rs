//! A gate for who finds none: which, whether, and how it is left behind.
//!
//! Only for the person's own places, or where `settings.toml` of the given ones says so. What is started inherits
//! neither the agent's environment nor its folder, since a project may choose those.

use std::{
    fs::File,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::Duration,
};

pub(crate) use placet_gate::{WhenNoGate, when_no_gate};
use placet_ipc::Places;
use rustix::fs::{FlockOperation, flock};

/// How long a gate that was started may take until it listens.
pub(crate) const PATIENCE: Duration = Duration::from_secs(5);

/// The window's program.
const WINDOW: &str = "placet-desktop";
/// Where it is looked for when it does not lie beside this one. Never on a PATH that an agent could have set.
const FOLDERS: [&str; 4] = ["/usr/bin", "/usr/local/bin", "/opt/placet/bin", "/opt/placet"];
/// What tells a program where its screen is; without one of these there is none.
const SCREEN: [&str; 2] = ["DISPLAY", "WAYLAND_DISPLAY"];
/// What a program in a window needs to know beside it.
const OF_THE_SEAT: [&str; 10] = [
    "DBUS_SESSION_BUS_ADDRESS",
    "LANG",
    "LC_ALL",
    "LOGNAME",
    "TZ",
    "USER",
    "XAUTHORITY",
    "XDG_CURRENT_DESKTOP",
    "XDG_RUNTIME_DIR",
    "XDG_SESSION_TYPE",
];

/// A gate that is about to listen.
#[derive(Debug)]
pub(crate) struct Starting {
    places: Places,
    /// None where another process has just started one.
    child: Option<Child>,
    /// One start at a time; the lock ends with this process.
    _lock: File,
    with_window: bool,
}

impl Starting {
    /// Starts one, unless somebody else is at it.
    ///
    /// # Errors
    /// What the system says.
    pub(crate) fn begin(places: &Places) -> std::io::Result<Self> {
        places.prepare().map_err(std::io::Error::other)?;
        let lock = File::options().create(true).append(true).open(places.run().join("start.lock"))?;
        let first = flock(&lock, FlockOperation::NonBlockingLockExclusive).is_ok();
        let with_window = SCREEN.iter().any(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty()));
        let child = if first { Some(spawn(places, with_window)?) } else { None };
        Ok(Self { places: places.clone(), child, _lock: lock, with_window })
    }

    /// Looks after it while it is waited for: where the window cannot be opened, a gate without one is started.
    pub(crate) fn look_after(&mut self) {
        let ended = self.child.as_mut().is_some_and(|child| matches!(child.try_wait(), Ok(Some(_)) | Err(_)));
        if ended && std::mem::take(&mut self.with_window) {
            self.child = spawn(&self.places, false).ok();
        }
    }
}

/// Spawns `placet serve --detached`, which becomes the window where there is a screen.
fn spawn(places: &Places, with_window: bool) -> std::io::Result<Child> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["serve", "--detached"]).args(flags(places)).current_dir("/");
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin");
    if let Ok(home) = placet_ipc::home() {
        command.env("HOME", home);
    }
    let screen = if with_window { &SCREEN[..] } else { &[] };
    for name in OF_THE_SEAT.iter().chain(screen) {
        if let Some(value) = std::env::var_os(name) {
            command.env(name, value);
        }
    }
    command.spawn()
}

/// Leaves the session of the process that started this, and becomes the window if there is a screen and a window's
/// program. Comes back where the gate is to run in this process, without one.
pub(crate) fn detach(places: &Places) {
    use std::os::unix::process::CommandExt as _;
    // Fails only for who leads a session already.
    let _ = rustix::process::setsid();
    if SCREEN.iter().all(|name| std::env::var_os(name).is_none()) {
        return;
    }
    let Some(window) = window() else { return };
    let error = Command::new(window).arg("--hidden").args(flags(places)).exec();
    crate::say::trouble(error);
}

/// Beside this program, or where packages put it.
pub(crate) fn window() -> Option<PathBuf> {
    let beside = std::env::current_exe().ok().and_then(|own| own.parent().map(Path::to_owned));
    let folders = beside.into_iter().chain(FOLDERS.iter().map(PathBuf::from));
    folders.map(|folder| folder.join(WINDOW)).find(|program| program.is_file())
}

fn flags(places: &Places) -> [std::ffi::OsString; 6] {
    let path = |path: &Path| path.as_os_str().to_owned();
    [
        "--data-dir".into(),
        path(&places.data),
        "--config-dir".into(),
        path(&places.config),
        "--socket".into(),
        path(&places.socket),
    ]
}
