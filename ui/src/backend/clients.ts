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
  /** Lines that run Placet's hook among other things: left alone, and told of. */
  altered: readonly string[];
  known?: ClientKnown | null;
}

/** What Placet did to these settings, and when a denied probe was last seen to be blocked. */
export interface ClientKnown {
  installed_at_ms?: number | null;
  /** The entry was there, and is not any more. */
  vanished: boolean;
  /** `holds`: the entries are still those that were proved. `version` is Placet's. */
  proof?: { at_ms: number; version: string; client_version?: string | null; holds: boolean } | null;
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
  state: "blocked" | "not_blocked" | "partial" | "off" | "altered" | "other_program" | "other_gate" | "not_installed" | "unreadable";
  why?: string | null;
  /** What is otherwise than it would be written now. */
  differs?: readonly string[];
  /** The client's, as it calls itself. */
  version?: string | null;
  vanished?: boolean;
}
