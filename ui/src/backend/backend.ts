import type {
  ApprovalDetail,
  ApprovalItem,
  ErrorBody,
  FactMessage,
  Grant,
  GrantPreview,
  HistoryCall,
  HistoryFilter,
  HistoryItem,
  Outcome,
  Page,
  PolicyState,
  Scope,
  SessionItem,
  Snapshot,
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
  approvalsApprove(answer: { id: string; digest: string; note?: string; grant?: Scope }): Promise<{ approval: ApprovalItem; grant?: Grant }>;
  approvalsDeny(answer: { id: string; note?: string }): Promise<{ approval: ApprovalItem }>;
  approvalsCancel(batch: { ids: string[]; note?: string }): Promise<{ outcomes: Outcome[] }>;

  grantsList(): Promise<Page<Grant>>;
  grantsPreview(approval: string, scope: Scope): Promise<GrantPreview>;
  grantsRevoke(ids: string[], note?: string): Promise<{ outcomes: { id: string; state: string | null; changed: boolean }[] }>;
  historySearch(filter: HistoryFilter): Promise<Page<HistoryItem, number>>;
  historyGet(seq: number): Promise<HistoryCall>;
  /** Oldest first; the window asks for as many as a page may hold. */
  sessionsList(filter: { running: boolean }): Promise<Page<SessionItem>>;
  policyGet(): Promise<PolicyState>;
  pause(): Promise<void>;
  resume(): Promise<void>;
}

export type Unlisten = () => void;

/** The wire says `<code>: <sentence>`; a person reads the sentence. */
function sentence(message: string, code: string): string {
  const words = message.startsWith(`${code}: `) ? message.slice(code.length + 2) : message;
  return words === "" ? code : `${words.charAt(0).toUpperCase()}${words.slice(1)}${/[.!?]$/.test(words) ? "" : "."}`;
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
  return { code: "internal", message: typeof thrown === "string" ? thrown : String(thrown) };
}
