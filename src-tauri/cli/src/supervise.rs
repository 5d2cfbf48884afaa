//! `placet serve --supervise`: the desk on the process's own stdin and stdout, JSON-RPC 2.0, one message a line.
//!
//! Who supervises can say yes, so this needs a data directory of its own, and the person's is refused. Nothing else
//! is written to stdout. End of stdin ends the process; what is pending keeps.

use std::{
    io::{BufRead as _, Read as _, Write as _},
    process::ExitCode,
    sync::Arc,
    time::Duration,
};

use placet_gate::{Desk, ErrorBody, Gate, Host, Places, Seat};
use placet_ipc::{MAX_LINE_BYTES, Notification, Request, Response, message};
use serde_json::Value;
use tokio::sync::{Semaphore, broadcast::error::RecvError, mpsc};

use crate::{
    exit, say,
    serve::{open, runtime, told_to_end},
};

/// How many requests are worked on at once; more wait their turn.
const AT_ONCE: usize = 256;
/// How many lines wait for a supervisor that does not read.
const LINES: usize = 1_024;
/// How long closing may take: the process ends within five seconds.
const CLOSE: Duration = Duration::from_secs(4);

/// Runs until stdin ends, or a signal comes.
pub(crate) fn run(places: Places, named: bool) -> ExitCode {
    if !named || places.is_default_data() {
        say::trouble(
            "--supervise needs a --data-dir of its own: a supervisor can say yes, and yours is for you to answer",
        );
        return exit::usage();
    }
    let runtime = match runtime() {
        Ok(runtime) => runtime,
        Err(code) => return code,
    };
    let ended = runtime.block_on(async {
        let gate = open(places, Host::Supervised).await?;
        let (lines, written) = writer();
        let facts = tokio::spawn(tell_facts(gate.gate.clone(), lines.clone()));
        tokio::select! {
            () = answer_all(gate.desk(Seat::Supervisor), lines) => {}
            () = told_to_end() => {}
        }
        let closed = tokio::time::timeout(CLOSE, gate.close()).await;
        facts.abort();
        let _ = tokio::time::timeout(CLOSE / 8, written).await;
        Ok(if closed.is_ok() { exit::DONE } else { exit::no() })
    });
    runtime.shutdown_background();
    ended.unwrap_or_else(|code| code)
}

/// Facts as they are written down. A supervisor that does not keep up misses some, and sees the gap in their numbers.
async fn tell_facts(gate: Gate, lines: mpsc::Sender<Vec<u8>>) {
    let mut facts = gate.facts();
    drop(gate);
    loop {
        let entry = match facts.recv().await {
            Ok(entry) => entry,
            Err(RecvError::Lagged(_)) => continue,
            Err(RecvError::Closed) => return,
        };
        let line = Notification::new("fact", &*entry).and_then(|told| message::line(&told).ok());
        if let Some(line) = line
            && lines.send(line).await.is_err()
        {
            return;
        }
    }
}

/// Answers what comes on stdin until it ends, each request for itself.
async fn answer_all(desk: Desk, lines: mpsc::Sender<Vec<u8>>) {
    let mut requests = reader();
    let room = Arc::new(Semaphore::new(AT_ONCE));
    while let Some(line) = requests.recv().await {
        let Ok(place) = Arc::clone(&room).acquire_owned().await else { return };
        let (desk, lines) = (desk.clone(), lines.clone());
        tokio::spawn(async move {
            if let Some(answer) = answer(&desk, line).await {
                let _ = lines.send(answer).await;
            }
            drop(place);
        });
    }
    // What was asked before the end is still answered.
    let _ = tokio::time::timeout(CLOSE / 4, room.acquire_many(u32::try_from(AT_ONCE).unwrap_or(1))).await;
}

async fn answer(desk: &Desk, line: Result<Vec<u8>, ErrorBody>) -> Option<Vec<u8>> {
    let request = line.and_then(|line| Request::parse(&line));
    let response = match request {
        Err(error) => Response::new::<Value>(None, Err(error)),
        Ok(request) => {
            let outcome = match request.params::<Value>() {
                Ok(params) => desk.call(&request.method, params).await,
                Err(error) => Err(error),
            };
            request.id.as_ref()?;
            Response::new(request.id, outcome)
        }
    };
    message::line(&response).ok()
}

/// Lines from stdin, read by a thread of their own: a read of a terminal or a pipe cannot be taken back, and must not
/// keep the process.
fn reader() -> mpsc::Receiver<Result<Vec<u8>, ErrorBody>> {
    let (sender, lines) = mpsc::channel(AT_ONCE);
    std::thread::spawn(move || {
        let mut stdin = std::io::stdin().lock();
        let most = u64::try_from(MAX_LINE_BYTES).unwrap_or(u64::MAX);
        loop {
            let mut line = Vec::new();
            let whole = match stdin.by_ref().take(most + 1).read_until(b'\n', &mut line) {
                Ok(0) | Err(_) => return,
                Ok(_) => line.len() <= MAX_LINE_BYTES,
            };
            let blank = line.trim_ascii().is_empty();
            let too_long = || ErrorBody::invalid_params(format!("a line of more than {MAX_LINE_BYTES} bytes"));
            let sent = if whole { Ok(line) } else { Err(too_long()) };
            if (!blank && sender.blocking_send(sent).is_err()) || !whole {
                return;
            }
        }
    });
    lines
}

/// Lines to stdout, written by a thread of their own, and what tells that all are written.
fn writer() -> (mpsc::Sender<Vec<u8>>, tokio::sync::oneshot::Receiver<()>) {
    let (lines, mut queue) = mpsc::channel::<Vec<u8>>(LINES);
    let (done, written) = tokio::sync::oneshot::channel();
    std::thread::spawn(move || {
        let mut stdout = std::io::stdout().lock();
        while let Some(line) = queue.blocking_recv() {
            if stdout.write_all(&line).and_then(|()| stdout.flush()).is_err() {
                break;
            }
        }
        let _ = done.send(());
    });
    (lines, written)
}
