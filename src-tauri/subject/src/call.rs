//! A call as an agent sent it, and the one function that makes it concrete.

use std::sync::Arc;

use placet_domain::call::OnForm;
use placet_domain::{Action, CallFacts, Digest, Judged, PathText, Refused, RefusedCode, Subject};
use serde_json::Value;

use crate::canonical::sha256;
use crate::card::card;
use crate::command::Programs;
use crate::digest::Covered;
use crate::path::Place;
use crate::reading::{Reading, read_input};
use crate::strict_json::strict_json;

/// A call as it came: untrusted.
#[derive(Clone, Copy, Debug)]
pub struct RawCall<'a> {
    /// Which client, as the dialect or the session says; decides what the tool's name means.
    pub agent: &'a str,
    /// The tool's name as the client sent it.
    pub tool: &'a str,
    /// The input's bytes as the client sent them: JSON.
    pub input: &'a [u8],
    /// The folder the client says it is in; absolute.
    pub cwd: &'a PathText,
    /// The session's workspace; absolute. It decides what is inside, and enters no digest.
    pub workspace: &'a PathText,
    /// The client's own id of the call.
    pub call_id: Option<&'a str>,
    /// For a tool of an MCP server: SHA-256 of its definition, where it was seen.
    pub definition: Option<Digest>,
}

impl<'a> RawCall<'a> {
    /// A call in the workspace's own folder, of which the client says no more than tool and input.
    pub fn in_folder(agent: &'a str, tool: &'a str, input: &'a [u8], folder: &'a PathText) -> Self {
        Self { agent, tool, input, cwd: folder, workspace: folder, call_id: None, definition: None }
    }
}

/// What Placet knows of the machine and of itself, handed in.
#[derive(Clone, Debug)]
pub struct Known {
    /// The person's home folder, from the passwd entry.
    pub home: PathText,
    /// Placet's own folders, socket and programs; no call may touch them.
    pub own: Vec<PathText>,
    /// What programs do by their words.
    pub programs: Programs,
    /// The folders in which the agent's shell looks for programs, in order.
    pub path_folders: Vec<PathText>,
}

impl Known {
    /// What is known where the agent's PATH is not.
    pub fn new(home: PathText, own: Vec<PathText>, programs: Programs) -> Self {
        Self { home, own, programs, path_folders: Vec::new() }
    }
}

/// Makes a call concrete. Total: what is wrong with it comes back as `refused`, with its subjects as far as known.
pub fn judge(call: &RawCall<'_>, known: &Known) -> Judged {
    let place = Place::new(call.cwd, call.workspace, known);
    let (input, malformed) = match strict_json(call.input) {
        Ok(value @ Value::Object(_)) => (value, None),
        Ok(value) => (value, Some(malformed("The input is no JSON object. Send the tool's fields as an object."))),
        Err(refused) => (Value::Null, Some(refused)),
    };
    let mut reading = read_input(call.agent, call.tool, &input, &place);
    for subject in &mut reading.subjects {
        if let Subject::Mcp(mcp) = subject {
            mcp.definition = call.definition;
        }
    }
    // What the bytes say wrong comes before what they would mean.
    reading.refused = malformed.or(reading.refused);
    let action_input = without_talk(&input, reading.talk);
    let covered = Covered {
        tool: call.tool,
        input: &input,
        action_input: action_input.as_ref().unwrap_or(&input),
        cwd: call.cwd,
        subjects: &reading.subjects,
        preimages: &reading.preimages,
        operands: &reading.operands,
    };
    let (digest, action_digest) = (covered.digest(), covered.action_digest());
    let card = card(&reading);
    reading.flags.sort_unstable();
    reading.flags.dedup();
    let facts = CallFacts {
        tool: call.tool.to_owned(),
        call_id: call.call_id.map(str::to_owned),
        parent: None,
        cwd: call.cwd.clone(),
        action: Action::strongest(reading.subjects.iter().map(Subject::action)),
        grantable: grantable(&reading),
        subjects: reading.subjects,
        flags: reading.flags,
        digest,
        action_digest,
        raw_sha256: sha256(call.input),
        refused: reading.refused,
        rewritten: None,
        doubt: None,
        masked: None,
    };
    Judged { facts, input: Arc::new(input), card: Arc::new(card) }
}

pub(crate) fn malformed(reason: impl Into<String>) -> Refused {
    Refused { code: RefusedCode::Malformed, reason: reason.into() }
}

/// The input without fields of mere talk; nothing where it has none.
fn without_talk(input: &Value, talk: &[&str]) -> Option<Value> {
    let object = input.as_object()?;
    if !talk.iter().any(|field| object.contains_key(*field)) {
        return None;
    }
    Some(Value::Object(
        object.iter().filter(|(key, _)| !talk.contains(&key.as_str())).map(|(k, v)| (k.clone(), v.clone())).collect(),
    ))
}

/// SHA-256 over the canonical form of an MCP tool's definition, as its server lists it; none where that is no strict
/// JSON.
pub fn definition_digest(tool: &[u8]) -> Option<Digest> {
    let tool = crate::strict_json(tool).ok()?;
    Some(crate::canonical::sha256(crate::canonical::canonical(&tool).as_bytes()))
}

/// The forms a grant for this call may take, narrowest first.
fn grantable(reading: &Reading) -> Vec<OnForm> {
    let once_only = reading.refused.is_some()
        || reading.once_only
        || reading.subjects.iter().any(|subject| match subject {
            Subject::Path(path) => {
                path.protected || path.hard_linked && path.action.strength() >= Action::Write.strength()
            }
            Subject::Url(url) => url.odd,
            Subject::Command(_) | Subject::Mcp(_) | Subject::Tool(_) => false,
        });
    if once_only {
        return Vec::new();
    }
    match reading.subjects.as_slice() {
        [Subject::Path(_)] => vec![OnForm::Exact, OnForm::Path, OnForm::Folder],
        [Subject::Path(_), ..] => vec![OnForm::Exact, OnForm::Folder],
        // Data after a "?" goes to the host: only the very address can be granted.
        [Subject::Url(url)] if url.has_query => vec![OnForm::Exact, OnForm::Url],
        [Subject::Url(_)] => vec![OnForm::Exact, OnForm::Url, OnForm::UrlPrefix, OnForm::Origin],
        [Subject::Command(command), ..] if !command.inspectable => vec![OnForm::Exact],
        [Subject::Command(command), ..] => {
            let simple = command.commands.as_slice();
            let prefix = matches!(simple, [one] if one.prefix_grantable && !one.argv.is_empty());
            let mut forms = vec![OnForm::Exact, OnForm::Command];
            forms.extend(prefix.then_some(OnForm::CommandPrefix));
            forms
        }
        [Subject::Mcp(_), ..] => vec![OnForm::Exact, OnForm::McpTool],
        [] | [Subject::Tool(_) | Subject::Url(_), ..] => vec![OnForm::Exact],
    }
}

/// Whether any command in it cannot be inspected.
pub(crate) fn is_uninspectable(subjects: &[Subject]) -> bool {
    subjects.iter().any(|subject| matches!(subject, Subject::Command(command) if !command.inspectable))
}
