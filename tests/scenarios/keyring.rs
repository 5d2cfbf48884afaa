//! Keys in a real keyring, on a session bus of their own: those of providers, and the history's.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use placet_tests::desk::Desk;
use placet_tests::ground::Ground;
use placet_tests::program::placet;

use crate::ASK_EVERYTHING;

const KEY: &str = "sk-test-only-in-the-keyring";

/// Runs lines of a shell in a session whose keyring is unlocked and empty but for what `home` has from before. `placet`
/// stands for the program on this ground.
fn in_session(ground: &Ground, lines: &str) -> Output {
    let script = ground.path().join("session.sh");
    let text = format!(
        "set -e\nprintf pw | gnome-keyring-daemon --unlock --components=secrets >/dev/null\n\
         placet() {{ {:?} --data-dir {:?} --config-dir {:?} \"$@\"; }}\n{lines}\n",
        placet(),
        ground.data(),
        ground.config(),
    );
    std::fs::write(&script, text).unwrap();
    let runtime = ground.path().join("runtime");
    std::fs::create_dir_all(&runtime).unwrap();
    Command::new("dbus-run-session")
        .args(["--", "sh"])
        .arg(&script)
        .env_remove("DBUS_SESSION_BUS_ADDRESS")
        .env_remove("DISPLAY")
        .env("HOME", ground.home())
        .env("XDG_RUNTIME_DIR", runtime)
        .current_dir(ground.workspace())
        .output()
        .unwrap()
}

fn said(output: &Output) -> String {
    let both = [output.stdout.as_slice(), &output.stderr].concat();
    String::from_utf8_lossy(&both).into_owned()
}

/// The same without any session.
fn without_session(ground: &Ground, arguments: &[&str]) -> Output {
    Command::new(placet())
        .args(ground.flags())
        .args(arguments)
        .env_remove("DBUS_SESSION_BUS_ADDRESS")
        .env_remove("XDG_RUNTIME_DIR")
        .env("HOME", ground.home())
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

/// No file of the ground but the keyring's own has these bytes.
fn is_nowhere(folder: &Path, bytes: &[u8]) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            is_nowhere(&path, bytes);
        } else if path.is_file() {
            let text = std::fs::read(&path).unwrap();
            assert!(!text.windows(bytes.len()).any(|piece| piece == bytes), "{}", path.display());
        }
    }
}

#[test]
fn a_providers_key_is_kept_in_the_keyring_sent_to_the_provider_and_shown_nowhere() {
    let ground = Ground::new(Some(ASK_EVERYTHING));
    std::fs::create_dir_all(ground.home()).unwrap();
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let config = format!(
        "[provider]\nkind = \"openai\"\nmodel = \"m\"\nbase_url = \"http://{}\"\nkey_in_keyring = \"mine\"\n",
        server.local_addr().unwrap()
    );
    std::fs::write(ground.config().join("agent.toml"), config).unwrap();
    let heard = std::thread::spawn(move || {
        let (mut stream, _) = server.accept().unwrap();
        let lines = BufReader::new(stream.try_clone().unwrap()).lines();
        let top: Vec<String> = lines.map_while(Result::ok).take_while(|line| !line.is_empty()).collect();
        let _ = stream.write_all(b"HTTP/1.1 401 Unauthorized\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
        top
    });
    let key = ground.path().join("given");
    std::fs::write(&key, format!("{KEY}\n")).unwrap();
    let output = in_session(
        &ground,
        &format!(
            "placet keys check mine && exit 9\nplacet keys set mine < {key:?}\nplacet keys check mine\n\
             placet run 'do it' || echo \"ended with $?\"\nplacet keys remove mine\nplacet keys check mine || echo gone"
        ),
    );
    let said = said(&output);
    assert!(output.status.success(), "{said}");
    for words in
        ["put it there with: placet keys set mine", "mine is in the keyring.", "Check the key.", "ended with 1", "gone"]
    {
        assert!(said.contains(words), "{words:?} is not in {said}");
    }
    assert!(!said.contains(KEY), "{said}");
    let top = heard.join().unwrap();
    assert!(top.iter().any(|line| line.eq_ignore_ascii_case(&format!("authorization: Bearer {KEY}"))), "{top:?}");
    std::fs::remove_file(&key).unwrap();
    is_nowhere(ground.path(), KEY.as_bytes());
}

#[test]
fn the_historys_key_is_moved_into_the_keyring_and_back_and_without_it_no_gate_opens() {
    let ground = Ground::new(Some(ASK_EVERYTHING));
    std::fs::create_dir_all(ground.home()).unwrap();
    drop(Desk::open(&ground));
    let file = ground.data().join("history.key");
    let key = std::fs::read(&file).unwrap();
    assert_eq!(key.len(), 32);

    let moved = in_session(
        &ground,
        "placet history key\nplacet history key --to keyring\nplacet history key --to keyring --json\n\
         placet history verify",
    );
    let words = said(&moved);
    assert!(moved.status.success(), "{words}");
    assert!(words.contains("The history's key is in history.key beside it"), "{words}");
    assert!(words.contains("{\"key\":\"keyring\",\"moved\":false}"), "{words}");
    assert!(words.contains("The history is intact") && words.contains("Its key is in the keyring"), "{words}");
    is_nowhere(&ground.data(), &key);

    let locked_out = without_session(&ground, &["history", "verify"]);
    assert_eq!(locked_out.status.code(), Some(2), "{}", said(&locked_out));
    assert!(said(&locked_out).contains("there is no keyring in this session"), "{}", said(&locked_out));
    let gate = without_session(&ground, &["serve"]);
    assert!(!gate.status.success() && said(&gate).contains("there is no keyring"), "{}", said(&gate));

    let back = in_session(&ground, "placet history key --to file --json\nplacet history verify");
    assert!(back.status.success(), "{}", said(&back));
    assert!(said(&back).contains("{\"key\":\"file\",\"moved\":true}"), "{}", said(&back));
    assert_eq!(std::fs::read(&file).unwrap(), key);
    assert!(without_session(&ground, &["history", "verify"]).status.success());

    let desk = Desk::open(&ground);
    let refused = without_session(&ground, &["history", "key", "--to", "keyring"]);
    assert!(said(&refused).contains("a gate runs on this history"), "{}", said(&refused));
    drop(desk);
}
