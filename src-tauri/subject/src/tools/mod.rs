//! The tools of each client: what their input means. Data; nothing here looks at the disk.
//!
//! Names are matched exactly and fields by the client that sends them, since one name means different things to
//! different clients. A tool that is not here is unknown: asked about, its whole input shown.

mod clients;

use placet_domain::Action;

use clients::CLIENTS;

/// What a tool does, with the names of the input's fields.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Does {
    /// Inside the client; touches nothing.
    Inside,
    /// One path.
    Path { action: Action, path: &'static str },
    /// A folder to look in; the client's own where none is named. The pattern may name another.
    Find { action: Action, folder: &'static str, pattern: &'static str },
    /// Many paths in a list.
    Paths { action: Action, paths: &'static str },
    /// A file made or replaced.
    Write { path: &'static str, content: &'static str },
    /// A text in a file replaced by another; `all` says every place.
    Edit { path: &'static str, old: &'static str, new: &'static str, all: &'static str },
    /// Several such, in a list whose entries have these fields.
    Edits { path: &'static str, list: &'static str, old: &'static str, new: &'static str, all: &'static str },
    /// A notebook's cell.
    Notebook { path: &'static str, source: &'static str },
    /// A patch in the format of `apply_patch`, several files in one.
    Patch { text: &'static str },
    /// A unified diff that the client made of its own edit.
    UnifiedDiff { path: &'static str, diff: &'static str },
    /// One tool that views, creates and edits, by its `command`.
    Editor { path: &'static str },
    /// A shell command; `folder` is where it runs, if named.
    Command { command: &'static str, folder: &'static str },
    /// What is typed into a running command.
    Typed { text: &'static str },
    /// One address.
    Url { url: &'static str },
    /// A text with addresses in it.
    UrlsIn { text: &'static str },
    /// The tool alone, with a text that leaves the machine.
    Sends { action: Action, text: &'static str },
}

/// One tool of one client.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tool {
    pub(crate) name: &'static str,
    pub(crate) does: Does,
    /// Fields that are mere talk: they change nothing that runs and are left out of the action's digest.
    pub(crate) talk: &'static [&'static str],
}

/// A client and its tools.
pub(crate) struct Client {
    pub(crate) name: &'static str,
    pub(crate) tools: &'static [Tool],
    /// How the client names the tools of MCP servers, beside `mcp__server__tool`.
    pub(crate) mcp: McpNames,
}

/// How a client joins server and tool to a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum McpNames {
    /// `mcp__server__tool` only.
    Plain,
    /// `mcp_server_tool`.
    SingleUnderscore,
    /// `server_tool`.
    Bare(char),
    /// `server-tool` and `server/tool`.
    DashOrSlash,
}

impl Does {
    /// The field without which the tool means nothing; empty where it has none.
    pub(crate) fn needs(self) -> &'static str {
        match self {
            Self::Inside | Self::Find { .. } => "",
            Self::Path { path, .. } | Self::Editor { path } | Self::Notebook { path, .. } => path,
            Self::Paths { paths, .. } => paths,
            Self::Write { content, .. } => content,
            Self::Edit { old, .. } => old,
            Self::Edits { list, .. } => list,
            Self::Patch { text } | Self::Typed { text } | Self::UrlsIn { text } | Self::Sends { text, .. } => text,
            Self::UnifiedDiff { diff, .. } => diff,
            Self::Command { command, .. } => command,
            Self::Url { url } => url,
        }
    }

    /// The fields that the card shows in a place of their own.
    pub(crate) fn shown_fields(self) -> Vec<&'static str> {
        match self {
            Self::Inside => vec![],
            Self::Path { path, .. } => vec![path],
            Self::Editor { path } => vec![path, "command", "file_text", "old_str", "new_str", "insert_line"],
            Self::Notebook { path, source } => vec![path, source],
            Self::Find { folder, pattern, .. } => vec![folder, pattern],
            Self::Paths { paths, .. } => vec![paths],
            Self::Write { path, content } => vec![path, content],
            Self::Edit { path, old, new, all } => vec![path, old, new, all],
            Self::Edits { path, list, .. } => vec![path, list],
            Self::Patch { text } | Self::Typed { text } | Self::UrlsIn { text } | Self::Sends { text, .. } => {
                vec![text]
            }
            Self::UnifiedDiff { path, diff } => vec![path, diff],
            Self::Command { command, folder } => vec![command, folder],
            Self::Url { url } => vec![url],
        }
    }
}

/// What a tool's name means.
#[derive(Debug, PartialEq)]
pub(crate) enum Meaning {
    /// A known tool, with its fields of mere talk.
    Known(Does, &'static [&'static str]),
    /// A tool of an MCP server.
    Mcp { server: String, tool: String },
    /// Not known.
    Unknown,
}

/// The agent of a call of which nobody says who makes it: it is explained, never let through.
const NOBODY: &str = "unknown";

/// Tools that touch nothing whoever has them. Another "task" or "skill" of a client that is not known may do anything.
const PLAIN_TALK: &[&str] = &[
    "TodoWrite",
    "TodoRead",
    "todo_write",
    "todowrite",
    "todoread",
    "write_todos",
    "update_plan",
    "ExitPlanMode",
    "EnterPlanMode",
    "AskUserQuestion",
];

/// Finds out what a tool's name means to a client. `has` says whether the input has a field.
pub(crate) fn meaning(agent: &str, name: &str, has: impl Fn(&str) -> bool) -> Meaning {
    // What stands before an MCP server knows its tools by the server's names alone, which mean whatever it likes.
    if agent == "mcp" {
        let (server, tool) = mcp_name(McpNames::Plain, name).unwrap_or(("", name));
        return Meaning::Mcp { server: server.to_owned(), tool: tool.to_owned() };
    }
    let client = CLIENTS.iter().find(|client| client.name == agent);
    let known = match client {
        Some(client) => find(client.tools, name, &has).or_else(|| client.tools.iter().find(|tool| tool.name == name)),
        None => CLIENTS
            .iter()
            .find_map(|client| find(client.tools, name, &has))
            .filter(|tool| tool.does != Does::Inside || agent == NOBODY || PLAIN_TALK.contains(&name)),
    };
    if let Some(tool) = known {
        return Meaning::Known(tool.does, tool.talk);
    }
    mcp_name(client.map_or(McpNames::Plain, |c| c.mcp), name)
        .map_or(Meaning::Unknown, |(server, tool)| Meaning::Mcp { server: server.to_owned(), tool: tool.to_owned() })
}

/// The first tool of this name whose needed field the input has.
fn find<'t>(tools: &'t [Tool], name: &str, has: &impl Fn(&str) -> bool) -> Option<&'t Tool> {
    tools.iter().find(|tool| tool.name == name && (tool.does.needs().is_empty() || has(tool.does.needs())))
}

fn mcp_name(names: McpNames, name: &str) -> Option<(&str, &str)> {
    let split = |rest: &'_ str, at: Option<usize>, width: usize| -> Option<(usize, usize)> {
        let at = at?;
        (at > 0 && at + width < rest.len()).then_some((at, at + width))
    };
    if let Some(rest) = name.strip_prefix("mcp__") {
        let (end, start) = split(rest, rest.find("__"), 2)?;
        return Some((&rest[..end], &rest[start..]));
    }
    let (rest, at) = match names {
        McpNames::Plain => return None,
        McpNames::SingleUnderscore => {
            let rest = name.strip_prefix("mcp_")?;
            (rest, rest.find('_'))
        }
        McpNames::Bare(separator) => (name, name.find(separator)),
        McpNames::DashOrSlash => (name, name.find(['/', '-'])),
    };
    let (end, start) = split(rest, at, 1)?;
    Some((&rest[..end], &rest[start..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_name_means_what_its_client_means() {
        let has = |wanted: &'static str| move |field: &str| field == wanted;
        let edit = meaning("opencode", "edit", has("oldString"));
        assert!(matches!(edit, Meaning::Known(Does::Edit { path: "filePath", .. }, _)));
        let edit = meaning("copilot", "edit", has("diff"));
        assert!(matches!(edit, Meaning::Known(Does::UnifiedDiff { .. }, _)));
        // A client that names no such tool does not borrow another's.
        assert_eq!(meaning("claude-code", "run_shell_command", has("command")), Meaning::Unknown);
        assert!(matches!(
            meaning("somebody", "run_shell_command", has("command")),
            Meaning::Known(Does::Command { .. }, _)
        ));
    }

    #[test]
    fn only_known_clients_have_tools_inside_themselves() {
        assert!(matches!(meaning("claude-code", "Task", |_| false), Meaning::Known(Does::Inside, _)));
        assert!(matches!(meaning("unknown", "Task", |_| false), Meaning::Known(Does::Inside, _)));
        assert_eq!(meaning("somebody", "Task", |_| false), Meaning::Unknown);
        assert!(matches!(meaning("somebody", "TodoWrite", |_| false), Meaning::Known(Does::Inside, _)));
    }

    #[test]
    fn names_of_mcp_tools_are_taken_apart() {
        let mcp = |agent: &str, name: &str| match meaning(agent, name, |_| false) {
            Meaning::Mcp { server, tool } => format!("{server} · {tool}"),
            Meaning::Known(..) => "known".to_owned(),
            Meaning::Unknown => "unknown".to_owned(),
        };
        assert_eq!(mcp("claude-code", "mcp__fs__write_file"), "fs · write_file");
        assert_eq!(mcp("gemini-cli", "mcp_fs_write_file"), "fs · write_file");
        assert_eq!(mcp("copilot", "fs-write_file"), "fs · write_file");
        assert_eq!(mcp("copilot", "fs/write_file"), "fs · write_file");
        assert_eq!(mcp("opencode", "fs_write_file"), "fs · write_file");
        assert_eq!(mcp("mcp", "mcp__fs__write_file"), "fs · write_file");
        assert_eq!(mcp("mcp", "write_file"), " · write_file");
        assert_eq!(mcp("claude-code", "mcp____x"), "unknown");
        assert_eq!(mcp("claude-code", "mcp__fs__"), "unknown");
    }
}
