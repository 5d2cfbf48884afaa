//! What each client gets: into which file, at which events, with which time-out.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use placet_ipc::{Flags, PlaceError, home};
use serde_json::{Value, json};

use super::edit::{Entry, Shape};
use crate::hook::Client;

/// How long a person may take where nothing else is said: the policy's half an hour, and the hook's own margin twice.
const PATIENCE: Duration = Duration::from_secs(1_820);
/// How long a hook that asks nothing may take.
const QUICK: Duration = Duration::from_secs(10);

/// Whose settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// The person's, for all projects.
    User,
    /// One project's.
    Project(PathBuf),
}

/// What is to be put where.
#[derive(Debug)]
pub(crate) struct Plan {
    /// The client.
    pub(crate) client: Client,
    /// The settings file.
    pub(crate) file: PathBuf,
    /// How it holds hooks.
    pub(crate) shape: Shape,
    /// What it is to hold.
    pub(crate) entries: Vec<Entry>,
    /// What the person has to do besides.
    pub(crate) note: Option<&'static str>,
}

/// What the hook's command line is made of.
#[derive(Debug)]
pub(crate) struct Line<'a> {
    /// The absolute path of `placet`.
    pub(crate) program: &'a Path,
    /// How long the client shall wait, where the person says.
    pub(crate) patience: Option<Duration>,
    /// Where the gate is, where it is not where it always is; absolute.
    pub(crate) places: &'a Flags,
}

/// The plan for a client.
///
/// # Errors
/// The home folder is not known. None for a client whose settings are not a file of hooks.
pub(crate) fn plan(client: Client, scope: &Scope, line: &Line<'_>) -> Result<Option<Plan>, PlaceError> {
    let Some((in_home, in_project, shape, matcher)) = place_of(client) else { return Ok(None) };
    let file = match scope {
        Scope::User => home()?.join(in_home),
        Scope::Project(dir) => dir.join(in_project),
    };
    let said = line.patience.unwrap_or(PATIENCE);
    let patience = client.hard_cap().map_or(said, |cap| said.min(cap));
    let entries = events(client)
        .iter()
        .map(|(event, tools)| {
            let asks = *event == client.asking_event() || *event == "PermissionRequest";
            let wait = if asks { patience } else { QUICK };
            let matcher = matcher.filter(|_| *tools);
            Entry { event, matcher, hook: hook(client, &command(client, event, line, asks.then_some(wait)), wait) }
        })
        .collect();
    let note = match client {
        Client::Codex => Some(
            "Codex runs no hook that you have not trusted, and says nothing about it: open Codex, type /hooks, and trust \
             the entries of Placet. After every new `placet install codex` once more.",
        ),
        Client::Cursor => {
            Some("Cursor has not been tried with Placet: run `placet doctor` and a harmless command first.")
        }
        Client::ClaudeCode
        | Client::GeminiCli
        | Client::QwenCode
        | Client::Copilot
        | Client::Opencode
        | Client::Openhands => None,
    };
    Ok(Some(Plan { client, file, shape, entries, note }))
}

type PlaceOf = (&'static str, &'static str, Shape, Option<&'static str>);

/// The settings in the home folder and in a project, their shape, and what matches every tool there.
fn place_of(client: Client) -> Option<PlaceOf> {
    match client {
        Client::ClaudeCode => Some((".claude/settings.json", ".claude/settings.json", Shape::Grouped, Some("*"))),
        Client::Codex => Some((".codex/hooks.json", ".codex/hooks.json", Shape::Grouped, Some(".*"))),
        Client::GeminiCli => Some((".gemini/settings.json", ".gemini/settings.json", Shape::Grouped, Some(".*"))),
        Client::QwenCode => Some((".qwen/settings.json", ".qwen/settings.json", Shape::Grouped, Some("*"))),
        Client::Copilot => Some((".copilot/hooks/placet.json", ".github/hooks/placet.json", Shape::Flat, None)),
        Client::Cursor => Some((".cursor/hooks.json", ".cursor/hooks.json", Shape::Flat, None)),
        Client::Opencode => {
            Some((".config/opencode/plugin/placet.js", ".opencode/plugin/placet.js", Shape::Plugin, None))
        }
        Client::Openhands => None,
    }
}

/// The events that are listened to, and whether they are about tools.
fn events(client: Client) -> &'static [(&'static str, bool)] {
    match client {
        Client::ClaudeCode => &[
            ("PreToolUse", true),
            ("PostToolUse", true),
            ("PostToolUseFailure", true),
            ("SessionStart", false),
            ("SessionEnd", false),
        ],
        // Its own question is answered there, so that the person is asked once.
        Client::Codex => {
            &[("PreToolUse", true), ("PermissionRequest", true), ("PostToolUse", true), ("SessionStart", false)]
        }
        Client::GeminiCli => {
            &[("BeforeTool", true), ("AfterTool", true), ("SessionStart", false), ("SessionEnd", false)]
        }
        Client::QwenCode => {
            &[("PreToolUse", true), ("PostToolUse", true), ("SessionStart", false), ("SessionEnd", false)]
        }
        Client::Copilot => {
            &[("preToolUse", true), ("postToolUse", true), ("sessionStart", false), ("sessionEnd", false)]
        }
        Client::Cursor => &[("preToolUse", true)],
        Client::Opencode => &[("tool.execute.before", true), ("tool.execute.after", true)],
        Client::Openhands => &[],
    }
}

/// The fields of a hook, in the client's units.
fn hook(client: Client, command: &str, wait: Duration) -> Vec<(&'static str, Value)> {
    let seconds = json!(wait.as_secs());
    let kind = ("type", json!("command"));
    match client {
        Client::GeminiCli => vec![
            kind,
            ("name", json!("placet")),
            ("command", json!(command)),
            ("timeout", json!(u64::try_from(wait.as_millis()).unwrap_or(u64::MAX))),
        ],
        Client::Copilot => vec![kind, ("bash", json!(command)), ("timeoutSec", seconds)],
        // The unit of its time-out is disputed, so it keeps the one it has by itself.
        Client::Cursor => vec![("command", json!(command)), ("failClosed", json!(true))],
        Client::ClaudeCode | Client::Codex | Client::QwenCode | Client::Opencode | Client::Openhands => {
            vec![kind, ("command", json!(command)), ("timeout", seconds)]
        }
    }
}

fn command(client: Client, event: &str, line: &Line<'_>, wait: Option<Duration>) -> String {
    let mut words = vec![quoted(&line.program.display().to_string()), "hook".to_owned(), client.name().to_owned()];
    words.extend(["--event".to_owned(), event.to_owned()]);
    if let Some(wait) = wait.filter(|_| client != Client::Cursor) {
        words.extend(["--client-timeout-ms".to_owned(), wait.as_millis().to_string()]);
    }
    let Flags { data_dir, config_dir, socket } = line.places;
    for (flag, path) in [("--data-dir", data_dir), ("--config-dir", config_dir), ("--socket", socket)] {
        if let Some(path) = path {
            words.extend([flag.to_owned(), quoted(&path.display().to_string())]);
        }
    }
    words.join(" ")
}

/// A word for a POSIX shell.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+:@%,=".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::fmt::Write as _;

    use super::*;

    #[test]
    fn the_clients_time_out_and_our_deadline_are_written_together() {
        let line = Line { program: Path::new("/opt/my tools/placet"), patience: None, places: &Flags::default() };
        let scope = Scope::Project("/w".into());
        let mut text = String::new();
        for client in Client::ALL {
            let Some(plan) = plan(client, &scope, &line).unwrap() else { continue };
            let _ = writeln!(text, "{} {}", client.name(), plan.file.display());
            for Entry { event, matcher, hook } in plan.entries {
                let hook: serde_json::Map<String, Value> = hook.into_iter().map(|(k, v)| (k.to_owned(), v)).collect();
                let _ = writeln!(text, "  {event} {matcher:?} {}", Value::Object(hook));
            }
        }
        insta::assert_snapshot!(text);
    }

    #[test]
    fn a_shell_reads_a_word_as_one() {
        assert_eq!(quoted("/usr/bin/placet"), "/usr/bin/placet");
        assert_eq!(quoted("/a b/it's"), "'/a b/it'\\''s'");
    }
}
