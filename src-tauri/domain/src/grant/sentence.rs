//! A grant in one plain sentence, made from the very row that is stored: what is read is what matches.

use std::fmt::Write as _;

use super::{Effect, Grant, GrantWho, On};
use crate::{Action, AgentName};

pub(super) fn sentence(grant: &Grant, agent: &AgentName) -> String {
    let who = match &grant.who {
        GrantWho::Session { .. } => format!("This session of {agent}"),
        GrantWho::AgentInWorkspace { agent, workspace } => format!("{agent} in {}", plain(&workspace.lossy())),
        GrantWho::Agent { agent } => format!("{agent} anywhere"),
        GrantWho::Workspace { workspace } => format!("Any agent in {}", plain(&workspace.lossy())),
    };
    let may = match grant.effect {
        Effect::Allow => "may",
        Effect::Deny => "may not",
    };
    let mut text = format!("{who} {may} {}", deed(grant));
    let _ = write!(text, ", for {}", lasting(grant.scope.expires_in_ms));
    if matches!(grant.who, GrantWho::Session { .. }) {
        text.push_str(" or until the session ends");
    }
    match grant.scope.uses {
        None => {}
        Some(1) => text.push_str(", once more"),
        Some(n) => {
            let _ = write!(text, ", at most {n} times");
        }
    }
    text.push('.');
    text
}

fn deed(grant: &Grant) -> String {
    if let On::CommandPrefix(words) = &grant.scope.on {
        return format!("run commands that begin with “{}”", plain(&words.join(" ")));
    }
    if let On::Command(command) = &grant.scope.on {
        return format!(
            "run exactly “{}” in {}",
            plain(command),
            grant.ran_in.as_ref().map(|p| plain(&p.lossy())).unwrap_or_default()
        );
    }
    let verb = match &grant.tool {
        Some(tool) => format!("use {} on", plain(tool)),
        None => match grant.action {
            Action::None => "use".to_owned(),
            Action::Search | Action::List | Action::Read => "read, list and search".to_owned(),
            Action::Fetch => "fetch".to_owned(),
            Action::Write => "write".to_owned(),
            Action::Delete => "delete".to_owned(),
            Action::Execute => "run".to_owned(),
            Action::Send => "send to".to_owned(),
            Action::Other => "do the like with".to_owned(),
        },
    };
    match &grant.scope.on {
        On::Exact(_) => match &grant.tool {
            Some(tool) => format!("use {} with exactly this input", plain(tool)),
            None => "do exactly this again".to_owned(),
        },
        On::Path(path) => format!("{verb} {}", plain(&path.lossy())),
        On::Folder(folder) => format!("{verb} everything under {}", plain(&folder.lossy())),
        On::Url(url) => format!("{verb} {}", plain(url)),
        On::UrlPrefix(prefix) => format!("{verb} {} and what lies beneath, without a query", plain(prefix)),
        On::Origin(origin) => format!("{verb} any address at {}, without a query", plain(origin)),
        On::McpTool(name) => match name.split_once('/') {
            Some((server, tool)) => format!("use {} of the MCP server {}", plain(tool), plain(server)),
            None => format!("use {}", plain(name)),
        },
        On::Command(_) | On::CommandPrefix(_) => verb,
    }
}

fn lasting(ms: i64) -> String {
    const UNITS: [(i64, &str); 4] = [(86_400_000, "day"), (3_600_000, "hour"), (60_000, "minute"), (1_000, "second")];
    let mut parts = Vec::new();
    let mut rest = ms;
    for (unit, name) in UNITS {
        let n = rest / unit;
        rest %= unit;
        if n > 0 && parts.len() < 2 {
            parts.push(format!("{n} {name}{}", if n == 1 { "" } else { "s" }));
        }
    }
    parts.join(" and ")
}

/// Agents' text in a sentence of ours: what cannot be seen, or turns the direction of the text, stands as its number.
pub(crate) fn plain(text: &str) -> String {
    let unseen = |c: char| {
        c.is_control()
            || matches!(c, '\u{AD}' | '\u{34F}' | '\u{61C}' | '\u{115F}' | '\u{1160}' | '\u{17B4}' | '\u{17B5}'
                | '\u{180B}'..='\u{180F}' | '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{206F}'
                | '\u{3164}' | '\u{FE00}'..='\u{FE0F}' | '\u{FEFF}' | '\u{FFA0}' | '\u{FFF0}'..='\u{FFFB}'
                | '\u{1D173}'..='\u{1D17A}' | '\u{E0000}'..='\u{E0FFF}')
    };
    text.chars().fold(String::with_capacity(text.len()), |mut shown, c| {
        if unseen(c) {
            let _ = write!(shown, "⟨U+{:04X}⟩", u32::from(c));
        } else {
            shown.push(c);
        }
        shown
    })
}
