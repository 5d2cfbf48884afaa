//! The tools of each client: what their input means. Data; nothing here looks at the disk.
//!
//! Names are matched exactly and fields by the client that sends them, since one name means different things to
//! different clients. A tool that is not here is unknown: asked about, its whole input shown.

use placet_domain::Action;

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

const fn tool(name: &'static str, does: Does) -> Tool {
    Tool { name, does, talk: &[] }
}

const fn with_talk(name: &'static str, does: Does, talk: &'static [&'static str]) -> Tool {
    Tool { name, does, talk }
}

const fn inside(name: &'static str) -> Tool {
    tool(name, Does::Inside)
}

const fn reads(name: &'static str, path: &'static str) -> Tool {
    tool(name, Does::Path { action: Action::Read, path })
}

const fn lists(name: &'static str, folder: &'static str) -> Tool {
    tool(name, Does::Find { action: Action::List, folder, pattern: "" })
}

const fn searches(name: &'static str, folder: &'static str, pattern: &'static str) -> Tool {
    tool(name, Does::Find { action: Action::Search, folder, pattern })
}

const fn writes(name: &'static str, path: &'static str, content: &'static str) -> Tool {
    tool(name, Does::Write { path, content })
}

const fn edits(
    name: &'static str,
    path: &'static str,
    old: &'static str,
    new: &'static str,
    all: &'static str,
) -> Tool {
    tool(name, Does::Edit { path, old, new, all })
}

const fn deletes(name: &'static str, path: &'static str) -> Tool {
    tool(name, Does::Path { action: Action::Delete, path })
}

const fn runs(name: &'static str, folder: &'static str, talk: &'static [&'static str]) -> Tool {
    with_talk(name, Does::Command { command: "command", folder }, talk)
}

/// A search on the web asks no host that the call names, but its words leave the machine: a fetch by the tool alone.
const fn searches_web(name: &'static str, query: &'static str) -> Tool {
    tool(name, Does::Sends { action: Action::Fetch, text: query })
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

/// Every client, our own first. The order is the one in which a tool of an unknown client is looked for.
pub(crate) const CLIENTS: &[Client] = &[
    Client {
        name: "builtin",
        mcp: McpNames::Plain,
        tools: &[
            reads("read_file", "path"),
            lists("list_files", "path"),
            searches("search", "path", ""),
            edits("edit_file", "path", "old_string", "new_string", "replace_all"),
            writes("write_file", "path", "content"),
            deletes("delete_file", "path"),
            runs("run_command", "", &["timeout_ms"]),
            runs("run_tests", "", &["timeout_ms"]),
            tool("fetch_url", Does::Url { url: "url" }),
            inside("sub_agent"),
        ],
    },
    Client {
        name: "claude-code",
        mcp: McpNames::Plain,
        tools: &[
            runs("Bash", "", &["description", "timeout"]),
            runs("PowerShell", "", &["description", "timeout"]),
            with_talk("Monitor", Does::Command { command: "command", folder: "" }, &["description", "timeout_ms"]),
            writes("Write", "file_path", "content"),
            edits("Edit", "file_path", "old_string", "new_string", "replace_all"),
            tool(
                "MultiEdit",
                Does::Edits {
                    path: "file_path",
                    list: "edits",
                    old: "old_string",
                    new: "new_string",
                    all: "replace_all",
                },
            ),
            tool("NotebookEdit", Does::Notebook { path: "notebook_path", source: "new_source" }),
            reads("NotebookRead", "notebook_path"),
            reads("Read", "file_path"),
            searches("Glob", "path", "pattern"),
            searches("Grep", "path", "glob"),
            lists("LS", "path"),
            tool("WebFetch", Does::Url { url: "url" }),
            searches_web("WebSearch", "query"),
            inside("TodoWrite"),
            inside("TodoRead"),
            inside("TaskCreate"),
            inside("TaskUpdate"),
            inside("TaskGet"),
            inside("TaskList"),
            inside("Task"),
            inside("Agent"),
            inside("TaskOutput"),
            inside("AskUserQuestion"),
            inside("ExitPlanMode"),
            inside("EnterPlanMode"),
            inside("Skill"),
            inside("SlashCommand"),
            inside("ToolSearch"),
            inside("BashOutput"),
            inside("KillShell"),
            inside("KillBash"),
            inside("TaskStop"),
            inside("ListMcpResourcesTool"),
            inside("StructuredOutput"),
        ],
    },
    Client {
        name: "codex",
        mcp: McpNames::Plain,
        tools: &[
            runs("Bash", "workdir", &["description", "timeout", "timeout_ms"]),
            runs("shell", "workdir", &["timeout_ms", "justification"]),
            runs("local_shell", "workdir", &["timeout_ms"]),
            runs("shell_command", "workdir", &["timeout_ms", "justification"]),
            with_talk(
                "exec_command",
                Does::Command { command: "cmd", folder: "workdir" },
                &["yield_time_ms", "max_output_tokens", "justification"],
            ),
            tool("write_stdin", Does::Typed { text: "chars" }),
            tool("apply_patch", Does::Patch { text: "command" }),
            tool("apply_patch", Does::Patch { text: "input" }),
            tool("apply_patch", Does::Patch { text: "patch" }),
            reads("view_image", "path"),
            reads("read_file", "file_path"),
            lists("list_dir", "dir_path"),
            searches("grep_files", "path", ""),
            searches_web("web_search", "query"),
            inside("update_plan"),
            inside("request_user_input"),
            inside("spawn_agent"),
            inside("send_input"),
            inside("wait_agent"),
            inside("close_agent"),
            inside("list_mcp_resources"),
        ],
    },
    Client {
        name: "gemini-cli",
        mcp: McpNames::SingleUnderscore,
        tools: &[
            runs("run_shell_command", "dir_path", &["description"]),
            runs("run_shell_command", "directory", &["description"]),
            writes("write_file", "file_path", "content"),
            edits("replace", "file_path", "old_string", "new_string", "allow_multiple"),
            reads("read_file", "file_path"),
            reads("read_file", "absolute_path"),
            tool("read_many_files", Does::Paths { action: Action::Read, paths: "include" }),
            tool("read_many_files", Does::Paths { action: Action::Read, paths: "paths" }),
            lists("list_directory", "dir_path"),
            lists("list_directory", "path"),
            searches("glob", "dir_path", "pattern"),
            searches("search_file_content", "dir_path", "include"),
            searches("grep_search", "dir_path", ""),
            tool("web_fetch", Does::UrlsIn { text: "prompt" }),
            tool("web_fetch", Does::Url { url: "url" }),
            searches_web("google_web_search", "query"),
            inside("write_todos"),
            inside("ask_user"),
            inside("enter_plan_mode"),
            inside("exit_plan_mode"),
            inside("activate_skill"),
            inside("get_internal_docs"),
            inside("complete_task"),
        ],
    },
    Client {
        name: "qwen-code",
        mcp: McpNames::Plain,
        tools: &[
            runs("run_shell_command", "directory", &["description", "timeout"]),
            writes("write_file", "file_path", "content"),
            edits("edit", "file_path", "old_string", "new_string", "replace_all"),
            edits("replace", "file_path", "old_string", "new_string", "replace_all"),
            reads("read_file", "file_path"),
            reads("read_file", "absolute_path"),
            tool("read_many_files", Does::Paths { action: Action::Read, paths: "paths" }),
            lists("list_directory", "path"),
            searches("glob", "path", "pattern"),
            searches("grep_search", "path", ""),
            searches("search_file_content", "path", ""),
            tool("notebook_edit", Does::Notebook { path: "notebook_path", source: "new_source" }),
            tool("web_fetch", Does::Url { url: "url" }),
            searches_web("web_search", "query"),
            inside("todo_write"),
            inside("task"),
            inside("agent"),
            inside("skill"),
            inside("exit_plan_mode"),
            inside("ask_user_question"),
        ],
    },
    Client {
        name: "copilot",
        mcp: McpNames::DashOrSlash,
        tools: &[
            runs("bash", "", &["description", "timeout", "initial_wait"]),
            runs("Bash", "", &["description", "timeout"]),
            with_talk("local_shell", Does::Command { command: "command", folder: "" }, &["description"]),
            tool("write_bash", Does::Typed { text: "input" }),
            inside("read_bash"),
            inside("stop_bash"),
            inside("list_bash"),
            reads("view", "path"),
            writes("create", "path", "file_text"),
            edits("edit", "path", "old_str", "new_str", ""),
            tool("edit", Does::UnifiedDiff { path: "file_path", diff: "diff" }),
            tool("create", Does::UnifiedDiff { path: "file_path", diff: "diff" }),
            tool("str_replace_editor", Does::Editor { path: "path" }),
            tool("apply_patch", Does::Patch { text: "input" }),
            tool("apply_patch", Does::Patch { text: "patch" }),
            searches("glob", "path", "pattern"),
            searches("grep", "path", ""),
            searches("rg", "path", ""),
            tool("web_fetch", Does::Url { url: "url" }),
            searches_web("web_search", "query"),
            inside("update_todo"),
            inside("report_intent"),
            inside("ask_user"),
            inside("task"),
            inside("read_agent"),
            inside("list_agents"),
            inside("skill"),
            inside("exit_plan_mode"),
        ],
    },
    Client {
        name: "opencode",
        mcp: McpNames::Bare('_'),
        tools: &[
            runs("bash", "workdir", &["description", "timeout"]),
            writes("write", "filePath", "content"),
            edits("edit", "filePath", "oldString", "newString", "replaceAll"),
            tool(
                "multiedit",
                Does::Edits { path: "filePath", list: "edits", old: "oldString", new: "newString", all: "replaceAll" },
            ),
            tool("patch", Does::Patch { text: "patchText" }),
            tool("apply_patch", Does::Patch { text: "patchText" }),
            reads("read", "filePath"),
            lists("list", "path"),
            searches("glob", "path", "pattern"),
            searches("grep", "path", ""),
            tool("webfetch", Does::Url { url: "url" }),
            searches_web("websearch", "query"),
            searches_web("codesearch", "query"),
            inside("todowrite"),
            inside("todoread"),
            inside("task"),
            inside("question"),
            inside("skill"),
            inside("plan_enter"),
            inside("plan_exit"),
            inside("invalid"),
        ],
    },
    Client {
        name: "openhands",
        mcp: McpNames::Plain,
        tools: &[
            runs("terminal", "", &["timeout", "kind"]),
            runs("execute_bash", "", &["timeout", "security_risk"]),
            runs("bash", "", &["timeout"]),
            tool("file_editor", Does::Editor { path: "path" }),
            tool("str_replace_editor", Does::Editor { path: "path" }),
            tool("apply_patch", Does::Patch { text: "patch" }),
            searches("glob", "path", "pattern"),
            searches("grep", "path", ""),
            tool("browser_navigate", Does::Url { url: "url" }),
            tool("fetch", Does::Url { url: "url" }),
            inside("task_tracker"),
            inside("think"),
            inside("finish"),
            inside("delegate"),
        ],
    },
    Client {
        name: "cursor",
        mcp: McpNames::Plain,
        tools: &[
            runs("Shell", "working_directory", &["description", "timeout", "block_until_ms"]),
            runs("Shell", "cwd", &["description", "timeout"]),
            runs("Bash", "cwd", &[]),
            reads("Read", "path"),
            reads("Read", "file_path"),
            reads("Read", "target_file"),
            writes("Write", "path", "contents"),
            writes("Write", "path", "content"),
            writes("Write", "file_path", "content"),
            edits("StrReplace", "path", "old_string", "new_string", "replace_all"),
            edits("Edit", "file_path", "old_string", "new_string", "replace_all"),
            deletes("Delete", "path"),
            deletes("Delete", "target_file"),
            searches("Glob", "target_directory", "glob_pattern"),
            searches("Grep", "path", "glob"),
            lists("LS", "target_directory"),
            lists("LS", "path"),
            tool("WebFetch", Does::Url { url: "url" }),
            searches_web("WebSearch", "search_term"),
            searches_web("WebSearch", "query"),
            inside("TodoWrite"),
            inside("Task"),
            inside("AskQuestion"),
            inside("SwitchMode"),
            inside("CreatePlan"),
        ],
    },
];

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
