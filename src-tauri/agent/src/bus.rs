//! The event bus: watches a run, decides nothing. Who does not keep up misses events and nothing else.

use std::sync::Arc;

use placet_domain::SessionId;
use serde::Serialize;
use tokio::sync::broadcast;

use crate::{machine::Ending, message::Usage};

/// What can be watched.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Watched {
    /// The run has a session.
    SessionStarted {
        /// Which.
        session: SessionId,
    },
    /// A turn begins.
    TurnStarted {
        /// From 1.
        turn: u32,
    },
    /// A piece of the model's words, as it comes.
    Text {
        /// The piece.
        text: String,
    },
    /// The provider is asked again, after a failure; pieces of this turn heard so far are void.
    ProviderRetried {
        /// Why.
        message: String,
        /// After how long.
        after_ms: u64,
    },
    /// A call goes into the chain.
    ToolStarted {
        /// The model's id of it.
        call_id: String,
        /// Which tool.
        tool: String,
        /// The arguments, secrets masked.
        input: String,
    },
    /// A call is through.
    ToolEnded {
        /// The model's id of it.
        call_id: String,
        /// Which tool.
        tool: String,
        /// `allowed`, `denied`, `answered` or `failed`.
        decision: String,
        /// Whether the model is told of a failure.
        is_error: bool,
        /// What the model reads, secrets masked.
        text: String,
    },
    /// What was counted so far.
    Usage {
        /// The sum.
        usage: Usage,
    },
    /// A hook failed; where it stood before something, the run ends.
    HookFailed {
        /// Which.
        hook: String,
        /// At which point.
        point: String,
        /// What happened.
        message: String,
    },
    /// It is over.
    Ended {
        /// How.
        ending: Ending,
    },
}

/// Sends what happens to whoever watches. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Bus(broadcast::Sender<Arc<Watched>>);

impl Default for Bus {
    fn default() -> Self {
        Self(broadcast::channel(1_024).0)
    }
}

impl Bus {
    /// A new watcher; it hears what happens from now on.
    pub fn watch(&self) -> broadcast::Receiver<Arc<Watched>> {
        self.0.subscribe()
    }

    pub(crate) fn tell(&self, watched: Watched) {
        let _ = self.0.send(Arc::new(watched));
    }
}
