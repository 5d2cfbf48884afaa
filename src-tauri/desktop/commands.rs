//! The desk's methods and those of the built-in agent as commands of the window: the name with `_` for `.`, the
//! parameters under `params`. Each is one call; which window may give it is said in `src-tauri/permissions`.

use std::sync::Arc;

use placet_domain::SessionId;
use placet_gate::ErrorBody;
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::Value;
use tauri::{AppHandle, State};

use crate::{
    clients::{Change, Client, Clients, Listed, Told},
    export::{Exported, Exporter},
    follow::{Follower, SoFar},
    opened::Opened,
    walk::Walker,
};

macro_rules! commands {
    ($($name:ident = $method:literal;)*) => {
        $(
            #[doc = concat!("`", $method, "`.")]
            #[tauri::command]
            pub(crate) async fn $name(
                opened: State<'_, Arc<Opened>>,
                params: Option<Value>,
            ) -> Result<Value, ErrorBody> {
                opened.call($method, params).await
            }
        )*

        handler! {
            $($name,)*
            clients_list, clients_preview, clients_prove, clients_change, history_export, history_export_stop, history_verify, history_verify_stop, agent_follow, start_again
        }
    };
}

macro_rules! handler {
    ($($name:ident),* $(,)?) => {
        /// Everything the web view can call.
        pub(crate) fn handler() -> impl Fn(tauri::ipc::Invoke<tauri::Wry>) -> bool + Send + Sync + 'static {
            tauri::generate_handler![$($name),*]
        }

        /// The names of all of it.
        #[cfg(test)]
        pub(crate) const NAMES: &[&str] = &[$(stringify!($name)),*];
    };
}

commands! {
    window_snapshot = "snapshot";
    approvals_list = "approvals.list";
    approvals_get = "approvals.get";
    approvals_shown = "approvals.shown";
    approvals_preview = "approvals.preview";
    approvals_approve = "approvals.approve";
    approvals_deny = "approvals.deny";
    approvals_cancel = "approvals.cancel";
    grants_list = "grants.list";
    grants_preview = "grants.preview";
    grants_revoke = "grants.revoke";
    grants_shorten = "grants.shorten";
    history_search = "history.search";
    history_get = "history.get";
    history_stats = "history.stats";
    sessions_list = "sessions.list";
    sessions_stop = "sessions.stop";
    policy_get = "policy.get";
    policy_check = "policy.check";
    policy_try = "policy.try";
    policy_propose = "policy.propose";
    policy_put = "policy.put";
    settings_get = "settings.get";
    settings_put = "settings.put";
    pause = "pause";
    resume = "resume";
    agent_start = "agent.start";
    agent_stop = "agent.stop";
}

/// Which client's settings, and what is to be done with them; to do it, with the diff that was shown.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Preview {
    client: Client,
    change: Change,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Make {
    client: Client,
    change: Change,
    diff: String,
}

fn read<T: DeserializeOwned>(params: Value) -> Result<T, ErrorBody> {
    T::deserialize(params).map_err(|error| ErrorBody::invalid_params(error.to_string()))
}

/// Every client, as its settings are.
#[tauri::command]
pub(crate) async fn clients_list(clients: State<'_, Clients>) -> Result<Vec<Listed>, ErrorBody> {
    clients.list().await
}

/// What a change of a client's settings would be.
#[tauri::command]
pub(crate) async fn clients_preview(clients: State<'_, Clients>, params: Value) -> Result<Told, ErrorBody> {
    let Preview { client, change } = read(params)?;
    clients.preview(client, change).await
}

/// What the doctor finds now; it runs the hooks that stand in the settings.
#[tauri::command]
pub(crate) async fn clients_prove(clients: State<'_, Clients>) -> Result<Value, ErrorBody> {
    clients.prove().await
}

/// Changes a client's settings as it was shown.
#[tauri::command]
pub(crate) async fn clients_change(clients: State<'_, Clients>, params: Value) -> Result<Told, ErrorBody> {
    let Make { client, change, diff } = read(params)?;
    clients.change(client, change, &diff).await
}

/// Writes out what is filtered, into a file that the person chooses in a dialog.
#[tauri::command]
pub(crate) async fn history_export(
    app: AppHandle,
    opened: State<'_, Arc<Opened>>,
    exporter: State<'_, Exporter>,
    params: Value,
) -> Result<Exported, ErrorBody> {
    let export = opened.export(params)?;
    exporter.export(&app, export).await
}

/// `history.verify`, with the event `walk` for how far it is.
#[tauri::command]
pub(crate) async fn history_verify(
    app: AppHandle,
    opened: State<'_, Arc<Opened>>,
    walker: State<'_, Walker>,
    params: Option<Value>,
) -> Result<Value, ErrorBody> {
    let walk = opened.walk(params.unwrap_or(Value::Null))?;
    walker.walk(&app, walk).await
}

/// Stops the walk that is under way.
#[tauri::command]
#[expect(clippy::needless_pass_by_value, reason = "a command takes its handles so")]
pub(crate) fn history_verify_stop(walker: State<'_, Walker>) {
    walker.stop();
}

/// Stops the export that is under way; nothing is left of it.
#[tauri::command]
#[expect(clippy::needless_pass_by_value, reason = "a command takes its handles so")]
pub(crate) fn history_export_stop(exporter: State<'_, Exporter>) {
    exporter.stop();
}

/// Which run; none to leave the one that was followed.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Run {
    session: Option<SessionId>,
}

/// What a run of the built-in agent told so far; what comes next comes as the event `run`.
#[tauri::command]
pub(crate) async fn agent_follow(
    app: AppHandle,
    opened: State<'_, Arc<Opened>>,
    follower: State<'_, Follower>,
    params: Value,
) -> Result<Option<SoFar>, ErrorBody> {
    let Run { session } = read(params)?;
    let Some(session) = session else {
        follower.leave();
        return Ok(None);
    };
    Ok(Some(follower.follow(&app, session, opened.follow(session)?)))
}

/// Starts the app again, by the same command line, where its gate could not be opened; else nothing.
#[tauri::command]
#[expect(clippy::needless_pass_by_value, reason = "a command takes its handles so")]
pub(crate) fn start_again(app: AppHandle, opened: State<'_, Arc<Opened>>) {
    if opened.gate().is_none() {
        tracing::info!("the app starts again, since its gate could not be opened");
        app.request_restart();
    }
}
