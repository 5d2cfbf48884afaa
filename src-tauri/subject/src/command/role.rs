//! What words and the values of options are to a program.

use placet_domain::Action;

/// What a word is to the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// Neither a path nor an address.
    Text,
    /// A path read.
    Read,
    /// A file that names further files, all of which are read.
    ReadList,
    /// A path written.
    Write,
    /// As `Write`, where “-” is the standard output.
    Output,
    /// A path removed.
    Delete,
    /// A path read and removed (`mv`).
    Move,
    /// Perhaps a path read (`HEAD:a.txt`); counted where it looks like one.
    Maybe,
    /// Text that begins with “+” (`date +%F`); anything else is a value to be set.
    Format,
    /// A URL fetched.
    Url,
    /// A URL or host something is sent to.
    Send,
    /// A host.
    Host,
    /// The method of a request: one that asks, or else something is sent.
    Method,
    /// A header of a request: one about the form of the answer, or else something is sent.
    Header,
    /// A repository of a forge: `OWNER/NAME`, or with the host before it, or its address; else mere text.
    Repository,
    /// A folder in which the rest is done.
    Folder,
    /// A program's text.
    Program,
    /// A file with a program.
    ProgramFile,
    /// Text for the shell.
    Shell,
    /// This word and those after it are a command.
    Command,
    /// As `Command`, to be run with further words that are not known.
    CommandWithUnknown,
    /// A command up to `;` or `+`, with `{}` for what was found.
    CommandForEach,
    /// A program for `sed`.
    Sed,
    /// A program for `awk`.
    Awk,
    /// A program for `jq`.
    Jq,
    /// `key=value` of Git's configuration.
    GitSetting,
}

impl Role {
    pub(super) fn parse(word: &str) -> Result<Self, String> {
        Ok(match word {
            "text" => Self::Text,
            "read" => Self::Read,
            "read-list" => Self::ReadList,
            "write" => Self::Write,
            "output" => Self::Output,
            "delete" => Self::Delete,
            "move" => Self::Move,
            "maybe" => Self::Maybe,
            "format" => Self::Format,
            "url" => Self::Url,
            "send" => Self::Send,
            "host" => Self::Host,
            "method" => Self::Method,
            "header" => Self::Header,
            "repository" => Self::Repository,
            "folder" => Self::Folder,
            "program" => Self::Program,
            "program-file" => Self::ProgramFile,
            "shell" => Self::Shell,
            "command" => Self::Command,
            "command-with-unknown" => Self::CommandWithUnknown,
            "command-for-each" => Self::CommandForEach,
            "sed" => Self::Sed,
            "awk" => Self::Awk,
            "jq" => Self::Jq,
            "git-setting" => Self::GitSetting,
            _ => return Err(format!("there is no role “{word}”")),
        })
    }

    /// The least effect of a program that has such a word.
    pub(crate) fn effect(self) -> Action {
        match self {
            Self::Text
            | Self::Format
            | Self::Host
            | Self::Method
            | Self::Header
            | Self::Repository
            | Self::Folder
            | Self::Sed
            | Self::Awk
            | Self::Jq
            | Self::GitSetting
            | Self::Command
            | Self::CommandWithUnknown
            | Self::CommandForEach
            | Self::Shell
            | Self::Maybe => Action::None,
            Self::Read | Self::ReadList => Action::Read,
            Self::Write | Self::Output => Action::Write,
            Self::Delete | Self::Move => Action::Delete,
            Self::Url => Action::Fetch,
            Self::Send => Action::Send,
            Self::Program | Self::ProgramFile => Action::Execute,
        }
    }
}

/// Whether an option takes a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Takes {
    Nothing,
    /// Attached or the next word.
    Value(Role),
    /// Attached only.
    Attached(Role),
    /// So many words after it.
    Words(usize),
}
