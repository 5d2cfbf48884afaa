/** Who answers the built-in agent: the demo's script, or the kind of the provider that `agent.toml` names. */
export type RunProvider = "demo" | "openai" | "anthropic";

/** What a run of the built-in agent is to be. All but the demo need a workspace, as a whole path, and a task. */
export interface RunOrder extends RunBounds {
  provider: RunProvider;
  workspace?: string;
  task?: string;
  /** One of the profiles in `agent.toml`; every tool, without one. */
  profile?: string;
}
/** Bounds of a run; as `agent.toml` says, where one is left out. */
export interface RunBounds {
  max_turns?: number;
  max_tokens?: number;
  max_ms?: number;
}

export interface RunUsage {
  input_tokens: number;
  output_tokens: number;
}

/** What was counted of a run's calls. */
export interface RunTally {
  calls: number;
  allowed: number;
  denied: number;
  asked: number;
  blocked_protected: number;
  clamped: number;
  masked: number;
}

/** How a run ended. */
export interface RunEnding {
  ending: "done" | "max_turns" | "max_tokens" | "time_over" | "aborted" | "suspended" | "hook_failed" | "provider_failed";
  hook?: string;
  message?: string;
}

export type RunMessage =
  | { role: "user"; text: string }
  | { role: "assistant"; text: string; calls: { id: string; tool: string; arguments: string }[] }
  | { role: "results"; results: { call_id: string; text: string; is_error: boolean }[] };

/** What a run tells, secrets masked. All of it is the model's or a tool's text: data, never markup. */
export type Watched =
  | { event: "session_started"; session: string }
  | { event: "taken_up"; turn: number; messages: RunMessage[] }
  | { event: "within"; depth: number; told: Watched }
  | { event: "turn_started"; turn: number }
  | { event: "text"; text: string }
  | { event: "provider_retried"; message: string; after_ms: number }
  | { event: "tool_started"; call_id: string; tool: string; input: string }
  | { event: "tool_waits"; call_id: string; approval: string; until_ms: number }
  | { event: "tool_ended"; call_id: string; tool: string; decision: "allowed" | "denied" | "answered" | "failed"; is_error: boolean; text: string }
  | { event: "usage"; usage: RunUsage }
  | { event: "hook_failed"; hook: string; point: string; message: string }
  | { event: "ended"; ending: RunEnding; tally: RunTally };

/** One thing that a run told, by its number in the order. */
export type Told = Watched & { number: number };

/** What a run told before the window looked. `forgotten`: there was more, longer ago. */
export interface RunSoFar {
  told: Told[];
  forgotten: boolean;
}

/** What came next. `missed`: some are lacking before these, so ask anew. */
export interface RunNext {
  session: string;
  told: Told[];
  missed: boolean;
}
