//! Sessions, the pause switch, and what a window loads first.

use std::sync::{Arc, PoisonError};

use placet_domain::{Command, Entry, Fact, SessionId, State};
use placet_ipc::{ErrorBody, message::Status};
use placet_store::SessionFilter;
use serde::Deserialize;
use serde_json::json;

use super::{
    Answer, Desk, say,
    shapes::{AlertItem, List, SessionItem, Snapshot},
};
use crate::Gate;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NoParams {}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ListParams {
    running: Option<bool>,
    after: Option<SessionId>,
    limit: Option<usize>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StopParams {
    session: SessionId,
}

impl Desk {
    pub(super) async fn snapshot(&self, params: NoParams) -> Answer {
        let NoParams {} = params;
        let head = self.read(|reader| reader.head()).await?;
        let (paused, waiting) = self.gate.look(|state| (state.paused, state.pending()));
        let home = placet_ipc::home().map_err(|error| ErrorBody::invalid_params(error.to_string()))?;
        say(&Snapshot {
            version: self.gate.inner.version.clone(),
            paused,
            policy: self.gate.policy_state(),
            waiting,
            expired_while_away: self.gate.inner.started.expired_while_away,
            seq: head.seq,
            now_ms: self.gate.writer().clock.now(),
            home: crate::path_text(&home),
            alerts: self.gate.alerts(),
        })
    }

    pub(super) async fn sessions_list(&self, params: ListParams) -> Answer {
        let limit = params.limit.unwrap_or(placet_store::PAGE).clamp(1, placet_store::PAGE_AT_MOST);
        let filter = SessionFilter { agent: None, running: params.running, after: params.after, limit };
        let page = self.read(move |reader| reader.sessions(&filter)).await?;
        let items =
            self.gate.look(|state| page.items.into_iter().map(|session| SessionItem::of(session, state)).collect());
        say(&List { items, next: page.next.map(|next| json!(next)) })
    }

    /// Cancels what the session waits for and ends it.
    pub(super) async fn sessions_stop(&self, params: StopParams) -> Answer {
        self.gate.end_session(params.session, None).await?;
        say(&json!({}))
    }

    pub(super) async fn pause(&self, params: NoParams) -> Answer {
        let NoParams {} = params;
        self.gate.writer().decide(Command::Pause { by: self.by() }).await?;
        say(&json!({ "paused": true }))
    }

    pub(super) async fn resume(&self, params: NoParams) -> Answer {
        let NoParams {} = params;
        self.gate.writer().decide(Command::Resume { by: self.by() }).await?;
        say(&json!({ "paused": false }))
    }
}

impl Gate {
    fn alerts(&self) -> Vec<AlertItem> {
        let alerts = self.writer().alerts.lock().unwrap_or_else(PoisonError::into_inner);
        let item = |entry: &Arc<Entry>| {
            let Fact::AlertRaised { alert, message } = entry.fact.clone() else { return None };
            Some(AlertItem { seq: entry.seq, at_ms: entry.at_ms, alert, message })
        };
        alerts.iter().filter_map(item).collect()
    }

    /// How the gate is.
    pub(crate) fn status(&self) -> Status {
        let policy = self.policy_state();
        let head = self.reader().head().map_or(0, |head| head.seq);
        let (paused, pending, grants, sessions) = self.look(|state: &State| {
            let running = state.sessions.values().filter(|s| s.stopped_at_ms.is_none()).count();
            (state.paused, state.pending(), state.grants.len(), running)
        });
        let count = |n: usize| u64::try_from(n).unwrap_or(u64::MAX);
        Status {
            version: self.inner.version.clone(),
            host: self.inner.host.word().to_owned(),
            pid: placet_ipc::this_process().pid,
            since_ms: self.inner.started.at_ms,
            paused,
            pending: count(pending),
            grants: count(grants),
            sessions: count(sessions),
            head,
            policy_error: policy.error.map(|error| error.message),
        }
    }
}
