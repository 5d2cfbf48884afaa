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
  grave: boolean;
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
  /** The sub-agent that makes it, as the client names it. */
  parent?: string;
  rule?: string;
  rule_reason: string;
  flags_explained: FlagExplained[];
  input: unknown;
  process?: { pid: number; name?: Span[] };
  session_started_at_ms?: number;
  /** The client's own id of its session. */
  client_session?: string;
  recent: RecentCall[];
  alike: { approved: number; denied: number; last_at_ms?: number };
  grantable: string[];
  can_edit: boolean;
  /** Words that came with the answer. */
  note?: string;
  settled_at_ms?: number;
}

/** The call as it would be with another input. Where it is refused, nothing can be approved. */
export interface ApprovalPreview extends ApprovalDetail {
  refused?: { code: string; reason: string } | null;
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
  revoked?: { at_ms: number; by: string; note?: string | null };
}

export interface GrantPreview {
  sentence: string;
  matched: number;
  examples: RecentCall[];
  also_pending: number;
}

/** One call in the history, newest first. `seq` is the number of the fact that opened it. */
export interface HistoryItem {
  seq: number;
  at_ms: number;
  session: string;
  agent: string;
  workspace: PathText;
  tool: string;
  action: Action;
  /** On what, in one line. */
  subject: Span[];
  /** One of the words in text/decision.ts. */
  decision: string;
  by?: string;
  note?: string;
  rule?: string;
  grant?: string;
  approval?: string;
  number?: number;
  waited_ms?: number;
  digest?: string;
  action_digest: string;
  outcome?: string;
  duration_ms?: number;
  flags: string[];
}

/** A fact of a call's life with its place in the chain. Which further fields it has depends on its kind. */
export interface ChainedFact {
  seq: number;
  at_ms: number;
  kind: string;
  hash: string;
  by?: string | { who: string; rule?: string };
  reason?: string;
  rule?: string;
  rules?: string[];
  note?: string;
  changed?: string[];
  outcome?: string;
  duration_ms?: number;
  grant?: string | { sentence?: string };
}

/** The whole life of one call. */
export interface HistoryCall {
  call: HistoryItem;
  facts: ChainedFact[];
  card?: Card | null;
}

export interface HistoryFilter {
  text?: string;
  agent?: string;
  tool?: string;
  decision?: string;
  /** A folder: calls on anything in it. */
  under?: string;
  host?: string;
  from_ms?: number;
  to_ms?: number;
  session?: string;
  grant?: string;
  after?: number;
  limit?: number;
}

/** Figures of a span of time. The timeline has one entry for each bucket and decision that has calls. */
export interface HistoryStats {
  timeline: { at_ms: number; decision: string; calls: number }[];
  agents: { name: string; calls: number }[];
  tools: { name: string; calls: number }[];
  calls: number;
  asked: number;
  median_wait_ms?: number | null;
}

/** How far a walk of the chain is. */
export interface WalkProgress {
  rows: number;
  of: number;
}

/** The chain walked from its beginning, or the first row that does not hold. */
export interface ChainState {
  intact: boolean;
  rows: number;
  head: { seq: number; hash: string };
  /** Whether it was stopped before the end; what was walked is intact. */
  stopped?: boolean;
  /** How many anchors outside the file were held against it. */
  anchors: number;
  key: "file" | "keyring";
  broken?: { seq: number; kind: string };
}

export interface SessionItem {
  id: string;
  agent: string;
  client_session?: string;
  workspace: PathText;
  parent?: string;
  started_at_ms: number;
  stopped_at_ms?: number;
  calls: number;
  waiting: number;
}

export interface PolicyError {
  message: string;
  line?: number;
  column?: number;
}

/** Whether a text would hold as a policy. */
export type PolicyCheck = { ok: true; digest: string } | { ok: false; error: PolicyError };

/** A call that nobody makes, to see what the policy says of it. */
export interface TriedCall {
  tool: string;
  input: unknown;
  cwd: string;
  agent?: string;
  workspace?: string;
  /** The policy to try it against; the one in force if absent. */
  text?: string;
}

/** What the policy in force says of a call. A rule is named, or is an object with its name. */
export interface PolicyRuling {
  ruling: "allow" | "deny" | "ask";
  rule?: string | null;
  reason: string;
  rules?: (string | { name?: string; decide?: string })[];
}

/** What a rule is made from. Of an approval, the rule allows unless `deny`; of a grant, it does what the grant does. */
export type RuleSource = { approval: string; deny?: boolean } | { grant: string };

/** A rule that does the same for ever, as a change of the file: `text` is the whole file with it, `digest` that of the text it replaces. */
export interface PolicyProposal {
  names: string[];
  rule: string;
  text: string;
  diff: string;
  digest: string;
}

/** The file as it stands. Where it is not `ok`, the last good policy is in force. */
export interface PolicyState {
  text: string;
  path: string;
  digest?: string;
  in_force?: string;
  ok: boolean;
  error?: PolicyError;
}

/** Something the person should look at. */
export interface AlertItem {
  seq: number;
  at_ms: number;
  alert: string;
  message: string;
}

export interface Snapshot {
  version: string;
  paused: boolean;
  policy: PolicyState;
  waiting: number;
  expired_while_away: number;
  seq: number;
  now_ms: number;
  home: PathText;
  /** Raised since the gate was opened. */
  alerts?: AlertItem[];
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
  | "no_such_grant"
  | "no_such_session"
  | "already_settled"
  | "stale_digest"
  | "denied_by_policy"
  | "not_grantable"
  | "scope_too_wide"
  | "bad_expiry"
  | "paused"
  | "not_armed"
  | "not_editable"
  | "not_written"
  | "not_read"
  | "not_open"
  | "invalid_params"
  | "unknown_method"
  | "closing"
  | "protocol_mismatch"
  | "internal";

/** What a refused command rejects with. */
export interface ErrorBody {
  code: ErrorCode | (string & {});
  message: string;
  data?: Record<string, unknown>;
}

/** `next` is handed in as `after`. */
export interface Page<T, Key = string> {
  items: T[];
  next?: Key;
}
