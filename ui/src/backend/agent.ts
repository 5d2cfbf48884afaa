/** Who answers the built-in agent: the demo's script, or the kind of the provider that `agent.toml` names. */
export type RunProvider = "demo" | "openai" | "anthropic";

/** What a run of the built-in agent is to be. All but the demo need a workspace, as a whole path, and a task. */
export interface RunOrder {
  provider: RunProvider;
  workspace?: string;
  task?: string;
  /** One of the profiles in `agent.toml`; every tool, without one. */
  profile?: string;
}
