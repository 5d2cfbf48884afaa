//! The clients that can be connected, by the `placet` that lies beside this program.
//!
//! Which command line a client gets, and how its settings are changed, is said in one place, the command line's. Here
//! it is run without a shell, with the name of a client out of a fixed list, and its JSON is read.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use placet_domain::RefusalCode;
use placet_gate::{ErrorBody, Flags};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::{process::Command, sync::Mutex};

/// How long `placet` may take; a proof puts a call to each client's hook.
const LIMIT: Duration = Duration::from_secs(120);

/// A client whose settings hold hooks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Client {
    ClaudeCode,
    Codex,
    GeminiCli,
    QwenCode,
    Copilot,
    Opencode,
    Cursor,
}

impl Client {
    const ALL: [Self; 7] =
        [Self::ClaudeCode, Self::Codex, Self::GeminiCli, Self::QwenCode, Self::Copilot, Self::Opencode, Self::Cursor];

    fn name(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::GeminiCli => "gemini-cli",
            Self::QwenCode => "qwen-code",
            Self::Copilot => "copilot",
            Self::Opencode => "opencode",
            Self::Cursor => "cursor",
        }
    }
}

/// What is to be done with a client's settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Change {
    Connect,
    Disconnect,
}

impl Change {
    fn word(self) -> &'static str {
        match self {
            Self::Connect => "install",
            Self::Disconnect => "uninstall",
        }
    }
}

/// A client as its settings are.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Listed {
    client: Client,
    /// The settings file; none where it is not known.
    file: Option<String>,
    state: State,
    /// Why it cannot be connected as it is.
    why: Option<String>,
    /// Lines in its settings that run our hook among other things.
    altered: Vec<String>,
    /// What Placet did there and when it was proved; none where it never did anything.
    known: Option<Known>,
}

/// What is known of settings from earlier.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Known {
    installed_at_ms: Option<i64>,
    /// Our entry was there, and is not.
    vanished: bool,
    proof: Option<Proof>,
}

/// When a probe was last denied.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Proof {
    at_ms: i64,
    /// Of Placet.
    version: String,
    /// Of the client, as it calls itself.
    client_version: Option<String>,
    /// The entries are still those that were proved.
    holds: bool,
}

#[derive(Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum State {
    NotConnected,
    Connected,
    OutOfDate,
    Unclear,
}

/// A change as `placet` tells it: shown before, or made.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Told {
    client: Client,
    file: String,
    changed: bool,
    written: bool,
    /// Unified, with two lines around.
    diff: String,
    /// The copy of what was there.
    backup: Option<String>,
    /// What the person has to do besides.
    note: Option<String>,
    /// Of the settings from which the change is made: what it may be made to.
    #[serde(default, skip_serializing)]
    digest: Option<String>,
    #[serde(default, skip_serializing)]
    altered: Vec<String>,
    #[serde(default, skip_serializing)]
    known: Option<Known>,
}

/// The program and what every call of it is given, or why there is none.
pub(crate) struct Clients {
    placet: Result<Placet, String>,
    /// Settings are changed one after the other.
    changing: Mutex<()>,
}

struct Placet {
    program: PathBuf,
    before: Vec<OsString>,
    after: Vec<OsString>,
}

impl Clients {
    /// With the `placet` in the folder of this program. A demo connects nothing: what it is told is thrown away.
    pub(crate) fn of(demo: bool, flags: &Flags) -> Self {
        if demo {
            return Self::new(Err("The demo connects no agent: start Placet without --demo.".to_owned()));
        }
        let placet = match std::env::current_exe() {
            Ok(own) => own.parent().map_or_else(|| Err(missing(&own)), beside),
            Err(error) => Err(format!("It is not known where this program lies: {error}.")),
        };
        Self::new(placet.map(|program| Placet { program, before: Vec::new(), after: words(flags) }))
    }

    fn new(placet: Result<Placet, String>) -> Self {
        Self { placet, changing: Mutex::default() }
    }

    /// Every client, as its settings are. Nothing is written and no hook is run.
    pub(crate) async fn list(&self) -> Result<Vec<Listed>, ErrorBody> {
        let mut listed = Vec::new();
        for client in Client::ALL {
            listed.push(self.listed(client).await?);
        }
        Ok(listed)
    }

    async fn listed(&self, client: Client) -> Result<Listed, ErrorBody> {
        self.placet()?;
        let (on, off) = (self.preview(client, Change::Connect).await, self.preview(client, Change::Disconnect).await);
        Ok(match (on, off) {
            (Ok(on), Ok(off)) => {
                // What can be taken out is there; what would still change is not as it should be.
                let state = match (off.changed, on.changed) {
                    (false, _) => State::NotConnected,
                    (true, false) => State::Connected,
                    (true, true) => State::OutOfDate,
                };
                Listed { client, file: Some(on.file), state, why: None, altered: on.altered, known: on.known }
            }
            (Err(error), off) => {
                let (file, known) = off.ok().map(|off| (off.file, off.known)).unzip();
                let why = Some(error.message);
                Listed { client, file, state: State::Unclear, why, altered: Vec::new(), known: known.flatten() }
            }
            (Ok(on), Err(error)) => Listed {
                client,
                file: Some(on.file),
                state: State::Unclear,
                why: Some(error.message),
                altered: on.altered,
                known: on.known,
            },
        })
    }

    /// What a change would be.
    pub(crate) async fn preview(&self, client: Client, change: Change) -> Result<Told, ErrorBody> {
        self.told(&[change.word(), client.name(), "--dry-run"]).await
    }

    /// Makes a change whose diff was shown; refused where it would be another by now.
    pub(crate) async fn change(&self, client: Client, change: Change, shown: &str) -> Result<Told, ErrorBody> {
        let _one = self.changing.lock().await;
        let now = self.preview(client, change).await?;
        if now.diff != shown {
            let sentence = "The settings have changed since the change was shown. Nothing was written: look again.";
            return Err(RefusalCode::NotWritten.because(sentence).into());
        }
        // Between this look and the writing another program may write as well: then nothing is written.
        let digest = now.digest.as_deref().unwrap_or_default();
        let told = self.told(&[change.word(), client.name(), "--expect", digest]).await?;
        tracing::info!(
            client = client.name(),
            change = change.word(),
            file = told.file,
            "a client's settings were changed"
        );
        Ok(told)
    }

    /// What `placet doctor` finds now: a call that is denied whatever the policy says, put to each client's hook.
    pub(crate) async fn prove(&self) -> Result<Value, ErrorBody> {
        let found = self.run(&["doctor"]).await?;
        Ok(found["clients"].clone())
    }

    async fn told(&self, words: &[&str]) -> Result<Told, ErrorBody> {
        let said = self.run(words).await?;
        Told::deserialize(&said).map_err(|error| unread(&error))
    }

    async fn run(&self, words: &[&str]) -> Result<Value, ErrorBody> {
        let placet = self.placet()?;
        let mut command = Command::new(&placet.program);
        // From the root: whoever installs from within a project is about to work there, and the window is not.
        command.args(&placet.before).args(words).arg("--json").args(&placet.after).current_dir("/");
        command.stdin(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true);
        let ended = match tokio::time::timeout(LIMIT, command.output()).await {
            Ok(Ok(ended)) => ended,
            Ok(Err(error)) => {
                return Err(ErrorBody::not_open(&format!("{} cannot be run: {error}.", placet.program.display())));
            }
            Err(_) => return Err(ErrorBody::not_open("placet did not answer in two minutes; it was ended.")),
        };
        let said: Value = serde_json::from_slice(&ended.stdout).map_err(|error| unread(&error))?;
        match said["error"]["message"].as_str() {
            Some(why) => Err(RefusalCode::NotWritten.because(why).into()),
            None => Ok(said),
        }
    }

    fn placet(&self) -> Result<&Placet, ErrorBody> {
        self.placet.as_ref().map_err(|why| ErrorBody::not_open(why))
    }
}

fn beside(folder: &Path) -> Result<PathBuf, String> {
    let program = folder.join(format!("placet{}", std::env::consts::EXE_SUFFIX));
    if program.is_file() { Ok(program) } else { Err(missing(&program)) }
}

fn missing(program: &Path) -> String {
    format!("The command placet does not lie beside this program, at {}: install both together.", program.display())
}

fn unread(error: &serde_json::Error) -> ErrorBody {
    ErrorBody::not_open(&format!("What placet said is not understood ({error}): is it of the same version?"))
}

fn words(flags: &Flags) -> Vec<OsString> {
    let Flags { data_dir, config_dir, socket } = flags;
    let given = [("--data-dir", data_dir), ("--config-dir", config_dir), ("--socket", socket)];
    let given = given.into_iter().filter_map(|(flag, path)| path.as_ref().map(|path| (flag, path)));
    // It runs elsewhere: what is relative to here would be another place there.
    given
        .flat_map(|(flag, path)| [flag.into(), std::path::absolute(path).unwrap_or_else(|_| path.clone()).into()])
        .collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::fs;

    use super::*;

    /// Stands in for `placet`: has an entry while `there` exists, and one of an older version while `old` does.
    const SCRIPT: &str = r#"
cd "$(dirname "$0")"
case "$1 $2 $3" in
  "install codex "*|"uninstall codex "*) echo '{"error":{"code":"unreadable","message":"no such right"}}'; exit 1;;
  "doctor --json "*) echo '{"gate":{},"clients":[{"client":"cursor","state":"blocked"}]}'; exit 1;;
esac
changed=true; written=false
[ "$3" = --expect ] && [ "$4" != "sha256:now" ] && exit 1
[ "$1" = install ] && [ -e there ] && [ ! -e old ] && changed=false
[ "$1" = uninstall ] && [ ! -e there ] && changed=false
if [ "$3" != --dry-run ]; then
  written=$changed
  if [ "$1" = install ]; then touch there; else rm there; fi
fi
printf '{"client":"%s","file":"/s.json","changed":%s,"written":%s,"diff":"%s","backup":null,"note":null,"digest":"sha256:now"}' "$2" $changed $written "$1"
"#;

    fn scripted(folder: &Path) -> Clients {
        let script = folder.join("placet.sh");
        fs::write(&script, SCRIPT).unwrap();
        Clients::new(Ok(Placet { program: "/bin/sh".into(), before: vec![script.into()], after: Vec::new() }))
    }

    fn own_folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("placet-clients-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    #[tokio::test]
    async fn the_state_of_each_client_is_told_and_only_the_change_that_was_shown_is_made() {
        let folder = own_folder("change");
        let clients = scripted(&folder);
        let states = |listed: &[Listed]| {
            let state = |client| listed.iter().find(|one| one.client == client).map(|one| format!("{:?}", one.state));
            [state(Client::Cursor).unwrap(), state(Client::Codex).unwrap()]
        };
        assert_eq!(states(&clients.list().await.unwrap()), ["NotConnected", "Unclear"]);
        let refused = clients.change(Client::Cursor, Change::Connect, "another diff").await.unwrap_err();
        assert_eq!(refused.word(), "not_written");
        assert!(!folder.join("there").exists());
        let shown = clients.preview(Client::Cursor, Change::Connect).await.unwrap();
        assert!(shown.changed && !shown.written && !folder.join("there").exists());
        assert!(clients.change(Client::Cursor, Change::Connect, &shown.diff).await.unwrap().written);
        assert_eq!(states(&clients.list().await.unwrap()), ["Connected", "Unclear"]);
        fs::write(folder.join("old"), "").unwrap();
        assert_eq!(states(&clients.list().await.unwrap()), ["OutOfDate", "Unclear"]);
        assert_eq!(clients.prove().await.unwrap()[0]["state"], "blocked");
        fs::remove_dir_all(&folder).unwrap();
    }

    #[tokio::test]
    async fn without_the_command_beside_it_nothing_is_run_and_the_reason_is_said() {
        let folder = own_folder("missing");
        let clients = Clients::new(beside(&folder).map(|_| unreachable!("there is none")));
        let refused = clients.list().await.unwrap_err();
        assert!(refused.message.contains("does not lie beside"), "{}", refused.message);
        let demo = Clients::of(true, &Flags::default());
        assert!(demo.prove().await.unwrap_err().message.contains("demo"));
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_client_is_one_of_the_list() {
        for client in Client::ALL {
            assert_eq!(serde_json::from_value::<Client>(client.name().into()).unwrap(), client);
        }
        for other in ["", "--project", "openhands", "codex --json", "../codex"] {
            assert!(serde_json::from_value::<Client>(other.into()).is_err(), "{other}");
        }
    }
}
