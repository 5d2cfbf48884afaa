//! The gate behind the window, or why there is none: then the window says so, and every command is refused.

use placet_agent::{Followed, Order, Runs};
use placet_domain::{RefusalCode, SessionId};
use placet_gate::{Desk, ErrorBody, Export, Gate, Host, Options, Places, Seat, Walk, show_running_window};
use serde::Deserialize;
use serde_json::{Value, json};

/// A gate, or the reason why it could not be opened.
pub(crate) enum Opened {
    Gate { gate: Gate, desk: Desk, runs: Runs, _log: Option<placet_gate::LogGuard> },
    Failed { message: String },
}

impl Opened {
    pub(crate) async fn open(places: Places) -> Self {
        let log = places.prepare().ok().and_then(|()| placet_gate::start_log(&places).ok());
        let (config, data) = (places.config.clone(), places.data.clone());
        let options = Options { places, host: Host::Window, version: env!("CARGO_PKG_VERSION").to_owned() };
        match placet_gate::open(options).await {
            Ok(gate) => {
                let runs = Runs::new(gate.clone(), &config, &data);
                let broken_off = runs.clone();
                tokio::spawn(async move { broken_off.take_up().await });
                Self::Gate { desk: gate.desk(Seat::Window), gate, runs, _log: log }
            }
            Err(error) => {
                tracing::error!(%error, "the gate could not be opened");
                Self::Failed { message: error.to_string() }
            }
        }
    }

    pub(crate) fn gate(&self) -> Option<&Gate> {
        match self {
            Self::Gate { gate, .. } => Some(gate),
            Self::Failed { .. } => None,
        }
    }

    pub(crate) async fn call(&self, method: &str, params: Option<Value>) -> Result<Value, ErrorBody> {
        let params = params.unwrap_or(Value::Null);
        match (self, method) {
            (Self::Gate { runs, .. }, "agent.start") => start(runs, params).await,
            (Self::Gate { runs, .. }, "agent.stop") => stop(runs, params),
            (Self::Gate { desk, .. }, method) => desk.call(method, params).await,
            (Self::Failed { message }, _) => Err(ErrorBody::not_open(message)),
        }
    }

    /// A run of the built-in agent, to be watched.
    pub(crate) fn follow(&self, session: SessionId) -> Result<Followed, ErrorBody> {
        match self {
            Self::Gate { runs, .. } => runs.follow(session).ok_or_else(no_such_run),
            Self::Failed { message } => Err(ErrorBody::not_open(message)),
        }
    }

    /// What is to be written out of the history.
    pub(crate) fn export(&self, params: Value) -> Result<Export, ErrorBody> {
        match self {
            Self::Gate { desk, .. } => desk.export(params),
            Self::Failed { message } => Err(ErrorBody::not_open(message)),
        }
    }

    /// A walk of the chain.
    pub(crate) fn walk(&self, params: Value) -> Result<Walk, ErrorBody> {
        match self {
            Self::Gate { desk, .. } => desk.walk(params),
            Self::Failed { message } => Err(ErrorBody::not_open(message)),
        }
    }

    pub(crate) async fn close(&self) {
        if let Some(gate) = self.gate() {
            gate.close().await;
        }
    }
}

async fn start(runs: &Runs, params: Value) -> Result<Value, ErrorBody> {
    let order = Order::deserialize(params).map_err(|error| ErrorBody::invalid_params(error.to_string()))?;
    let session = runs.start(order).await.map_err(|error| ErrorBody::invalid_params(error.to_string()))?;
    Ok(json!({ "session": session }))
}

fn stop(runs: &Runs, params: Value) -> Result<Value, ErrorBody> {
    /// The parameters.
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Which {
        session: SessionId,
    }
    let Which { session } = Which::deserialize(params).map_err(|error| ErrorBody::invalid_params(error.to_string()))?;
    if runs.stop(session) {
        return Ok(json!({}));
    }
    Err(no_such_run())
}

fn no_such_run() -> ErrorBody {
    RefusalCode::NoSuchSession.because("No run of the built-in agent has this session here.").into()
}

/// Shows the window that has this data directory open already, if there is one.
pub(crate) fn show_the_first(places: &Places) -> bool {
    show_running_window(places)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use placet_agent::demo::Home;
    use placet_gate::Flags;

    use super::*;

    #[tokio::test(flavor = "multi_thread")]
    async fn a_run_is_started_shows_among_the_sessions_and_is_stopped() {
        let home = Home::new().unwrap();
        let opened = Opened::open(home.places(&Flags::default()).unwrap()).await;
        let started = opened.call("agent.start", Some(json!({"provider": "demo"}))).await.unwrap();
        let sessions = opened.call("sessions.list", Some(json!({"running": true}))).await.unwrap();
        assert_eq!(sessions["items"][0]["id"], started["session"]);
        opened.call("agent.stop", Some(started.clone())).await.unwrap();
        let unknown = json!({"session": "01890a5d-ac96-774b-bcce-b302099a8057"});
        assert_eq!(opened.call("agent.stop", Some(unknown)).await.unwrap_err().word(), "no_such_session");
        for wrong in [json!({"task": "x"}), json!({"workspace": "/", "task": "x"}), json!({"shell": "x"})] {
            assert_eq!(opened.call("agent.start", Some(wrong)).await.unwrap_err().word(), "invalid_params");
        }
        opened.close().await;
        home.remove();
    }
}
