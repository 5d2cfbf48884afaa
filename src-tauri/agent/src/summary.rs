//! What a run came to.

use placet_domain::At;
use serde::Serialize;
use serde_json::{Value, json};

use crate::{context::Context, machine::Ending, message::Usage};

/// What a run came to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// The run's own id, under which it can be taken up again.
    pub run: String,
    /// How it ended.
    #[serde(flatten)]
    pub ending: Ending,
    /// Turns taken.
    pub turns: u32,
    /// Tokens, as counted by the provider.
    pub usage: Usage,
    /// What was counted of its calls.
    pub tally: Tally,
    /// How many of its calls a person let through.
    pub approvals: u32,
    /// Time spent waiting in the gate, most of it for a person.
    pub waited_ms: u64,
    /// When it ended, by the gate's clock.
    pub ended_at_ms: At,
    /// What the model said last.
    pub last_words: String,
}

/// What was counted of a run's calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// All of them.
    pub calls: u32,
    /// That ran.
    pub allowed: u32,
    /// That did not.
    pub denied: u32,
    /// That a person was asked about, or would have been.
    pub asked: u32,
    /// Changes to files that a rule refused without asking.
    pub blocked_protected: u32,
    /// Whose arguments were held within bounds.
    pub clamped: u32,
    /// In whose results a secret was masked.
    pub masked: u32,
    /// That went through the audit, denied ones included.
    pub audited: u32,
}

impl Summary {
    /// The line of `session_summaries.jsonl`.
    pub fn line(&self, context: &Context) -> Value {
        json!({
            "session": context.session(), "agent": context.agent(), "workspace": context.workspace(),
            "parent": context.parent(), "run": self.run, "outcome": self.ending, "turns": self.turns,
            "calls": self.tally.calls, "denials": self.tally.denied, "asks": self.tally.asked,
            "approvals": self.approvals, "waited_ms": self.waited_ms,
            "tokens": self.usage, "at_ms": self.ended_at_ms,
        })
    }
}
