//! A gate that runs in another process, for the runtime in this one. It is asked over the agents' socket like by any
//! other program, and nothing more can be said to it.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use placet_domain::{AgentName, ApprovalId, At, Digest, Judged, PathText, Refusal, RefusalCode, SessionId};
use placet_ipc::{
    Client, ClientError, Moment, Places, Waited,
    message::{
        CallCheck, CallChecked, CallPending, CallReport, Decision, Done, SessionStart, SessionStarted, SessionStop,
        method,
    },
    result,
};
use placet_subject::{Known, RawCall};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::value::RawValue;
use tokio::sync::oneshot;

use crate::{Ask, Cleared, OpenError, Ran, Verdict};

/// How long the gate may take to connect and for what asks nobody.
const SOON: Duration = Duration::from_secs(10);
/// A question is never open for longer than this.
const A_DAY: Duration = Duration::from_secs(25 * 60 * 60);
/// How long a gate that has gone away is looked for while a question is open.
const COMES_BACK: Duration = Duration::from_secs(60);

/// A gate elsewhere. Cheap to clone.
#[derive(Clone)]
pub struct Remote(Arc<Inner>);

struct Inner {
    places: Places,
    known: Known,
    /// Whose sessions were begun here: what is judged is judged for them.
    sessions: Mutex<HashMap<SessionId, (AgentName, PathText)>>,
}

impl std::fmt::Debug for Remote {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Remote").field(&self.0.places.socket).finish()
    }
}

impl Remote {
    /// The gate of these places, which must answer now.
    ///
    /// # Errors
    /// Nobody is there, or it is not this user's gate; or what judging needs to know cannot be read.
    pub fn reach(places: &Places) -> Result<Self, ReachError> {
        connect(places)?;
        // Broken tables of one's own are left out here as they are there: where the two differ nothing is cleared.
        let (known, _) = crate::known(places)?;
        Ok(Self(Arc::new(Inner { places: places.clone(), known, sessions: Mutex::default() })))
    }

    /// Begins a session or finds it again.
    pub async fn session(
        &self,
        agent: AgentName,
        client_session: Option<String>,
        workspace: PathText,
        parent: Option<SessionId>,
    ) -> Result<SessionId, Refusal> {
        let start = SessionStart { agent: agent.clone(), client_session, workspace: workspace.clone(), parent };
        let SessionStarted { session } = self.call(method::SESSION_START, start).await?;
        hold(&self.0.sessions).insert(session, (agent, workspace));
        Ok(session)
    }

    /// Ends a session; what it asked is withdrawn.
    pub async fn end_session(&self, session: SessionId, summary: Option<String>) -> Result<(), Refusal> {
        self.call::<_, Done>(method::SESSION_STOP, SessionStop { session, summary }).await?;
        hold(&self.0.sessions).remove(&session);
        Ok(())
    }

    /// Writes what became of a call.
    pub async fn report(&self, ran: Ran) -> Result<(), Refusal> {
        let Ran { session, call_id, tool, input, cwd: _, outcome, output, duration_ms } = ran;
        let output = output
            .map(|output| serde_json::value::to_raw_value(&String::from_utf8_lossy(&output)))
            .transpose()
            .map_err(|error| RefusalCode::InvalidParams.because(error.to_string()))?;
        let (session, input) = (Some(session), raw(&input)?);
        let report = CallReport { session, call_id, tool, input, outcome, output, duration_ms };
        self.call::<_, Done>(method::CALL_REPORT, report).await.map(|_| ())
    }

    /// Takes a call through the corridor there. A yes clears it only if what is judged here is, digest for digest, what
    /// was judged there. `waits` hears, if a person is asked, of the approval and its deadline.
    pub async fn ask(&self, ask: Ask, waits: Option<oneshot::Sender<(ApprovalId, At)>>) -> Verdict {
        let this = self.clone();
        let asked = tokio::task::spawn_blocking(move || this.ask_blocking(&ask, waits)).await;
        asked
            .unwrap_or_else(|_| Err(RefusalCode::NotOpen.because("The question broke off; nothing was allowed.")))
            .unwrap_or_else(|refusal| Verdict::Denied { reason: refusal.message, approval: None })
    }

    /// Now, by this machine's clock.
    pub fn now(&self) -> At {
        At(crate::clock::wall_ms())
    }

    fn ask_blocking(&self, ask: &Ask, waits: Option<oneshot::Sender<(ApprovalId, At)>>) -> Result<Verdict, Refusal> {
        let checked = self.checked(ask, waits)?;
        let approval = checked.approval;
        if checked.decision == Decision::Deny {
            return Ok(Verdict::Denied { reason: checked.reason, approval });
        }
        let input: Arc<[u8]> =
            checked.input.as_ref().map_or_else(|| Arc::clone(&ask.input), |input| input.get().as_bytes().into());
        let judged = self.judge(ask, &input, checked.digest)?;
        Ok(Verdict::Allowed(Box::new(Cleared::by_another_gate(ask.session, judged, approval))))
    }

    /// Looks at what would run, here and now: it must be what the gate said yes to.
    fn judge(&self, ask: &Ask, input: &[u8], digest: Digest) -> Result<Judged, Refusal> {
        let (agent, workspace) = hold(&self.0.sessions)
            .get(&ask.session)
            .cloned()
            .ok_or_else(|| RefusalCode::NoSuchSession.because("This session was not begun here."))?;
        let call = RawCall {
            agent: agent.as_str(),
            tool: &ask.tool,
            input,
            cwd: &ask.cwd,
            workspace: &workspace,
            call_id: ask.call_id.as_deref(),
            definition: ask.definition,
        };
        let judged = placet_subject::judge(&call, &self.0.known);
        if judged.facts.digest == digest && judged.facts.refused.is_none() {
            return Ok(judged);
        }
        Err(RefusalCode::StaleDigest { digest: judged.facts.digest }
            .because("What would run changed after it was allowed, so it was not run. Ask again."))
    }

    /// One question until its answer. Where the gate goes away meanwhile it is looked for, and asked for the same.
    fn checked(&self, ask: &Ask, mut waits: Option<oneshot::Sender<(ApprovalId, At)>>) -> Result<CallChecked, Refusal> {
        let input = raw(&ask.input)?;
        let mut check = CallCheck {
            session: Some(ask.session),
            call_id: ask.call_id.clone(),
            approval: ask.again,
            tool: ask.tool.clone(),
            input,
            definition: ask.definition,
            cwd: ask.cwd.clone(),
            deadline_ms: ask.deadline_ms.and_then(|ms| u64::try_from(ms).ok()),
            hold_ms: ask.hold_ms.and_then(|ms| u64::try_from(ms).ok()),
            can_edit: ask.can_edit,
            can_rewrite: ask.can_rewrite,
            confirms: ask.confirms,
            doubt: ask.doubt.clone(),
            parent: ask.parent.clone(),
        };
        let mut gone_since = None;
        loop {
            let error = match self.check_once(&mut check, &mut gone_since, &mut waits) {
                Ok(checked) => return Ok(checked),
                Err(error) => error,
            };
            let since = *gone_since.get_or_insert_with(Moment::now);
            // A call of which nothing is known to wait is not asked twice.
            if !error.may_pass() || check.approval.is_none() || since.passed() > COMES_BACK {
                return Err(refused(error));
            }
            std::thread::sleep(Duration::from_millis(250));
        }
    }

    fn check_once(
        &self,
        check: &mut CallCheck,
        gone_since: &mut Option<Moment>,
        waits: &mut Option<oneshot::Sender<(ApprovalId, At)>>,
    ) -> Result<CallChecked, ClientError> {
        let mut client = connect(&self.0.places)?;
        *gone_since = None;
        let deadline = Moment::in_(A_DAY);
        let request = client.send(method::CALL_CHECK, check, deadline)?;
        loop {
            match client.wait(&[], deadline)? {
                Waited::Response(response) if response.id.as_ref() == Some(&request) => return result(response),
                Waited::Notification(told) => {
                    let pending = (told.method == method::CALL_PENDING)
                        .then(|| serde_json::from_str::<CallPending>(told.params.get()).ok())
                        .flatten();
                    if let Some(CallPending { approval, expires_at_ms, .. }) = pending {
                        check.approval = Some(approval);
                        if let Some(waits) = waits.take() {
                            let _ = waits.send((approval, expires_at_ms));
                        }
                    }
                }
                Waited::Response(_) | Waited::Woken(_) => {}
                Waited::Deadline => return Err(ClientError::TimedOut),
            }
        }
    }

    async fn call<P, R>(&self, method: &'static str, params: P) -> Result<R, Refusal>
    where
        P: Serialize + Send + 'static,
        R: DeserializeOwned + Send + 'static,
    {
        let this = self.clone();
        let called = tokio::task::spawn_blocking(move || connect(&this.0.places)?.call(method, &params, SOON)).await;
        called.map_err(|error| RefusalCode::NotOpen.because(error.to_string()))?.map_err(refused)
    }
}

/// Why a gate elsewhere cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ReachError {
    /// It does not answer.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// What judging needs to know.
    #[error(transparent)]
    Known(#[from] OpenError),
}

fn connect(places: &Places) -> Result<Client, ClientError> {
    Client::connect(places, "builtin", env!("CARGO_PKG_VERSION"), SOON)
}

fn raw(input: &[u8]) -> Result<Box<RawValue>, Refusal> {
    serde_json::from_slice(input).map_err(|error| RefusalCode::InvalidParams.because(error.to_string()))
}

#[expect(clippy::needless_pass_by_value, reason = "as `map_err` hands it over")]
fn refused(error: ClientError) -> Refusal {
    let message = if let ClientError::Refused(body) = &error {
        body.sentence().to_owned()
    } else {
        format!("The gate could not be asked, so this is denied: {error}.")
    };
    RefusalCode::NotOpen.because(message)
}

fn hold<T>(held: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    held.lock().unwrap_or_else(PoisonError::into_inner)
}
