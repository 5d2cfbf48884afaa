//! `placet install`, `uninstall` and `doctor`: the hook in a client's settings, out of them, and whether it holds.

mod binary;
mod cut;
mod doctor;
mod edit;
mod file;
mod hook_line;
mod plan;
mod plugin;
mod records;
mod version;

use std::{path::PathBuf, process::ExitCode, time::Duration};

use placet_domain::Digest;
use placet_ipc::Flags;
use placet_subject::canonical;
use serde_json::json;
use similar::TextDiff;

use self::{
    plan::{Line, Plan, Scope, plan},
    records::{Record, Records},
};
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
    let mut records = Records::of_flags(&places);
    let done =
        change(&plan, order, form, &records, |text| edit::installed(text, plan.client, plan.shape, &plan.entries));
    let Ok(done) = done else { return exit::no() };
    if let Some(Written { before, copy, after }) = &done {
        let record = Record::installed(records.of(&plan), &plan, before, copy.as_deref(), after, now_ms());
        records.set(&plan, Some(record));
        records.keep();
    }
    if form == Form::Text {
        match version::installed(order.client) {
            Some(found) => line(format_args!(
                "Found: {} {}",
                visible(&found.program.display().to_string()),
                visible(found.version.as_deref().unwrap_or(""))
            )),
            None => {
                line(format_args!("{} is not on your search path: the hook works once it is.", order.client.name()));
            }
        }
        plan.note.into_iter().for_each(line);
    }
    exit::DONE
}

/// `uninstall`.
pub(crate) fn uninstall(order: &Order, form: Form) -> ExitCode {
    let nowhere = Line { program: std::path::Path::new("placet"), patience: None, places: &Flags::default() };
    let plan = match plan(order.client, &scope(order.project.clone()), &nowhere) {
        Ok(Some(plan)) => plan,
        Ok(None) => return no_settings(order.client, form),
        Err(error) => return refuse(form, "no_home", &error),
    };
    let mut records = Records::of_flags(&order.places);
    let known = records.of(&plan).cloned();
    let done =
        change(&plan, order, form, &records, |text| match known.as_ref().and_then(|known| known.gives_back(text)) {
            Some(before) => Ok(before),
            None => edit::removed(text, plan.client, plan.shape),
        });
    if done.is_ok() && !order.dry_run && known.is_some() {
        records.set(&plan, None);
        records.keep();
    }
    if done.is_ok() { exit::DONE } else { exit::no() }
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

/// A change that was refused, and said.
struct Refused;

/// A change that was written.
struct Written {
    before: String,
    copy: Option<PathBuf>,
    after: String,
}

/// Shows what changes and changes it.
fn change(
    plan: &Plan,
    order: &Order,
    form: Form,
    records: &Records,
    edit: impl Fn(&str) -> Result<String, edit::EditError>,
) -> Result<Option<Written>, Refused> {
    let shown = visible(&plan.file.display().to_string());
    let before = match file::read(&plan.file) {
        Ok(before) => before,
        Err(error) => {
            refuse(form, "unreadable", &format_args!("{shown}: {error}"));
            return Err(Refused);
        }
    };
    let digest = canonical::sha256(before.as_bytes());
    if order.expect.is_some_and(|expected| expected != digest) {
        let why = "the settings have changed since the change was shown. Nothing was written: look again";
        refuse(form, "changed", &format_args!("{shown}: {why}"));
        return Err(Refused);
    }
    let dry_run = order.dry_run;
    let after = match edit(&before) {
        Ok(after) => after,
        Err(error) => {
            refuse(form, "not_understood", &format_args!("{shown}: {error}"));
            return Err(Refused);
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
                return Err(Refused);
            }
        }
    } else {
        None
    };
    let kept = copy.as_ref().map(|copy| visible(&copy.display().to_string()));
    // Somebody's own line is left as it is, and told of.
    let altered = edit::altered(&before, plan.client, plan.shape).unwrap_or_default();
    if form == Form::Json {
        say::json(&json!({
            "client": plan.client.name(), "file": shown, "changed": changed, "written": changed && !dry_run,
            "diff": diff, "digest": digest, "backup": kept, "note": plan.note, "altered": altered,
            "known": records.of(plan).map(|known| known.told(plan, &before)),
        }));
    } else if !changed {
        line(format_args!("{shown} is as it should be: nothing to change."));
    } else {
        // The file's own text is shown, line by line made visible.
        diff.lines().for_each(|text| line(visible_line(text)));
        match (dry_run, &kept) {
            (true, _) => line("Nothing was written."),
            (false, Some(copy)) => line(format_args!("Written. What it was is in {copy}")),
            (false, None) => line("Written."),
        }
    }
    if form == Form::Text {
        for other in &altered {
            line(format_args!("Left as it is, since it does more than ask Placet: {}", visible(other)));
        }
    }
    Ok((changed && !dry_run).then_some(Written { before, copy, after }))
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
