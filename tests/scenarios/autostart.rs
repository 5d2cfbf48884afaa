//! Starting at login, set by the command line of a person whose home this is.

use std::os::unix::fs::MetadataExt as _;
use std::process::{Command, Output};

use placet_tests::ground::Ground;
use placet_tests::program::placet;

/// Runs it without flags, as that person: the system is shown another list of users.
fn at_home(ground: &Ground, arguments: &[&str]) -> Output {
    let is_root = std::fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0);
    let mut command = Command::new("unshare");
    if !is_root {
        command.args(["--user", "--keep-caps", "--map-current-user"]);
    }
    command.args(["--mount", "sh", "-c", "mount --bind \"$0\" /etc/passwd && exec \"$@\""]);
    command.arg(ground.users()).arg(placet()).args(arguments).output().unwrap()
}

#[test]
fn the_window_starts_at_login_from_when_it_was_switched_on_until_it_is_switched_off() {
    let ground = Ground::at_home(None);
    let entry = ground.home().join(".config/autostart/placet.desktop");
    let status = || {
        let output = at_home(&ground, &["autostart", "--json"]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice::<serde_json::Value>(&output.stdout).unwrap()["start_at_login"].clone()
    };
    assert_eq!(status(), false);
    assert!(at_home(&ground, &["autostart", "on"]).status.success());
    assert_eq!(status(), true);
    let text = std::fs::read_to_string(&entry).unwrap();
    let window = placet().with_file_name("placet-desktop");
    assert!(text.contains(&format!("Exec=\"{}\" --hidden\n", window.display())), "{text}");
    assert!(at_home(&ground, &["autostart", "off"]).status.success());
    assert_eq!(status(), false);
    assert!(!entry.exists());
    // One with places of its own has no start at login.
    let flags = ground.flags();
    let flags: Vec<&str> = flags.iter().map(String::as_str).chain(["autostart", "on"]).collect();
    assert_eq!(at_home(&Ground::new(None), &flags).status.code(), Some(2));
}
