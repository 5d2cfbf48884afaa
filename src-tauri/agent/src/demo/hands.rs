//! The demo's agents really act, in the demo's workspace and nowhere else: each client's tool is done by ours.

use placet_domain::Subject;
use serde_json::{Value, json};

use super::patch::{self, Change};
use crate::{
    corridor::Cleared,
    tools::{Act, Output, Toolbox},
};

/// Does what was cleared.
pub(super) async fn act(toolbox: &Toolbox, cleared: &Cleared) -> Output {
    let input = cleared.input();
    let subjects = &cleared.call().subjects;
    match cleared.tool() {
        "Read" | "read_file" if input.get("file_path").is_some() => {
            own(toolbox, "read_file", &json!({"path": input["file_path"]}), subjects).await
        }
        "Edit" | "replace" => {
            let input = json!({
                "path": input["file_path"], "old_string": input["old_string"], "new_string": input["new_string"],
                "replace_all": input["replace_all"].as_bool().unwrap_or(false),
            });
            own(toolbox, "edit_file", &input, subjects).await
        }
        "Write" => {
            let input = json!({"path": input["file_path"], "content": input["content"]});
            own(toolbox, "write_file", &input, subjects).await
        }
        "Bash" | "run_shell_command" => {
            own(toolbox, "run_command", &json!({"command": input["command"], "timeout_ms": 10_000}), subjects).await
        }
        "WebFetch" | "web_fetch" => said("The demo does not reach the network: nothing was fetched.\n"),
        "apply_patch" => patched(toolbox, input, subjects).await,
        "mcp__tracker__create_comment" => commented(toolbox, input),
        own_name => own(toolbox, own_name, input, subjects).await,
    }
}

async fn own(toolbox: &Toolbox, tool: &str, input: &Value, subjects: &[Subject]) -> Output {
    toolbox.act(&Act { tool, input, subjects }).await
}

async fn patched(toolbox: &Toolbox, input: &Value, subjects: &[Subject]) -> Output {
    let Some(changes) = input["command"].as_str().and_then(patch::changes) else {
        return Output { text: "This is no patch.\n".to_owned(), is_error: true };
    };
    for change in changes {
        let (tool, input) = match change {
            Change::Write { path, content } => ("write_file", json!({"path": path, "content": content})),
            Change::Delete { path } => ("delete_file", json!({"path": path})),
            Change::Edit { path, old, new } => {
                ("edit_file", json!({"path": path, "old_string": old, "new_string": new}))
            }
        };
        let output = own(toolbox, tool, &input, subjects).await;
        if output.is_error {
            return output;
        }
    }
    said("Done.\n")
}

/// The tracker of the demo is a file of its workspace, one comment a line.
fn commented(toolbox: &Toolbox, input: &Value) -> Output {
    use std::io::Write as _;
    let path = toolbox.workspace().path().join(".tracker/comments.jsonl");
    let written = std::fs::OpenOptions::new().append(true).open(path).and_then(|mut file| writeln!(file, "{input}"));
    match written {
        Ok(()) => said("Comment added.\n"),
        Err(error) => Output { text: format!("The tracker failed: {error}\n"), is_error: true },
    }
}

fn said(text: &str) -> Output {
    Output { text: text.to_owned(), is_error: false }
}
