//! A run's own journal: what is needed to take it up after a crash. One JSON line each, on disk before the run goes on.
//!
//! Which calls were allowed and on whose word is the gate's history. Here stands the conversation, secrets masked as
//! the model saw them, and for each call whether its tool had begun, so that nothing that may have run is run again
//! silently.

use std::{
    collections::{HashMap, HashSet},
    fs::{File, OpenOptions},
    io::{self, BufRead as _, BufReader, Write as _},
    os::unix::fs::OpenOptionsExt as _,
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};

use placet_domain::ApprovalId;
use serde::{Deserialize, Serialize};

use crate::{
    machine::{Budget, Ending},
    message::{Message, ToolResult, Usage},
};

/// A line of the journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Line {
    /// The run begins.
    RunStarted(Beginning),
    /// Something was said.
    Said {
        /// What.
        message: Message,
        /// In which turn.
        turn: u32,
        /// What was counted so far.
        usage: Usage,
    },
    /// A person is asked about a call.
    Asked {
        /// The model's id of it.
        call_id: String,
        /// The approval that waits.
        approval: ApprovalId,
    },
    /// A tool is about to run: from here on it may have.
    ToolStarted {
        /// The model's id of the call.
        call_id: String,
    },
    /// A call is through.
    ToolEnded {
        /// Its result.
        result: ToolResult,
    },
    /// The run is over.
    RunEnded {
        /// How.
        ending: Ending,
    },
}

/// How a run began: taken up, it has the same tools and bounds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Beginning {
    /// Its id, which is also the client's id of the session at the gate.
    pub run: String,
    /// Where it works.
    pub workspace: String,
    /// The only tools it may be offered; all, where nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<String>>,
    /// How far it may go.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<Budget>,
    /// For a sub-agent: the call that began it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beneath: Option<Beneath>,
}

/// The call of another run that began this one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Beneath {
    /// The other run.
    pub run: String,
    /// The model's id of the call.
    pub call_id: String,
}

/// Why a journal cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The system said no.
    #[error("the run's journal could not be used: {0}")]
    Io(#[from] io::Error),
    /// A line before the last is no journal line.
    #[error("line {0} of the run's journal cannot be read; the run cannot be taken up")]
    Broken(usize),
    /// Another process has it open.
    #[error("the run is under way already")]
    InUse,
    /// It does not begin with a run.
    #[error("this is no run's journal")]
    NotARun,
}

/// An open journal. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Journal(Arc<Mutex<File>>);

/// What a journal says of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recalled {
    /// How it began.
    pub began: Beginning,
    /// The conversation.
    pub messages: Vec<Message>,
    /// The turn it was in.
    pub turn: u32,
    /// What was counted.
    pub usage: Usage,
    /// How it ended, if it did.
    pub ending: Option<Ending>,
    /// Of the calls that are open.
    pub open: OpenCalls,
}

/// What is known of calls without a result in the conversation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OpenCalls {
    /// Their approvals.
    pub asked: HashMap<String, ApprovalId>,
    /// Whose tool had begun and not ended.
    pub may_have_run: HashSet<String>,
    /// Whose result is there already.
    pub ended: HashMap<String, ToolResult>,
}

impl Journal {
    /// Makes the journal of a new run, readable by its owner alone.
    pub fn create(path: &Path, began: Beginning) -> Result<Self, JournalError> {
        let file = OpenOptions::new().create_new(true).append(true).mode(0o600).open(path)?;
        alone(&file)?;
        let journal = Self(Arc::new(Mutex::new(file)));
        journal.write(&Line::RunStarted(began))?;
        Ok(journal)
    }

    /// Reads a journal and opens it to be gone on with, by nobody else meanwhile. A torn last line never happened: it is cut off.
    pub fn recall(path: &Path) -> Result<(Self, Recalled), JournalError> {
        let file = OpenOptions::new().append(true).open(path)?;
        alone(&file)?;
        let (recalled, whole) = Self::read(path)?;
        file.set_len(whole)?;
        Ok((Self(Arc::new(Mutex::new(file))), recalled))
    }

    /// Looks at a journal, whoever has it open: what it says, and how many bytes of it are whole lines.
    pub(crate) fn read(path: &Path) -> Result<(Recalled, u64), JournalError> {
        let mut reader = BufReader::new(File::open(path)?);
        let mut recalled = Recalled::default();
        let mut whole = 0_u64;
        let mut text = String::new();
        for number in 1_usize.. {
            text.clear();
            let read = reader.read_line(&mut text)?;
            if read == 0 || !text.ends_with('\n') {
                break;
            }
            let line: Line = serde_json::from_str(&text).map_err(|_| JournalError::Broken(number))?;
            recalled.take(line);
            whole += read as u64;
        }
        if recalled.began.run.is_empty() {
            return Err(JournalError::NotARun);
        }
        Ok((recalled, whole))
    }

    /// Writes a line. When this returns it is on disk.
    pub fn write(&self, line: &Line) -> Result<(), JournalError> {
        let mut text = serde_json::to_string(line).map_err(io::Error::from)?;
        text.push('\n');
        let mut file = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        file.write_all(text.as_bytes())?;
        file.sync_data()?;
        Ok(())
    }
}

/// A run is driven by one process at a time: two would each do what was allowed once.
fn alone(file: &File) -> Result<(), JournalError> {
    use rustix::{
        fs::{FlockOperation, flock},
        io::Errno,
    };
    match flock(file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(()),
        Err(Errno::WOULDBLOCK) => Err(JournalError::InUse),
        Err(errno) => Err(io::Error::from(errno).into()),
    }
}

impl Recalled {
    /// Whether the run came to its own end: everything else can be taken up.
    pub(crate) fn is_over(&self) -> bool {
        self.ending == Some(Ending::Done)
    }

    /// Whether it broke off, by no word of the person's and at no bound.
    pub(crate) fn broke_off(&self) -> bool {
        self.ending.as_ref().is_none_or(|ending| *ending == Ending::Suspended)
    }

    fn take(&mut self, line: Line) {
        match line {
            Line::RunStarted(began) => self.began = began,
            Line::Said { message, turn, usage } => {
                self.messages.push(message);
                self.turn = turn;
                self.usage = usage;
                self.open = OpenCalls::default();
                self.ending = None;
            }
            Line::Asked { call_id, approval } => {
                self.open.asked.insert(call_id, approval);
            }
            Line::ToolStarted { call_id } => {
                self.open.may_have_run.insert(call_id);
            }
            Line::ToolEnded { result } => {
                self.open.may_have_run.remove(&result.call_id);
                self.open.ended.insert(result.call_id.clone(), result);
            }
            Line::RunEnded { ending } => self.ending = Some(ending),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_journal_tells_what_may_have_run_and_a_torn_line_never_happened() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("run.jsonl");
        let journal = Journal::create(&path, Beginning { run: "r1".into(), ..Beginning::default() }).unwrap();
        let said =
            |text: &str| Line::Said { message: Message::User { text: text.into() }, turn: 1, usage: Usage::default() };
        journal.write(&said("do it")).unwrap();
        for id in ["a", "b"] {
            journal.write(&Line::ToolStarted { call_id: id.into() }).unwrap();
        }
        let result = ToolResult { call_id: "a".into(), text: "ok".into(), is_error: false };
        journal.write(&Line::ToolEnded { result }).unwrap();
        let whole = std::fs::metadata(&path).unwrap().len();
        assert!(matches!(Journal::recall(&path), Err(JournalError::InUse)), "one process at a time drives a run");
        drop(journal);
        OpenOptions::new().append(true).open(&path).unwrap().write_all(b"{\"kind\":\"tool_st").unwrap();
        let (journal, recalled) = Journal::recall(&path).unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().len(), whole);
        assert_eq!(recalled.open.may_have_run, HashSet::from(["b".to_owned()]));
        assert!(recalled.open.ended.contains_key("a"));
        journal.write(&said("more")).unwrap();
        drop(journal);
        assert_eq!(Journal::recall(&path).unwrap().1.messages.len(), 2);
    }
}
