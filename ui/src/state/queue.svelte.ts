import type { ApprovalItem, PathText } from "../backend/types";
import { pathKey, plain } from "../text/spans";
import { text } from "../text/en";

export type Grouping = "session" | "time";

/** How a call left the queue. */
export interface Settled {
  state: string;
  by: string | undefined;
  at_ms: number | undefined;
}

export type Entry =
  | { kind: "group"; key: string; session: string; agent: string; workspace: PathText; count: number }
  | { kind: "row"; key: string; item: ApprovalItem; settled: Settled | undefined; arrivedAt: number };

/** A press of a key keeps the queue as it is for this long. Milliseconds. */
export const KEYS_HOLD_MS = 1_000;

/**
 * What waits, in an order that never moves under the hand: while the pointer is over the queue, or a key was pressed in the
 * last second, arrivals are held back and what was settled stays in its row, named as settled.
 */
export class Queue {
  /** Calls that still wait, held-back ones included. */
  waiting = $state(0);
  /** Arrivals that are not listed yet. */
  heldBack = $state(0);
  filter = $state("");
  grouping = $state<Grouping>("session");

  /** Every row that is listed, in order, before the filter. */
  #listed = $state.raw<ApprovalItem[]>([]);
  #settled = $state.raw<ReadonlyMap<string, Settled>>(new Map());

  #items = new Map<string, ApprovalItem>();
  #arrivedAt = new Map<string, number>();
  #sessionRank = new Map<string, number>();
  #nextRank = 0;
  #arrivals: ApprovalItem[] = [];
  #pointerOver = false;
  #keysUntil = 0;
  #flushTimer: ReturnType<typeof setTimeout> | undefined;
  #haystacks = new WeakMap<ApprovalItem, string>();

  readonly rows = $derived.by(() => {
    const words = this.filter.toLowerCase().split(/\s+/).filter(Boolean);
    if (words.length === 0) return this.#listed;
    return this.#listed.filter((item) => words.every((word) => this.#haystack(item).includes(word)));
  });

  readonly entries = $derived.by<Entry[]>(() => {
    const row = (item: ApprovalItem): Entry => ({ kind: "row", key: item.id, item, settled: this.#settled.get(item.id), arrivedAt: this.#arrivedAt.get(item.id) ?? 0 });
    if (this.grouping === "time") return this.rows.map(row);
    const entries: Entry[] = [];
    let group: Extract<Entry, { kind: "group" }> | undefined;
    for (const item of this.rows) {
      if (group?.session !== item.session) {
        group = { kind: "group", key: `group-${item.session}`, session: item.session, agent: item.agent, workspace: item.workspace, count: 0 };
        entries.push(group);
      }
      if (!this.#settled.has(item.id)) group.count += 1;
      entries.push(row(item));
    }
    return entries;
  });

  constructor(private readonly now: () => number = () => performance.now()) {}

  get(id: string): ApprovalItem | undefined {
    return this.#items.get(id);
  }

  settledAs(id: string): Settled | undefined {
    return this.#settled.get(id);
  }

  /** What waits according to the gate, in whole. Rows that are not in it any more leave. */
  load(items: readonly ApprovalItem[]): void {
    const ids = new Set(items.map((item) => item.id));
    for (const id of [...this.#items.keys()]) if (!ids.has(id)) this.#drop(id);
    this.#settled = new Map([...this.#settled].filter(([id]) => !ids.has(id)));
    for (const item of items) this.#put(item);
    this.#arrivals = [];
    this.#count();
    this.#order();
  }

  /** A call that arrived, or an item as it now is. */
  put(item: ApprovalItem): void {
    const isNew = !this.#items.has(item.id);
    this.#put(item);
    this.#count();
    if (!isNew) {
      this.#listed = this.#listed.map((one) => (one.id === item.id ? item : one));
      this.#arrivals = this.#arrivals.map((one) => (one.id === item.id ? item : one));
      return;
    }
    this.#arrivals.push(item);
    this.#flushOrWait();
  }

  /** A call that waits no more. Its row stays, saying so, as long as the queue is held. */
  settle(id: string, how: Settled): void {
    if (!this.#items.has(id) || this.#settled.has(id)) return;
    this.#settled = new Map(this.#settled).set(id, how);
    this.#count();
    this.#flushOrWait();
  }

  pointerOver(over: boolean): void {
    this.#pointerOver = over;
    this.#flushOrWait();
  }

  keyPressed(): void {
    this.#keysUntil = this.now() + KEYS_HOLD_MS;
    this.#flushOrWait();
  }

  isHeld(): boolean {
    return this.#pointerOver || this.now() < this.#keysUntil;
  }

  /** The listed call that still waits and is `by` rows away, stopping at the ends. */
  neighbour(id: string | undefined, by: number): string | undefined {
    const rows = this.rows;
    const at = rows.findIndex((item) => item.id === id);
    const step = Math.sign(by) || 1;
    if (at < 0) return (step > 0 ? this.pendingRows() : this.pendingRows().reverse())[0]?.id;
    for (let i = at + step, left = Math.abs(by); i >= 0 && i < rows.length; i += step) {
      const item = rows[i];
      if (item !== undefined && !this.#settled.has(item.id) && --left === 0) return item.id;
    }
    return undefined;
  }

  pendingRows(): ApprovalItem[] {
    return this.rows.filter((item) => !this.#settled.has(item.id));
  }

  /** Where a call stands among those that match: `[3, 10]`; 0 where it is not among them. */
  placeOf(id: string): [number, number] {
    const pending = this.pendingRows();
    return [pending.findIndex((item) => item.id === id) + 1, pending.length];
  }

  #put(item: ApprovalItem): void {
    if (!this.#items.has(item.id)) this.#arrivedAt.set(item.id, this.now());
    this.#items.set(item.id, item);
  }

  #drop(id: string): void {
    this.#items.delete(id);
    this.#arrivedAt.delete(id);
  }

  #count(): void {
    this.waiting = [...this.#items.keys()].reduce((n, id) => (this.#settled.has(id) ? n : n + 1), 0);
    this.heldBack = this.#arrivals.filter((item) => !this.#settled.has(item.id)).length;
  }

  #flushOrWait(): void {
    clearTimeout(this.#flushTimer);
    if (!this.isHeld()) {
      this.#flush();
      return;
    }
    this.#count();
    if (!this.#pointerOver) this.#flushTimer = setTimeout(() => this.#flushOrWait(), Math.max(1, this.#keysUntil - this.now()));
  }

  #flush(): void {
    if (this.#arrivals.length === 0 && this.#settled.size === 0) return;
    for (const id of this.#settled.keys()) this.#drop(id);
    this.#settled = new Map();
    this.#arrivals = [];
    this.#count();
    this.#order();
  }

  /** By session in order of arrival, or by time alone. A session keeps its rank while it has a row. */
  #order(): void {
    const items = [...this.#items.values()].sort((a, b) => a.created_at_ms - b.created_at_ms || (a.id < b.id ? -1 : 1));
    const sessions = new Set(items.map((item) => item.session));
    for (const session of this.#sessionRank.keys()) if (!sessions.has(session)) this.#sessionRank.delete(session);
    for (const session of sessions) if (!this.#sessionRank.has(session)) this.#sessionRank.set(session, this.#nextRank++);
    if (this.grouping === "session") items.sort((a, b) => (this.#sessionRank.get(a.session) ?? 0) - (this.#sessionRank.get(b.session) ?? 0));
    this.#listed = items;
  }

  group(by: Grouping): void {
    this.grouping = by;
    this.#order();
  }

  #haystack(item: ApprovalItem): string {
    let hay = this.#haystacks.get(item);
    if (hay === undefined) {
      hay = [text.verb[item.action], plain([...item.lead, ...item.main, ...item.rest]), item.tool, item.agent, pathKey(item.workspace), ...item.flags].join(" ").toLowerCase();
      this.#haystacks.set(item, hay);
    }
    return hay;
  }
}
