//! `placet serve`: the gate without a window. Nobody is there to ask, so what would be asked is denied.

use std::process::ExitCode;

use placet_gate::{Gate, Host, OpenError, Options, Places};
use tokio::{
    runtime::Runtime,
    signal::unix::{SignalKind, signal},
};

use crate::{
    exit,
    say::{self, Form},
    start,
};

/// Runs until it is told to end: by SIGTERM (a window takes over, or whoever started it), by SIGINT.
pub(crate) fn run(places: Places, form: Form, detached: bool) -> ExitCode {
    if detached {
        start::detach(&places);
    }
    let runtime = match runtime() {
        Ok(runtime) => runtime,
        Err(code) => return code,
    };
    let socket = places.socket.display().to_string();
    let ended = runtime.block_on(async {
        let gate = open(places, Host::Serve).await?;
        if form == Form::Json {
            say::json(&serde_json::json!({ "listening": socket, "pid": std::process::id() }));
        } else {
            say::line(format_args!("The gate listens at {socket}. What would be asked is denied; Ctrl-C ends it."));
        }
        told_to_end().await;
        gate.close().await;
        Ok(exit::DONE)
    });
    // What may still run in a blocking thread is not worth waiting for: the last fact is on disk.
    runtime.shutdown_background();
    ended.unwrap_or_else(|code| code)
}

/// A runtime for a gate.
pub(crate) fn runtime() -> Result<Runtime, ExitCode> {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().map_err(|error| {
        say::trouble(error);
        exit::no()
    })
}

/// Opens the gate with its log, or says why not.
pub(crate) async fn open(places: Places, host: Host) -> Result<Open, ExitCode> {
    let options = Options { places: places.clone(), host, version: env!("CARGO_PKG_VERSION").to_owned() };
    let gate = placet_gate::open(options).await.map_err(|error: OpenError| {
        say::trouble(error);
        exit::no()
    })?;
    // After the folders were made and checked, and the lock is ours.
    let log = placet_gate::start_log(&places)
        .inspect_err(|error| say::trouble(format_args!("there is no log: {error}")))
        .ok();
    Ok(Open { gate, _log: log })
}

/// An open gate and its log.
pub(crate) struct Open {
    pub(crate) gate: Gate,
    _log: Option<placet_gate::LogGuard>,
}

impl std::ops::Deref for Open {
    type Target = Gate;
    fn deref(&self) -> &Gate {
        &self.gate
    }
}

/// Done when SIGTERM or SIGINT has come. A system that lets nobody listen for signals ends the process by itself.
pub(crate) async fn told_to_end() {
    let (Ok(mut terminate), Ok(mut interrupt)) = (signal(SignalKind::terminate()), signal(SignalKind::interrupt()))
    else {
        return std::future::pending().await;
    };
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
}
