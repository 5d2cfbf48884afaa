//! Hooks: deterministic code on the way of every call, and at three more points of the loop and its end.

mod audit;
mod chain;
mod clamp;
pub mod external;
mod mask;
mod names;

use std::sync::Arc;

use placet_domain::At;
use serde_json::Value;

pub use audit::Audit;
pub use chain::{Asking, Chain, Judgement};
pub use clamp::{Clamp, Clamps};
pub use external::External;
pub use mask::Mask;
pub use names::Names;

use crate::{Later, context::Context, machine::Point, message::Message, summary::Summary, tools::Output};

/// A hook did not do its work. In a pre hook this ends the run; in a post or stop hook it is logged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct HookError(pub String);

/// What a hook costs; cheap ones go first. The gate, which may ask a person, is always last and no hook of this kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cost {
    /// A look at memory.
    Cheap,
    /// A program is started.
    Process,
}

/// A call on its way through the chain.
#[derive(Clone, Debug)]
pub struct Call {
    /// Who is asking: frozen.
    pub context: Arc<Context>,
    /// The model's id of the call.
    pub id: String,
    /// Which tool.
    pub tool: String,
    /// The input as the hook before left it.
    pub input: Value,
    /// The input as the model wrote it; no rewrite touches it.
    pub original: Value,
}

/// What became of a call, for the post hooks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fate {
    /// `allowed`, `denied`, `answered` (by a hook, in the tool's place) or `failed` (a check did not run).
    pub decision: Decided,
    /// How long the tool ran.
    pub duration_ms: u64,
    /// When it was through, by the gate's clock.
    pub at_ms: At,
}

/// How a call was decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decided {
    /// The tool ran.
    Allowed,
    /// It did not.
    Denied,
    /// A hook answered in its place.
    Answered,
    /// A check failed, so it did not run.
    Failed,
}

impl Decided {
    /// The word in the exports and on the bus.
    pub fn word(self) -> &'static str {
        match self {
            Self::Allowed => "allowed",
            Self::Denied => "denied",
            Self::Answered => "answered",
            Self::Failed => "failed",
        }
    }
}

/// What a pre-tool hook says.
#[derive(Clone, Debug, PartialEq)]
pub enum Pre {
    /// Nothing against it.
    Pass,
    /// Go on with this input instead. The whole of it, not a change to it.
    Rewrite(Value),
    /// No, and why, and what to do instead.
    Deny(String),
    /// A person must say, whatever the policy says; and why.
    Ask(String),
    /// The tool is not run; this is its result.
    Answer(Output),
}

/// The loop as a hook sees it at one of its points.
#[derive(Clone, Copy, Debug)]
pub struct Moment<'a> {
    /// Which point.
    pub point: Point,
    /// Who: frozen.
    pub context: &'a Context,
    /// The turn, from 1.
    pub turn: u32,
    /// The conversation so far.
    pub messages: &'a [Message],
}

/// Code at the points of the loop. Every method may be left as it is: then the hook has nothing to say there.
pub trait Hook: Send + Sync {
    /// Its name, which is also its identity: installed twice, it runs once.
    fn name(&self) -> &str;

    /// What it costs.
    fn cost(&self) -> Cost {
        Cost::Cheap
    }

    /// Before a turn, before a request to the provider, after a turn. An error before something ends the run.
    fn at<'a>(&'a self, moment: Moment<'a>) -> Later<'a, Result<(), HookError>> {
        let _ = moment;
        Box::pin(std::future::ready(Ok(())))
    }

    /// Before a tool.
    fn before_tool<'a>(&'a self, call: &'a Call) -> Later<'a, Result<Pre, HookError>> {
        let _ = call;
        Box::pin(std::future::ready(Ok(Pre::Pass)))
    }

    /// After a tool, or after it was refused: passes the result on, perhaps changed.
    fn after_tool<'a>(
        &'a self,
        call: &'a Call,
        fate: &'a Fate,
        output: Output,
    ) -> Later<'a, Result<Output, HookError>> {
        let _ = (call, fate);
        Box::pin(std::future::ready(Ok(output)))
    }

    /// At the session's end.
    fn at_stop<'a>(&'a self, context: &'a Context, summary: &'a Summary) -> Later<'a, Result<(), HookError>> {
        let _ = (context, summary);
        Box::pin(std::future::ready(Ok(())))
    }
}
