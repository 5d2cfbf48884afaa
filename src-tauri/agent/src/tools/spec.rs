//! What each tool is called, what it takes, and whether it only reads.

use std::sync::LazyLock;

use serde_json::{Value, json};

/// A tool as a model is told of it.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolSpec {
    /// Its name.
    pub name: String,
    /// What it does, for the model.
    pub description: String,
    /// JSON Schema of its arguments.
    pub schema: Value,
    /// Whether it changes nothing: such calls of one turn may run at the same time.
    pub reads_only: bool,
}

fn spec(name: &str, reads_only: bool, description: &str, properties: &Value, required: &[&str]) -> ToolSpec {
    ToolSpec {
        name: name.to_owned(),
        description: description.to_owned(),
        schema: json!({
            "type": "object", "properties": properties, "required": required, "additionalProperties": false,
        }),
        reads_only,
    }
}

/// The built-in tools.
pub static BUILT_IN: LazyLock<Vec<ToolSpec>> = LazyLock::new(|| {
    let path = json!({"type": "string", "description": "Path, absolute or from the workspace"});
    let text = json!({"type": "string"});
    let whole = json!({"type": "integer", "minimum": 1});
    vec![
        spec(
            "read_file",
            true,
            "Reads a text file of the workspace, or some of its lines.",
            &json!({"path": path, "offset": whole, "limit": whole}),
            &["path"],
        ),
        spec(
            "list_files",
            true,
            "Lists a folder of the workspace.",
            &json!({"path": path, "recursive": {"type": "boolean"}, "max_entries": whole}),
            &["path"],
        ),
        spec(
            "search",
            true,
            "Finds lines that match a regular expression, in a file or everywhere under a folder. Files that look like secrets are left out.",
            &json!({"pattern": text, "path": path, "max_results": whole}),
            &["pattern", "path"],
        ),
        spec(
            "edit_file",
            false,
            "Replaces text in a file. The old text must occur exactly once, unless replace_all is set.",
            &json!({"path": path, "old_string": text, "new_string": text, "replace_all": {"type": "boolean"}}),
            &["path", "old_string", "new_string"],
        ),
        spec(
            "write_file",
            false,
            "Writes a whole file, making it and its folders where they are missing.",
            &json!({"path": path, "content": text}),
            &["path", "content"],
        ),
        spec("delete_file", false, "Deletes one file.", &json!({"path": path}), &["path"]),
        spec(
            "run_command",
            false,
            "Runs a shell command in the workspace, with a time limit and without the person's environment.",
            &json!({"command": text, "timeout_ms": whole}),
            &["command"],
        ),
        spec(
            "run_tests",
            false,
            "Runs the project's tests by the command given.",
            &json!({"command": text, "timeout_ms": whole}),
            &["command"],
        ),
        spec(
            "fetch_url",
            true,
            "Gets a URL. A redirect is not followed: call again with where it leads.",
            &json!({"url": text, "max_bytes": whole}),
            &["url"],
        ),
    ]
});
