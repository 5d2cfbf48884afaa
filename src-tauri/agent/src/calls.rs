//! Takes the model's calls through the chain and, where they are cleared, to their tools.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use tokio::{sync::oneshot, task::JoinSet, time::Instant};

use crate::{
    bus::{Bus, Watched},
    context::Context,
    corridor::{Cleared, Corridor, Ran},
    hooks::{Asking, Call, Chain, Decided, Fate, Judgement},
    journal::{Journal, JournalError, Line, OpenCalls},
    message::{ModelCall, ToolResult},
    sub_agent::SUB_AGENT,
    summary::Tally,
    tools::{Output, ToolError, ToolErrorCode, Toolbox},
};

/// As many read-only calls run at the same time.
const AT_ONCE: usize = 8;
/// What a person reads of a call that is asked about because nobody knows whether it ran.
const MAY_HAVE_RUN: &str =
    "This call had begun when the run broke off, so it may have run already. Approve to run it (again).";

/// Why a run cannot go on after a call.
#[derive(Debug)]
pub(crate) enum Halt {
    /// A check did not run.
    HookFailed { hook: String, message: String },
    /// The gate is closing; the call is still open.
    Closing,
    /// The journal cannot be written.
    Journal(JournalError),
}

/// What is counted on the way.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) tally: Tally,
    pub(crate) approvals: u32,
    pub(crate) waited_ms: u64,
}

/// Runs the calls of one session.
pub(crate) struct Caller {
    pub(crate) gate: Corridor,
    pub(crate) chain: Chain,
    pub(crate) toolbox: Toolbox,
    pub(crate) context: Arc<Context>,
    pub(crate) journal: Option<Journal>,
    pub(crate) bus: Bus,
    pub(crate) counts: Mutex<Counts>,
}

/// Results as they come, in no order.
pub(crate) type Results = Arc<Mutex<Vec<ToolResult>>>;

impl Caller {
    /// Runs calls in the order asked; neighbours that only read run at the same time. Stops at the first halt.
    pub(crate) async fn run(
        self: &Arc<Self>,
        calls: Vec<ModelCall>,
        open: OpenCalls,
        results: &Results,
    ) -> Result<(), Halt> {
        let open = Arc::new(open);
        let mut rest = calls.as_slice();
        while !rest.is_empty() {
            let reading = rest.iter().take(AT_ONCE).take_while(|call| self.only_reads(call)).count();
            let (now, later) = rest.split_at(reading.max(1));
            rest = later;
            let mut running = JoinSet::new();
            for call in now {
                let (caller, call, open, results) =
                    (Arc::clone(self), call.clone(), Arc::clone(&open), Arc::clone(results));
                running.spawn(async move { caller.one(&call, &open, &results).await });
            }
            while let Some(ended) = running.join_next().await {
                match ended {
                    Ok(ended) => ended?,
                    Err(error) => {
                        return Err(Halt::HookFailed { hook: "runtime".to_owned(), message: error.to_string() });
                    }
                }
            }
        }
        Ok(())
    }

    pub(crate) fn counted(&self) -> Counts {
        *self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn count(&self, count: impl FnOnce(&mut Counts)) {
        count(&mut self.counts.lock().unwrap_or_else(PoisonError::into_inner));
    }

    fn only_reads(&self, call: &ModelCall) -> bool {
        self.toolbox.offered(&call.tool).is_some_and(|spec| spec.reads_only)
    }

    async fn one(&self, model: &ModelCall, open: &OpenCalls, results: &Results) -> Result<(), Halt> {
        if let Some(result) = open.ended.get(&model.id) {
            hold(results).push(result.clone());
            return Ok(());
        }
        self.count(|counts| counts.tally.calls += 1);
        self.bus.tell(Watched::ToolStarted {
            call_id: model.id.clone(),
            tool: model.tool.clone(),
            input: placet_domain::redact::redact(&model.arguments).text.into_owned(),
        });
        let parsed = model.input();
        let input = parsed.as_ref().map_or(Value::Null, |input| Value::Object(input.clone()));
        let mut call = Call {
            context: Arc::clone(&self.context),
            id: model.id.clone(),
            tool: model.tool.clone(),
            original: input.clone(),
            input,
        };
        let mut halt = None;
        let (decision, output, duration_ms) = match self.refused(model, parsed.err()) {
            Some(output) => (Decided::Denied, output, 0),
            None => self.decided(&mut call, model, open, &mut halt).await?,
        };
        if decision == Decided::Denied {
            self.count(|counts| counts.tally.denied += 1);
        }
        let fate = Fate { decision, duration_ms, at_ms: self.gate.now() };
        let output = self.chain.after_tool(&call, &fate, output).await;
        self.bus.tell(Watched::ToolEnded {
            call_id: model.id.clone(),
            tool: model.tool.clone(),
            decision: decision.word().to_owned(),
            is_error: output.is_error,
            text: output.text.clone(),
        });
        let result = ToolResult { call_id: model.id.clone(), text: output.text, is_error: output.is_error };
        self.note(|| Line::ToolEnded { result: result.clone() })?;
        hold(results).push(result);
        halt.map_or(Ok(()), Err)
    }

    /// What no hook need look at: a tool that is not offered, arguments that are none.
    fn refused(&self, model: &ModelCall, parsing: Option<serde_json::Error>) -> Option<Output> {
        let error = |code, message| Output::from(ToolError { code, message, tool: model.tool.clone() });
        if self.toolbox.offered(&model.tool).is_none() {
            let names: Vec<String> = self.toolbox.specs().into_iter().map(|spec| spec.name).collect();
            let message = format!("There is no tool {} here. There are: {}.", model.tool, names.join(", "));
            return Some(error(ToolErrorCode::UnknownTool, message));
        }
        let parsing = parsing?;
        let message = format!("The arguments are no JSON object ({parsing}). Nothing was run; write them again.");
        Some(error(ToolErrorCode::BadArguments, message))
    }

    async fn decided(
        &self,
        call: &mut Call,
        model: &ModelCall,
        open: &OpenCalls,
        halt: &mut Option<Halt>,
    ) -> Result<(Decided, Output, u64), Halt> {
        let began = Instant::now();
        if open.may_have_run.contains(&call.id)
            && let Some(going_on) = self.toolbox.take_up(&call.tool, self.context.session(), &call.id)
        {
            self.count(|counts| counts.tally.allowed += 1);
            let output = going_on.await;
            return if self.gate.is_closing() {
                Err(Halt::Closing)
            } else {
                Ok((Decided::Allowed, output, millis(began)))
            };
        }
        let judgement = self.judged(call, model, open).await?;
        self.count(|counts| counts.waited_ms += millis(began));
        match judgement {
            Judgement::Cleared { cleared, rewritten } => {
                let asked = u32::from(cleared.approval().is_some());
                self.count(|counts| {
                    counts.tally.allowed += 1;
                    counts.tally.clamped += u32::from(rewritten);
                    counts.tally.asked += asked;
                    counts.approvals += asked;
                });
                call.input = cleared.input().clone();
                let (output, duration_ms) = self.act(call, *cleared).await?;
                // A sub-agent whose gate closes is suspended: its call has no result yet.
                if call.tool == SUB_AGENT && self.gate.is_closing() {
                    return Err(Halt::Closing);
                }
                Ok((Decided::Allowed, output, duration_ms))
            }
            Judgement::Denied { .. } if self.gate.is_closing() => Err(Halt::Closing),
            Judgement::Denied { reason, by, approval } => {
                let asked = approval.is_some() || reason.contains(WOULD_HAVE_BEEN_ASKED);
                let changes = self.toolbox.offered(&call.tool).is_some_and(|spec| !spec.reads_only);
                self.count(|counts| {
                    counts.tally.asked += u32::from(asked);
                    counts.tally.blocked_protected += u32::from(by == "gate" && !asked && changes);
                });
                Ok((Decided::Denied, blocked(&reason), 0))
            }
            Judgement::Answered(output) => Ok((Decided::Answered, output, 0)),
            Judgement::Failed { hook, message } => {
                let text = format!("The check {hook} failed ({message}), and a check that did not run is not a pass.");
                *halt = Some(Halt::HookFailed { hook, message });
                Ok((Decided::Failed, blocked(&text), 0))
            }
        }
    }

    /// The pre chain; a question that waits is noted, so that a run taken up again asks for the same one. A call whose
    /// tool had begun when the run broke off may have run: a person says whether it may run again.
    async fn judged(&self, call: &mut Call, model: &ModelCall, open: &OpenCalls) -> Result<Judgement, Halt> {
        let id = call.id.clone();
        let may_have_run = open.may_have_run.contains(&id);
        let again = open.asked.get(&id).copied();
        let (waits, mut waiting) = oneshot::channel();
        let asking = Asking {
            raw: (!model.arguments.trim().is_empty()).then(|| Arc::from(model.arguments.as_bytes())),
            again,
            definition: self.toolbox.definition(&call.tool),
            doubt: may_have_run.then(|| MAY_HAVE_RUN.to_owned()),
            waits: Some(waits),
        };
        let judging = self.chain.before_tool(call, asking);
        tokio::pin!(judging);
        let judgement = tokio::select! {
            judgement = &mut judging => judgement,
            Ok((approval, until)) = &mut waiting => {
                self.bus.tell(Watched::ToolWaits { call_id: id.clone(), approval, until_ms: until });
                if again != Some(approval) {
                    self.note(|| Line::Asked { call_id: id, approval })?;
                }
                judging.await
            }
        };
        Ok(match judgement {
            Judgement::Denied { reason, by, approval } if may_have_run => {
                let reason = format!(
                    "{reason} This call had begun when the run broke off: it may or may not have run. Look before you go on."
                );
                Judgement::Denied { reason, by, approval }
            }
            judgement @ (Judgement::Cleared { .. }
            | Judgement::Denied { .. }
            | Judgement::Answered(_)
            | Judgement::Failed { .. }) => judgement,
        })
    }

    async fn act(&self, call: &Call, cleared: Cleared) -> Result<(Output, u64), Halt> {
        self.note(|| Line::ToolStarted { call_id: call.id.clone() })?;
        let began = Instant::now();
        let cwd = cleared.cwd().clone();
        let output = self.toolbox.run(cleared).await;
        let duration_ms = millis(began);
        let ran = Ran {
            session: self.context.session(),
            call_id: Some(call.id.clone()),
            tool: call.tool.clone(),
            input: call.input.to_string().into_bytes().into(),
            cwd,
            outcome: if output.is_error { "error" } else { "ok" }.to_owned(),
            output: Some(output.text.clone().into_bytes()),
            duration_ms,
        };
        if let Err(refusal) = self.gate.report(ran).await {
            tracing::warn!(%refusal, "what became of a call was not written to the history");
        }
        Ok((output, duration_ms))
    }

    fn note(&self, line: impl FnOnce() -> Line) -> Result<(), Halt> {
        self.journal.as_ref().map_or(Ok(()), |journal| journal.write(&line()).map_err(Halt::Journal))
    }
}

/// How the gate says that nobody was there to ask.
const WOULD_HAVE_BEEN_ASKED: &str = "would have been asked";

/// A denial as the model reads it: an answer, not silence.
fn blocked(reason: &str) -> Output {
    Output {
        text: format!("BLOCKED: {reason} Do not try the same again; take another way or say what you need."),
        is_error: true,
    }
}

fn millis(began: Instant) -> u64 {
    u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX)
}

fn hold(results: &Results) -> MutexGuard<'_, Vec<ToolResult>> {
    results.lock().unwrap_or_else(PoisonError::into_inner)
}
