//! Who calls which server: what both said of themselves.

use std::collections::HashMap;

use placet_domain::{AgentName, Digest};
use placet_subject::{canonical, strict_json};
use serde_json::value::RawValue;

use super::fields::Fields;
use crate::{ask::Asker, hook::Caller};

/// The agent's name where a client gives none that fits.
const NAMELESS: &str = "mcp";
/// The longest server name in a tool's name.
const MOST_CHARACTERS: usize = 64;

/// One run of one server before one client.
#[derive(Debug)]
pub(crate) struct Session {
    agent: String,
    id: String,
    cwd: String,
    server: Option<String>,
    /// What the server last said of each tool, by its own name.
    definitions: HashMap<String, Option<Digest>>,
}

impl Session {
    /// One that just began. `name` is what the person calls the server.
    pub(crate) fn begun(name: Option<&str>) -> Self {
        Self {
            agent: NAMELESS.to_owned(),
            id: super::session_id("mcp"),
            cwd: std::env::current_dir().map_or_else(|_| "/".to_owned(), |dir| dir.to_string_lossy().into_owned()),
            server: name.map(plain),
            definitions: HashMap::new(),
        }
    }

    /// The client says who it is. The gate keeps the first name of a session, and so does this.
    pub(crate) fn greeted_by(&mut self, initialize: &Fields) {
        let info = initialize.object("params").and_then(|params| params.object("clientInfo"));
        let name = info.and_then(|info| info.text("name")).filter(|name| name.parse::<AgentName>().is_ok());
        if let (NAMELESS, Some(name)) = (self.agent.as_str(), name) {
            self.agent = name;
        }
    }

    /// The server says who it is.
    pub(crate) fn answered_by(&mut self, result: &Fields) {
        let name = result.object("serverInfo").and_then(|info| info.text("name"));
        self.server.get_or_insert_with(|| plain(&name.unwrap_or_default()));
    }

    /// A tool's name as the gate is to know it; nothing before the server has said who it is.
    pub(crate) fn tool(&self, tool: &str) -> Option<String> {
        self.server.as_ref().map(|server| format!("mcp__{server}__{tool}"))
    }

    /// The server lists its tools, or a page of them.
    pub(crate) fn lists(&mut self, result: &Fields) {
        let tools = result.get("tools").and_then(|tools| serde_json::from_str::<Vec<&RawValue>>(tools.get()).ok());
        for tool in tools.unwrap_or_default() {
            let Some(name) = Fields::of(tool).ok().and_then(|fields| fields.text("name")) else { continue };
            self.definitions.insert(name, definition_of(tool));
        }
    }

    /// SHA-256 over the canonical form of a tool's definition; none where the server has not listed it, or in a way
    /// that two readers may take differently.
    pub(crate) fn definition(&self, tool: &str) -> Option<Digest> {
        self.definitions.get(tool).copied().flatten()
    }

    /// Who asks, at the gate.
    pub(crate) fn asker(&self) -> Asker {
        Asker { agent: self.agent.clone(), gives_time_for: "an MCP call", comes_back: true }
    }

    /// Whose session it is, at the gate.
    pub(crate) fn caller(&self) -> Caller {
        Caller { session: Some(self.id.clone()), cwd: Some(self.cwd.clone()) }
    }
}

fn definition_of(tool: &RawValue) -> Option<Digest> {
    let tool = strict_json(tool.get().as_bytes()).ok()?;
    Some(canonical::sha256(canonical::canonical(&tool).as_bytes()))
}

/// A server's name such that it is one part of a tool's name: what a server calls itself must not reach into the
/// tool's part.
fn plain(name: &str) -> String {
    let mut plain = String::new();
    for character in name.chars() {
        let character =
            if character.is_ascii_alphanumeric() || matches!(character, '.' | '-') { character } else { '_' };
        if character != '_' || !plain.ends_with('_') {
            plain.push(character);
        }
        if plain.len() >= MOST_CHARACTERS {
            break;
        }
    }
    let plain = plain.trim_matches('_');
    if plain.is_empty() { "server".to_owned() } else { plain.to_owned() }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use serde_json::value::RawValue;

    use super::*;

    fn fields(json: &str) -> Fields {
        Fields::of(&RawValue::from_string(json.to_owned()).unwrap()).unwrap()
    }

    #[test]
    fn a_servers_name_is_one_part_of_the_tools() {
        for (name, expected) in
            [("git", "git"), ("my files", "my_files"), ("a__b", "a_b"), ("_x_", "x"), ("", "server"), ("💥", "server")]
        {
            assert_eq!(plain(name), expected, "{name}");
        }
    }

    #[test]
    fn the_persons_name_for_a_server_goes_before_its_own_and_the_first_stands() {
        let mut session = Session::begun(None);
        assert_eq!(session.tool("x"), None);
        session.answered_by(&fields(r#"{"serverInfo":{"name":"one"}}"#));
        session.answered_by(&fields(r#"{"serverInfo":{"name":"two"}}"#));
        assert_eq!(session.tool("x").unwrap(), "mcp__one__x");
        let mut named = Session::begun(Some("mine"));
        named.answered_by(&fields(r#"{"serverInfo":{"name":"theirs"}}"#));
        assert_eq!(named.tool("x").unwrap(), "mcp__mine__x");
    }

    #[test]
    fn a_client_without_a_fitting_name_is_mcp() {
        let mut session = Session::begun(None);
        session.greeted_by(&fields(r#"{"params":{"clientInfo":{"name":"no such name, is it?"}}}"#));
        assert_eq!(session.asker().agent, "mcp");
        session.greeted_by(&fields(r#"{"params":{"clientInfo":{"name":"claude-code"}}}"#));
        assert_eq!(session.asker().agent, "claude-code");
    }
}
