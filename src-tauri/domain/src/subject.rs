//! What a call acts on, made concrete by the room `subject` and compared by `judge`.

use serde::{Deserialize, Serialize};

use crate::{Action, Digest, PathText};

/// One thing a call acts on, with what it does to it. A call has one or several.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Subject {
    /// A file or folder.
    Path(PathSubject),
    /// A web address.
    Url(UrlSubject),
    /// A shell command, taken apart. What it reads, writes and contacts follows as subjects of their own.
    Command(CommandSubject),
    /// A tool of an MCP server.
    Mcp(McpSubject),
    /// The tool alone: nothing more is known of what it acts on.
    Tool(ToolSubject),
}

impl Subject {
    /// What the call does to this subject.
    pub fn action(&self) -> Action {
        match self {
            Self::Path(s) => s.action,
            Self::Url(s) => s.action,
            Self::Command(s) => s.action,
            Self::Mcp(s) => s.action,
            Self::Tool(s) => s.action,
        }
    }
}

/// A path, three times: as the agent wrote it, as it reads without `.` and `..`, and where it really leads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PathSubject {
    /// What is done to it.
    pub action: Action,
    /// As written.
    pub asked: PathText,
    /// Absolute, without `.`, `..` and repeated slashes; links not followed. Deny rules look here too.
    pub normalized: PathText,
    /// Where the kernel would end, links followed; for a new file, its resolved parent and its name.
    pub resolved: PathText,
    /// Whether something is there now.
    pub exists: bool,
    /// Whether both forms lie within the session's workspace.
    pub inside_workspace: bool,
    /// A symbolic link was followed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub via_symlink: bool,
    /// The file has more than one name; never granted for writing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub hard_linked: bool,
    /// It lies on another device than the workspace.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub other_device: bool,
    /// A name that takes "once" only.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub protected: bool,
    /// It is a folder.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_folder: bool,
    /// Device and inode of what is there, for folder roots of grants.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inode: Option<(u64, u64)>,
    /// SHA-256 of the file that is to be written or deleted, as it was when this was judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<Digest>,
}

/// A web address as WHATWG parses it, its host made comparable.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UrlSubject {
    /// What is done to it.
    pub action: Action,
    /// As written.
    pub asked: String,
    /// Serialized after parsing, without fragment.
    pub normalized: String,
    /// `http` or `https`.
    pub scheme: String,
    /// A-labels or an IP address without brackets; one trailing dot taken off; an IPv6 address that stands for an IPv4 one is that one.
    pub host: String,
    /// The host in Unicode, where it differs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host_unicode: Option<String>,
    /// The part of the host that somebody registered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub registrable_domain: Option<String>,
    /// The port, the scheme's own where none is written.
    pub port: u16,
    /// The path, percent-encoded.
    pub path: String,
    /// Whether there is a query; grants for a host do not cover one.
    pub has_query: bool,
    /// What kind of address it is, where that is known from the name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<NetworkClass>,
    /// Spelled so that another program may read another address: never granted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub odd: bool,
}

/// Addresses that are not plainly the public internet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NetworkClass {
    /// This machine.
    Loopback,
    /// RFC 1918, RFC 6598, RFC 4193.
    Private,
    /// 169.254/16, `fe80::/10`.
    LinkLocal,
    /// Hands out a cloud machine's credentials.
    Metadata,
}

/// A shell command, taken apart as far as that is certain.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CommandSubject {
    /// The strongest effect of its parts.
    pub action: Action,
    /// As written.
    pub asked: String,
    /// Whether every part was understood.
    pub inspectable: bool,
    /// Why not, where it was not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why_not: Option<String>,
    /// Which shell runs it, as far as known.
    pub shell: String,
    /// Its simple commands, in order.
    pub commands: Vec<SimpleCommand>,
}

/// One simple command: words after quote removal, and what it does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SimpleCommand {
    /// The operator before it (`&&`, `||`, `;`, `|` or a newline); empty for the first.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub operator: String,
    /// The words, quotes removed.
    pub argv: Vec<String>,
    /// The program that the first word names, where it was found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exe: Option<PathText>,
    /// What it does at most.
    pub effect: Action,
    /// Paths it reads, normalized.
    pub reads: Vec<PathText>,
    /// Paths it writes or deletes, normalized.
    pub writes: Vec<PathText>,
    /// Hosts it contacts.
    pub hosts: Vec<String>,
    /// The words of the command it runs, where it runs another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub carrier_of: Option<Vec<String>>,
    /// Why this part cannot be inspected, where it cannot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why_not: Option<String>,
    /// Whether a `command_prefix` grant may cover it: one simple command, no carrier, interpreter or program file.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub prefix_grantable: bool,
}

/// A tool of an MCP server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct McpSubject {
    /// What is done, from Placet's own table; `other` where it is not known. Annotations are hints only.
    pub action: Action,
    /// The server as the client names it.
    pub server: String,
    /// The tool's own name.
    pub tool: String,
    /// SHA-256 of the tool's definition, where it was seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub definition: Option<crate::Digest>,
}

/// A tool of which nothing more is known.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolSubject {
    /// What it does, as far as known.
    pub action: Action,
    /// Its name as the client sent it.
    pub tool: String,
}
