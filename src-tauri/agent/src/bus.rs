//! The event bus: watches a run, decides nothing. Who does not keep up misses events and nothing else; who comes late
//! is given what a bus that remembers still has.

use std::{
    collections::VecDeque,
    fmt::Write as _,
    sync::{Arc, Mutex, PoisonError},
};

use placet_domain::{ApprovalId, At, SessionId};
use serde::Serialize;
use tokio::sync::broadcast;

use crate::{
    machine::Ending,
    message::{Message, Usage},
    summary::Tally,
};

/// What can be watched.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Watched {
    /// The run has a session.
    SessionStarted {
        /// Which.
        session: SessionId,
    },
    /// It goes on where it broke off.
    TakenUp {
        /// The turn it was in.
        turn: u32,
        /// The conversation so far, secrets masked.
        messages: Vec<Message>,
    },
    /// A sub-agent's run tells something.
    Within {
        /// How deep it is: 1 for a sub-agent of the run itself.
        depth: u32,
        /// What it tells.
        told: Box<Watched>,
    },
    /// A turn begins.
    TurnStarted {
        /// From 1.
        turn: u32,
    },
    /// A piece of the model's words, as it comes.
    Text {
        /// The piece.
        text: String,
    },
    /// The provider is asked again, after a failure; pieces of this turn heard so far are void.
    ProviderRetried {
        /// Why.
        message: String,
        /// After how long.
        after_ms: u64,
    },
    /// A call goes into the chain.
    ToolStarted {
        /// The model's id of it.
        call_id: String,
        /// Which tool.
        tool: String,
        /// The arguments, secrets masked.
        input: String,
    },
    /// A person is asked about a call.
    ToolWaits {
        /// The model's id of it.
        call_id: String,
        /// The approval that waits.
        approval: ApprovalId,
        /// Until when, in milliseconds since 1970.
        until_ms: At,
    },
    /// A call is through.
    ToolEnded {
        /// The model's id of it.
        call_id: String,
        /// Which tool.
        tool: String,
        /// `allowed`, `denied`, `answered` or `failed`.
        decision: String,
        /// Whether the model is told of a failure.
        is_error: bool,
        /// What the model reads, secrets masked.
        text: String,
    },
    /// What was counted so far.
    Usage {
        /// The sum.
        usage: Usage,
    },
    /// A hook failed; where it stood before something, the run ends.
    HookFailed {
        /// Which.
        hook: String,
        /// At which point.
        point: String,
        /// What happened.
        message: String,
    },
    /// It is over.
    Ended {
        /// How.
        ending: Ending,
        /// What was counted of its calls.
        tally: Tally,
    },
}

/// What was told, with its place in the order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Told {
    /// From 1, one more for each; who was given what was told up to a number goes on with the next.
    pub number: u64,
    /// What it was.
    #[serde(flatten)]
    pub watched: Watched,
}

/// Sends what happens to whoever watches. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Bus {
    shared: Arc<Shared>,
    depth: u32,
}

#[derive(Debug)]
struct Shared {
    sender: broadcast::Sender<Arc<Told>>,
    memory: Mutex<Memory>,
}

/// What is still known of what was told.
#[derive(Debug, Default)]
struct Memory {
    last: u64,
    /// How many bytes it may hold; none are kept where it is 0.
    most_bytes: usize,
    bytes: usize,
    told: VecDeque<Told>,
    forgotten: bool,
}

/// What was told so far, and a watcher of what comes next: nothing is missing between the two and nothing is twice.
#[derive(Debug)]
pub struct Followed {
    /// What a bus that remembers still has, oldest first; pieces of the model's words are put together.
    pub told: Vec<Told>,
    /// Whether older things were told that it no longer has.
    pub forgotten: bool,
    /// What comes next.
    pub next: broadcast::Receiver<Arc<Told>>,
}

/// How much a bus that remembers keeps: 1 MiB of words.
const MOST_BYTES: usize = 1 << 20;
/// How much of one text it keeps.
const MOST_OF_A_TEXT: usize = 16 << 10;

impl Default for Bus {
    fn default() -> Self {
        Self::keeping(0)
    }
}

impl Bus {
    /// A bus that gives who comes late what was told before.
    pub fn remembering() -> Self {
        Self::keeping(MOST_BYTES)
    }

    fn keeping(most_bytes: usize) -> Self {
        let memory = Mutex::new(Memory { most_bytes, ..Memory::default() });
        Self { shared: Arc::new(Shared { sender: broadcast::channel(1_024).0, memory }), depth: 0 }
    }

    /// The same bus for a sub-agent's run.
    pub(crate) fn beneath(&self) -> Self {
        Self { shared: Arc::clone(&self.shared), depth: self.depth + 1 }
    }

    /// A new watcher; it hears what happens from now on.
    pub fn watch(&self) -> broadcast::Receiver<Arc<Told>> {
        self.shared.sender.subscribe()
    }

    /// What was told, and a watcher of what comes next.
    pub fn follow(&self) -> Followed {
        let memory = self.shared.memory.lock().unwrap_or_else(PoisonError::into_inner);
        let next = self.shared.sender.subscribe();
        Followed { told: memory.told.iter().cloned().collect(), forgotten: memory.forgotten, next }
    }

    pub(crate) fn tell(&self, watched: Watched) {
        let watched = match self.depth {
            0 => watched,
            depth => Watched::Within { depth, told: Box::new(watched) },
        };
        let mut memory = self.shared.memory.lock().unwrap_or_else(PoisonError::into_inner);
        memory.last += 1;
        let told = Told { number: memory.last, watched };
        memory.keep(&told);
        // Told under the lock, so that everybody hears in the order of the numbers.
        let _ = self.shared.sender.send(Arc::new(told));
    }
}

impl Memory {
    fn keep(&mut self, told: &Told) {
        if self.most_bytes == 0 {
            return;
        }
        if let Some(last) = self.told.back_mut()
            && let Some(more) = joined(&mut last.watched, &told.watched)
        {
            last.number = told.number;
            self.bytes += more;
        } else {
            let mut told = told.clone();
            shorten(&mut told.watched);
            self.bytes += size(&told.watched);
            self.told.push_back(told);
        }
        while self.bytes > self.most_bytes
            && let Some(oldest) = self.told.pop_front()
        {
            self.bytes = self.bytes.saturating_sub(size(&oldest.watched));
            self.forgotten = true;
        }
    }
}

/// Puts a piece of the model's words behind the piece before it; how many bytes it was.
fn joined(last: &mut Watched, next: &Watched) -> Option<usize> {
    match (last, next) {
        (Watched::Text { text }, Watched::Text { text: piece }) => {
            text.push_str(piece);
            Some(piece.len())
        }
        (Watched::Within { depth, told }, Watched::Within { depth: next_depth, told: next }) if depth == next_depth => {
            joined(told, next)
        }
        _ => None,
    }
}

fn shorten(watched: &mut Watched) {
    match watched {
        Watched::ToolStarted { input: text, .. } | Watched::ToolEnded { text, .. } => cut(text),
        Watched::Within { told, .. } => shorten(told),
        Watched::TakenUp { messages, .. } => messages.iter_mut().for_each(|message| match message {
            Message::User { text } => cut(text),
            Message::Assistant { text, calls } => {
                cut(text);
                for call in calls {
                    cut(&mut call.arguments);
                }
            }
            Message::Results { results } => results.iter_mut().for_each(|result| cut(&mut result.text)),
        }),
        Watched::SessionStarted { .. }
        | Watched::TurnStarted { .. }
        | Watched::Text { .. }
        | Watched::ProviderRetried { .. }
        | Watched::ToolWaits { .. }
        | Watched::Usage { .. }
        | Watched::HookFailed { .. }
        | Watched::Ended { .. } => {}
    }
}

fn cut(text: &mut String) {
    if text.len() > MOST_OF_A_TEXT {
        let kept = (0..=MOST_OF_A_TEXT).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        let left_out = text.len() - kept;
        text.truncate(kept);
        let _ = write!(text, "… ({left_out} more bytes)");
    }
}

/// About how many bytes it takes.
fn size(watched: &Watched) -> usize {
    /// What everything takes beside its words.
    const FRAME: usize = 128;
    FRAME
        + match watched {
            Watched::Text { text } => text.len(),
            Watched::ToolStarted { input, tool, .. } => input.len() + tool.len(),
            Watched::ToolEnded { text, tool, .. } => text.len() + tool.len(),
            Watched::ProviderRetried { message, .. } | Watched::HookFailed { message, .. } => message.len(),
            Watched::Within { told, .. } => size(told),
            Watched::TakenUp { messages, .. } => messages.iter().map(Message::len).sum(),
            Watched::SessionStarted { .. }
            | Watched::TurnStarted { .. }
            | Watched::ToolWaits { .. }
            | Watched::Usage { .. }
            | Watched::Ended { .. } => 0,
        }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn text(text: &str) -> Watched {
        Watched::Text { text: text.to_owned() }
    }

    #[test]
    fn who_comes_late_is_given_what_was_told_and_hears_the_rest_once() {
        let bus = Bus::remembering();
        for watched in [Watched::TurnStarted { turn: 1 }, text("a"), text("b")] {
            bus.tell(watched);
        }
        let mut followed = bus.follow();
        bus.tell(text("c"));
        let told: Vec<(u64, Watched)> = followed.told.into_iter().map(|told| (told.number, told.watched)).collect();
        assert_eq!(told, [(1, Watched::TurnStarted { turn: 1 }), (3, text("ab"))]);
        assert_eq!(*followed.next.try_recv().unwrap(), Told { number: 4, watched: text("c") });
        assert!(followed.next.try_recv().is_err());
        assert!(!followed.forgotten);
        assert!(Bus::default().follow().told.is_empty());
    }

    #[test]
    fn a_sub_agents_words_are_not_taken_for_its_parents() {
        let bus = Bus::remembering();
        bus.tell(text("parent"));
        bus.beneath().tell(text("child"));
        bus.beneath().tell(text("ren"));
        bus.beneath().beneath().tell(text("grandchild"));
        let within = |depth, words| Watched::Within { depth, told: Box::new(text(words)) };
        let told: Vec<Watched> = bus.follow().told.into_iter().map(|told| told.watched).collect();
        assert_eq!(told, [text("parent"), within(1, "children"), within(2, "grandchild")]);
    }

    #[test]
    fn however_much_is_told_only_so_much_is_kept_the_newest() {
        let bus = Bus::remembering();
        let ended = |number: usize| Watched::ToolEnded {
            call_id: number.to_string(),
            tool: "t".into(),
            decision: "allowed".into(),
            is_error: false,
            text: "ä".repeat(100_000),
        };
        for number in 0..200 {
            bus.tell(ended(number));
        }
        let followed = bus.follow();
        let kept: usize = followed.told.iter().map(|told| size(&told.watched)).sum();
        assert!(followed.forgotten && kept <= MOST_BYTES && kept > MOST_BYTES / 2, "{kept}");
        assert_eq!(followed.told.last().unwrap().number, 200);
        let Watched::ToolEnded { text, .. } = &followed.told[0].watched else { panic!() };
        assert!(text.ends_with("ä… (183616 more bytes)"), "{}", &text[text.len() - 40..]);
        // Words that come in pieces are kept within the same bound.
        for _ in 0..3 {
            bus.tell(Watched::Text { text: "x".repeat(MOST_BYTES / 2) });
        }
        assert!(bus.follow().told.iter().map(|told| size(&told.watched)).sum::<usize>() <= MOST_BYTES);
    }
}
