//! The names under which a hook hears of our tools: our own, or those of Claude Code, so that a hook that was written for
//! it need not be changed.

use serde::Deserialize;
use serde_json::Value;

/// Whose names and fields a hook is given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Names {
    /// Those of the built-in agent.
    #[default]
    Own,
    /// Those of Claude Code.
    ClaudeCode,
}

/// A tool of ours and the one like it of Claude Code.
struct Like {
    own: &'static str,
    theirs: &'static str,
    /// The fields that are called otherwise there: ours, theirs.
    fields: &'static [(&'static str, &'static str)],
}

const FILE: &[(&str, &str)] = &[("path", "file_path")];
const TIMEOUT: &[(&str, &str)] = &[("timeout_ms", "timeout")];

/// What has no like there keeps its own name.
const CLAUDE_CODE: &[Like] = &[
    Like { own: "read_file", theirs: "Read", fields: FILE },
    Like { own: "write_file", theirs: "Write", fields: FILE },
    Like { own: "edit_file", theirs: "Edit", fields: FILE },
    Like { own: "list_files", theirs: "LS", fields: &[] },
    Like { own: "search", theirs: "Grep", fields: &[] },
    Like { own: "run_command", theirs: "Bash", fields: TIMEOUT },
    Like { own: "run_tests", theirs: "Bash", fields: TIMEOUT },
    Like { own: "fetch_url", theirs: "WebFetch", fields: &[] },
    Like { own: "sub_agent", theirs: "Task", fields: &[("task", "prompt")] },
];

impl Names {
    /// What a tool is called.
    pub(crate) fn tool(self, own: &str) -> &str {
        self.like(own).map_or(own, |like| like.theirs)
    }

    /// The input as it is named there; a path is whole there.
    pub(crate) fn input(self, own: &str, input: &Value, workspace: &str) -> Value {
        let Some(like) = self.like(own) else { return input.clone() };
        let mut named = renamed(input, like.fields.iter().copied());
        for field in ["file_path", "path"] {
            if let Some(path) = named.get(field).and_then(Value::as_str)
                && !path.starts_with('/')
            {
                let whole = if path == "." { workspace.to_owned() } else { format!("{workspace}/{path}") };
                named[field] = Value::String(whole);
            }
        }
        named
    }

    /// An input that a hook gave back, as our tool takes it.
    pub(crate) fn back(self, own: &str, input: &Value) -> Value {
        let Some(like) = self.like(own) else { return input.clone() };
        renamed(input, like.fields.iter().map(|(own, theirs)| (*theirs, *own)))
    }

    fn like(self, own: &str) -> Option<&'static Like> {
        match self {
            Self::Own => None,
            Self::ClaudeCode => CLAUDE_CODE.iter().find(|like| like.own == own),
        }
    }
}

fn renamed<'a>(input: &Value, fields: impl Iterator<Item = (&'a str, &'a str)>) -> Value {
    let mut input = input.clone();
    if let Some(object) = input.as_object_mut() {
        for (from, to) in fields {
            if let Some(value) = object.remove(from) {
                object.insert(to.to_owned(), value);
            }
        }
    }
    input
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::tools::spec::BUILT_IN;

    #[test]
    fn every_tool_that_claude_code_has_is_named_as_there_and_its_input_comes_back_the_same() {
        for spec in BUILT_IN.iter() {
            let named = Names::ClaudeCode.tool(&spec.name);
            assert_eq!(named == spec.name, spec.name == "delete_file", "{}", spec.name);
            let fields = spec.schema["properties"].as_object().into_iter().flatten();
            let input: Value = fields.map(|(field, _)| (field.clone(), json!(format!("/{field}")))).collect();
            let there = Names::ClaudeCode.input(&spec.name, &input, "/w");
            assert_eq!(Names::ClaudeCode.back(&spec.name, &there), input, "{}", spec.name);
            assert_eq!(Names::Own.input(&spec.name, &input, "/w"), input);
        }
        let edit = json!({"path": "src/a", "old_string": "x", "new_string": "y"});
        let there = json!({"file_path": "/w/src/a", "old_string": "x", "new_string": "y"});
        assert_eq!(Names::ClaudeCode.input("edit_file", &edit, "/w"), there);
        assert_eq!(Names::ClaudeCode.tool("mcp__tracker__shout"), "mcp__tracker__shout");
    }
}
