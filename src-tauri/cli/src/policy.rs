//! `placet policy`: whether a policy is valid, and what it says of a call.

use std::{io, path::PathBuf, process::ExitCode, sync::Arc};

use placet_domain::{
    AgentName, At, Digest, Policy, Session, State,
    judge::{Ruling, judge_by},
    policy::PolicyError,
};
use placet_ipc::Places;
use serde_json::{Value, json};

use crate::{
    exit,
    explain::{Given, known},
    say::{self, Form, line, now_ms, visible},
};

/// Why there is no policy to look at.
enum NoPolicy {
    /// The file cannot be read, or the machine not be asked.
    Unreadable(String),
    /// It has a mistake.
    Invalid(Box<PolicyError>, String),
}

impl From<io::Error> for NoPolicy {
    fn from(error: io::Error) -> Self {
        Self::Unreadable(error.to_string())
    }
}

/// `policy check`. Exit code 1 if it is not valid.
pub(crate) fn check(places: &Places, form: Form, file: Option<PathBuf>) -> ExitCode {
    let path = file.unwrap_or_else(|| places.config.join("policy.toml"));
    let shown = visible(&path.display().to_string());
    match (load(&path), form) {
        (Ok(policy), Form::Json) => {
            say::json(&json!({ "ok": true, "file": shown, "rules": policy.rules().len() }));
            exit::DONE
        }
        (Ok(policy), Form::Text) => {
            line(format_args!("{shown} is valid: {} rules.", policy.rules().len()));
            exit::DONE
        }
        (Err(no_policy), form) => no(&no_policy, form, &shown),
    }
}

/// `policy try`: what the policy in place says of a call on stdin, by itself: grants are not looked at, nor what the
/// history counts. Exit code 1 if the call is denied.
pub(crate) fn try_call(places: &Places, form: Form) -> ExitCode {
    let path = places.config.join("policy.toml");
    let shown = visible(&path.display().to_string());
    let given = match Given::from_stdin() {
        Ok(given) => given,
        Err(error) => {
            say::trouble(error);
            return exit::usage();
        }
    };
    let agent: AgentName = match given.agent().parse() {
        Ok(agent) => agent,
        Err(error) => {
            say::trouble(error);
            return exit::usage();
        }
    };
    let known = match known(places) {
        Ok(known) => known,
        Err(code) => return code,
    };
    let policy = if path.exists() { load(&path) } else { parse(Policy::default_text()) };
    let policy = match policy {
        Ok(policy) => Arc::new(policy),
        Err(no_policy) => return no(&no_policy, form, &shown),
    };
    let session = Session {
        id: placet_domain::SessionId::new(uuid::Uuid::nil()),
        context: policy.context_for(&agent),
        agent,
        client_session: None,
        workspace: given.workspace().clone(),
        parent: None,
        started_at_ms: At(0),
        stopped_at_ms: None,
        calls: 0,
        tainted: false,
    };
    let judged = placet_subject::judge(&given.call(), &known);
    let mut state = State::default();
    state.policy = Arc::clone(&policy);
    let said = match &judged.facts.refused {
        Some(refused) => json!({ "decision": "deny", "by": "refused", "reason": refused.reason }),
        None => said(judge_by(&policy, &state, &judged, &session, At(now_ms()))),
    };
    match form {
        Form::Json => say::json(&said),
        Form::Text => {
            let rules = match &said["rules"] {
                Value::Array(rules) => {
                    rules.iter().filter_map(Value::as_str).map(visible).collect::<Vec<_>>().join(", ")
                }
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => String::new(),
            };
            let by = if rules.is_empty() { say::field(&said, "by") } else { rules };
            line(format_args!("{} ({by})", say::field(&said, "decision")));
            line(format_args!("  {}", say::field(&said, "reason")));
        }
    }
    if said["decision"] == "deny" { exit::no() } else { exit::DONE }
}

fn said(ruling: Ruling) -> Value {
    match ruling {
        Ruling::Allow { rules, reason, .. } => {
            json!({ "decision": "allow", "by": "policy", "rules": rules, "reason": reason })
        }
        Ruling::Deny { by, reason } => {
            let by = serde_json::to_value(by).unwrap_or_default();
            let rules: Vec<&Value> = by.get("rule").into_iter().collect();
            let word = if rules.is_empty() { "default" } else { "policy" };
            json!({ "decision": "deny", "by": word, "rules": rules, "reason": reason })
        }
        Ruling::Ask { rule, reason, timeout_ms } => {
            let word = if rule.is_some() { "policy" } else { "default" };
            let rules: Vec<String> = rule.into_iter().collect();
            json!({ "decision": "ask", "by": word, "rules": rules, "reason": reason, "timeout_ms": timeout_ms })
        }
    }
}

fn load(path: &std::path::Path) -> Result<Policy, NoPolicy> {
    parse(&std::fs::read_to_string(path)?)
}

fn parse(text: &str) -> Result<Policy, NoPolicy> {
    let bindings = placet_gate::bindings().map_err(|error| NoPolicy::Unreadable(error.to_string()))?;
    // The digest of a policy that is only looked at goes nowhere.
    Policy::parse_for(text, Digest::new([0; 32]), &bindings)
        .map_err(|error| NoPolicy::Invalid(Box::new(error), text.to_owned()))
}

fn no(no_policy: &NoPolicy, form: Form, shown: &str) -> ExitCode {
    match (no_policy, form) {
        (NoPolicy::Unreadable(error), _) => {
            say::trouble(format_args!("{shown}: {error}"));
            exit::usage()
        }
        (NoPolicy::Invalid(error, _), Form::Json) => {
            let PolicyError { message, line, column, hint } = error.as_ref();
            let error = json!({ "message": message, "line": line, "column": column, "hint": hint });
            say::json(&json!({ "ok": false, "file": shown, "error": error }));
            exit::no()
        }
        (NoPolicy::Invalid(error, text), Form::Text) => {
            line(error.report(text, shown).trim_end());
            exit::no()
        }
    }
}
