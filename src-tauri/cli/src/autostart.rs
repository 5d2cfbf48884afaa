//! `placet autostart`: whether the window starts, in the tray, when the person logs in.

use std::process::ExitCode;

use placet_gate::Autostart;
use placet_ipc::Places;
use serde_json::json;

use crate::{
    exit,
    say::{self, Form, line},
    start,
};

/// What is to be done about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Wanted {
    /// Start at login
    On,
    /// Do not
    Off,
    /// Say how it is
    Status,
}

/// `autostart`. Exit code 1 where it cannot be changed.
pub(crate) fn run(places: &Places, wanted: Wanted, form: Form) -> ExitCode {
    let Some(entry) = Autostart::of(places) else {
        say::trouble("starting at login is for the Placet without flags; this one has places of its own");
        return exit::usage();
    };
    if let Err(why) = change(&entry, wanted) {
        say::trouble(why);
        return exit::no();
    }
    let on = entry.is_on();
    match form {
        Form::Json => say::json(&json!({ "start_at_login": on, "file": entry.file() })),
        Form::Text if on => line(format_args!("Placet starts at login: {}", entry.file().display())),
        Form::Text => line("Placet does not start at login."),
    }
    exit::DONE
}

fn change(entry: &Autostart, wanted: Wanted) -> Result<(), String> {
    let on = match wanted {
        Wanted::Status => return Ok(()),
        Wanted::On => true,
        Wanted::Off => false,
    };
    let program = start::window();
    if on && program.is_none() {
        return Err("there is no placet-desktop beside this program, or where packages put it".to_owned());
    }
    let program = program.unwrap_or_default();
    entry.set(on, &program).map_err(|error| format!("{}: {error}", entry.file().display()))
}
