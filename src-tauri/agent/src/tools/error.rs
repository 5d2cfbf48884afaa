//! What a tool says when it cannot do what it was asked.

use serde::Serialize;

/// A tool's failure, as the model reads it: `{"code", "message", "tool"}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
#[error("{tool}: {message}")]
pub struct ToolError {
    /// To branch on.
    pub code: ToolErrorCode,
    /// What, why, and what to do instead.
    pub message: String,
    /// Which tool.
    pub tool: String,
}

/// The closed set of a tool's failures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolErrorCode {
    /// The arguments have not the shape of the schema.
    BadArguments,
    /// What was judged does not name what the tool would touch.
    NotJudged,
    /// Nothing of that name.
    NotFound,
    /// Neither a regular file nor, where one is meant, a folder.
    WrongKind,
    /// Outside the workspace: file tools act beneath it only.
    OutsideWorkspace,
    /// What is there is no longer what was judged.
    Changed,
    /// The text to replace is not in the file.
    NoMatch,
    /// The text to replace is in the file more than once.
    ManyMatches,
    /// More than the tool takes.
    TooLarge,
    /// Bytes that are no text.
    NotText,
    /// The time limit was reached.
    TimedOut,
    /// The address is not the one that was judged.
    AddressNotJudged,
    /// The network failed.
    Unreachable,
    /// The system said no.
    Failed,
    /// No such tool is offered.
    UnknownTool,
}

impl ToolErrorCode {
    /// The code with its sentence, before the tool's name is known.
    pub(crate) fn because(self, message: impl Into<String>) -> Trouble {
        Trouble { code: self, message: message.into() }
    }
}

/// A failure that does not yet carry its tool's name.
#[derive(Debug)]
pub(crate) struct Trouble {
    pub(crate) code: ToolErrorCode,
    pub(crate) message: String,
}

impl Trouble {
    pub(crate) fn of(self, tool: &str) -> ToolError {
        ToolError { code: self.code, message: self.message, tool: tool.to_owned() }
    }
}

impl From<std::io::Error> for Trouble {
    fn from(error: std::io::Error) -> Self {
        rustix::io::Errno::from_io_error(&error)
            .map_or_else(|| ToolErrorCode::Failed.because(error.to_string()), Self::from)
    }
}

impl From<rustix::io::Errno> for Trouble {
    fn from(errno: rustix::io::Errno) -> Self {
        use rustix::io::Errno;
        match errno {
            Errno::NOENT => ToolErrorCode::NotFound.because("There is nothing of that name."),
            Errno::NOTDIR | Errno::ISDIR => {
                ToolErrorCode::WrongKind.because("It is not the kind of file the tool takes.")
            }
            Errno::LOOP => ToolErrorCode::Changed
                .because("A symbolic link stands where none stood when the call was judged. Ask again."),
            Errno::XDEV => ToolErrorCode::OutsideWorkspace.because("The path leads out of the workspace."),
            other => ToolErrorCode::Failed.because(std::io::Error::from(other).to_string()),
        }
    }
}
