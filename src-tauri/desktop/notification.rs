//! A notification that something waits. It says what kind of call and which agent, in our words only, and it can do
//! nothing but open the window: no decision is made from it.

use std::time::Duration;

use placet_domain::{Action, ApprovalId, Entry, Fact};
use placet_gate::Gate;
use tauri::AppHandle;
use tokio::time::Instant;

use crate::window;

/// Calls that come within this time share one notification.
const GATHER: Duration = Duration::from_millis(800);

/// Gathers what is new and tells of it once.
pub(crate) struct Notifier {
    app: AppHandle,
    fresh: Vec<Fresh>,
    /// When the first of them came: later ones do not put the notification off.
    since: Option<Instant>,
}

struct Fresh {
    approval: ApprovalId,
    agent: String,
    action: Action,
}

impl Notifier {
    pub(crate) fn new(app: AppHandle) -> Self {
        Self { app, fresh: Vec::new(), since: None }
    }

    /// When to tell, if there is anything to tell.
    pub(crate) fn due(&self) -> Option<Instant> {
        self.since.map(|since| since + GATHER)
    }

    pub(crate) fn hear(&mut self, gate: &Gate, entry: &Entry) {
        if let Fact::ApprovalAsked { approval, session, call, .. } = &entry.fact {
            let agent = gate
                .look(|state| state.sessions.get(session).map(|s| s.agent.to_string()))
                .unwrap_or_else(|| "An agent".to_owned());
            self.since.get_or_insert_with(Instant::now);
            self.fresh.push(Fresh { approval: *approval, agent, action: call.action });
        } else if let Some(settled) = entry.fact.approval() {
            self.fresh.retain(|fresh| fresh.approval != settled);
        }
    }

    pub(crate) fn tell(&mut self) {
        self.since = None;
        let fresh = std::mem::take(&mut self.fresh);
        if fresh.is_empty() || window::is_looked_at(&self.app) {
            return;
        }
        let only = if let [one] = fresh.as_slice() { Some(one.approval) } else { None };
        let body = words(&fresh);
        let app = self.app.clone();
        // Showing waits for the desktop's answer, and for a click.
        std::thread::spawn(move || {
            let shown = notify_rust::Notification::new()
                .appname("Placet")
                .summary("Placet")
                .body(&body)
                .icon("placet")
                .action("default", "Open")
                .show();
            match shown {
                Ok(handle) => handle.wait_for_action(|action| {
                    if action == "default" {
                        window::show_at(&app, only);
                    }
                }),
                Err(error) => tracing::debug!(%error, "there is nobody to show notifications"),
            }
        });
    }
}

fn words(fresh: &[Fresh]) -> String {
    match fresh {
        [one] => format!("{} asks to {}.", one.agent, verb(one.action)),
        many => format!("{} calls wait for you.", many.len()),
    }
}

fn verb(action: Action) -> &'static str {
    match action {
        Action::None | Action::Other => "use a tool",
        Action::Search => "search",
        Action::List => "list a folder",
        Action::Read => "read a file",
        Action::Fetch => "fetch an address",
        Action::Write => "write a file",
        Action::Delete => "delete a file",
        Action::Execute => "run a command",
        Action::Send => "send something",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fresh(agent: &str, action: Action) -> Fresh {
        Fresh { approval: "01890a5d-ac96-774b-bcce-b302099a8057".parse().unwrap(), agent: agent.to_owned(), action }
    }

    #[test]
    fn one_call_is_named_and_many_are_counted() {
        assert_eq!(words(&[fresh("codex", Action::Delete)]), "codex asks to delete a file.");
        assert_eq!(words(&[fresh("codex", Action::Delete), fresh("codex", Action::Read)]), "2 calls wait for you.");
    }
}
