//! The agents' side: what comes over the socket becomes a call of the gate. No method here approves, grants, edits the
//! policy, sets a context or lifts a pause; there is none to find.

use std::{str::FromStr as _, sync::Arc, time::Duration};

use placet_domain::{
    ApprovalId, By, CancelReason, Command, GrantId, RefusalCode, Selection, SessionId, Waiter,
    command::Decision as Decided,
    decide::{Changed, Outcome as DecideOutcome},
};
use placet_ipc::{
    ErrorBody, Id, LineWriter, Lines, Listener, Notification, Peer, Request, Response, ServerError,
    message::{
        CallCheck, CallChecked, CallPending, CallReport, CallWithdraw, Decision, Done, GrantsList, Hello, HelloBack,
        HistorySearch, Nothing, Outcome, Outcomes, PROTOCOL, PendingList, SessionStart, SessionStarted, SessionStop,
        Status, TakeAway, method,
    },
};
use serde::Serialize;
use tokio::{
    sync::{Mutex, oneshot},
    task::JoinSet,
};

use crate::{Ask, Gate, Ran, Seat};

/// Whoever knocks says hello within this time.
const HELLO_WITHIN: Duration = Duration::from_secs(5);
/// Words that come with a denial, at most.
const NOTE_BYTES: usize = 4_096;
/// Requests of one caller that may be under way at once; more wait their turn.
const REQUESTS_AT_ONCE: usize = 256;

/// Takes callers until the gate closes.
pub(crate) async fn serve(gate: Gate, listener: Listener) {
    let mut callers = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((peer, lines)) => {
                    let gate = gate.clone();
                    callers.spawn(async move {
                        if let Err(error) = attend(gate, peer, lines).await {
                            tracing::info!(%error, pid = peer.pid, "a caller was left");
                        }
                    });
                }
                Err(error) => {
                    tracing::warn!(%error, "a caller was turned away");
                    if matches!(error, ServerError::Io(_)) {
                        tokio::time::sleep(Duration::from_millis(50)).await;
                    }
                }
            },
            Some(_) = callers.join_next() => {}
        }
    }
}

type Writer = Arc<Mutex<LineWriter>>;

async fn attend(gate: Gate, peer: Peer, lines: Lines) -> Result<(), ServerError> {
    let Lines { mut reader, writer } = lines;
    let writer: Writer = Arc::new(Mutex::new(writer));
    let Some(first) = reader.next_within(HELLO_WITHIN).await? else { return Ok(()) };
    if !greet(&gate, &writer, &first).await? {
        return Ok(());
    }
    let mut begun = None;
    // Dropping the set when the caller goes ends what it was waiting for.
    let mut requests = JoinSet::new();
    loop {
        tokio::select! {
            line = reader.next(), if requests.len() < REQUESTS_AT_ONCE => {
                let Some(line) = line? else { return Ok(()) };
                let request = match Request::parse(&line) {
                    Ok(request) => request,
                    Err(error) => {
                        writer.lock().await.write(&Response::new::<Done>(None, Err(error))).await?;
                        continue;
                    }
                };
                drop(line);
                // What comes after it on the same line may be meant for this session, so it is waited for.
                if request.method == method::SESSION_START {
                    let started = session_start(&gate, &request).await;
                    begun = started.as_ref().ok().map(|started| started.session);
                    say(&writer, request.id, started).await?;
                    continue;
                }
                let (gate, writer) = (gate.clone(), Arc::clone(&writer));
                requests.spawn(async move { answer(&gate, peer, &writer, begun, &request).await });
            }
            Some(done) = requests.join_next() => {
                if let Ok(Err(error)) = done {
                    return Err(error);
                }
            }
        }
    }
}

/// The version is agreed first; without that nothing else is heard.
async fn greet(gate: &Gate, writer: &Writer, line: &[u8]) -> Result<bool, ServerError> {
    let (id, hello) = match Request::parse(line) {
        Ok(request) if request.method == method::HELLO => (request.id.clone(), request.params::<Hello>()),
        Ok(request) => (
            request.id,
            Err(RefusalCode::ProtocolMismatch.because("say hello first, with your protocol version").into()),
        ),
        Err(error) => (None, Err(error)),
    };
    let answer: Result<HelloBack, ErrorBody> = hello.and_then(|hello| {
        if hello.protocol == PROTOCOL {
            let version = gate.inner.version.clone();
            Ok(HelloBack { protocol: PROTOCOL, server: "placet".to_owned(), version })
        } else {
            let message = format!(
                "This Placet speaks protocol {PROTOCOL}, the caller {}. Update whichever is older.",
                hello.protocol
            );
            Err(RefusalCode::ProtocolMismatch.because(message).into())
        }
    });
    let agreed = answer.is_ok();
    writer.lock().await.write(&Response::new(id, answer)).await?;
    Ok(agreed)
}

/// Answers a request of a caller who began the session `begun` last.
async fn answer(
    gate: &Gate,
    peer: Peer,
    writer: &Writer,
    begun: Option<SessionId>,
    request: &Request,
) -> Result<(), ServerError> {
    let id = request.id.clone();
    match request.method.as_str() {
        method::CALL_CHECK => check(gate, peer, writer, begun, request).await,
        method::CALL_WITHDRAW => say(writer, id, withdraw(gate, request).await).await,
        method::CALL_REPORT => say(writer, id, report(gate, begun, request).await).await,
        method::SESSION_STOP => say(writer, id, session_stop(gate, request).await).await,
        method::STATUS => say(writer, id, status(gate, request)).await,
        method::PENDING_LIST => say(writer, id, pending(gate, request).await).await,
        method::GRANTS_LIST => say(writer, id, grants(gate, request).await).await,
        method::HISTORY_SEARCH => say(writer, id, history(gate, request).await).await,
        method::APPROVAL_DENY => say(writer, id, deny(gate, request).await).await,
        method::APPROVAL_CANCEL => say(writer, id, cancel(gate, request).await).await,
        method::GRANT_REVOKE => say(writer, id, revoke(gate, request).await).await,
        method::PAUSE => say(writer, id, pause(gate, request).await).await,
        other => say::<Done>(writer, id, Err(ErrorBody::unknown_method(other))).await,
    }
}

async fn say<T: Serialize>(writer: &Writer, id: Option<Id>, answer: Result<T, ErrorBody>) -> Result<(), ServerError> {
    if id.is_none() {
        return Ok(());
    }
    writer.lock().await.write(&Response::new(id, answer)).await
}

/// The one request that waits.
async fn check(
    gate: &Gate,
    peer: Peer,
    writer: &Writer,
    begun: Option<SessionId>,
    request: &Request,
) -> Result<(), ServerError> {
    let id = request.id.clone();
    let asked = match request.params::<CallCheck>() {
        Ok(asked) => asked,
        Err(error) => return say::<Done>(writer, id, Err(error)).await,
    };
    let Some(session) = asked.session.or(begun) else { return say::<Done>(writer, id, Err(no_session())).await };
    let (waits, waiting) = oneshot::channel();
    let tell = {
        let (writer, id) = (Arc::clone(writer), id.clone());
        async move {
            let Ok((approval, expires_at_ms)) = waiting.await else { return Ok(()) };
            let Some(request) = id else { return Ok(()) };
            match Notification::new(method::CALL_PENDING, &CallPending { request, approval, expires_at_ms }) {
                Some(told) => writer.lock().await.write(&told).await,
                None => Ok(()),
            }
        }
    };
    let (told, checked) = tokio::join!(tell, gate.check(ask(session, asked, peer.waiter()), Some(waits)));
    told?;
    let told = match checked {
        Ok(told) => told,
        Err(refusal) => return say::<Done>(writer, id, Err(refusal.into())).await,
    };
    let answer = told.answer;
    let input = match answer.input.map(|input| serde_json::value::to_raw_value(&*input)).transpose() {
        Ok(input) => input,
        Err(error) => return say::<Done>(writer, id, Err(ErrorBody::invalid_params(error.to_string()))).await,
    };
    let checked = CallChecked {
        decision: match answer.decision {
            Decided::Allow => Decision::Allow,
            Decided::Deny => Decision::Deny,
        },
        reason: answer.reason,
        pending: told.pending,
        approval: answer.approval,
        grant: answer.grant,
        rule: answer.rule,
        input,
        digest: answer.digest,
    };
    say(writer, id, Ok(checked)).await
}

fn no_session() -> ErrorBody {
    ErrorBody::invalid_params("name the session, or begin one over this connection first".to_owned())
}

/// The longest name of a sub-agent, in bytes.
const MOST_OF_A_NAME: usize = 256;

fn ask(session: SessionId, asked: CallCheck, waiter: Option<Waiter>) -> Ask {
    let ms = |ms: u64| i64::try_from(ms).unwrap_or(i64::MAX);
    Ask {
        session,
        call_id: asked.call_id,
        // A name is short; what is longer names nobody.
        parent: asked.parent.filter(|parent| parent.len() <= MOST_OF_A_NAME),
        tool: asked.tool,
        input: Arc::from(asked.input.get().as_bytes()),
        definition: asked.definition,
        cwd: asked.cwd,
        again: asked.approval,
        deadline_ms: asked.deadline_ms.map(ms),
        hold_ms: asked.hold_ms.map(ms),
        waiter,
        can_edit: asked.can_edit,
        can_rewrite: asked.can_rewrite,
        confirms: asked.confirms,
        doubt: asked.doubt,
    }
}

async fn session_start(gate: &Gate, request: &Request) -> Result<SessionStarted, ErrorBody> {
    let SessionStart { agent, client_session, workspace, parent } = request.params()?;
    let workspace = crate::workspace::resolve(&workspace).map_err(ErrorBody::invalid_params)?;
    let session = gate.session(agent, client_session, workspace, parent).await?;
    Ok(SessionStarted { session })
}

async fn withdraw(gate: &Gate, request: &Request) -> Result<Done, ErrorBody> {
    let CallWithdraw { approval } = request.params()?;
    gate.withdraw(approval).await?;
    Ok(Done {})
}

async fn report(gate: &Gate, begun: Option<SessionId>, request: &Request) -> Result<Done, ErrorBody> {
    let CallReport { session, call_id, tool, input, outcome, output, duration_ms } = request.params()?;
    let session = session.or(begun).ok_or_else(no_session)?;
    let cwd = gate
        .look(|state| {
            let open = state
                .approvals
                .values()
                .find(|a| a.session == session && call_id.is_some() && a.judged.facts.call_id == call_id);
            open.map(|a| a.judged.facts.cwd.clone())
                .or_else(|| state.sessions.get(&session).map(|s| s.workspace.clone()))
        })
        .ok_or_else(|| RefusalCode::NoSuchSession.because("This session is not known here."))?;
    let ran = Ran {
        session,
        call_id,
        tool,
        input: Arc::from(input.get().as_bytes()),
        cwd,
        outcome: outcome.chars().take(64).collect(),
        output: output.map(|output| output.get().as_bytes().to_vec()),
        duration_ms,
    };
    gate.report(ran).await?;
    Ok(Done {})
}

async fn session_stop(gate: &Gate, request: &Request) -> Result<Done, ErrorBody> {
    let SessionStop { session, summary } = request.params()?;
    gate.end_session(session, summary.map(|words| cut(&words))).await?;
    Ok(Done {})
}

fn status(gate: &Gate, request: &Request) -> Result<Status, ErrorBody> {
    let Nothing {} = request.params()?;
    Ok(gate.status())
}

async fn pending(gate: &Gate, request: &Request) -> Result<serde_json::Value, ErrorBody> {
    let filter: PendingList = request.params()?;
    let params = serde_json::json!({
        "state": "pending", "session": filter.session, "agent": filter.agent, "after": filter.after, "limit": filter.limit,
    });
    gate.desk(Seat::Agents).call("approvals.list", params).await
}

async fn grants(gate: &Gate, request: &Request) -> Result<serde_json::Value, ErrorBody> {
    let filter: GrantsList = request.params()?;
    let params = serde_json::json!({ "state": filter.state, "after": filter.after, "limit": filter.limit });
    gate.desk(Seat::Agents).call("grants.list", params).await
}

async fn history(gate: &Gate, request: &Request) -> Result<serde_json::Value, ErrorBody> {
    let filter: HistorySearch = request.params()?;
    let params = serde_json::to_value(filter).map_err(|error| ErrorBody::invalid_params(error.to_string()))?;
    gate.desk(Seat::Agents).call("history.search", params).await
}

async fn deny(gate: &Gate, request: &Request) -> Result<Outcomes, ErrorBody> {
    let TakeAway { ids, note }: TakeAway<String> = request.params()?;
    let note = note.map(|words| cut(&words));
    let mut outcomes = Vec::with_capacity(ids.len());
    for id in ids {
        let Ok(approval) = ApprovalId::from_str(&id) else {
            outcomes.push(Outcome { id, state: None, changed: false });
            continue;
        };
        let command = Command::Deny { approval, by: By::Command, note: note.clone(), grant: None };
        let changed = match gate.writer().decide(command).await {
            Ok(_) => Some("denied".to_owned()),
            Err(refusal) if matches!(refusal.code, RefusalCode::NotWritten | RefusalCode::Closing) => {
                return Err(refusal.into());
            }
            Err(_) => None,
        };
        let state = match &changed {
            Some(state) => Some(state.clone()),
            None => gate.state_word(approval).await,
        };
        outcomes.push(Outcome { id, state, changed: changed.is_some() });
    }
    Ok(Outcomes { outcomes })
}

async fn cancel(gate: &Gate, request: &Request) -> Result<Outcomes, ErrorBody> {
    let TakeAway { ids, note }: TakeAway<String> = request.params()?;
    let reason = if ids.len() > 1 { CancelReason::Batch } else { CancelReason::User };
    let known: Vec<ApprovalId> = ids.iter().filter_map(|id| id.parse().ok()).collect();
    let command = Command::Cancel {
        selection: Selection::Ids(known),
        reason,
        by: Some(By::Command),
        note: note.map(|words| cut(&words)),
    };
    let DecideOutcome::Each(each) = gate.writer().decide(command).await? else {
        return Err(RefusalCode::NotWritten.because("Nothing was taken away.").into());
    };
    Ok(Outcomes { outcomes: in_order(&ids, &each) })
}

async fn revoke(gate: &Gate, request: &Request) -> Result<Outcomes, ErrorBody> {
    let TakeAway { ids, note }: TakeAway<String> = request.params()?;
    let known: Vec<GrantId> = ids.iter().filter_map(|id| id.parse().ok()).collect();
    let command = Command::Revoke { grants: known, by: By::Command, note: note.map(|words| cut(&words)) };
    let DecideOutcome::Each(each) = gate.writer().decide(command).await? else {
        return Err(RefusalCode::NotWritten.because("Nothing was taken away.").into());
    };
    Ok(Outcomes { outcomes: in_order(&ids, &each) })
}

async fn pause(gate: &Gate, request: &Request) -> Result<Done, ErrorBody> {
    let Nothing {} = request.params()?;
    gate.writer().decide(Command::Pause { by: By::Command }).await?;
    Ok(Done {})
}

/// One outcome for each id that was sent, in that order; what is no id has none.
fn in_order(ids: &[String], each: &[Changed]) -> Vec<Outcome> {
    let mut each = each.iter();
    ids.iter()
        .map(|id| {
            let known = id.parse::<ApprovalId>().is_ok();
            let changed = known.then(|| each.next()).flatten();
            Outcome {
                id: id.clone(),
                state: changed.and_then(|c| c.state).map(str::to_owned),
                changed: changed.is_some_and(|c| c.changed),
            }
        })
        .collect()
}

fn cut(words: &str) -> String {
    let end = (0..=words.len().min(NOTE_BYTES)).rev().find(|end| words.is_char_boundary(*end)).unwrap_or(0);
    words[..end].to_owned()
}
