//! `placet mcp`: Placet between an MCP client and what it calls, over stdin and stdout.
//!
//! Before a server, everything passes unchanged but `tools/call`, which walks the corridor first. As a server of its
//! own, it answers Claude Code's permission prompts.

pub(crate) mod client;
pub(crate) mod fields;
pub(crate) mod hall;
mod prompt;
mod proxy;
pub(crate) mod server;
mod session;

use std::{ffi::OsString, time::Duration};

pub(crate) use prompt::run as permission_prompt;
pub(crate) use proxy::run as before;

/// A server to stand before.
#[derive(Debug)]
pub(crate) struct Order {
    /// Its command.
    pub(crate) command: Vec<OsString>,
    /// The server's name in tools' names, in place of the one that it gives itself.
    pub(crate) name: Option<String>,
    /// How long a call is held while a person is asked.
    pub(crate) hold: Duration,
}

/// A session's id for a client that gives none: no other process has the same.
pub(crate) fn session_id(kind: &str) -> String {
    format!("{kind}-{}-{}", crate::say::now_ms(), std::process::id())
}
