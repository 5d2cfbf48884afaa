//! Every client and its tools: the table.

use placet_domain::Action;

use super::{Client, Does, McpNames, Tool};

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
