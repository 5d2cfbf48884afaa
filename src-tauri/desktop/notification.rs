//! A notification that something waits. It says what kind of call and which agent, in our words only, and it can do
//! nothing but open the window: no decision is made from it.

use placet_domain::{Action, ApprovalId, Entry, Fact};
use placet_gate::{Gate, Notifications};
use tauri::AppHandle;
use tokio::time::Instant;

use crate::{
    gathering::{Fresh, Gathering},
    window,
};

/// Tells of what is new.
pub(crate) struct Notifier {
    app: AppHandle,
    gathering: Gathering,
}

impl Notifier {
    pub(crate) fn new(app: AppHandle) -> Self {
        Self { app, gathering: Gathering::default() }
    }

    /// When to tell, if there is anything to tell.
    pub(crate) fn due(&self) -> Option<Instant> {
        self.gathering.due()
    }

    pub(crate) fn hear(&mut self, gate: &Gate, entry: &Entry) {
        if let Fact::ApprovalAsked { approval, session, call, .. } = &entry.fact {
            let agent = gate
                .look(|state| state.sessions.get(session).map(|s| s.agent.to_string()))
                .unwrap_or_else(|| "An agent".to_owned());
            let fresh = Fresh { approval: *approval, agent, action: call.action };
            self.gathering.asked(fresh, over(&gate.settings().notifications), Instant::now());
        } else if let Some(settled) = entry.fact.approval() {
            self.gathering.settled(settled);
        }
    }

    /// Tells by the settings as they are at this moment.
    pub(crate) fn tell(&mut self, gate: &Gate) {
        let notifications = gate.settings().notifications;
        let fresh = self.gathering.take(over(&notifications));
        let quiet = notifications.quiet.covers_here(gate.now());
        if notifications.on && !quiet && !window::is_looked_at(&self.app) {
            for fresh in fresh {
                show(&self.app, &fresh, notifications.sound);
            }
        }
    }
}

fn over(notifications: &Notifications) -> usize {
    usize::try_from(notifications.gather_over).unwrap_or(usize::MAX)
}

fn show(app: &AppHandle, fresh: &[Fresh], sound: bool) {
    let only: Option<ApprovalId> = if let [one] = fresh { Some(one.approval) } else { None };
    let (body, app) = (words(fresh), app.clone());
    // Showing waits for the desktop's answer, and for a click.
    std::thread::spawn(move || {
        let mut notification = notify_rust::Notification::new();
        notification.appname("Placet").summary("Placet").body(&body).icon("placet").action("default", "Open");
        if sound {
            notification.sound_name("message-new-instant");
        } else {
            notification.hint(notify_rust::Hint::SuppressSound(true));
        }
        match notification.show() {
            Ok(handle) => handle.wait_for_action(|action| {
                if action == "default" {
                    window::show_at(&app, only);
                }
            }),
            Err(error) => tracing::debug!(%error, "there is nobody to show notifications"),
        }
    });
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
