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
  | { kind: "row"; key: string; item: ApprovalItem; settled: Settled | undefined; arrivedAt: number; alike: Alike | undefined };

/** Calls that ask for the very same: `key` names them, `count` of them still wait. Closed, one row stands for all. */
export interface Alike {
  key: string;
  count: number;
  open: boolean;
  /** The row that stands for them all. */
  head: boolean;
}

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

  #unfolded = $state.raw<ReadonlySet<string>>(new Set());

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

  /** What is asked for more than once by one agent in one session (or anywhere, by time): the calls that still wait, by key. */
  readonly #alike = $derived.by(() => {
    const found = new Map<string, ApprovalItem[]>();
    for (const item of this.rows) {
      if (this.#settled.has(item.id)) continue;
      const key = this.#alikeKey(item);
      const others = found.get(key);
      if (others === undefined) found.set(key, [item]);
      else others.push(item);
    }
    return found;
  });

  /** The rows that are drawn. Of calls that ask for the very same the first that waits stands for all, until they are unfolded. */
  readonly drawn = $derived.by(() =>
    this.rows.filter((item) => {
      const key = this.#alikeKey(item);
      const alike = this.#alike.get(key);
      if (alike === undefined || this.#unfolded.has(key)) return true;
      return this.#settled.has(item.id) ? false : alike[0] === item;
    }),
  );

  readonly entries = $derived.by<Entry[]>(() => {
    const row = (item: ApprovalItem): Entry => ({ kind: "row", key: item.id, item, settled: this.#settled.get(item.id), arrivedAt: this.#arrivedAt.get(item.id) ?? 0, alike: this.alikeOf(item) });
    if (this.grouping === "time") return this.drawn.map(row);
    const entries: Entry[] = [];
    let group: Extract<Entry, { kind: "group" }> | undefined;
    const counts = new Map<string, number>();
    for (const item of this.rows) if (!this.#settled.has(item.id)) counts.set(item.session, (counts.get(item.session) ?? 0) + 1);
    for (const item of this.drawn) {
      if (group?.session !== item.session) {
        group = { kind: "group", key: `group-${item.session}`, session: item.session, agent: item.agent, workspace: item.workspace, count: counts.get(item.session) ?? 0 };
        entries.push(group);
      }
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
    const rows = this.drawn;
    const at = rows.findIndex((item) => item.id === id);
    const step = Math.sign(by) || 1;
    if (at < 0) return this.#beside(id, step);
    for (let i = at + step, left = Math.abs(by); i >= 0 && i < rows.length; i += step) {
      const item = rows[i];
      if (item !== undefined && !this.#settled.has(item.id) && --left === 0) return item.id;
    }
    return undefined;
  }

  /** From a call that is not drawn: the one that stands for it, or the first or last that waits. */
  #beside(id: string | undefined, step: number): string | undefined {
    const item = id === undefined ? undefined : this.#items.get(id);
    const alike = item === undefined ? undefined : this.#alike.get(this.#alikeKey(item));
    const stands = alike?.find((one) => one.id !== id);
    if (stands !== undefined) return stands.id;
    const pending = step > 0 ? this.pendingRows() : this.pendingRows().reverse();
    return pending[0]?.id;
  }

  alikeOf(item: ApprovalItem): Alike | undefined {
    const key = this.#alikeKey(item);
    const alike = this.#alike.get(key) ?? [];
    return alike.length < 2 ? undefined : { key, count: alike.length, open: this.#unfolded.has(key), head: alike[0] === item };
  }

  /** The calls that a row stands for: itself, or all that ask for the very same while they are folded. */
  standsFor(id: string): string[] {
    const item = this.#items.get(id);
    const alike = item === undefined ? undefined : this.alikeOf(item);
    if (item === undefined || alike === undefined || alike.open) return [id];
    return (this.#alike.get(alike.key) ?? []).map((one) => one.id);
  }

  unfold(key: string, open: boolean): void {
    const keys = new Set(this.#unfolded);
    if (open) keys.add(key);
    else keys.delete(key);
    this.#unfolded = keys;
  }

  #alikeKey(item: ApprovalItem): string {
    return `${item.agent} ${this.grouping === "session" ? item.session : ""} ${item.action_digest}`;
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
