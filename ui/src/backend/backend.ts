import type { RunNext, RunOrder, RunSoFar } from "./agent";
import type { ClientChange, ClientItem, ClientName, ClientProof, ClientTold } from "./clients";
import type { Exported, ExportOrder, SettingsChange, SettingsState } from "./settings";
import type {
  ApprovalDetail,
  ApprovalItem,
  ApprovalPreview,
  ChainState,
  ErrorBody,
  FactMessage,
  Grant,
  GrantPreview,
  HistoryCall,
  HistoryFilter,
  HistoryItem,
  HistoryStats,
  Outcome,
  Page,
  PolicyCheck,
  PolicyProposal,
  PolicyRuling,
  PolicyState,
  RuleSource,
  Scope,
  SessionItem,
  Snapshot,
  TriedCall,
  WalkProgress,
} from "./types";

/** What the window asks of the gate: the desk's methods, plus what only a window needs. Refusals reject with `ErrorBody`. */
export interface Backend {
  snapshot(): Promise<Snapshot>;
  /** Called for each fact in order, and once more for each after a gap; the caller watches `seq`. */
  onFact(listener: (fact: FactMessage) => void): Promise<Unlisten>;
  /** Somebody asks for the window, at an approval or as it is. */
  onShow(listener: (approval: string | undefined) => void): Promise<Unlisten>;

  approvalsList(filter: { state?: string; after?: string; limit?: number }): Promise<Page<ApprovalItem>>;
  approvalsGet(id: string): Promise<ApprovalDetail>;
  /** The card with this digest is on the screen now: the gate starts its own arming clock. */
  approvalsShown(id: string, digest: string): Promise<void>;
  /** The call as it would be with another input; its digest is what an approval with that input has to name. */
  approvalsPreview(id: string, input: unknown): Promise<ApprovalPreview>;
  approvalsApprove(answer: { id: string; digest: string; note?: string; grant?: Scope; input?: unknown }): Promise<{ approval: ApprovalItem; grant?: Grant }>;
  approvalsDeny(answer: { id: string; note?: string }): Promise<{ approval: ApprovalItem }>;
  approvalsCancel(batch: { ids: string[]; note?: string }): Promise<{ outcomes: Outcome[] }>;

  grantsList(): Promise<Page<Grant>>;
  grantsPreview(approval: string, scope: Scope): Promise<GrantPreview>;
  grantsRevoke(ids: string[], note?: string): Promise<{ outcomes: { id: string; state: string | null; changed: boolean }[] }>;
  /** Only ever earlier; refused with `bad_expiry` otherwise. */
  grantsShorten(id: string, expires_at_ms: number): Promise<Grant>;
  historySearch(filter: HistoryFilter): Promise<Page<HistoryItem, number>>;
  historyGet(which: { seq: number } | { approval: string }): Promise<HistoryCall>;
  historyStats(span: { from_ms: number; to_ms: number; by: "hour" | "day" }): Promise<HistoryStats>;
  /** Walks the whole chain: it takes as long as the history is. */
  historyVerify(): Promise<ChainState>;
  historyVerifyStop(): Promise<void>;
  /** How many rows the walk has done by now, of how many. */
  onWalk(listener: (done: WalkProgress) => void): Promise<Unlisten>;
  /** Oldest first; the window asks for as many as a page may hold. */
  sessionsList(filter: { running: boolean }): Promise<Page<SessionItem>>;
  /** Cancels what the session waits for and ends it. */
  sessionsStop(session: string): Promise<void>;
  /** Starts a run of the built-in agent; it is under way when this returns. */
  agentStart(order: RunOrder): Promise<{ session: string }>;
  /** Breaks off a run of the built-in agent: `no_such_session` where none runs here. */
  agentStop(session: string): Promise<void>;
  /** What a run told so far; what comes next comes to `onRun`. Nothing is followed any more after `undefined`. `no_such_session` where there is no run of it here. */
  agentFollow(session: string | undefined): Promise<RunSoFar | null>;
  onRun(listener: (next: RunNext) => void): Promise<Unlisten>;
  /** Nothing is written and no hook is run; refused where there is no `placet` to ask. */
  clientsList(): Promise<ClientItem[]>;
  clientsPreview(client: ClientName, change: ClientChange): Promise<ClientTold>;
  /** `diff` is the one that was shown: `not_written` where it would be another by now. */
  clientsChange(client: ClientName, change: ClientChange, diff: string): Promise<ClientTold>;
  /** Runs the hooks that stand in the settings, with a call that is always denied. */
  clientsProve(): Promise<ClientProof[]>;
  policyGet(): Promise<PolicyState>;
  policyCheck(text: string): Promise<PolicyCheck>;
  /** `digest` is that of the text it replaces: `stale_digest` where the file is another by now. */
  policyPut(text: string, digest: string): Promise<PolicyState>;
  /** A rule made of an answer, as a change of the file. Nothing is in force by it: `not_grantable` where no rule can say it. */
  policyPropose(from: RuleSource): Promise<PolicyProposal>;
  policyTry(call: TriedCall): Promise<PolicyRuling>;
  settingsGet(): Promise<SettingsState>;
  /** The settings after it; refused where the file has a mistake, or a value is out of its bounds. */
  settingsPut(change: SettingsChange): Promise<SettingsState>;
  /** Asks where to, and writes. It takes as long as the history is; one at a time. */
  historyExport(order: ExportOrder): Promise<Exported>;
  historyExportStop(): Promise<void>;
  /** How many lines the export has by now. */
  onExport(listener: (lines: number) => void): Promise<Unlisten>;
  pause(): Promise<void>;
  resume(): Promise<void>;
  /** Starts the app again where its gate could not be opened; else nothing. */
  startAgain(): Promise<void>;
}

export type Unlisten = () => void;

/** The wire says `<code>: <sentence>`; a person reads the sentence. */
function sentence(message: string, code: string): string {
  const words = message.startsWith(`${code}: `) ? message.slice(code.length + 2) : message;
  // A file's name keeps its first letter.
  const first = /^\S+\.\S/.test(words) ? words.charAt(0) : words.charAt(0).toUpperCase();
  return words === "" ? code : `${first}${words.slice(1)}${/[.!?]$/.test(words) ? "" : "."}`;
}

/** Any rejection, as the shape that the window can talk about. */
export function errorBody(thrown: unknown): ErrorBody {
  if (typeof thrown === "object" && thrown !== null) {
    const { code, message, data } = thrown as Record<string, unknown>;
    // JSON-RPC keeps our code in `data`; a Tauri command has it at the top.
    const inner = typeof data === "object" && data !== null ? (data as Record<string, unknown>) : undefined;
    const word = typeof code === "string" ? code : typeof inner?.["code"] === "string" ? inner["code"] : "internal";
    if (typeof message === "string") return { code: word, message: sentence(message, word), ...(inner && { data: inner }) };
  }
  // What a command that this build does not have rejects with.
  if (typeof thrown === "string" && /\bnot (found|allowed)\b/.test(thrown)) return { code: "unknown_method", message: `${thrown}.` };
  return { code: "internal", message: typeof thrown === "string" ? thrown : String(thrown) };
}
