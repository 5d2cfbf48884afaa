//! The chain that every call of the built-in agent goes through: hooks in order, cheap first, and at its end the gate.

use std::sync::Arc;

use placet_domain::{ApprovalId, At, Digest};
use tokio::sync::oneshot;

use super::{Call, Cost, Fate, Hook, HookError, Moment, Pre};
use crate::{
    bus::{Bus, Watched},
    context::Context,
    corridor::{Ask, Cleared, Corridor, Verdict},
    machine::Point,
    summary::Summary,
    tools::Output,
};

/// What the pre chain makes of a call.
#[derive(Debug)]
pub enum Judgement {
    /// It may run, once.
    Cleared {
        /// The proof.
        cleared: Box<Cleared>,
        /// Whether a hook or the policy changed the input.
        rewritten: bool,
    },
    /// It may not.
    Denied {
        /// Why, and what to do instead.
        reason: String,
        /// By which hook; the gate is `gate`.
        by: String,
        /// The approval behind it, where a person was asked.
        approval: Option<ApprovalId>,
    },
    /// A hook answered in the tool's place.
    Answered(Output),
    /// A hook failed: the run ends.
    Failed {
        /// Which.
        hook: String,
        /// What happened.
        message: String,
    },
}

/// How the gate is asked at the end of the chain.
#[derive(Debug, Default)]
pub struct Asking {
    /// The model's own bytes, which go to the gate where no hook changed them.
    pub raw: Option<Arc<[u8]>>,
    /// The approval that was waited for before the run broke off.
    pub again: Option<ApprovalId>,
    /// For a tool of an MCP server: its definition's digest.
    pub definition: Option<Digest>,
    /// Why a person must look, beside what hooks say.
    pub doubt: Option<String>,
    /// Hears, if a person is asked, of the approval and its deadline.
    pub waits: Option<oneshot::Sender<(ApprovalId, At)>>,
}

/// The hooks of a session, in order, and the gate.
pub struct Chain {
    gate: Corridor,
    bus: Bus,
    hooks: Vec<Arc<dyn Hook>>,
    last: Vec<Arc<dyn Hook>>,
}

impl Chain {
    /// A chain that has only the gate.
    pub fn new(gate: impl Into<Corridor>, bus: Bus) -> Self {
        Self { gate: gate.into(), bus, hooks: Vec::new(), last: Vec::new() }
    }

    /// Adds a hook behind those that cost as much or less. One of the same name takes the place of the one before.
    pub fn install(&mut self, hook: Arc<dyn Hook>) {
        self.hooks.retain(|known| known.name() != hook.name());
        let at = self.hooks.partition_point(|known| known.cost() <= hook.cost());
        self.hooks.insert(at, hook);
    }

    /// Adds a hook that comes after all others, whatever it costs: what it sees is what is kept.
    pub fn finish_with(&mut self, hook: Arc<dyn Hook>) {
        self.last.retain(|known| known.name() != hook.name());
        self.last.push(hook);
    }

    /// The names in the order in which they run.
    pub fn names(&self) -> Vec<&str> {
        self.all().map(Hook::name).collect()
    }

    fn all(&self) -> impl Iterator<Item = &dyn Hook> {
        self.hooks.iter().chain(&self.last).map(AsRef::as_ref)
    }

    /// The pre chain. The first denial ends it; rewrites compose; the gate judges what comes out. Where hooks want a
    /// person to look, one is asked, once, with their words beside the policy's.
    pub async fn before_tool(&self, call: &mut Call, asking: Asking) -> Judgement {
        let mut doubts: Vec<String> = asking.doubt.iter().cloned().collect();
        for hook in self.all() {
            match hook.before_tool(call).await {
                Ok(Pre::Pass) => {}
                Ok(Pre::Rewrite(input)) => call.input = input,
                Ok(Pre::Ask(why)) => doubts.push(format!("The hook “{}” asks: {why}", hook.name())),
                Ok(Pre::Answer(output)) => return Judgement::Answered(output),
                Ok(Pre::Deny(reason)) => {
                    return Judgement::Denied { reason, by: hook.name().to_owned(), approval: None };
                }
                Err(HookError(message)) => {
                    let hook = hook.name().to_owned();
                    self.failed(&hook, "before_tool", &message);
                    return Judgement::Failed { hook, message };
                }
            }
        }
        let doubt = (!doubts.is_empty()).then(|| doubts.join(" "));
        self.gate(call, Asking { doubt, ..asking }).await
    }

    /// What goes to the gate is what runs: the model's own bytes where no hook changed them.
    async fn gate(&self, call: &Call, asking: Asking) -> Judgement {
        let Asking { raw, again, definition, doubt, waits } = asking;
        let untouched = call.input == call.original;
        let input = raw.filter(|_| untouched).unwrap_or_else(|| call.input.to_string().into_bytes().into());
        let ask = Ask {
            session: call.context.session(),
            call_id: Some(call.id.clone()),
            parent: None,
            tool: call.tool.clone(),
            input,
            definition,
            cwd: call.context.workspace().clone(),
            again,
            deadline_ms: None,
            hold_ms: None,
            waiter: None,
            can_edit: true,
            can_rewrite: true,
            confirms: false,
            doubt,
        };
        match self.gate.ask(ask, waits).await {
            Verdict::Allowed(cleared) => {
                let by_policy = cleared.call().rewritten.is_some();
                Judgement::Cleared { rewritten: !untouched || by_policy, cleared }
            }
            Verdict::Denied { reason, approval } => Judgement::Denied { reason, by: "gate".to_owned(), approval },
        }
    }

    /// The post chain, for every call whatever became of it. A hook that fails is told of and passed over.
    pub async fn after_tool(&self, call: &Call, fate: &Fate, mut output: Output) -> Output {
        for hook in self.all() {
            match hook.after_tool(call, fate, output.clone()).await {
                Ok(passed_on) => output = passed_on,
                Err(HookError(message)) => self.failed(hook.name(), "after_tool", &message),
            }
        }
        output
    }

    /// One of the other points. A failure before something is given back; one after it is told of.
    pub async fn at(&self, moment: Moment<'_>) -> Result<(), (String, HookError)> {
        for hook in self.all() {
            if let Err(error) = hook.at(moment).await {
                let (point, is_before) = match moment.point {
                    Point::BeforeTurn => ("before_turn", true),
                    Point::BeforeProvider => ("before_provider", true),
                    Point::AfterTurn => ("after_turn", false),
                };
                self.failed(hook.name(), point, &error.0);
                if is_before {
                    return Err((hook.name().to_owned(), error));
                }
            }
        }
        Ok(())
    }

    /// The session's end.
    pub async fn at_stop(&self, context: &Context, summary: &Summary) {
        for hook in self.all() {
            if let Err(HookError(message)) = hook.at_stop(context, summary).await {
                self.failed(hook.name(), "stop", &message);
            }
        }
    }

    fn failed(&self, hook: &str, point: &str, message: &str) {
        tracing::warn!(hook, point, message, "a hook failed");
        self.bus.tell(Watched::HookFailed {
            hook: hook.to_owned(),
            point: point.to_owned(),
            message: message.to_owned(),
        });
    }
}

impl std::fmt::Debug for Chain {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Chain").field("hooks", &self.names()).finish_non_exhaustive()
    }
}

/// Keeps the order of costs in one place for whoever reads it.
const _: () = assert!((Cost::Cheap as u8) < (Cost::Process as u8));
