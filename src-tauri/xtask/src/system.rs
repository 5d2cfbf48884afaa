//! What the operating system must bring: libraries for the build, and programs for the tests.

use std::fs;

use crate::program::{self, Program};

/// What building and opening the window needs, as Debian and Ubuntu call it.
const TO_BUILD: &[&str] = &[
    "build-essential",
    "libayatana-appindicator3-dev",
    "libdbus-1-dev",
    "librsvg2-dev",
    "libwebkit2gtk-4.1-dev",
    "pkg-config",
];

/// What the tests need beyond that: a screen in memory, a driver for the web view, a browser, fonts, other people's
/// scripting languages, and the shells that commands are compared with.
const TO_TEST: &[&str] = &[
    "chromium",
    "dbus-x11",
    "fonts-dejavu-core",
    "git",
    "gnome-keyring",
    "jq",
    "python3",
    "webkit2gtk-driver",
    "xdotool",
    "xvfb",
    "zsh",
];

/// On Ubuntu `chromium` is no package but a pointer to a snap, which does not run in containers.
const NOT_ON_UBUNTU: &[&str] = &["chromium"];

/// The oldest Node that the front end's tools take.
const NODE_AT_LEAST: (u32, u32) = (20, 19);

/// Sees to it that the window can be built and opened.
pub(crate) fn set_up_to_run() -> Result<(), String> {
    require_node()?;
    install(TO_BUILD)
}

/// Sees to it that every test can run.
pub(crate) fn set_up_to_test() -> Result<(), String> {
    require_node()?;
    install(&[TO_BUILD, TO_TEST].concat())
}

fn require_node() -> Result<(), String> {
    let (major, minor) = NODE_AT_LEAST;
    let needed = format!("Node {major}.{minor} or later with npm is needed (https://nodejs.org)");
    let version = Program::new(&["node", "--version"]).output().ok_or_else(|| format!("{needed}; there is none"))?;
    let mut parts = version.trim().trim_start_matches('v').split('.').map_while(|part| part.parse::<u32>().ok());
    let found = (parts.next().unwrap_or(0), parts.next().unwrap_or(0));
    if found < NODE_AT_LEAST {
        return Err(format!("{needed}; this is {}", version.trim()));
    }
    program::find("npm").map(|_| ()).ok_or_else(|| format!("{needed}; npm is missing"))
}

fn install(wanted: &[&str]) -> Result<(), String> {
    let Some(family) = Family::of_this_system() else {
        return leave_it_to_the_person(wanted);
    };
    let wanted = wanted.iter().filter(|package| family == Family::Debian || !NOT_ON_UBUNTU.contains(package));
    let missing: Vec<&str> = wanted.copied().filter(|package| !is_installed(package)).collect();
    if missing.is_empty() {
        return Ok(());
    }
    println!("These system packages are missing and will be installed by apt-get:\n  {}", missing.join(" "));
    let root = Program::new(&["id", "-u"]).output().is_some_and(|id| id.trim() == "0");
    if !root && program::find("sudo").is_none() {
        return Err(format!(
            "this needs root, and there is no sudo. As root:\n  apt-get update && apt-get install {}",
            missing.join(" ")
        ));
    }
    apt_get(root, &["update", "--quiet"])?;
    let mut words = vec!["install", "--yes", "--quiet", "--no-install-recommends"];
    words.extend(missing);
    apt_get(root, &words)
}

/// On a system that we do not know we install nothing; what is plainly there is taken for enough.
fn leave_it_to_the_person(wanted: &[&str]) -> Result<(), String> {
    let has_web_view = Program::new(&["pkg-config", "--exists", "webkit2gtk-4.1"]).output().is_some();
    if has_web_view || cfg!(not(target_os = "linux")) {
        return Ok(());
    }
    Err(format!(
        "this is neither Debian nor Ubuntu, so nothing was installed. Needed are, as Debian names them:\n  {}",
        wanted.join(" ")
    ))
}

fn apt_get(root: bool, words: &[&str]) -> Result<(), String> {
    let front: &[&str] =
        if root { &["env", "DEBIAN_FRONTEND=noninteractive"] } else { &["sudo", "DEBIAN_FRONTEND=noninteractive"] };
    Program::new(&[front, &["apt-get"], words].concat()).with_terminal().run()
}

fn is_installed(package: &str) -> bool {
    Program::new(&["dpkg-query", "--show", "--showformat=${db:Status-Status}", package])
        .output()
        .is_some_and(|status| status == "installed")
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Family {
    Debian,
    Ubuntu,
}

impl Family {
    fn of_this_system() -> Option<Self> {
        program::find("apt-get")?;
        Self::of_release(&fs::read_to_string("/etc/os-release").ok()?)
    }

    fn of_release(text: &str) -> Option<Self> {
        let value = |key: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix('='));
            line.unwrap_or_default().trim_matches('"').to_owned()
        };
        let ids = format!("{} {}", value("ID"), value("ID_LIKE"));
        let mut ids = ids.split_whitespace();
        ids.find_map(|id| match id {
            "ubuntu" => Some(Self::Ubuntu),
            "debian" => Some(Self::Debian),
            _ => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Family;

    #[test]
    fn systems_are_told_apart_by_their_release_file() {
        assert!(Family::of_release("ID=debian\n") == Some(Family::Debian));
        assert!(Family::of_release("ID=ubuntu\nID_LIKE=debian\n") == Some(Family::Ubuntu));
        assert!(Family::of_release("ID=linuxmint\nID_LIKE=\"ubuntu debian\"\n") == Some(Family::Ubuntu));
        assert!(Family::of_release("ID=fedora\n").is_none());
    }
}
