//! What can be looked at through the socket.

use std::{process::ExitCode, time::Duration};

use placet_ipc::{
    Client, ClientError, Places,
    message::{Nothing, Status, method},
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};

use crate::{
    exit,
    say::{self, Form, field, line, now_ms, span_of, spans_in},
};

/// How long the gate may take to be reached, and how long to answer.
const REACH: Duration = Duration::from_secs(2);
const ANSWER: Duration = Duration::from_secs(30);

/// What of a list is wanted.
#[derive(Debug, Default)]
pub(crate) struct Filter(Map<String, Value>);

impl Filter {
    /// With one more condition, where it is given.
    pub(crate) fn with(mut self, name: &str, value: Option<impl Into<Value>>) -> Self {
        if let Some(value) = value {
            self.0.insert(name.to_owned(), value.into());
        }
        self
    }
}

/// Asks the gate.
pub(crate) fn ask<P: Serialize, R: DeserializeOwned>(
    places: &Places,
    method: &str,
    params: &P,
) -> Result<R, ClientError> {
    let mut client = Client::connect(places, "placet", env!("CARGO_PKG_VERSION"), REACH)?;
    client.call(method, params, ANSWER)
}

/// Says why there is no answer.
pub(crate) fn failed(form: Form, error: &ClientError) -> ExitCode {
    let (code, exit) = match error {
        ClientError::Refused(body) => (body.word().to_owned(), exit::no()),
        ClientError::Place(_)
        | ClientError::Unreachable { .. }
        | ClientError::FalseGate { .. }
        | ClientError::Version(_)
        | ClientError::Closed
        | ClientError::Io(_)
        | ClientError::TimedOut
        | ClientError::Malformed(_) => ("unreachable".to_owned(), exit::unreachable()),
    };
    if form == Form::Json {
        say::json(&serde_json::json!({ "error": { "code": code, "message": error.to_string() } }));
    }
    say::trouble(error);
    exit
}

/// `status`.
pub(crate) fn status(places: &Places, form: Form) -> ExitCode {
    let status: Status = match ask(places, method::STATUS, &Nothing {}) {
        Ok(status) => status,
        Err(error) => return failed(form, &error),
    };
    if form == Form::Json {
        say::json(&status);
        return exit::DONE;
    }
    let host = match status.host.as_str() {
        "window" => "the window",
        "serve" => "placet serve",
        "supervised" => "placet serve --supervise",
        other => other,
    };
    line(format_args!("Placet {} in {host}, process {}", status.version, status.pid));
    line(format_args!("open for {}", span_of(now_ms() - status.since_ms.0)));
    if status.paused {
        line("PAUSED: everything is denied until the window lifts it");
    }
    line(format_args!("{} waiting, {} grants active, {} sessions", status.pending, status.grants, status.sessions));
    line(format_args!("{} facts in the history", status.head));
    if let Some(error) = &status.policy_error {
        line(format_args!("policy.toml is not in force, the last good one is: {}", say::visible(error)));
    }
    exit::DONE
}

/// `pending`.
pub(crate) fn pending(places: &Places, form: Form, filter: &Filter) -> ExitCode {
    list(places, form, method::PENDING_LIST, filter, "Nothing waits.", |item| {
        let left = item["expires_at_ms"].as_i64().unwrap_or(0) - now_ms();
        let what = format!("{}{}{}", spans_in(&item["lead"]), spans_in(&item["main"]), spans_in(&item["rest"]));
        line(format_args!("{}  {} {} ({} left)", field(item, "id"), field(item, "action"), what, span_of(left)));
        line(format_args!("    {} in {}", field(item, "agent"), field(item, "workspace")));
    })
}

/// `grants`.
pub(crate) fn grants(places: &Places, form: Form, filter: &Filter) -> ExitCode {
    list(places, form, method::GRANTS_LIST, filter, "Nothing is granted.", |item| {
        line(format_args!("{}  {}  {}", field(item, "id"), field(item, "state"), field(item, "sentence")));
        let left = item["expires_at_ms"].as_i64().unwrap_or(0) - now_ms();
        if item["state"] == "active" {
            line(format_args!("    ends in {}, used {} times", span_of(left), field(item, "used")));
        }
    })
}

/// `history`.
pub(crate) fn history(places: &Places, form: Form, filter: &Filter) -> ExitCode {
    list(places, form, method::HISTORY_SEARCH, filter, "Nothing of this kind has happened.", |item| {
        let ago = now_ms() - item["at_ms"].as_i64().unwrap_or(0);
        let by = match item["by"].as_str() {
            Some(by) => format!(" by {}", say::visible(by)),
            None => String::new(),
        };
        line(format_args!(
            "{:>8}  {}{by}  {} {}",
            field(item, "seq"),
            field(item, "decision"),
            field(item, "action"),
            spans_in(&item["subject"])
        ));
        line(format_args!("          {} ago, {} in {}", span_of(ago), field(item, "agent"), field(item, "workspace")));
    })
}

fn list(places: &Places, form: Form, method: &str, filter: &Filter, nothing: &str, row: impl Fn(&Value)) -> ExitCode {
    let page: Value = match ask(places, method, &filter.0) {
        Ok(page) => page,
        Err(error) => return failed(form, &error),
    };
    if form == Form::Json {
        say::json(&page);
        return exit::DONE;
    }
    let items = page["items"].as_array().map(Vec::as_slice).unwrap_or_default();
    if items.is_empty() {
        line(nothing);
    }
    items.iter().for_each(row);
    if !page["next"].is_null() {
        line(format_args!("There is more: --after {}", field(&page, "next")));
    }
    exit::DONE
}
