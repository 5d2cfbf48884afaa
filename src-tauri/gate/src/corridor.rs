//! The way of a call: made concrete, judged, perhaps asked, and handed over.

use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use placet_domain::{
    AgentName, Answer, Approval, ApprovalId, ApprovalState, At, CallFacts, CancelReason, Check, Command, Digest,
    Judged, PathText, Refusal, RefusalCode, RewrittenFrom, Selection, SessionId, Subject, Waiter,
    command::Decision,
    decide::{Outcome, spoken},
};
use placet_store::Body;
use placet_subject::{Known, RawCall};
use tokio::{sync::oneshot, task::JoinError};

use crate::{
    Gate, ids,
    masking::{self, Bodies},
    writer::{Heard, Roots, Waiting, With},
};

/// A call that wants to run, as it came.
#[derive(Clone, Debug)]
pub struct Ask {
    /// Whose call.
    pub session: SessionId,
    /// The client's own id of it.
    pub call_id: Option<String>,
    /// The sub-agent that makes it, as the client names it.
    pub parent: Option<String>,
    /// The tool's name as the client sent it.
    pub tool: String,
    /// The input's JSON, byte for byte as the client sent it.
    pub input: Arc<[u8]>,
    /// For a tool of an MCP server: SHA-256 of its definition, where it was seen.
    pub definition: Option<Digest>,
    /// The folder the client says it is in.
    pub cwd: PathText,
    /// The approval that the asker was waiting for before it reconnected.
    pub again: Option<ApprovalId>,
    /// How long the client can wait, in milliseconds.
    pub deadline_ms: Option<i64>,
    /// How long to hold the asker before telling it that its call is still pending.
    pub hold_ms: Option<i64>,
    /// Who waits; none for the runtime inside this process.
    pub waiter: Option<Waiter>,
    /// Whether the client takes an input that the person changed.
    pub can_edit: bool,
    /// Whether the client takes an input that a rule changed.
    pub can_rewrite: bool,
    /// Why the asker itself wants a person to look, whatever rules and grants would allow.
    pub doubt: Option<String>,
    /// The client asks by its own rules about a call that it may have asked about a moment ago.
    pub confirms: bool,
}

/// What the asker is told.
#[derive(Debug)]
pub struct Told {
    /// The answer.
    pub answer: Answer,
    /// The approval lives on; the asker may come back for it.
    pub pending: bool,
    /// What was judged, for whoever runs it.
    pub judged: Judged,
    /// Held until the answer was handed over or could not be.
    pub attending: Option<Attending>,
}

/// A call after the policy's rewrites.
struct Rewriting {
    ask: Ask,
    judged: Judged,
    refused: Option<(String, String)>,
    original: Option<Body>,
}

/// A place at an approval: nobody else is handed its answer while this is held. Dropping it gives the place back.
#[derive(Debug)]
pub struct Attending {
    gate: Gate,
    approval: ApprovalId,
    waiter: Option<Waiter>,
    number: u64,
}

impl Drop for Attending {
    fn drop(&mut self) {
        self.gate.left(self.approval, self.waiter, self.number);
    }
}

impl Gate {
    /// Begins a session or finds it again.
    pub async fn session(
        &self,
        agent: AgentName,
        client_session: Option<String>,
        workspace: PathText,
        parent: Option<SessionId>,
    ) -> Result<SessionId, Refusal> {
        self.enter(&workspace).await?;
        let command = Command::StartSession { session: ids::session(), agent, client_session, workspace, parent };
        let Outcome::Session(session) = self.writer().decide(command).await? else {
            return Err(RefusalCode::NoSuchSession.because("The session could not be started."));
        };
        Ok(session)
    }

    /// The workspace's own policy holds before its session makes a call.
    async fn enter(&self, workspace: &PathText) -> Result<(), Refusal> {
        let (gate, workspace) = (self.clone(), workspace.clone());
        let entered = self.runtime().spawn_blocking(move || gate.inner.policy.enter(&workspace)).await;
        for command in entered.map_err(|error| broke_off(&error, "The workspace could not be looked at."))? {
            self.writer().decide(command).await?;
        }
        Ok(())
    }

    /// Ends a session; what it asked is withdrawn.
    pub async fn end_session(&self, session: SessionId, summary: Option<String>) -> Result<(), Refusal> {
        self.writer().decide(Command::StopSession { session, summary }).await.map(|_| ())
    }

    /// Takes a call through the corridor. Dropping the future before it ends leaves what is pending to `left`.
    /// `waits` hears, if a person is asked, of the approval and its deadline.
    pub async fn check(&self, ask: Ask, waits: Option<oneshot::Sender<(ApprovalId, At)>>) -> Result<Told, Refusal> {
        let session = ask.session;
        if ask.confirms
            && let Some(told) = self.confirmed(&ask).await?
        {
            return Ok(told);
        }
        let told = self.decided(ask, waits).await?;
        if told.answer.decision == Decision::Allow {
            self.inner.agreed.put(session, &told.judged.facts);
        }
        Ok(told)
    }

    async fn decided(&self, ask: Ask, waits: Option<oneshot::Sender<(ApprovalId, At)>>) -> Result<Told, Refusal> {
        let Rewriting { ask, judged, refused, original } = self.rewriting(ask).await?;
        let rewrote = original.is_some();
        let (tell, hear) = oneshot::channel();
        let (judged, bodies) = masking::bodies(judged, Arc::clone(&ask.input), original).await?;
        let command = self.checking(&ask, judged.clone(), &bodies, refused);
        let bodies = bodies.into_all();
        let roots = self.roots_of(ask.session, &judged);
        let number = self.inner.connections.fetch_add(1, Ordering::Relaxed);
        let with = With { bodies, waiter: Some(Waiting { number, tell }), roots };
        let (outcome, attending) = self.take_a_place(command, with, ask.waiter, number).await?;
        match outcome {
            Outcome::Answered(mut answer) => {
                if rewrote && answer.decision == Decision::Allow {
                    answer.input = Some(Arc::clone(&judged.input));
                }
                Ok(Told { answer, pending: false, judged, attending: None })
            }
            Outcome::Waits(approval) | Outcome::Ready(approval) => {
                if let Some(waits) = waits
                    && let Some(until) = self.look(|state| state.approvals.get(&approval).map(|a| a.expires_at_ms))
                {
                    let _ = waits.send((approval, until));
                }
                let heard = match ask.hold_ms {
                    None => hear.await.ok(),
                    Some(hold) => {
                        let hold = Duration::from_millis(u64::try_from(hold).unwrap_or(0));
                        let Ok(heard) = tokio::time::timeout(hold, hear).await else {
                            self.writer().decide(Command::Leave { approval }).await?;
                            return Ok(still_pending(approval, judged, attending));
                        };
                        heard.ok()
                    }
                };
                let told = self.hear(approval, heard, &ask, judged, rewrote).await?;
                Ok(Told { attending, ..told })
            }
            Outcome::Done | Outcome::Session(_) | Outcome::Settled { .. } | Outcome::Each(_) | Outcome::Refused(_) => {
                Err(RefusalCode::NotWritten.because("The call could not be judged."))
            }
        }
    }

    /// Has the call decided, and takes the place at its approval. A connection that ends meanwhile does not end this: the
    /// place is taken, and given back at once, so that no question stays behind that nobody asks any more.
    async fn take_a_place(
        &self,
        command: Command,
        with: With,
        waiter: Option<Waiter>,
        number: u64,
    ) -> Result<(Outcome, Option<Attending>), Refusal> {
        let gate = self.clone();
        let taking = self.runtime().spawn(async move {
            let outcome = gate.writer().decide_with(command, with).await?;
            let attending = if let Outcome::Waits(approval) | Outcome::Ready(approval) = &outcome {
                Some(Attending { gate: gate.clone(), approval: *approval, waiter, number })
            } else {
                None
            };
            Ok((outcome, attending))
        });
        taking.await.unwrap_or_else(|_| Err(RefusalCode::Closing.because("Placet is closing; nothing was allowed.")))
    }

    /// The asker takes back what it asked.
    pub async fn withdraw(&self, approval: ApprovalId) -> Result<(), Refusal> {
        self.cancel_one(approval, CancelReason::Withdrawn).await
    }

    async fn cancel_one(&self, approval: ApprovalId, reason: CancelReason) -> Result<(), Refusal> {
        let selection = Selection::Ids(vec![approval]);
        self.writer().decide(Command::Cancel { selection, reason, by: None, note: None }).await.map(|_| ())
    }

    /// A connection ended while its call waited: a dead process withdraws it, a living one may come back.
    fn left(&self, approval: ApprovalId, waiter: Option<Waiter>, number: u64) {
        let detached = self.writer().detach(approval, number);
        let open = self.look(|state| state.approvals.contains_key(&approval));
        let Some(waiter) = waiter.filter(|_| open) else { return };
        let gate = self.clone();
        self.runtime().spawn(async move {
            // A process that is gone already must not be looked for while it still seems to attend.
            let _ = detached.await;
            gate.cancel_when_gone(approval, waiter).await;
        });
    }

    /// Takes back what a process asked once it is gone, unless somebody attends it again or it is settled. A yes that it
    /// did not fetch is void: nobody else may take it for their own.
    pub(crate) async fn cancel_when_gone(&self, approval: ApprovalId, waiter: Waiter) {
        crate::process::gone(waiter).await;
        let theirs = self.look(|state| {
            let theirs = state.approvals.get(&approval).filter(|a| a.waiter == Some(waiter))?;
            (!state.attended.contains(&approval)).then_some(theirs.state == ApprovalState::Pending)
        });
        let ended = match theirs {
            None => return,
            Some(true) => self.cancel_one(approval, CancelReason::AgentGone).await,
            Some(false) => {
                let changed = vec!["The program that asked ended before it fetched the answer.".to_owned()];
                self.writer().decide(Command::Void { approval, changed }).await.map(|_| ())
            }
        };
        if let Err(refusal) = ended {
            tracing::debug!(%refusal, %approval, "the asker is gone, and so is what it asked");
        }
    }

    /// After an answer: a yes is handed over only if what would run is still what was approved.
    async fn hear(
        &self,
        approval: ApprovalId,
        heard: Option<Heard>,
        ask: &Ask,
        judged: Judged,
        rewrote: bool,
    ) -> Result<Told, Refusal> {
        let reason = match heard {
            Some(Heard::Approved) => return self.hand_over(approval, ask, judged, rewrote).await,
            Some(Heard::Ended(reason)) => reason,
            None => return Err(RefusalCode::Closing.because("Placet is closing; nothing was allowed.")),
        };
        Ok(denied(approval, reason, judged))
    }

    async fn hand_over(&self, id: ApprovalId, ask: &Ask, judged: Judged, rewrote: bool) -> Result<Told, Refusal> {
        let Some(approval) = self.writer().look(|state| state.approvals.get(&id).cloned()) else {
            return Ok(denied(id, "The approval ended before it could be handed over. Ask again.".to_owned(), judged));
        };
        let approved = &approval.judged;
        let edited = approved.input != judged.input;
        let input: Arc<[u8]> = if edited {
            serde_json::to_vec(&*approved.input).map_err(|e| RefusalCode::InvalidParams.because(e.to_string()))?.into()
        } else {
            Arc::clone(&ask.input)
        };
        let now = self.judge(&Ask { input, ..ask.clone() }).await?;
        if !same_call(&now.facts, &approved.facts) {
            let mut changed = placet_subject::changed(&approved.facts, &now.facts);
            if changed.is_empty() {
                changed.push("What would run changed.".to_owned());
            }
            let reason = format!(
                "The approval is void, since what would run changed after it was given: {} Ask again.",
                changed.join(" ")
            );
            self.writer().decide(Command::Void { approval: id, changed }).await?;
            return Ok(denied(id, reason, now));
        }
        // The yes is used up before the asker hears it: it runs once even if everything dies now. Pause, deadline and
        // what was forbidden meanwhile are looked at in the same decision.
        if let Err(refusal) = self.writer().decide(Command::Consume { approval: id }).await {
            let ended = self.look(|state| state.settled.get(&id).and_then(|settled| spoken(&settled.state)));
            return Ok(denied(id, ended.unwrap_or(refusal.message), now));
        }
        let answer = Answer {
            decision: Decision::Allow,
            reason: approved_in_words(&approval),
            rule: None,
            grant: None,
            approval: Some(id),
            input: (edited || rewrote).then(|| Arc::clone(&approved.input)),
            digest: approved.facts.digest,
        };
        Ok(Told { answer, pending: false, judged: now, attending: None })
    }

    /// Looks at what the call would really touch. Reads the disk, so it runs beside the other tasks.
    pub(crate) async fn judge(&self, ask: &Ask) -> Result<Judged, Refusal> {
        let (agent, workspace) = self
            .writer()
            .look(|state| state.sessions.get(&ask.session).map(|s| (s.agent.clone(), s.workspace.clone())))
            .ok_or_else(|| {
                RefusalCode::NoSuchSession.because("This session is not known here: start it again before asking.")
            })?;
        let known = self.known();
        let ask = ask.clone();
        self.runtime()
            .spawn_blocking(move || look(&ask, agent.as_str(), &workspace, &known))
            .await
            .map_err(|error| broke_off(&error, "The call could not be looked at; it is denied."))
    }

    /// Looks at the folders that grants near this call were given for.
    fn roots_of(&self, session: SessionId, judged: &Judged) -> Roots {
        let folders = self.look(|state| state.roots_to_look_at(&judged.facts, session));
        folders.into_iter().map(|folder| (folder.clone(), inode_of(&folder))).collect()
    }

    /// What the policy makes of a call's input before it is judged. The original is kept beside the facts. A client
    /// that takes no changed input is refused, and told how to call instead.
    async fn rewriting(&self, mut ask: Ask) -> Result<Rewriting, Refusal> {
        let sent = self.judge(&ask).await?;
        let rewritten = self.look(|state| {
            let session = state.sessions.get(&ask.session)?;
            state.policy.rewrite(&sent, session)
        });
        let Some(rewritten) = rewritten.filter(|_| sent.facts.refused.is_none()) else {
            return Ok(Rewriting { ask, judged: sent, refused: None, original: None });
        };
        if !ask.can_rewrite {
            let rule = rewritten.names.first().cloned().unwrap_or_default();
            let refused = Some((rule, rewritten.reason_to_deny()));
            return Ok(Rewriting { ask, judged: sent, refused, original: None });
        }
        let original = Body { sha256: sent.facts.raw_sha256, bytes: ask.input.to_vec() };
        ask.input = serde_json::to_vec(&rewritten.input)
            .map_err(|error| RefusalCode::InvalidParams.because(error.to_string()))?
            .into();
        let mut judged = self.judge(&ask).await?;
        judged.facts.rewritten = Some(RewrittenFrom { rewrites: rewritten.names, original_sha256: original.sha256 });
        Ok(Rewriting { ask, judged, refused: None, original: Some(original) })
    }

    fn checking(
        &self,
        ask: &Ask,
        judged: Judged,
        bodies: &Bodies,
        refused_rewrite: Option<(String, String)>,
    ) -> Command {
        let check = Check {
            approval: ids::approval(),
            session: ask.session,
            input_sha256: judged.facts.raw_sha256,
            card_sha256: bodies.card.sha256,
            judged,
            again: ask.again,
            deadline_ms: ask.deadline_ms,
            waiter: ask.waiter,
            somebody_to_ask: self.somebody_to_ask(),
            can_edit: ask.can_edit,
            refused_rewrite,
        };
        Command::Check(Box::new(check))
    }

    /// What the post hook tells of a call that ran.
    pub async fn report(&self, ran: Ran) -> Result<(), Refusal> {
        let ask = Ask {
            session: ran.session,
            call_id: ran.call_id,
            parent: None,
            tool: ran.tool,
            input: ran.input,
            definition: None,
            cwd: ran.cwd,
            again: None,
            deadline_ms: None,
            hold_ms: None,
            waiter: None,
            can_edit: false,
            can_rewrite: false,
            doubt: None,
            confirms: false,
        };
        let judged = self.judge(&ask).await?;
        let command = Command::Report {
            session: ask.session,
            call: Box::new(judged.facts),
            outcome: ran.outcome,
            duration_ms: ran.duration_ms,
            output_sha256: ran.output.as_deref().map(crate::sha256),
        };
        self.writer().decide(command).await.map(|_| ())
    }

    /// Judges a pending approval again; if what would run has changed, its card is refreshed and armed anew.
    pub(crate) async fn refresh(&self, id: ApprovalId) -> Result<(), Refusal> {
        let Some(approval) = self.writer().look(|state| state.approvals.get(&id).cloned()) else { return Ok(()) };
        if approval.judged.input.is_null() {
            return Ok(());
        }
        let input = serde_json::to_vec(&*approval.judged.input)
            .map_err(|error| RefusalCode::InvalidParams.because(error.to_string()))?;
        let mut judged = self.judge(&again(&approval, input.into())).await?;
        judged.facts.raw_sha256 = approval.judged.facts.raw_sha256;
        judged.facts.masked.clone_from(&approval.judged.facts.masked);
        if judged.facts.digest == approval.judged.facts.digest {
            return Ok(());
        }
        let changed = placet_subject::changed(&approval.judged.facts, &judged.facts);
        let (judged, card, bodies) = masking::card(judged)?;
        let command = Command::Refresh { approval: id, judged: Box::new(judged), card_sha256: card, changed };
        self.writer().decide_with(command, With { bodies, ..With::default() }).await.map(|_| ())
    }
}

/// Work that did not end: taken away from a gate that closes, which another may do, or broken.
fn broke_off(error: &JoinError, words: &str) -> Refusal {
    if error.is_cancelled() {
        return RefusalCode::Closing.because("Placet is closing; nothing was allowed.");
    }
    RefusalCode::NotWritten.because(words)
}

/// What became of a call that ran.
#[derive(Clone, Debug)]
pub struct Ran {
    /// Whose.
    pub session: SessionId,
    /// The client's id of it.
    pub call_id: Option<String>,
    /// Which tool.
    pub tool: String,
    /// The input's JSON as it ran.
    pub input: Arc<[u8]>,
    /// Where.
    pub cwd: PathText,
    /// `ok`, `error`, or the client's own word.
    pub outcome: String,
    /// What came out; hashed, not kept.
    pub output: Option<Vec<u8>>,
    /// How long it took.
    pub duration_ms: u64,
}

/// A call as it is now. Reads the disk.
pub(crate) fn look(ask: &Ask, agent: &str, workspace: &PathText, known: &Known) -> Judged {
    let call = RawCall {
        agent,
        tool: &ask.tool,
        input: &ask.input,
        cwd: &ask.cwd,
        workspace,
        call_id: ask.call_id.as_deref(),
        definition: ask.definition,
    };
    let mut judged = placet_subject::judge(&call, known);
    judged.facts.parent.clone_from(&ask.parent);
    judged.facts.doubted(ask.doubt.as_deref());
    masking::restrict(&mut judged.facts);
    judged
}

/// The question of a stored approval, as it would be asked again.
pub(crate) fn again(approval: &Approval, input: Arc<[u8]>) -> Ask {
    let facts = &approval.judged.facts;
    Ask {
        session: approval.session,
        call_id: facts.call_id.clone(),
        parent: facts.parent.clone(),
        tool: facts.tool.clone(),
        input,
        definition: facts.subjects.iter().find_map(|subject| match subject {
            Subject::Mcp(mcp) => mcp.definition,
            Subject::Path(_) | Subject::Url(_) | Subject::Command(_) | Subject::Tool(_) => None,
        }),
        cwd: facts.cwd.clone(),
        again: None,
        deadline_ms: None,
        hold_ms: None,
        waiter: approval.waiter,
        can_edit: approval.can_edit,
        can_rewrite: false,
        doubt: facts.doubt.clone(),
        confirms: false,
    }
}

/// Device and inode of a folder as it is now; zeros where there is none.
pub(crate) fn inode_of(folder: &PathText) -> (u64, u64) {
    use std::os::unix::{ffi::OsStrExt as _, fs::MetadataExt as _};
    let path = std::path::Path::new(std::ffi::OsStr::from_bytes(folder.bytes()));
    std::fs::metadata(path).map_or((0, 0), |found| (found.dev(), found.ino()))
}

fn same_call(now: &CallFacts, approved: &CallFacts) -> bool {
    now.digest == approved.digest
}

fn denied(approval: ApprovalId, reason: String, judged: Judged) -> Told {
    let answer = no(Some(approval), reason, judged.facts.digest);
    Told { answer, pending: false, judged, attending: None }
}

/// The place is given back at once: who asks again takes it.
fn still_pending(approval: ApprovalId, judged: Judged, attending: Option<Attending>) -> Told {
    if let Some(mut attending) = attending {
        // Its process may end now: it was told to come back.
        attending.waiter = None;
    }
    let reason = "Still waiting for the person. Make the same call again to go on waiting.".to_owned();
    let answer = no(Some(approval), reason, judged.facts.digest);
    Told { answer, pending: true, judged, attending: None }
}

fn no(approval: Option<ApprovalId>, reason: String, digest: Digest) -> Answer {
    Answer { decision: Decision::Deny, reason, rule: None, grant: None, approval, input: None, digest }
}

fn approved_in_words(approval: &Approval) -> String {
    let by = match approval.state.by() {
        Some(by) => by.word(),
        None => "user",
    };
    let note = if let placet_domain::ApprovalState::Approved { note: Some(note), .. } = &approval.state {
        format!(": {note}")
    } else {
        String::new()
    };
    match by {
        "user" => format!("Approved by the person{note}"),
        "grant" => "Approved by a grant that was given while this waited".to_owned(),
        "policy" => "Allowed by a rule that changed while this waited".to_owned(),
        other => format!("Approved by the {other}{note}"),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[tokio::test]
    async fn work_taken_from_a_gate_that_closes_may_be_asked_of_the_next_and_broken_work_is_a_no() {
        let taken = tokio::spawn(std::future::pending::<()>());
        taken.abort();
        assert_eq!(broke_off(&taken.await.unwrap_err(), "x").code, RefusalCode::Closing);
        let broken = tokio::spawn(async { panic!("as a test wants it") });
        let refusal = broke_off(&broken.await.unwrap_err(), "It could not be looked at.");
        assert_eq!((refusal.code, refusal.message.as_str()), (RefusalCode::NotWritten, "It could not be looked at."));
    }
}
