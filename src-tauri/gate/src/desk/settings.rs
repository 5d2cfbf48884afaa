//! The settings at the desk. None of them allows anything; how many may wait is the policy's, and changed there.

use placet_domain::{RefusalCode, policy::Bounds};
use placet_ipc::ErrorBody;
use serde::{Deserialize, Serialize};
use toml_edit::DocumentMut;

use super::{Answer, Desk, policy::PutParams, say};
use crate::{
    autostart::Autostart,
    settings::{self, ChangeError, Notifications, NotificationsChange, Settings, WhenNoGate},
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NoParams {}

/// What is to be another. What is left out stays.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PutSettings {
    notifications: Option<NotificationsChange>,
    when_no_gate: Option<WhenNoGate>,
    start_at_login: Option<bool>,
    waiting: Option<WaitingChange>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WaitingChange {
    per_session: Option<u32>,
    in_all: Option<u32>,
}

/// The settings as they are.
#[derive(Debug, Serialize)]
struct SettingsState {
    notifications: Notifications,
    when_no_gate: WhenNoGate,
    /// None where these are not the places that a start at login would have.
    start_at_login: Option<bool>,
    waiting: Waiting,
    path: String,
    /// Why the file is not followed.
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
}

#[derive(Debug, Serialize)]
struct Waiting {
    per_session: usize,
    in_all: usize,
}

impl Desk {
    pub(super) fn settings_get(&self, _: &NoParams) -> Answer {
        let places = &self.gate.inner.places;
        let (settings, problem) = match Settings::read(&places.config) {
            Ok(settings) => (settings, None),
            Err(problem) => (Settings::default(), Some(problem)),
        };
        let Bounds { per_session, in_all } = self.gate.look(|state| state.policy.bounds());
        say(&SettingsState {
            notifications: settings.notifications,
            when_no_gate: settings::when_no_gate(places),
            start_at_login: Autostart::of(places).map(|autostart| autostart.is_on()),
            waiting: Waiting { per_session, in_all },
            path: places.config.join("settings.toml").display().to_string(),
            problem,
        })
    }

    pub(super) async fn settings_put(&self, params: PutSettings) -> Answer {
        let PutSettings { notifications, when_no_gate, start_at_login, waiting } = params;
        let places = self.gate.inner.places.clone();
        let change = settings::Change { notifications, when_no_gate };
        let written = self.gate.runtime().spawn_blocking(move || {
            settings::change(&places.config, &change).map_err(|error| refused(&error))?;
            start_at_login.map_or(Ok(()), |on| set_autostart(&places, on))
        });
        written.await.map_err(|error| not_written(&error))??;
        if let Some(waiting) = waiting {
            self.set_bounds(&waiting).await?;
        }
        self.settings_get(&NoParams {})
    }

    /// Two lines of the policy file; it is checked and comes into force as a whole, as any change of it.
    async fn set_bounds(&self, waiting: &WaitingChange) -> Result<(), ErrorBody> {
        let seen = self.gate.inner.policy.seen();
        if let Some(problem) = seen.problem {
            return Err(not_written(&format!(
                "the policy file has a mistake, so nothing is put into it: {}",
                problem.message
            )));
        }
        let mut document: DocumentMut = seen.text.parse().map_err(|error| not_written(&error))?;
        for (name, bound) in [("waiting_per_session", waiting.per_session), ("waiting_in_all", waiting.in_all)] {
            if let Some(bound) = bound {
                settings::set(document.as_table_mut(), name, i64::from(bound));
            }
        }
        let text = document.to_string();
        if text == seen.text {
            return Ok(());
        }
        let digest = seen.digest.unwrap_or_else(|| crate::sha256(b""));
        self.policy_put(PutParams { text, digest }).await.map(drop)
    }
}

fn set_autostart(places: &placet_ipc::Places, on: bool) -> Result<(), ErrorBody> {
    let Some(autostart) = Autostart::of(places) else {
        return Err(ErrorBody::invalid_params(
            "This Placet has places of its own (flags say so): starting at login is for the one without flags.",
        ));
    };
    let program = std::env::current_exe().map_err(|error| not_written(&error))?;
    autostart.set(on, &program).map_err(|error| not_written(&format!("{}: {error}", autostart.file().display())))
}

fn refused(error: &ChangeError) -> ErrorBody {
    match error {
        ChangeError::Wrong(why) => ErrorBody::invalid_params(format!("{why}. Nothing was changed.")),
        ChangeError::Unreadable(why) => not_written(&format!("{why}. Nothing was changed: mend the file first.")),
        ChangeError::Unwritten(error) => not_written(error),
    }
}

fn not_written(why: &dyn std::fmt::Display) -> ErrorBody {
    RefusalCode::NotWritten.because(format!("The settings were not written: {why}")).into()
}
