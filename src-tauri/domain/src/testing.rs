//! What the tests of this room are made of: calls, sessions and ids without a disk or a clock.
#![allow(clippy::unwrap_used)]

use std::{collections::BTreeMap, sync::Arc};

use serde_json::{Value, json};
use uuid::Uuid;

use crate::{
    Action, AgentName, ApprovalId, At, CallFacts, Digest, GrantId, Judged, PathText, Session, SessionId, Subject,
    call::OnForm,
    state::empty_card,
    subject::{CommandSubject, McpSubject, NetworkClass, PathSubject, SimpleCommand, ToolSubject, UrlSubject},
};

pub(crate) const T0: At = At(1_800_000_000_000);

pub(crate) fn session_id(n: u128) -> SessionId {
    SessionId::new(Uuid::from_u128(n))
}

pub(crate) fn approval_id(n: u128) -> ApprovalId {
    ApprovalId::new(Uuid::from_u128(n))
}

pub(crate) fn grant_id(n: u128) -> GrantId {
    GrantId::new(Uuid::from_u128(n))
}

pub(crate) fn agent(name: &str) -> AgentName {
    name.parse().unwrap()
}

pub(crate) fn session() -> Session {
    Session {
        id: session_id(1),
        agent: agent("claude-code"),
        client_session: Some("c1".to_owned()),
        workspace: PathText::from("/w"),
        parent: None,
        context: BTreeMap::new(),
        started_at_ms: T0,
        stopped_at_ms: None,
        calls: 0,
        tainted: false,
    }
}

/// A digest that differs for different texts; no hash is needed here.
pub(crate) fn digest_of(text: &str) -> Digest {
    let mut bytes = [0_u8; 32];
    for (i, byte) in text.bytes().enumerate() {
        let at = i % 32;
        bytes[at] = bytes[at].rotate_left(3) ^ byte ^ u8::try_from(i % 251).unwrap();
        bytes[31] = bytes[31].wrapping_mul(31).wrapping_add(byte);
    }
    Digest::new(bytes)
}

pub(crate) fn path(action: Action, at: &str) -> PathSubject {
    PathSubject {
        action,
        asked: PathText::from(at),
        normalized: PathText::from(at),
        resolved: PathText::from(at),
        exists: true,
        inside_workspace: PathText::from(at).is_within(&PathText::from("/w")),
        via_symlink: false,
        hard_linked: false,
        other_device: false,
        protected: false,
        is_folder: false,
        inode: None,
    }
}

pub(crate) fn link(action: Action, at: &str, leads_to: &str) -> PathSubject {
    PathSubject { resolved: PathText::from(leads_to), via_symlink: true, ..path(action, at) }
}

pub(crate) fn url(action: Action, text: &str) -> UrlSubject {
    let (scheme, rest) = text.split_once("://").unwrap();
    let (authority, tail) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let (host, port) = match authority.split_once(':') {
        Some((host, port)) => (host, port.parse().unwrap()),
        None => (authority, if scheme == "https" { 443 } else { 80 }),
    };
    let (path, query) = tail.split_once('?').map_or((tail, false), |(path, _)| (path, true));
    UrlSubject {
        action,
        asked: text.to_owned(),
        normalized: if tail.is_empty() { format!("{text}/") } else { text.to_owned() },
        scheme: scheme.to_owned(),
        host: host.to_owned(),
        host_unicode: None,
        registrable_domain: None,
        port,
        path: if path.is_empty() { "/".to_owned() } else { path.to_owned() },
        has_query: query,
        network: match host {
            "localhost" | "127.0.0.1" => Some(NetworkClass::Loopback),
            "10.0.0.1" => Some(NetworkClass::Private),
            "169.254.169.254" => Some(NetworkClass::Metadata),
            "169.254.1.1" => Some(NetworkClass::LinkLocal),
            _ => None,
        },
        odd: false,
    }
}

pub(crate) fn part(effect: Action, words: &str) -> SimpleCommand {
    SimpleCommand {
        operator: String::new(),
        argv: words.split(' ').map(str::to_owned).collect(),
        exe: None,
        effect,
        reads: Vec::new(),
        writes: Vec::new(),
        hosts: Vec::new(),
        carrier_of: None,
        why_not: None,
        prefix_grantable: true,
    }
}

pub(crate) fn command(parts: Vec<SimpleCommand>) -> CommandSubject {
    CommandSubject {
        action: Action::strongest(parts.iter().map(|part| part.effect)),
        asked: parts.iter().map(|p| p.argv.join(" ")).collect::<Vec<_>>().join(" && "),
        inspectable: true,
        why_not: None,
        shell: "bash".to_owned(),
        commands: parts,
    }
}

pub(crate) fn uninspectable(text: &str) -> CommandSubject {
    CommandSubject {
        action: Action::Other,
        asked: text.to_owned(),
        inspectable: false,
        why_not: Some("an expansion".to_owned()),
        shell: "bash".to_owned(),
        commands: Vec::new(),
    }
}

pub(crate) fn mcp(server: &str, tool: &str) -> McpSubject {
    McpSubject { action: Action::Other, server: server.to_owned(), tool: tool.to_owned(), definition: None }
}

pub(crate) fn only_tool(action: Action, tool: &str) -> ToolSubject {
    ToolSubject { action, tool: tool.to_owned() }
}

/// A call of `tool` on these subjects; its digests are over all of it but the call id.
pub(crate) fn call(tool: &str, subjects: Vec<Subject>) -> Judged {
    call_with(tool, subjects, json!({}))
}

pub(crate) fn call_with(tool: &str, subjects: Vec<Subject>, input: Value) -> Judged {
    let digest = digest_of(&format!("{tool}{}{input}", serde_json::to_string(&subjects).unwrap()));
    Judged {
        facts: CallFacts {
            tool: tool.to_owned(),
            call_id: None,
            cwd: PathText::from("/w"),
            action: Action::strongest(subjects.iter().map(Subject::action)),
            subjects,
            flags: Vec::new(),
            digest,
            action_digest: digest,
            raw_sha256: digest,
            grantable: vec![
                OnForm::Exact,
                OnForm::Path,
                OnForm::Folder,
                OnForm::Url,
                OnForm::UrlPrefix,
                OnForm::Origin,
                OnForm::Command,
                OnForm::CommandPrefix,
                OnForm::McpTool,
            ],
            refused: None,
        },
        input: Arc::new(input),
        card: Arc::new(empty_card()),
    }
}

pub(crate) fn read(at: &str) -> Judged {
    call("Read", vec![Subject::Path(path(Action::Read, at))])
}

pub(crate) fn write(at: &str) -> Judged {
    call("Write", vec![Subject::Path(path(Action::Write, at))])
}

pub(crate) fn fetch(at: &str) -> Judged {
    call("WebFetch", vec![Subject::Url(url(Action::Fetch, at))])
}

pub(crate) fn bash(parts: Vec<SimpleCommand>) -> Judged {
    call("Bash", vec![Subject::Command(command(parts))])
}
