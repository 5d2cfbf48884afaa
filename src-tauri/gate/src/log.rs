//! The program's own log: JSON lines in `DATA/log`, a file a day, seven kept. It never holds what a call holds: inputs,
//! paths and commands go into the history only.

use std::io;

use placet_ipc::Places;
use tracing_appender::{
    non_blocking::WorkerGuard,
    rolling::{Builder, Rotation},
};
use tracing_subscriber::EnvFilter;

/// Starts the log. Keep the guard: dropping it writes what is left.
pub fn start_log(places: &Places) -> io::Result<WorkerGuard> {
    let appender = Builder::new()
        .rotation(Rotation::DAILY)
        .filename_prefix("placet")
        .filename_suffix("jsonl")
        .max_log_files(7)
        .build(&places.log)
        .map_err(io::Error::other)?;
    let (writer, guard) = tracing_appender::non_blocking(appender);
    let subscriber = tracing_subscriber::fmt()
        .json()
        .flatten_event(true)
        .with_writer(writer)
        .with_env_filter(EnvFilter::new("info"))
        .finish();
    // A second log in one process (tests) keeps the first.
    let _ = tracing::subscriber::set_global_default(subscriber);
    Ok(guard)
}
