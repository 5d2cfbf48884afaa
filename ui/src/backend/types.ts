// The shapes on the wire between the window and the gate, one for one with the Rust side.
// Agent text appears in `Span`s only (and in the raw fields of `Subject`, which the window never draws).

export type Action = "none" | "search" | "list" | "read" | "fetch" | "write" | "delete" | "execute" | "send" | "other";

/** A path: its text, or its bytes in hex where they are no text. */
export type PathText = string | { bytes: string };

/** A piece of visible text, or a character made visible. `mark`: the part that differs. */
export type Span = { text: string; mark?: boolean } | { escape: string; label: string; count?: number; mark?: boolean };

export type Undo = "yes" | "with_effort" | "no";
export type Reach = "this_file" | "this_project" | "this_machine" | "outside";

/** A subject, really and as written. */
export interface ShownSubject {
  action: Action;
  kind: string;
  lead: Span[];
  main: Span[];
  rest: Span[];
  asked: Span[];
  notes: string[];
}

export interface ShownEffect {
  verb: string;
  target: Span[];
}

export interface ShownCommand {
  operator: string;
  words: Span[];
  effect: Action;
  effects: ShownEffect[];
  why_not?: string;
}

export type Change = "same" | "added" | "removed";

export interface DiffLine {
  change: Change;
  old?: number;
  new?: number;
  spans: Span[];
}

export type Content =
  | { kind: "diff"; title: Span[]; added: number; removed: number; lines: DiffLine[] }
  | { kind: "text"; title: Span[]; language: string; lines: Span[][] }
  | { kind: "binary"; title: Span[]; size: number; media_type: string };

/** What a person is shown of a call. */
export interface Card {
  headline: string;
  shown: Span[];
  subjects: ShownSubject[];
  commands: ShownCommand[];
  content: Content[];
  says: Span[];
  undo: Undo;
  reach: Reach;
  grave: boolean;
}

export type ApprovalStateWord = "pending" | "approved" | "consumed" | "lapsed" | "void" | "denied" | "expired" | "cancelled";

/** A call in the queue. Times are Unix milliseconds. */
export interface ApprovalItem {
  id: string;
  state: ApprovalStateWord;
  reason?: string;
  by?: string;
  digest: string;
  action_digest: string;
  tool: string;
  action: Action;
  agent: string;
  session: string;
  workspace: PathText;
  subjects: unknown[];
  flags: string[];
  created_at_ms: number;
  expires_at_ms: number;
  waiting: boolean;
  headline: string;
  lead: Span[];
  main: Span[];
  rest: Span[];
  number: number;
}

export interface FlagExplained {
  flag: string;
  label: string;
  sentence: string;
}

export interface RecentCall {
  at_ms: number;
  action: Action;
  decision: string;
  main: Span[];
}

/** Everything the inbox shows of one call. */
export interface ApprovalDetail extends ApprovalItem {
  card: Card;
  cwd: PathText;
  call_id?: string;
  rule?: string;
  rule_reason: string;
  flags_explained: FlagExplained[];
  process?: { pid: number; name?: string };
  session_started_at_ms: number;
  recent: RecentCall[];
  alike: { approved: number; denied: number; last_at_ms?: number };
  grantable: string[];
  client?: string;
  can_edit?: boolean;
}

/** What became of one item of a batch; an unknown id has no state. */
export interface Outcome {
  id: string;
  state: ApprovalStateWord | null;
  changed: boolean;
}

export type ScopeOn =
  | { exact: true }
  | { path: string }
  | { folder: string }
  | { url: string }
  | { url_prefix: string }
  | { origin: string }
  | { command: string }
  | { command_prefix: string[] }
  | { mcp_tool: string };

export interface Scope {
  who: "session" | "agent_in_workspace" | "agent" | "workspace";
  action?: "tool" | "kind";
  on: ScopeOn;
  expires_in_ms: number;
  uses?: number;
}

export interface Grant {
  id: string;
  sentence: string;
  effect: "allow" | "deny";
  scope: Scope;
  state: "active" | "expired" | "exhausted" | "revoked" | "dead";
  from_approval: string;
  issued_at_ms: number;
  expires_at_ms: number;
  uses_left?: number;
  used: number;
  last_used_at_ms?: number;
  revoked?: { at_ms: number; by: string; note?: string };
}

export interface GrantPreview {
  sentence: string;
  matched: number;
  examples: RecentCall[];
  also_pending: number;
}

/** One call in the history, newest first. `decision` is one of `decisions` in text/decision.ts. */
export interface HistoryItem {
  seq: number;
  at_ms: number;
  agent: string;
  session: string;
  workspace: PathText;
  tool: string;
  action: Action;
  decision: string;
  word?: string;
  flags: string[];
  lead: Span[];
  main: Span[];
  rest: Span[];
  waited_ms?: number;
  approval?: string;
  number?: number;
}

export interface HistoryEvent {
  seq: number;
  at_ms: number;
  kind: string;
  text?: string;
  hash: string;
}

/** The whole life of one call. */
export interface HistoryCall {
  item: HistoryItem;
  digest: string;
  card?: Card;
  events: HistoryEvent[];
  output?: Span[][];
}

export interface HistoryFilter {
  text?: string;
  agent?: string;
  decision?: string;
  after?: string;
  limit?: number;
}

export interface SessionItem {
  id: string;
  agent: string;
  workspace: PathText;
  started_at_ms: number;
  ended_at_ms?: number;
  ended?: string;
  calls: number;
  waiting: number;
}

export interface PolicyError {
  message: string;
  line?: number;
  column?: number;
}

export interface PolicyRule {
  name: string;
  decide: "allow" | "ask" | "deny";
  line: number;
  summary?: string;
}

/** `text` is the file as it stands; it is in force only where `error` is absent. */
export interface PolicyState {
  text: string;
  path: string;
  digest: string;
  loaded_at_ms?: number;
  rules: PolicyRule[];
  error?: PolicyError;
}

export interface Snapshot {
  version: string;
  paused: boolean;
  paused_at_ms?: number;
  policy: { ok: boolean; digest: string; error?: PolicyError };
  waiting: number;
  expired_while_away: number;
  seq: number;
  now_ms: number;
  home: string;
}

/** An entry of the history as it happens. `item` is the approval as it now is, where the sender knows it. */
export interface FactMessage {
  seq: number;
  at_ms: number;
  kind: string;
  approval?: string;
  session?: string;
  by?: string | { who: string };
  note?: string;
  reason?: string;
  changed?: string[];
  item?: ApprovalItem;
}

export type ErrorCode =
  | "no_such_approval"
  | "already_settled"
  | "stale_digest"
  | "denied_by_policy"
  | "not_grantable"
  | "scope_too_wide"
  | "bad_expiry"
  | "not_armed"
  | "gate_down"
  | "disk_full"
  | "not_supported"
  | "internal";

/** What a refused command rejects with. */
export interface ErrorBody {
  code: ErrorCode | (string & {});
  message: string;
  data?: Record<string, unknown>;
}

export interface Page<T> {
  items: T[];
  next?: string;
}
