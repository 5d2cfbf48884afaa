//! `placet explain`: what Placet makes of a call, without asking anybody and without changing anything.

use std::{io::Read as _, process::ExitCode};

use placet_domain::PathText;
use placet_ipc::{MAX_LINE_BYTES, Places};
use placet_subject::{Known, RawCall};
use serde::Deserialize;
use serde_json::{Value, value::RawValue};

use crate::{
    exit,
    say::{self, Form, field, line, spans_in},
};

/// A call as it is given on stdin. What else stands there is not looked at.
#[derive(Debug, Deserialize)]
pub(crate) struct Given {
    tool: String,
    input: Box<RawValue>,
    cwd: PathText,
    #[serde(default)]
    agent: Option<String>,
    #[serde(default)]
    workspace: Option<PathText>,
}

impl Given {
    /// Reads a call from stdin.
    ///
    /// # Errors
    /// A sentence on what is wrong with it.
    pub(crate) fn from_stdin() -> Result<Self, String> {
        let most = u64::try_from(MAX_LINE_BYTES).unwrap_or(u64::MAX);
        let mut text = Vec::new();
        std::io::stdin().lock().take(most + 1).read_to_end(&mut text).map_err(|error| error.to_string())?;
        if text.len() > MAX_LINE_BYTES {
            return Err(format!("the call is larger than {MAX_LINE_BYTES} bytes"));
        }
        serde_json::from_slice(&text)
            .map_err(|error| format!("no call on stdin: {error}; needed is {{tool, input, cwd, agent?, workspace?}}"))
    }

    /// The agent; where none is named, a name that no client has.
    pub(crate) fn agent(&self) -> &str {
        self.agent.as_deref().unwrap_or("unknown")
    }

    /// The workspace; where none is named, the folder that the call is made in.
    pub(crate) fn workspace(&self) -> &PathText {
        self.workspace.as_ref().unwrap_or(&self.cwd)
    }

    /// As the corridor takes it.
    pub(crate) fn call(&self) -> RawCall<'_> {
        RawCall {
            agent: self.agent(),
            tool: &self.tool,
            input: self.input.get().as_bytes(),
            cwd: &self.cwd,
            workspace: self.workspace(),
            call_id: None,
            definition: None,
        }
    }
}

/// `explain`. Exit code 1 if the call is refused before any rule.
pub(crate) fn run(places: &Places, form: Form) -> ExitCode {
    let given = match Given::from_stdin() {
        Ok(given) => given,
        Err(error) => {
            say::trouble(error);
            return exit::usage();
        }
    };
    let known = match known(places) {
        Ok(known) => known,
        Err(code) => return code,
    };
    let explained = placet_subject::explain(&given.call(), &known);
    match form {
        Form::Json => say::json(&explained),
        Form::Text => tell(&explained),
    }
    if explained["refused"].is_null() { exit::DONE } else { exit::no() }
}

/// What is known of this machine, as the gate knows it; or the exit code, when that was said.
pub(crate) fn known(places: &Places) -> Result<Known, ExitCode> {
    match placet_gate::known(places) {
        Ok((known, alert)) => {
            if let Some(alert) = alert {
                say::trouble(alert);
            }
            Ok(known)
        }
        Err(error) => {
            say::trouble(error);
            Err(exit::usage())
        }
    }
}

fn tell(explained: &Value) {
    line(format_args!("{} {}", field(explained, "action"), spans_in(&explained["shown"])));
    for subject in explained["subjects"].as_array().into_iter().flatten() {
        let mut words = vec![field(subject, "action"), field(subject, "kind"), field(subject, "asked")];
        let really = ["resolved", "normalized"].into_iter().find(|name| !subject[*name].is_null());
        if let Some(name) = really.filter(|name| subject[*name] != subject["asked"]) {
            words.push(format!("→ {}", field(subject, name)));
        }
        words.retain(|word| !word.is_empty());
        line(format_args!("  {}", words.join(" ")));
    }
    let list = |name: &str| {
        let items = explained[name].as_array().map(Vec::as_slice).unwrap_or_default();
        items.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", ")
    };
    for (label, words) in [("odd", list("flags")), ("may be granted", list("grantable"))] {
        if !words.is_empty() {
            line(format_args!("  {label}: {words}"));
        }
    }
    if !explained["refused"].is_null() {
        line(format_args!("  REFUSED: {}", field(&explained["refused"], "reason")));
    }
    line(format_args!("  {}", field(explained, "digest")));
}
