//! `placet install`, `uninstall` and `doctor`: the hook in a client's settings, out of them, and whether it holds.

mod binary;
mod doctor;
mod edit;
mod file;
mod plan;
mod plugin;

use std::{path::PathBuf, process::ExitCode, time::Duration};

use placet_domain::Digest;
use placet_ipc::Flags;
use placet_subject::canonical;
use serde_json::json;
use similar::TextDiff;

use self::plan::{Line, Plan, Scope, plan};
use crate::{
    exit,
    hook::Client,
    say::{self, Form, line, now_ms, visible, visible_line},
};
pub(crate) use doctor::doctor;

/// What is to be done.
#[derive(Debug)]
pub(crate) struct Order {
    /// For which client.
    pub(crate) client: Client,
    /// In a project's settings rather than the person's own.
    pub(crate) project: Option<PathBuf>,
    /// How long the client shall wait for a person.
    pub(crate) patience: Option<Duration>,
    /// Only show it.
    pub(crate) dry_run: bool,
    /// The digest of the settings that the change was shown for.
    pub(crate) expect: Option<Digest>,
    /// Where the gate is, if not where it always is.
    pub(crate) places: Flags,
}

/// `install`.
pub(crate) fn install(order: &Order, form: Form) -> ExitCode {
    let scope = scope(order.project.clone());
    let mut workspaces: Vec<PathBuf> = order.project.iter().cloned().collect();
    // Whoever installs from within a project is about to let an agent work there; home is everybody's project.
    workspaces.extend(
        std::env::current_dir()
            .ok()
            .filter(|dir| dir.parent().is_some() && placet_ipc::home().is_ok_and(|home| !home.starts_with(dir))),
    );
    let program = match binary::own(&workspaces) {
        Ok(program) => program,
        Err(unfit) => return refuse(form, "unfit_program", &unfit),
    };
    let places = match absolute(&order.places) {
        Ok(places) => places,
        Err(error) => return refuse(form, "unfit_place", &error),
    };
    let how = Line { program: &program, patience: order.patience, places: &places };
    let plan = match plan(order.client, &scope, &how) {
        Ok(Some(plan)) => plan,
        Ok(None) => return no_settings(order.client, form),
        Err(error) => return refuse(form, "no_home", &error),
    };
    let done = change(&plan, order, form, |text| edit::installed(text, plan.client, plan.shape, &plan.entries));
    if form == Form::Text
        && done == Changed::Done
        && let Some(note) = plan.note
    {
        line(note);
    }
    done.code()
}

/// `uninstall`.
pub(crate) fn uninstall(order: &Order, form: Form) -> ExitCode {
    let nowhere = Line { program: std::path::Path::new("placet"), patience: None, places: &Flags::default() };
    let plan = match plan(order.client, &scope(order.project.clone()), &nowhere) {
        Ok(Some(plan)) => plan,
        Ok(None) => return no_settings(order.client, form),
        Err(error) => return refuse(form, "no_home", &error),
    };
    change(&plan, order, form, |text| edit::removed(text, plan.client, plan.shape)).code()
}

fn scope(project: Option<PathBuf>) -> Scope {
    project.map_or(Scope::User, |dir| Scope::Project(std::path::absolute(&dir).unwrap_or(dir)))
}

/// A hook runs wherever its client is: what is relative to here would be elsewhere there.
fn absolute(flags: &Flags) -> std::io::Result<Flags> {
    let absolute = |path: &Option<PathBuf>| path.as_ref().map(std::path::absolute).transpose();
    Ok(Flags {
        data_dir: absolute(&flags.data_dir)?,
        config_dir: absolute(&flags.config_dir)?,
        socket: absolute(&flags.socket)?,
    })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Changed {
    Done,
    Refused,
}

impl Changed {
    fn code(self) -> ExitCode {
        match self {
            Self::Done => exit::DONE,
            Self::Refused => exit::no(),
        }
    }
}

/// Shows what changes and changes it.
fn change(plan: &Plan, order: &Order, form: Form, edit: impl Fn(&str) -> Result<String, edit::EditError>) -> Changed {
    let shown = visible(&plan.file.display().to_string());
    let before = match file::read(&plan.file) {
        Ok(before) => before,
        Err(error) => {
            refuse(form, "unreadable", &format_args!("{shown}: {error}"));
            return Changed::Refused;
        }
    };
    let digest = canonical::sha256(before.as_bytes());
    if order.expect.is_some_and(|expected| expected != digest) {
        let why = "the settings have changed since the change was shown. Nothing was written: look again";
        refuse(form, "changed", &format_args!("{shown}: {why}"));
        return Changed::Refused;
    }
    let dry_run = order.dry_run;
    let after = match edit(&before) {
        Ok(after) => after,
        Err(error) => {
            refuse(form, "not_understood", &format_args!("{shown}: {error}"));
            return Changed::Refused;
        }
    };
    let changed = before != after;
    let diff = TextDiff::from_lines(before.as_str(), after.as_str());
    let diff = diff.unified_diff().context_radius(2).header(&shown, &shown).to_string();
    let copy = if changed && !dry_run {
        match file::replace(&plan.file, &after, now_ms()) {
            Ok(copy) => copy,
            Err(error) => {
                refuse(form, "not_written", &format_args!("{shown}: {error}"));
                return Changed::Refused;
            }
        }
    } else {
        None
    };
    let copy = copy.map(|copy| visible(&copy.display().to_string()));
    if form == Form::Json {
        say::json(&json!({
            "client": plan.client.name(), "file": shown, "changed": changed, "written": changed && !dry_run,
            "diff": diff, "digest": digest, "backup": copy, "note": plan.note,
        }));
        return Changed::Done;
    }
    if !changed {
        line(format_args!("{shown} is as it should be: nothing to change."));
        return Changed::Done;
    }
    // The file's own text is shown, line by line made visible.
    diff.lines().for_each(|text| line(visible_line(text)));
    match (dry_run, copy) {
        (true, _) => line("Nothing was written."),
        (false, Some(copy)) => line(format_args!("Written. What it was is in {copy}")),
        (false, None) => line("Written."),
    }
    Changed::Done
}

fn no_settings(client: Client, form: Form) -> ExitCode {
    let name = client.name();
    let sentence = format!(
        "{name} has no settings file of hooks that could be written: give it the command `placet hook {name}` yourself"
    );
    refuse(form, "no_settings", &sentence)
}

fn refuse(form: Form, code: &str, why: &dyn std::fmt::Display) -> ExitCode {
    if form == Form::Json {
        say::json(&json!({ "error": { "code": code, "message": why.to_string() } }));
    }
    say::trouble(why);
    exit::no()
}
