/** The clients whose settings can be changed from here. */
export const clientNames = ["claude-code", "codex", "gemini-cli", "qwen-code", "copilot", "opencode", "cursor"] as const;
export type ClientName = (typeof clientNames)[number];

export type ClientChange = "connect" | "disconnect";

/** A client as its settings are. `unclear`: they cannot be read or changed, and `why` says why. */
export interface ClientItem {
  client: ClientName;
  file?: string | null;
  state: "not_connected" | "connected" | "out_of_date" | "unclear";
  why?: string | null;
}

/** A change of a client's settings, as it would be or as it was made. `diff` is unified. */
export interface ClientTold {
  client: ClientName;
  file: string;
  changed: boolean;
  written: boolean;
  diff: string;
  backup?: string | null;
  note?: string | null;
}

/** What a call that is always denied came to, put to the client's hook. */
export interface ClientProof {
  client: ClientName;
  state: "blocked" | "not_blocked" | "not_installed" | "unreadable";
  why?: string | null;
}
