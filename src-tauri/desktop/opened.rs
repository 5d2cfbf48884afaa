//! The gate behind the window, or why there is none: then the window says so, and every command is refused.

use placet_gate::{Desk, ErrorBody, Gate, Host, Options, Places, Seat, show_running_window};
use serde_json::Value;

/// A gate, or the reason why it could not be opened.
pub(crate) enum Opened {
    Gate { gate: Gate, desk: Desk, _log: Option<placet_gate::LogGuard> },
    Failed { message: String },
}

impl Opened {
    pub(crate) async fn open(places: Places) -> Self {
        let log = places.prepare().ok().and_then(|()| placet_gate::start_log(&places).ok());
        let options = Options { places, host: Host::Window, version: env!("CARGO_PKG_VERSION").to_owned() };
        match placet_gate::open(options).await {
            Ok(gate) => Self::Gate { desk: gate.desk(Seat::Window), gate, _log: log },
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
        match self {
            Self::Gate { desk, .. } => desk.call(method, params.unwrap_or(Value::Null)).await,
            Self::Failed { message } => Err(ErrorBody::not_open(message)),
        }
    }

    pub(crate) async fn close(&self) {
        if let Some(gate) = self.gate() {
            gate.close().await;
        }
    }
}

/// Shows the window that has this data directory open already, if there is one.
pub(crate) fn show_the_first(places: &Places) -> bool {
    show_running_window(places)
}
