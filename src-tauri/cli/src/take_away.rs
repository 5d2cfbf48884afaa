//! What may be taken away from the command line: a question, a grant, everybody's leave to act.

use std::process::ExitCode;

use placet_ipc::{
    Places,
    message::{Done, Nothing, Outcomes, TakeAway, method},
};

use crate::{
    exit,
    say::{self, Form, line, visible},
    views::{ask, failed},
};

/// What is taken away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Approvals, with a no.
    Deny,
    /// Approvals, without an answer.
    Cancel,
    /// Grants.
    Revoke,
}

impl Kind {
    fn method(self) -> &'static str {
        match self {
            Self::Deny => method::APPROVAL_DENY,
            Self::Cancel => method::APPROVAL_CANCEL,
            Self::Revoke => method::GRANT_REVOKE,
        }
    }

    /// The state that was wanted.
    fn state(self) -> &'static str {
        match self {
            Self::Deny => "denied",
            Self::Cancel => "cancelled",
            Self::Revoke => "revoked",
        }
    }
}

/// `deny`, `cancel` and `revoke`. Exit code 1 if one of them is not in the wanted state now.
pub(crate) fn run(places: &Places, form: Form, kind: Kind, ids: Vec<String>, note: Option<String>) -> ExitCode {
    let outcomes: Outcomes = match ask(places, kind.method(), &TakeAway { ids, note }) {
        Ok(outcomes) => outcomes,
        Err(error) => return failed(form, &error),
    };
    if form == Form::Json {
        say::json(&outcomes);
    } else {
        for outcome in &outcomes.outcomes {
            let state = match (&outcome.state, outcome.changed) {
                (Some(state), true) => state.clone(),
                (Some(state), false) => format!("{state} already"),
                (None, _) => "there is no such thing".to_owned(),
            };
            line(format_args!("{}  {}", visible(&outcome.id), visible(&state)));
        }
    }
    let wanted = outcomes.outcomes.iter().all(|outcome| outcome.state.as_deref() == Some(kind.state()));
    if wanted { exit::DONE } else { exit::no() }
}

/// `pause`.
pub(crate) fn pause(places: &Places, form: Form) -> ExitCode {
    match ask::<_, Done>(places, method::PAUSE, &Nothing {}) {
        Err(error) => failed(form, &error),
        Ok(Done {}) if form == Form::Json => {
            say::json(&serde_json::json!({ "paused": true }));
            exit::DONE
        }
        Ok(Done {}) => {
            line("Everything is denied from now on. Only the window lifts it.");
            exit::DONE
        }
    }
}
