//! The desk's methods and those of the built-in agent as commands of the window: the name with `_` for `.`, the
//! parameters under `params`. Each is one call; which window may give it is said in `src-tauri/permissions`.

use std::sync::Arc;

use placet_gate::ErrorBody;
use serde_json::Value;
use tauri::{AppHandle, State};

use crate::opened::Opened;

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

        /// Everything the web view can call.
        pub(crate) fn handler() -> impl Fn(tauri::ipc::Invoke<tauri::Wry>) -> bool + Send + Sync + 'static {
            tauri::generate_handler![$($name),*, start_again]
        }
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
    history_verify = "history.verify";
    sessions_list = "sessions.list";
    sessions_stop = "sessions.stop";
    policy_get = "policy.get";
    policy_check = "policy.check";
    policy_try = "policy.try";
    policy_propose = "policy.propose";
    policy_put = "policy.put";
    pause = "pause";
    resume = "resume";
    agent_start = "agent.start";
    agent_stop = "agent.stop";
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
