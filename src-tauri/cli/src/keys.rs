//! `placet keys`: the keys of providers in the keyring of the person's session. A key comes on stdin and is never shown.

use std::{
    io::{BufRead as _, IsTerminal as _},
    process::ExitCode,
};

use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};
use serde_json::json;

use crate::{
    exit,
    say::{self, Form, line},
};

/// What is to be done with a key.
#[derive(Clone, Debug, clap::Subcommand)]
pub(crate) enum Keys {
    /// Keep the key that comes on stdin, one line
    Set {
        /// Under this name, as agent.toml has it in `key_in_keyring`
        name: String,
    },
    /// Whether there is one; it is not shown
    Check {
        /// Of this name
        name: String,
    },
    /// Take one away
    Remove {
        /// Of this name
        name: String,
    },
}

/// `keys`. Exit code 1 where there is no such key or the keyring cannot be used.
pub(crate) fn run(what: &Keys, form: Form) -> ExitCode {
    let (name, done, said) = match what {
        Keys::Set { name } => {
            let Some(key) = key_on_stdin(name) else {
                say::trouble("no key came on stdin; nothing was kept");
                return exit::usage();
            };
            (name, placet_keyring::write(name, &key), "is in the keyring")
        }
        Keys::Check { name } => (name, placet_keyring::read(name).map(drop), "is in the keyring"),
        Keys::Remove { name } => (name, placet_keyring::remove(name), "is no longer in the keyring"),
    };
    if let Err(error) = done {
        say::trouble(error);
        return exit::no();
    }
    match form {
        Form::Json => say::json(&json!({ "name": name, "kept": !matches!(what, Keys::Remove { .. }) })),
        Form::Text => line(format_args!("{name} {said}.")),
    }
    exit::DONE
}

/// One line; on a terminal it is not echoed.
fn key_on_stdin(name: &str) -> Option<String> {
    let stdin = std::io::stdin();
    let before = stdin.is_terminal().then(|| tcgetattr(&stdin).ok()).flatten();
    if let Some(before) = &before {
        line(format_args!("The key of {name}, and Enter; it is not shown:"));
        let mut silent = before.clone();
        silent.local_modes.remove(LocalModes::ECHO);
        let _ = tcsetattr(&stdin, OptionalActions::Flush, &silent);
    }
    let mut key = String::new();
    let read = stdin.lock().read_line(&mut key);
    if let Some(before) = &before {
        let _ = tcsetattr(&stdin, OptionalActions::Flush, before);
    }
    read.ok()?;
    let key = key.trim();
    (!key.is_empty()).then(|| key.to_owned())
}
