// The only file of the window that knows Tauri. Each method is one command: its name with `_` for `.`, its parameters under `params`.
import { invoke, isTauri } from "@tauri-apps/api/core";
import { listen } from "@tauri-apps/api/event";

import { errorBody, type Backend } from "./backend";
import type { FactMessage } from "./types";

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
  approvalsApprove: (answer) => call("approvals_approve", answer),
  approvalsDeny: (answer) => call("approvals_deny", answer),
  approvalsCancel: (batch) => call("approvals_cancel", batch),

  grantsList: () => call("grants_list", { limit: PAGE_AT_MOST }),
  grantsPreview: (approval, scope) => call("grants_preview", { approval, scope }),
  grantsRevoke: (ids, note) => call("grants_revoke", { ids, ...(note !== undefined && { note }) }),
  historySearch: (filter) => call("history_search", filter),
  historyGet: (seq) => call("history_get", { seq }),
  sessionsList: ({ running }) => call("sessions_list", { running, limit: PAGE_AT_MOST }),
  policyGet: () => call("policy_get"),
  pause: () => call("pause"),
  resume: () => call("resume"),
};
