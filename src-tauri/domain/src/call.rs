//! A call after the room `subject` has looked at it.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Action, Card, Digest, Flag, PathText, Subject};

/// What the history keeps of a call: everything that judging needs but the input itself and the card, which are kept
/// apart under their digests.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CallFacts {
    /// The tool's name as the client sent it.
    pub tool: String,
    /// The client's own id of the call, where it gives one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call_id: Option<String>,
    /// The sub-agent that makes it, or the call that started that, as the client names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// The folder the client says it is in.
    pub cwd: PathText,
    /// The strongest action among the subjects.
    pub action: Action,
    /// What it acts on; the first is what the tool names, derived ones follow.
    pub subjects: Vec<Subject>,
    /// What is odd about it.
    pub flags: Vec<Flag>,
    /// Over tool, canonical input, cwd, subjects, pre-images and operands: what would run.
    pub digest: Digest,
    /// The same without pre-images and mere talk: what is asked for.
    pub action_digest: Digest,
    /// SHA-256 of the input's bytes as the client sent them.
    pub raw_sha256: Digest,
    /// The forms of `on` that a grant for this call may take; empty where only "once" is possible.
    pub grantable: Vec<OnForm>,
    /// Refused before any rule, with the reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<Refused>,
    /// What it was before the policy's rewrites.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rewritten: Option<RewrittenFrom>,
    /// Why the asker itself wants a person to look: a hook says so, or it may have run already. No rule and no grant
    /// answers for the person then; a denial does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doubt: Option<String>,
    /// Where it holds secrets: under which digests input and card are kept with these masked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub masked: Option<Box<Masked>>,
}

/// What is kept of a call that holds secrets. Input and card as they are stay only for as long as the call may be
/// answered; their digests stand where they always do.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Masked {
    /// SHA-256 of the input with its secrets masked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<Digest>,
    /// Of the card, likewise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub card: Option<Digest>,
    /// Of the input before the policy's rewrites.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub original: Option<Digest>,
}

/// A call whose input the policy changed before it was judged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RewrittenFrom {
    /// The rewrites, in the order in which they changed it.
    pub rewrites: Vec<String>,
    /// SHA-256 of the input's bytes as the client sent them; they are kept under it.
    pub original_sha256: Digest,
}

/// The longest doubt that is kept, in characters.
const MOST_OF_A_DOUBT: usize = 1_000;

impl CallFacts {
    /// Takes over the asker's own doubt, in one line of words that can be seen.
    pub fn doubted(&mut self, doubt: Option<&str>) {
        self.doubt = doubt.map(|words| {
            let mut shown = crate::grant::sentence::plain(words);
            if let Some((cut, _)) = shown.char_indices().nth(MOST_OF_A_DOUBT) {
                shown.truncate(cut);
                shown.push('…');
            }
            shown
        });
    }

    /// Whether the agent takes in content from outside by it: from the network, an MCP server, a file elsewhere, a tool
    /// of its client that searches or reads the web, or a command of which nobody can tell.
    pub fn brings_content_in(&self) -> bool {
        self.subjects.iter().any(|subject| match subject {
            Subject::Url(_) | Subject::Mcp(_) => true,
            Subject::Path(path) => {
                !path.inside_workspace && matches!(path.action, Action::Read | Action::Search | Action::List)
            }
            Subject::Command(command) => {
                !command.inspectable || command.commands.iter().any(|part| !part.hosts.is_empty())
            }
            // A search of the web, a prompt sent to a model, what is typed into a program that runs.
            Subject::Tool(tool) => matches!(tool.action, Action::Fetch | Action::Send | Action::Execute),
        })
    }
}

/// The forms of a grant's `on`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnForm {
    /// Exactly this input.
    Exact,
    /// This path.
    Path,
    /// Everything under a folder.
    Folder,
    /// This URL.
    Url,
    /// This URL's path and what lies beneath.
    UrlPrefix,
    /// Scheme, host and port.
    Origin,
    /// This exact command.
    Command,
    /// Commands that begin with these words.
    CommandPrefix,
    /// This tool of this MCP server.
    McpTool,
}

/// A call that no rule can allow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refused {
    /// To branch on.
    pub code: RefusedCode,
    /// To read: what, why, and what to do instead.
    pub reason: String,
}

/// Why a call is refused before any rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RefusedCode {
    /// Userinfo in a URL.
    UrlUserinfoForbidden,
    /// No URL that could be parsed.
    UrlUnparseable,
    /// Neither http nor https.
    SchemeNotAllowed,
    /// A host with an empty label.
    UrlMalformedHost,
    /// `/proc`, `/sys`, `/dev`: they mean another thing to whoever looks.
    MagicPath,
    /// `..` behind a component that is not there.
    DotdotThroughMissingComponent,
    /// A leading `~` or `$` in a file tool.
    UnexpandedOrAmbiguous,
    /// A path with NUL, too long, or a Windows device spelling.
    PathMalformed,
    /// No regular file or folder.
    NotAFile,
    /// Nothing named to act on.
    EmptySubject,
    /// JSON with a key twice.
    DuplicateKeys,
    /// A number that does not survive.
    NumberOutOfRange,
    /// A lone surrogate.
    InvalidUnicode,
    /// Deeper than 64 levels.
    TooDeep,
    /// Larger than can be judged.
    TooLarge,
    /// No JSON, or not the shape the tool takes.
    Malformed,
    /// Placet's own files and commands.
    SelfProtection,
    /// The file could not be looked at.
    Unreadable,
}

/// A judged call with what is kept apart from the history: the input and the card.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    /// What the history keeps.
    pub facts: CallFacts,
    /// The input as parsed.
    pub input: Arc<Value>,
    /// What the person is shown.
    pub card: Arc<Card>,
}
