// The only file of the window that knows Tauri. Each method is one command: its name with `_` for `.`, its parameters under `params`.
import { invoke, isTauri } from "@tauri-apps/api/core";
import { listen } from "@tauri-apps/api/event";

import type { RunNext } from "./agent";
import { errorBody, type Backend } from "./backend";
import type { FactMessage, WalkProgress } from "./types";

export const insideTauri = (): boolean => isTauri();

/** The most that a list gives at once. */
const PAGE_AT_MOST = 1_000;

async function call<T>(command: string, params: object = {}): Promise<T> {
  try {
    return await invoke<T>(command, { params });
  } catch (thrown) {
    throw errorBody(thrown);
  }
}

export const tauri: Backend = {
  snapshot: () => call("window_snapshot"),
  onFact: (listener) => listen<FactMessage>("fact", (event) => listener(event.payload)),
  onShow: (listener) => listen<{ approval?: string } | null>("show", (event) => listener(event.payload?.approval)),

  approvalsList: (filter) => call("approvals_list", filter),
  approvalsGet: (id) => call("approvals_get", { id }),
  approvalsShown: (id, digest) => call("approvals_shown", { id, digest }),
  approvalsPreview: (id, input) => call("approvals_preview", { id, input }),
  approvalsApprove: (answer) => call("approvals_approve", answer),
  approvalsDeny: (answer) => call("approvals_deny", answer),
  approvalsCancel: (batch) => call("approvals_cancel", batch),

  grantsList: () => call("grants_list", { limit: PAGE_AT_MOST }),
  grantsPreview: (approval, scope) => call("grants_preview", { approval, scope }),
  grantsRevoke: (ids, note) => call("grants_revoke", { ids, ...(note !== undefined && { note }) }),
  grantsShorten: (id, expires_at_ms) => call("grants_shorten", { id, expires_at_ms }),
  historySearch: (filter) => call("history_search", filter),
  historyGet: (which) => call("history_get", which),
  historyStats: (span) => call("history_stats", span),
  historyVerify: () => call("history_verify"),
  historyVerifyStop: () => call("history_verify_stop"),
  onWalk: (listener) => listen<WalkProgress>("walk", (event) => listener(event.payload)),
  sessionsList: ({ running }) => call("sessions_list", { running, limit: PAGE_AT_MOST }),
  sessionsStop: (session) => call("sessions_stop", { session }),
  agentStart: (order) => call("agent_start", order),
  agentStop: (session) => call("agent_stop", { session }),
  agentFollow: (session) => call("agent_follow", { session: session ?? null }),
  onRun: (listener) => listen<RunNext>("run", (event) => listener(event.payload)),
  clientsList: () => call("clients_list"),
  clientsPreview: (client, change) => call("clients_preview", { client, change }),
  clientsChange: (client, change, diff) => call("clients_change", { client, change, diff }),
  clientsProve: () => call("clients_prove"),
  policyGet: () => call("policy_get"),
  policyCheck: (text) => call("policy_check", { text }),
  policyPut: (text, digest) => call("policy_put", { text, digest }),
  policyPropose: (from) => call("policy_propose", from),
  policyTry: (tried) => call("policy_try", tried),
  settingsGet: () => call("settings_get"),
  settingsPut: (change) => call("settings_put", change),
  historyExport: (order) => call("history_export", order),
  historyExportStop: () => call("history_export_stop"),
  onExport: (listener) => listen<{ lines: number }>("export", (event) => listener(event.payload.lines)),
  pause: () => call("pause"),
  resume: () => call("resume"),
  startAgain: () => call("start_again"),
};
