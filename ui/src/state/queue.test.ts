import { afterEach, beforeEach, expect, test, vi } from "vitest";

import type { ApprovalItem } from "../backend/types";
import { KEYS_HOLD_MS, Queue } from "./queue.svelte";

let now = 0;
const at = (): number => now;

beforeEach(() => {
  now = 10_000;
  vi.useFakeTimers();
});
afterEach(() => vi.useRealTimers());

function pass(ms: number): void {
  now += ms;
  vi.advanceTimersByTime(ms);
}

const item = (id: string, session: string, created: number, name = id): ApprovalItem => ({
  id, state: "pending", digest: "sha256:0", action_digest: `sha256:action-${id}`, tool: "Edit", action: "write", agent: `agent-${session}`, session, workspace: "/w", subjects: [], flags: [],
  created_at_ms: created, expires_at_ms: created + 300_000, waiting: true, headline: "", lead: [{ text: "/w/" }], main: [{ text: name }], rest: [], number: 1, grave: false,
});

const ids = (queue: Queue): string[] => queue.rows.map((row) => row.id);

test("sessions keep together in the order in which they came, calls in theirs", () => {
  const queue = new Queue(at);
  queue.load([item("c", "two", 3), item("a", "one", 1), item("b", "two", 2), item("d", "one", 4)]);
  expect(ids(queue)).toEqual(["a", "d", "b", "c"]);
  expect(queue.entries.map((entry) => entry.kind)).toEqual(["group", "row", "row", "group", "row", "row"]);
  queue.group("time");
  expect(ids(queue)).toEqual(["a", "b", "c", "d"]);
});

test("nothing moves while the pointer is over the queue", () => {
  const queue = new Queue(at);
  queue.load([item("a", "one", 1), item("b", "two", 2)]);
  queue.pointerOver(true);
  queue.put(item("c", "one", 3));
  queue.settle("a", { state: "expired", by: "timeout", at_ms: 5 });
  expect(ids(queue)).toEqual(["a", "b"]);
  expect(queue.heldBack).toBe(1);
  expect(queue.waiting).toBe(2);
  expect(queue.settledAs("a")?.state).toBe("expired");
  queue.pointerOver(false);
  expect(ids(queue)).toEqual(["c", "b"]);
  expect(queue.heldBack).toBe(0);
});

test("nothing moves within a second of a key, and everything does after it", () => {
  const queue = new Queue(at);
  queue.load([item("b", "one", 2)]);
  queue.keyPressed();
  queue.put(item("a", "one", 1));
  pass(KEYS_HOLD_MS - 1);
  expect(ids(queue)).toEqual(["b"]);
  pass(1);
  expect(ids(queue)).toEqual(["a", "b"]);
});

test("an item that changes keeps its place and is new at once, held or not", () => {
  const queue = new Queue(at);
  queue.load([item("a", "one", 1), item("b", "one", 2)]);
  queue.pointerOver(true);
  queue.put({ ...item("a", "one", 1), digest: "sha256:1" });
  expect(queue.rows[0]?.digest).toBe("sha256:1");
  expect(ids(queue)).toEqual(["a", "b"]);
});

test("what arrived and was settled while the queue was held is never listed", () => {
  const queue = new Queue(at);
  queue.load([item("a", "one", 1)]);
  queue.pointerOver(true);
  queue.put(item("b", "one", 2));
  queue.settle("b", { state: "cancelled", by: "withdrawn", at_ms: 5 });
  expect(queue.heldBack).toBe(0);
  queue.pointerOver(false);
  expect(ids(queue)).toEqual(["a"]);
  expect(queue.waiting).toBe(1);
});

test("moving passes over what is settled and stops at the ends", () => {
  const queue = new Queue(at);
  queue.load([item("a", "one", 1), item("b", "one", 2), item("c", "one", 3)]);
  queue.pointerOver(true);
  queue.settle("b", { state: "denied", by: "user", at_ms: 5 });
  expect(queue.neighbour("a", 1)).toBe("c");
  expect(queue.neighbour("c", -1)).toBe("a");
  expect(queue.neighbour("c", 1)).toBeUndefined();
  expect(queue.neighbour(undefined, 1)).toBe("a");
  expect(queue.placeOf("c")).toEqual([2, 2]);
});

test("the filter matches every word, in the name, the tool, the agent or the verb", () => {
  const queue = new Queue(at);
  queue.load([item("a", "one", 1, "orders.ts"), item("b", "two", 2, "pool.ts")]);
  queue.filter = "POOL write";
  expect(ids(queue)).toEqual(["b"]);
  queue.filter = "agent-one";
  expect(ids(queue)).toEqual(["a"]);
  queue.filter = "nothing";
  expect(queue.entries).toEqual([]);
});

test("a reload drops what waits no more", () => {
  const queue = new Queue(at);
  queue.load([item("a", "one", 1), item("b", "one", 2)]);
  queue.load([item("b", "one", 2)]);
  expect(ids(queue)).toEqual(["b"]);
  expect(queue.waiting).toBe(1);
});

test("the same call asked again is folded into one row, and each is still there", () => {
  const queue = new Queue(() => 0);
  queue.load([item("a", "s", 1), { ...item("b", "s", 2), action_digest: "sha256:same" }, { ...item("c", "s", 3), action_digest: "sha256:same" }, { ...item("d", "t", 4), action_digest: "sha256:same" }]);
  const drawn = (): string[] => queue.drawn.map((one) => one.id);
  // Another session asks for itself.
  expect(drawn()).toEqual(["a", "b", "d"]);
  expect(queue.entries.filter((entry) => entry.kind === "group").map((group) => group.count)).toEqual([3, 1]);
  expect(queue.standsFor("b")).toEqual(["b", "c"]);
  expect(queue.neighbour("b", 1)).toBe("d");
  const alike = queue.alikeOf(queue.get("b") as never);
  expect(alike).toMatchObject({ count: 2, open: false, head: true });
  queue.unfold(alike?.key ?? "", true);
  expect(drawn()).toEqual(["a", "b", "c", "d"]);
  expect(queue.standsFor("b")).toEqual(["b"]);
  queue.unfold(alike?.key ?? "", false);
  // The first of them is answered while the pointer is over the queue: the next takes its place, and nothing moves.
  queue.pointerOver(true);
  queue.settle("b", { state: "approved", by: "user", at_ms: 5 });
  expect(drawn()).toEqual(["a", "c", "d"]);
  expect(queue.waiting).toBe(3);
});
