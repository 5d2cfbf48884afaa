//! Where requests wait for their answer: each in a thread of its own, each with a ring that ends its wait, and one way
//! back to the client.

use std::{
    cell::Cell,
    collections::HashMap,
    io::Write as _,
    os::{fd::AsFd as _, unix::net::UnixStream},
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use placet_ipc::{Moment, Places, Waker};
use serde_json::{json, value::RawValue};

use crate::{
    ask::{Asker, Asking, Memory, Outcome, Rung, Watch},
    hook::{Call, Caller},
};

/// How many requests may wait at once.
const MOST: usize = 64;
/// How often the client hears that a person is still asked.
const BEAT: Duration = Duration::from_secs(5);

/// What is said where the person leaves calls without a gate to the client: here the client's own rules have been gone
/// through already, so that it is left to is a no.
pub(crate) const NO_GATE: &str = "no gate of Placet runs; the person has to start Placet before you try again.";

/// One client's requests that wait.
#[derive(Debug)]
pub(crate) struct Hall {
    pub(crate) places: Places,
    /// By the request's id as it was written. Whoever takes one out is the one to answer it.
    waiting: Mutex<HashMap<String, UnixStream>>,
    out: Mutex<std::io::Stdout>,
}

/// Why a request may not wait here.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Full {
    /// There are too many.
    #[error("too many calls wait already; call again when some are answered")]
    TooMany,
    /// Its id is in use.
    #[error("another request with this id is not answered yet")]
    SameId,
    /// The system says no.
    #[error("it cannot wait: {0}")]
    System(#[from] std::io::Error),
}

impl Hall {
    /// An empty one.
    pub(crate) fn new(places: Places) -> Self {
        Self { places, waiting: Mutex::default(), out: Mutex::new(std::io::stdout()) }
    }

    /// A place for a request; what is given hangs up when its wait is to end.
    ///
    /// # Errors
    /// [`Full`].
    pub(crate) fn enter(&self, id: &RawValue) -> Result<UnixStream, Full> {
        let (inside, outside) = UnixStream::pair()?;
        let mut waiting = lock(&self.waiting);
        if waiting.len() >= MOST {
            return Err(Full::TooMany);
        }
        if waiting.contains_key(id.get()) {
            return Err(Full::SameId);
        }
        waiting.insert(id.get().to_owned(), outside);
        Ok(inside)
    }

    /// Takes a request out, which ends its wait. Whether it was there.
    pub(crate) fn take(&self, id: &str) -> bool {
        lock(&self.waiting).remove(id).is_some()
    }

    /// Takes all out, and gives their ids.
    pub(crate) fn take_all(&self) -> Vec<String> {
        lock(&self.waiting).drain().map(|(id, _)| id).collect()
    }

    /// Whether nobody waits.
    pub(crate) fn is_empty(&self) -> bool {
        lock(&self.waiting).is_empty()
    }

    /// Writes a line to the client. A client that has gone is noticed where it is read from.
    pub(crate) fn tell(&self, line: &[u8]) {
        let mut out = lock(&self.out);
        let ended = line.ends_with(b"\n");
        let _ = out.write_all(line).and_then(|()| if ended { Ok(()) } else { out.write_all(b"\n") });
        let _ = out.flush();
    }

    /// Answers a request.
    pub(crate) fn answer(&self, id: &str, result: &serde_json::Value) {
        self.tell(format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#).as_bytes());
    }

    /// Answers a request, or a message without a readable id, with an error.
    pub(crate) fn refuse(&self, id: &str, code: i32, message: &str) {
        let error = json!({ "code": code, "message": message });
        self.tell(format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{error}}}"#).as_bytes());
    }

    /// Asks the gate, and waits: for the answer, for the ring, until the time is over. What is given back is nothing
    /// when the request was taken out meanwhile.
    pub(crate) fn ask(&self, asker: &Asker, caller: &Caller, call: &Call, wait: &Wait<'_>) -> Option<Outcome> {
        let deadline = Moment::in_(wait.patience);
        let memory = Memory::default();
        let mut asking = Asking { places: &self.places, asker, caller, watch: wait, deadline, memory };
        let outcome = asking.ask(call);
        match &outcome {
            Outcome::Answered(_) | Outcome::LeftToClient => {}
            Outcome::Failed(_) => asking.withdraw(),
            Outcome::Rung(_) => {
                asking.withdraw();
                return None;
            }
        }
        self.take(wait.id).then_some(outcome)
    }
}

/// One request's wait.
pub(crate) struct Wait<'a> {
    pub(crate) hall: &'a Hall,
    /// The request's id as it was written.
    pub(crate) id: &'a str,
    /// What [`Hall::enter`] gave.
    pub(crate) ring: &'a UnixStream,
    /// How long.
    pub(crate) patience: Duration,
    /// What the client wants to be told under while it waits.
    pub(crate) progress: Option<&'a RawValue>,
    /// How often it was told.
    pub(crate) told: Cell<u32>,
}

impl Watch for Wait<'_> {
    fn wakers(&self) -> Vec<Waker<'_>> {
        vec![Waker::readable(self.ring.as_fd())]
    }

    fn rung(&self, _: usize) -> Rung {
        Rung::ClientGone
    }

    fn beat(&self) -> Option<Duration> {
        self.progress.map(|_| BEAT)
    }

    fn waiting(&self) {
        let Some(token) = self.progress else { return };
        self.told.set(self.told.get() + 1);
        // Small steps: what the server itself tells later under this token has to be more.
        let progress = f64::from(self.told.get()) / 1_000.0;
        let message = "Waiting for a person to answer in Placet";
        self.hall.tell(
            format!(
                r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{token},"progress":{progress},"message":"{message}"}}}}"#
            )
            .as_bytes(),
        );
    }
}

/// What a mutex holds, whatever became of who held it before.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
