//! Start at login: an entry in the folder that desktops start programs from (XDG autostart).
//!
//! Written here rather than by a library, since those find the home by the environment, which an agent's project may
//! set, and put a program's path into the entry as it is, spaces and `%` included.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use placet_ipc::Places;

use crate::settings::{is_the_persons_own, replace};

/// The entry of the person's own Placet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Autostart {
    file: PathBuf,
}

impl Autostart {
    /// None where these are not the places that a start without flags would have.
    pub fn of(places: &Places) -> Option<Self> {
        if !is_the_persons_own(places) {
            return None;
        }
        Some(Self { file: placet_ipc::home().ok()?.join(".config/autostart/placet.desktop") })
    }

    /// Where the entry lies, or would.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Whether the desktop starts it: an entry can be there and be switched off.
    pub fn is_on(&self) -> bool {
        let Ok(text) = fs::read_to_string(&self.file) else { return false };
        let says = |line: &str| text.lines().any(|own| own.replace(' ', "").eq_ignore_ascii_case(line));
        !says("Hidden=true") && !says("X-GNOME-Autostart-enabled=false")
    }

    /// Puts the entry there, for this program, or takes it away. Whatever the file held goes.
    ///
    /// # Errors
    /// What the disk says; `InvalidInput` for a path that no entry can hold.
    pub fn set(&self, on: bool, program: &Path) -> io::Result<()> {
        if !on {
            return match fs::remove_file(&self.file) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
                removed => removed,
            };
        }
        let entry = entry(program).ok_or_else(|| {
            io::Error::new(io::ErrorKind::InvalidInput, "the program's path cannot stand in an entry")
        })?;
        if let Some(folder) = self.file.parent() {
            fs::create_dir_all(folder)?;
        }
        replace(&self.file, entry.as_bytes())
    }
}

/// By the Desktop Entry Specification 1.5.
fn entry(program: &Path) -> Option<String> {
    let program = program.to_str().filter(|path| path.starts_with('/') && !path.chars().any(char::is_control))?;
    let mut quoted = String::new();
    for letter in program.chars() {
        match letter {
            // Escaped once for the quotes and once for the value, which knows a backslash itself.
            '"' | '`' | '$' => quoted.push_str("\\\\"),
            '\\' => quoted.push_str("\\\\\\"),
            '%' => quoted.push('%'),
            _ => {}
        }
        quoted.push(letter);
    }
    Some(format!(
        "[Desktop Entry]\nType=Application\nName=Placet\nComment=Approvals for AI agents' tool calls\n\
         Exec=\"{quoted}\" --hidden\nIcon=placet\nTerminal=false\nX-GNOME-Autostart-enabled=true\n"
    ))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn the_entry_is_put_there_seen_and_taken_away_and_one_that_is_switched_off_is_off() {
        let folder = tempfile::tempdir().unwrap();
        let autostart = Autostart { file: folder.path().join("autostart/placet.desktop") };
        let program = Path::new("/usr/bin/placet-desktop");
        assert!(!autostart.is_on());
        autostart.set(false, program).unwrap();
        autostart.set(true, program).unwrap();
        autostart.set(true, program).unwrap();
        assert!(autostart.is_on());
        let text = fs::read_to_string(autostart.file()).unwrap();
        assert!(text.contains("\nExec=\"/usr/bin/placet-desktop\" --hidden\n"), "{text}");
        for off in ["Hidden=true", "hidden = True", "X-GNOME-Autostart-enabled=false"] {
            fs::write(autostart.file(), format!("{text}{off}\n")).unwrap();
            assert!(!autostart.is_on(), "{off}");
        }
        autostart.set(true, program).unwrap();
        assert!(autostart.is_on());
        autostart.set(false, program).unwrap();
        assert!(!autostart.is_on() && !autostart.file().exists());
    }

    #[test]
    fn any_path_stands_in_the_entry_as_one_word_or_not_at_all() {
        for (path, quoted) in [
            ("/opt/a b/p", "\"/opt/a b/p\""),
            ("/opt/100%/p", "\"/opt/100%%/p\""),
            ("/o\"p", "\"/o\\\\\"p\""),
            ("/o$p`", "\"/o\\\\$p\\\\`\""),
            ("/o\\p", "\"/o\\\\\\\\p\""),
        ] {
            let entry = entry(Path::new(path)).unwrap();
            assert!(entry.contains(&format!("\nExec={quoted} --hidden\n")), "{entry}");
        }
        for path in ["p", "/o\np", "/o\tp", ""] {
            assert_eq!(entry(Path::new(path)), None, "{path:?}");
        }
    }

    #[test]
    fn other_places_have_no_start_at_login() {
        let folder = tempfile::tempdir().unwrap();
        let flags = placet_ipc::Flags { data_dir: Some(folder.path().into()), ..placet_ipc::Flags::default() };
        assert_eq!(Autostart::of(&Places::new(&flags).unwrap()), None);
        assert!(Autostart::of(&Places::new(&placet_ipc::Flags::default()).unwrap()).is_some());
    }
}
