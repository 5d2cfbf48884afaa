//! A run of the built-in agent on its way to the window that looks at it: what it told so far as the answer, what comes
//! next as the event `run`, some at a time.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use placet_agent::{Followed, Told};
use placet_domain::SessionId;
use serde::Serialize;
use tauri::{AppHandle, Emitter as _, async_runtime};
use tokio::{
    sync::broadcast::{Receiver, error::RecvError},
    time::Instant,
};

use crate::keys::Keys;

/// What is told within this time goes to the window together.
const TOGETHER: Duration = Duration::from_millis(40);
/// At most so many at once.
const AT_ONCE: usize = 256;

/// Follows one run at a time: the window shows one.
#[derive(Default)]
pub(crate) struct Follower(Mutex<Option<async_runtime::JoinHandle<()>>>);

/// What a run told before the window looked.
#[derive(Debug, Serialize)]
pub(crate) struct SoFar {
    told: Vec<Told>,
    /// Whether there was more, longer ago.
    forgotten: bool,
}

/// What came next.
#[derive(Clone, Serialize)]
struct Next<'a> {
    session: SessionId,
    told: &'a [Arc<Told>],
    /// Some are missing before these: the window asks anew.
    missed: bool,
}

impl Follower {
    /// Leaves the run that was followed before.
    pub(crate) fn leave(&self) {
        self.put(None);
    }

    /// Follows this one, until it is over or another is followed.
    pub(crate) fn follow(&self, app: &AppHandle, session: SessionId, followed: Followed) -> SoFar {
        let Followed { told, forgotten, next } = followed;
        let app = app.clone();
        self.put(Some(async_runtime::spawn(async move { pass_on(&app, session, next).await })));
        SoFar { told, forgotten }
    }

    fn put(&self, next: Option<async_runtime::JoinHandle<()>>) {
        let before = std::mem::replace(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner), next);
        if let Some(before) = before {
            before.abort();
        }
    }
}

async fn pass_on(app: &AppHandle, session: SessionId, mut next: Receiver<Arc<Told>>) {
    loop {
        let (mut told, mut missed, mut over) = (Vec::new(), false, false);
        match next.recv().await {
            Ok(one) => told.push(one),
            Err(RecvError::Lagged(_)) => missed = true,
            Err(RecvError::Closed) => return,
        }
        let until = Instant::now() + TOGETHER;
        while told.len() < AT_ONCE
            && !missed
            && !over
            && let Ok(heard) = tokio::time::timeout_at(until, next.recv()).await
        {
            match heard {
                Ok(one) => told.push(one),
                Err(RecvError::Lagged(_)) => missed = true,
                Err(RecvError::Closed) => over = true,
            }
        }
        if let Err(error) = app.emit_to(Keys::of(app).label(), "run", Next { session, told: &told, missed }) {
            tracing::warn!(%error, "the window did not hear of a run");
        }
        if over || missed {
            return;
        }
    }
}
