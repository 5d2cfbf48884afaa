//! The person's face: it lists, approves, denies, cancels, grants, revokes, searches. The window and the supervisor are
//! two thin adapters over `Desk::call`; neither decides anything.

mod approvals;
mod export;
mod grants;
mod history;
mod policy;
mod propose;
mod sessions;
mod settings;
pub mod shapes;

use placet_domain::{By, RefusalCode};
use placet_ipc::ErrorBody;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

pub use export::Export;
pub use history::Walk;

use crate::Gate;

/// Who sits at the desk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seat {
    /// The person at the window.
    Window,
    /// A program that supervises `placet serve`.
    Supervisor,
    /// The agents' side: looks, and takes away through the socket's own methods.
    Agents,
}

/// A desk of one gate.
#[derive(Clone, Debug)]
pub struct Desk {
    gate: Gate,
    seat: Seat,
}

/// What a method is allowed to do: the three keys of the window's capabilities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// Looks.
    Look,
    /// Answers, and takes away.
    Decide,
    /// Changes the policy, lifts a pause.
    Configure,
}

/// Every method of the desk, with the key it needs.
pub const METHODS: &[(&str, Key)] = &[
    ("snapshot", Key::Look),
    ("approvals.list", Key::Look),
    ("approvals.get", Key::Look),
    ("approvals.shown", Key::Look),
    ("approvals.preview", Key::Look),
    ("approvals.approve", Key::Decide),
    ("approvals.deny", Key::Decide),
    ("approvals.cancel", Key::Decide),
    ("grants.list", Key::Look),
    ("grants.preview", Key::Look),
    ("grants.revoke", Key::Decide),
    ("grants.shorten", Key::Decide),
    ("history.search", Key::Look),
    ("history.get", Key::Look),
    ("history.stats", Key::Look),
    ("history.verify", Key::Look),
    ("sessions.list", Key::Look),
    ("sessions.stop", Key::Decide),
    ("policy.get", Key::Look),
    ("policy.check", Key::Look),
    ("policy.try", Key::Look),
    ("policy.propose", Key::Look),
    ("policy.put", Key::Configure),
    ("settings.get", Key::Look),
    ("settings.put", Key::Configure),
    ("pause", Key::Decide),
    ("resume", Key::Configure),
];

type Answer = Result<Value, ErrorBody>;

impl Desk {
    pub(crate) fn new(gate: Gate, seat: Seat) -> Self {
        Self { gate, seat }
    }

    /// Carries out a method of the contract with its parameters.
    ///
    /// # Errors
    /// A code of the closed set, a sentence, and what goes with the code.
    pub async fn call(&self, method: &str, params: Value) -> Answer {
        let Some((_, key)) = METHODS.iter().find(|(name, _)| *name == method) else {
            return Err(ErrorBody::unknown_method(method));
        };
        if self.seat == Seat::Agents && *key != Key::Look {
            return Err(ErrorBody::unknown_method(method));
        }
        let params = if params.is_null() { Value::Object(serde_json::Map::new()) } else { params };
        match method {
            "snapshot" => self.snapshot(read(params)?).await,
            "approvals.list" => self.approvals_list(read(params)?).await,
            "approvals.get" => self.approvals_get(read(params)?).await,
            "approvals.shown" => {
                self.approvals_shown(&read(params)?);
                Ok(Value::Object(serde_json::Map::new()))
            }
            "approvals.preview" => self.approvals_preview(read(params)?).await,
            "approvals.approve" => self.approvals_approve(read(params)?).await,
            "approvals.deny" => self.approvals_deny(read(params)?).await,
            "approvals.cancel" => self.approvals_cancel(params).await,
            "grants.list" => self.grants_list(read(params)?).await,
            "grants.preview" => self.grants_preview(read(params)?).await,
            "grants.revoke" => self.grants_revoke(read(params)?).await,
            "grants.shorten" => self.grants_shorten(read(params)?).await,
            "history.search" => self.history_search(read(params)?).await,
            "history.get" => self.history_get(read(params)?).await,
            "history.stats" => self.history_stats(read(params)?).await,
            "history.verify" => self.history_verify(read(params)?).await,
            "sessions.list" => self.sessions_list(read(params)?).await,
            "sessions.stop" => self.sessions_stop(read(params)?).await,
            "policy.get" => self.policy_get(&read(params)?),
            "policy.check" => self.policy_check(&read(params)?),
            "policy.try" => self.policy_try(read(params)?).await,
            "policy.propose" => self.policy_propose(read(params)?).await,
            "policy.put" => self.policy_put(read(params)?).await,
            "settings.get" => self.settings_get(&read(params)?),
            "settings.put" => self.settings_put(read(params)?).await,
            "pause" => self.pause(read(params)?).await,
            "resume" => self.resume(read(params)?).await,
            other => Err(ErrorBody::unknown_method(other)),
        }
    }

    fn by(&self) -> By {
        match self.seat {
            Seat::Window => By::User,
            Seat::Supervisor => By::Supervisor,
            Seat::Agents => By::Command,
        }
    }

    /// Reads the store beside the other tasks.
    async fn read<T: Send + 'static>(
        &self,
        look: impl FnOnce(placet_store::Reader) -> Result<T, placet_store::StoreError> + Send + 'static,
    ) -> Result<T, ErrorBody> {
        let reader = self.gate.reader();
        let looked = self.gate.runtime().spawn_blocking(move || look(reader)).await;
        looked.map_err(|error| unreadable(&error))?.map_err(|error| unreadable(&error))
    }
}

fn unreadable(error: &dyn std::fmt::Display) -> ErrorBody {
    tracing::error!(%error, "the history could not be read");
    RefusalCode::NotRead.because(format!("The history could not be read: {error}")).into()
}

fn read<T: DeserializeOwned>(params: Value) -> Result<T, ErrorBody> {
    serde_json::from_value(params).map_err(|error| ErrorBody::invalid_params(error.to_string()))
}

fn say<T: Serialize>(shape: &T) -> Answer {
    serde_json::to_value(shape).map_err(|error| ErrorBody::invalid_params(error.to_string()))
}
