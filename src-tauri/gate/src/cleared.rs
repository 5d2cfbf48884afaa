//! The proof that one call may run.

use std::sync::Arc;

use placet_domain::{ApprovalId, At, CallFacts, Judged, PathText, Refusal, SessionId, command::Decision};
use serde_json::Value;
use tokio::sync::oneshot;

use crate::{Ask, Gate};

/// Proof that one call may run, once. Only the gate makes one, and the tool runner takes nothing else. It is used up
/// by running: it can neither be copied nor taken apart and put together again.
#[derive(Debug)]
pub struct Cleared {
    session: SessionId,
    judged: Judged,
    input: Arc<Value>,
    approval: Option<ApprovalId>,
}

impl Cleared {
    /// A yes of a gate in another process to what was judged here and is the same, digest for digest.
    pub(crate) fn by_another_gate(session: SessionId, judged: Judged, approval: Option<ApprovalId>) -> Self {
        let input = Arc::clone(&judged.input);
        Self { session, judged, input, approval }
    }

    /// Whose call.
    pub fn session(&self) -> SessionId {
        self.session
    }

    /// The tool.
    pub fn tool(&self) -> &str {
        &self.judged.facts.tool
    }

    /// The input to run, byte for byte what was judged.
    pub fn input(&self) -> &Value {
        &self.input
    }

    /// Where.
    pub fn cwd(&self) -> &PathText {
        &self.judged.facts.cwd
    }

    /// What was judged.
    pub fn call(&self) -> &CallFacts {
        &self.judged.facts
    }

    /// The approval behind it, where a person was asked.
    pub fn approval(&self) -> Option<ApprovalId> {
        self.approval
    }
}

/// What the runtime in this process hears.
#[derive(Debug)]
pub enum Verdict {
    /// It may run, once.
    Allowed(Box<Cleared>),
    /// It may not.
    Denied {
        /// Why, and what to do instead.
        reason: String,
        /// The approval behind it, where a person was asked.
        approval: Option<ApprovalId>,
    },
}

impl Gate {
    /// Takes a call of the runtime in this process through the corridor. The yes is used up, on disk, before the
    /// caller holds it. `waits` hears, if a person is asked, of the approval and its deadline.
    pub async fn ask(&self, ask: Ask, waits: Option<oneshot::Sender<(ApprovalId, At)>>) -> Verdict {
        match self.cleared(ask, waits).await {
            Ok(verdict) => verdict,
            Err(refusal) => Verdict::Denied { reason: refusal.message, approval: None },
        }
    }

    async fn cleared(&self, ask: Ask, waits: Option<oneshot::Sender<(ApprovalId, At)>>) -> Result<Verdict, Refusal> {
        let session = ask.session;
        let told = self.check(ask, waits).await?;
        let answer = told.answer;
        if answer.decision == Decision::Deny {
            return Ok(Verdict::Denied { reason: answer.reason, approval: answer.approval });
        }
        let input = answer.input.unwrap_or_else(|| Arc::clone(&told.judged.input));
        Ok(Verdict::Allowed(Box::new(Cleared { session, judged: told.judged, input, approval: answer.approval })))
    }
}
