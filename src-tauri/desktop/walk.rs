//! The chain walked from the window: one walk at a time, which says how far it is and can be stopped.

use std::time::Duration;

use placet_domain::RefusalCode;
use placet_gate::{ErrorBody, Walk};
use serde::Serialize;
use serde_json::Value;
use tauri::{AppHandle, Emitter as _};
use tokio::time::Instant;

use crate::{keys::Keys, turn::Turns};

/// The window is told of progress no more often.
const PROGRESS: Duration = Duration::from_millis(100);

/// Walks the chain once at a time.
#[derive(Default)]
pub(crate) struct Walker {
    turns: Turns,
}

/// How far it is, in facts.
#[derive(Clone, Copy, Serialize)]
struct Progress {
    rows: u64,
    of: u64,
}

impl Walker {
    /// Walks, and tells the window how far it is.
    pub(crate) async fn walk(&self, app: &AppHandle, walk: Walk) -> Result<Value, ErrorBody> {
        let Some(turn) = self.turns.begin() else {
            return Err(ErrorBody::invalid_params("The chain is being walked. Wait for the end, or stop it."));
        };
        let (app, stop) = (app.clone(), turn.stop.clone());
        let walked = tauri::async_runtime::spawn_blocking(move || {
            let mut told = Instant::now();
            walk.walk(&mut |rows, of| {
                if told.elapsed() >= PROGRESS {
                    told = Instant::now();
                    if let Err(error) = app.emit_to(Keys::of(&app).label(), "walk", Progress { rows, of }) {
                        tracing::warn!(%error, "the window did not hear how far the walk is");
                    }
                }
                stop.asked()
            })
        });
        walked
            .await
            .map_err(|error| ErrorBody::from(RefusalCode::NotRead.because(format!("The walk broke off: {error}"))))?
    }

    /// Stops the one that is under way, if there is one.
    pub(crate) fn stop(&self) {
        self.turns.stop();
    }
}
