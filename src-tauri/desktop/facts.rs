//! Facts on their way to the window, the tray and the notifications: each once, after it is on disk.

use placet_gate::Gate;
use tauri::{AppHandle, Emitter as _, async_runtime};
use tokio::{sync::broadcast::error::RecvError, time::Instant};

use crate::{keys::Keys, notification::Notifier, tray};

/// Tells of facts until the gate is closed. A lag shows in the window as a gap in `seq`: it then reads everything anew.
pub(crate) fn follow(app: AppHandle, gate: Gate) {
    async_runtime::spawn(async move {
        let mut facts = gate.facts();
        let mut notifier = Notifier::new(app.clone());
        tray::update(&app, &gate);
        loop {
            let due = notifier.due();
            tokio::select! {
                fact = facts.recv() => match fact {
                    Ok(entry) => {
                        if let Err(error) = app.emit_to(Keys::of(&app).label(), "fact", &*entry) {
                            tracing::warn!(%error, "the window did not hear a fact");
                        }
                        notifier.hear(&gate, &entry);
                        tray::update(&app, &gate);
                    }
                    Err(RecvError::Lagged(missed)) => {
                        tracing::info!(missed, "the window was slow and reads anew");
                        tray::update(&app, &gate);
                    }
                    Err(RecvError::Closed) => return,
                },
                () = tokio::time::sleep_until(due.unwrap_or_else(Instant::now)), if due.is_some() => notifier.tell(&gate),
            }
        }
    });
}
