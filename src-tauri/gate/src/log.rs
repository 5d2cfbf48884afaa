//! The program's own log: JSON lines in `DATA/log`, a file a day, seven kept. It never holds what a call holds: inputs,
//! paths and commands go into the history only, and what looks like a secret all the same is masked on the way.

use std::io::{self, Write};

use placet_domain::redact::redact;
use placet_ipc::Places;
use tracing_appender::{
    non_blocking::WorkerGuard,
    rolling::{Builder, Rotation},
};
use tracing_subscriber::{EnvFilter, fmt::MakeWriter};

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
        .with_writer(Masked(writer))
        .with_env_filter(EnvFilter::new("info"))
        .finish();
    // A second log in one process (tests) keeps the first.
    let _ = tracing::subscriber::set_global_default(subscriber);
    Ok(guard)
}

/// Masks secrets in each line before it is written.
struct Masked<M>(M);

/// A line under way.
struct Line<W: Write>(W);

impl<'a, M: MakeWriter<'a>> MakeWriter<'a> for Masked<M> {
    type Writer = Line<M::Writer>;

    fn make_writer(&'a self) -> Self::Writer {
        Line(self.0.make_writer())
    }
}

impl<W: Write> Write for Line<W> {
    /// An event comes as one piece.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write_all(redact(&String::from_utf8_lossy(bytes)).text.as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    #[derive(Clone, Default)]
    struct Kept(Arc<Mutex<Vec<u8>>>);

    impl Write for Kept {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_secret_that_gets_into_an_event_is_masked_in_the_log() {
        let kept = Kept::default();
        let writer = kept.clone();
        let subscriber = tracing_subscriber::fmt().json().with_writer(Masked(move || writer.clone())).finish();
        tracing::subscriber::with_default(subscriber, || {
            tracing::warn!(error = "curl -H 'Authorization: Bearer sk-ant-REDACTED'", "no");
        });
        let text = String::from_utf8(kept.0.lock().unwrap().clone()).unwrap();
        assert!(text.contains("\"no\"") && text.ends_with('\n'), "{text}");
        assert!(!text.contains("0123456789abcdef"), "{text}");
    }
}
