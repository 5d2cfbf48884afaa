//! `placet history verify`, `export`, `backup` and `restore`: on the files, so that none needs a gate.

use std::{
    fs::OpenOptions,
    io::{self, Write},
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
    process::ExitCode,
};

use placet_gate::{ExportFormat, History};
use placet_ipc::Places;
use serde_json::json;

use crate::{
    exit,
    say::{self, Form, field, line},
};

/// In which form the history is written out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Format {
    /// The facts with their hashes, oldest first
    Jsonl,
    /// A table of the calls, newest first
    Csv,
    /// OCSF API Activity, a line for each call, newest first
    Ocsf,
    /// The lines of `audit_log.jsonl`
    AuditLog,
    /// The lines of `session_summaries.jsonl`
    SessionSummaries,
}

impl From<Format> for ExportFormat {
    fn from(format: Format) -> Self {
        match format {
            Format::Jsonl => Self::Facts,
            Format::Csv => Self::Csv,
            Format::Ocsf => Self::Ocsf,
            Format::AuditLog => Self::AuditLog,
            Format::SessionSummaries => Self::SessionSummaries,
        }
    }
}

/// `history verify`. Exit code 1 if the chain is broken.
pub(crate) fn verify(places: &Places, form: Form, from: Option<u64>) -> ExitCode {
    let verified = match History::open(places).and_then(|history| history.verify(from)) {
        Ok(verified) => verified,
        Err(error) => {
            say::trouble(error);
            return exit::usage();
        }
    };
    let intact = verified["intact"] == true;
    match form {
        Form::Json => say::json(&verified),
        Form::Text if intact => {
            line(format_args!(
                "The history is intact: {} facts, the last one is {} with {}.",
                field(&verified, "rows"),
                field(&verified["head"], "seq"),
                field(&verified["head"], "hash")
            ));
            if let Ok(place) = History::key_place(places) {
                line(format_args!("Its key is {}.", where_it_is(place)));
            }
            if verified["anchors"] != 0 {
                line(format_args!("It holds each of {} anchors.", field(&verified, "anchors")));
            }
        }
        Form::Text => line(format_args!(
            "THE HISTORY IS BROKEN at fact {}: {}. {} facts before it are intact.",
            field(&verified["broken"], "seq"),
            field(&verified["broken"], "kind"),
            field(&verified, "rows")
        )),
    }
    if intact { exit::DONE } else { exit::no() }
}

/// Where the history's key is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum KeyPlace {
    /// history.key beside the history
    File,
    /// The keyring of your session
    Keyring,
}

impl From<KeyPlace> for placet_gate::KeyPlace {
    fn from(place: KeyPlace) -> Self {
        match place {
            KeyPlace::File => Self::File,
            KeyPlace::Keyring => Self::Keyring,
        }
    }
}

/// `history key`: says where it is, or moves it.
pub(crate) fn key(places: &Places, form: Form, to: Option<KeyPlace>) -> ExitCode {
    let moved = match to.map(|to| placet_gate::move_key(places, to.into())).transpose() {
        Ok(moved) => moved.unwrap_or(false),
        Err(error) => {
            say::trouble(error);
            return exit::no();
        }
    };
    let place = match History::key_place(places) {
        Ok(place) => place,
        Err(error) => {
            say::trouble(error);
            return exit::usage();
        }
    };
    match form {
        Form::Json => say::json(&json!({ "key": place, "moved": moved })),
        Form::Text => line(format_args!("The history's key is {}.", where_it_is(place))),
    }
    exit::DONE
}

fn where_it_is(place: placet_gate::KeyPlace) -> &'static str {
    match place {
        placet_gate::KeyPlace::File => "in history.key beside it, readable by you alone",
        placet_gate::KeyPlace::Keyring => "in the keyring of your session",
    }
}

/// `history export`, to a new file (mode 0600) or to stdout.
pub(crate) fn export(places: &Places, form: Form, format: Format, output: Option<PathBuf>) -> ExitCode {
    let history = match History::open(places) {
        Ok(history) => history,
        Err(error) => {
            say::trouble(error);
            return exit::usage();
        }
    };
    let Some(path) = output else {
        return match history.export(format.into(), &mut io::stdout().lock()) {
            Ok(_) => exit::DONE,
            Err(error) => {
                say::trouble(error);
                exit::no()
            }
        };
    };
    let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path);
    let written = file.map_err(|error| error.to_string()).and_then(|file| {
        let mut out = io::BufWriter::new(file);
        let lines = history.export(format.into(), &mut out).map_err(|error| error.to_string())?;
        out.flush().and_then(|()| out.get_ref().sync_all()).map_err(|error| error.to_string())?;
        Ok(lines)
    });
    let shown = say::visible(&path.display().to_string());
    match (written, form) {
        (Ok(lines), Form::Json) => {
            say::json(&json!({ "file": shown, "lines": lines }));
            exit::DONE
        }
        (Ok(lines), Form::Text) => {
            line(format_args!("{lines} lines are in {shown}."));
            exit::DONE
        }
        (Err(error), _) => {
            say::trouble(format_args!("{shown}: {error}"));
            exit::no()
        }
    }
}

/// `history backup`: a copy, also while a gate runs.
pub(crate) fn backup(places: &Places, form: Form, to: &Path) -> ExitCode {
    let shown = say::visible(&to.display().to_string());
    match (History::open(places).and_then(|history| history.backup(to)), form) {
        (Ok(()), Form::Json) => {
            say::json(&json!({ "file": shown }));
            exit::DONE
        }
        (Ok(()), Form::Text) => {
            line(format_args!("The history is copied to {shown}. Keep its key apart: history.key is not in the copy."));
            exit::DONE
        }
        (Err(error), _) => {
            say::trouble(error);
            exit::no()
        }
    }
}

/// `history restore`: exit code 1, and nothing changed, where the copy is refused or a gate runs.
pub(crate) fn restore(places: &Places, form: Form, from: &Path) -> ExitCode {
    match (History::restore(places, from), form) {
        (Ok(restored), Form::Json) => {
            say::json(&restored);
            exit::DONE
        }
        (Ok(restored), Form::Text) => {
            let kept = restored["kept"].as_str().map(say::visible);
            line(format_args!("The history is restored; its last fact is {}.", field(&restored, "facts")));
            if let Some(kept) = kept {
                line(format_args!("The one that was here is kept as {kept}."));
            }
            exit::DONE
        }
        (Err(error), _) => {
            say::trouble(error);
            exit::no()
        }
    }
}
