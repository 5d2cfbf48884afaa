import { afterEach, beforeEach, expect, test, vi } from "vitest";

import type { Backend } from "../backend/backend";
import type { ApprovalDetail, ApprovalItem, FactMessage, Snapshot } from "../backend/types";
import { ARM_MS } from "./arming.svelte";
import { Desk } from "./desk.svelte";

const detail = (id: string, more: Partial<ApprovalDetail> = {}): ApprovalDetail => ({
  id, state: "pending", digest: `sha256:${id}`, action_digest: `sha256:action-${id}`, tool: "Edit", action: "write", agent: "codex", session: "s", workspace: "/w", subjects: [], flags: [], created_at_ms: Number(id), expires_at_ms: 9e15, waiting: true,
  headline: "", lead: [], main: [{ text: id }], rest: [], number: 1, grave: false, input: {}, can_edit: false, cwd: "/w", rule_reason: "", flags_explained: [], session_started_at_ms: 0, recent: [], alike: { approved: 0, denied: 0 }, grantable: [],
  card: { headline: "", shown: [], subjects: [], commands: [], content: [], says: [], undo: "yes", reach: "this_file", grave: false }, ...more,
});

/** A gate of which the test says everything. */
function gate(ids: string[]) {
  const calls = new Map(ids.map((id) => [id, detail(id)]));
  let seq = 10;
  let tell: (fact: FactMessage) => void = () => undefined;
  const backend = {
    snapshot: vi.fn((): Promise<Snapshot> => Promise.resolve({ version: "", paused: false, policy: { ok: true, text: "", path: "" }, waiting: calls.size, expired_while_away: 0, seq, now_ms: Date.now(), home: "" })),
    onFact: (listener: (fact: FactMessage) => void) => ((tell = listener), Promise.resolve(() => undefined)),
    onShow: () => Promise.resolve(() => undefined),
    approvalsList: vi.fn(() => Promise.resolve({ items: [...calls.values()].filter((call) => call.state === "pending") as ApprovalItem[] })),
    approvalsGet: vi.fn((id: string) => (calls.has(id) ? Promise.resolve(calls.get(id) as ApprovalDetail) : Promise.reject({ code: "no_such_approval", message: "no_such_approval: none" }))),
    approvalsShown: vi.fn(() => Promise.resolve()),
    approvalsApprove: vi.fn((): Promise<unknown> => Promise.resolve({})),
    approvalsDeny: vi.fn((): Promise<unknown> => Promise.resolve({})),
    approvalsCancel: vi.fn(({ ids: wanted }: { ids: string[] }) => Promise.resolve({ outcomes: wanted.map((id, index) => ({ id, state: index === 0 ? "denied" : "cancelled", changed: index > 0 })) })),
  };
  const fact = (kind: string, approval: string | undefined, skip = 0): void => {
    seq += 1 + skip;
    tell({ seq, at_ms: 1, kind, by: { who: "supervisor" }, ...(approval !== undefined && { approval }) });
  };
  return { backend, calls, fact };
}

async function started(ids: string[]) {
  const given = gate(ids);
  const desk = new Desk(given.backend as unknown as Backend);
  await desk.start();
  await settle();
  return { desk, ...given };
}

const settle = async (): Promise<void> => {
  await vi.advanceTimersByTimeAsync(50);
};

/** As the window does it: painted, then armed. */
async function arm(desk: Desk): Promise<void> {
  await desk.judged.painted(desk.judged.detail?.digest ?? "");
  await vi.advanceTimersByTimeAsync(ARM_MS);
}

beforeEach(() => {
  vi.useFakeTimers();
  localStorage.clear();
});
afterEach(() => vi.useRealTimers());

test("the first that waits is under judgement, and the gate hears of the card before it arms", async () => {
  const { desk, backend } = await started(["1", "2"]);
  expect(desk.judged.id).toBe("1");
  expect(desk.judged.arming.phase).toBe("unshown");
  await desk.judged.painted("sha256:1");
  expect(backend.approvalsShown).toHaveBeenCalledWith("1", "sha256:1");
  expect(desk.judged.arming.phase).toBe("arming");
});

test("a gate that did not hear of the card keeps it from being answered", async () => {
  const { desk, backend } = await started(["1"]);
  backend.approvalsShown.mockRejectedValueOnce({ code: "internal", message: "internal: no" });
  await arm(desk);
  expect(desk.judged.arming.phase).toBe("unshown");
  expect(desk.judged.shownError?.message).toBe("No.");
});

test("an approval carries the digest that was on the screen, and the next call comes up unarmed", async () => {
  const { desk, backend } = await started(["1", "2"]);
  await arm(desk);
  desk.decide("approve");
  await settle();
  expect(backend.approvalsApprove).toHaveBeenCalledWith({ id: "1", digest: "sha256:1" });
  expect(desk.judged.id).toBe("2");
  expect(desk.judged.arming.phase).toBe("unshown");
  expect(desk.journal.entries[0]?.deed).toBe("approved");
  expect(desk.queue.waiting).toBe(1);
});

test("a stale answer approves nothing: the card is new, says so, and arms again", async () => {
  const { desk, backend, calls } = await started(["1"]);
  await arm(desk);
  calls.set("1", detail("1", { digest: "sha256:new" }));
  backend.approvalsApprove.mockRejectedValueOnce({ code: "stale_digest", message: "stale_digest: changed", data: { digest: "sha256:new" } });
  desk.decide("approve");
  await settle();
  expect(desk.judged.id).toBe("1");
  expect(desk.judged.detail?.digest).toBe("sha256:new");
  expect(desk.judged.note).toEqual({ kind: "stale" });
  expect(desk.judged.arming.phase).toBe("unshown");
  expect(desk.journal.entries).toEqual([]);
});

test("who came too late is told who settled it, and when", async () => {
  const { desk, backend } = await started(["1"]);
  await arm(desk);
  backend.approvalsDeny.mockRejectedValueOnce({ code: -32000, message: "already_settled: it is approved", data: { code: "already_settled", state: "approved", by: { who: "grant", grant: "g" }, at_ms: 77 } });
  desk.decide("deny");
  await settle();
  expect(desk.judged.settled).toEqual({ state: "approved", by: "grant", at_ms: 77 });
  expect(desk.blocked("approve")).toBe("not_answerable");
});

test("a call settled elsewhere stays on the screen, saying so, and takes no answer", async () => {
  const { desk, fact } = await started(["1", "2"]);
  await arm(desk);
  fact("approval_expired", "1");
  expect(desk.judged.id).toBe("1");
  expect(desk.judged.settled?.state).toBe("expired");
  expect(desk.blocked("deny")).toBe("not_answerable");
  expect(desk.judged.arming.phase).toBe("unshown");
  desk.move(1);
  await settle();
  expect(desk.judged.id).toBe("2");
});

test("a refreshed card disarms and is read again", async () => {
  const { desk, calls, fact } = await started(["1"]);
  await arm(desk);
  calls.set("1", detail("1", { digest: "sha256:b" }));
  fact("approval_refreshed", "1");
  expect(desk.judged.arming.phase).toBe("unshown");
  await settle();
  expect(desk.judged.detail?.digest).toBe("sha256:b");
  expect(desk.judged.note).toEqual({ kind: "refreshed" });
});

test("arrivals come in by their facts; a gap in the numbers loads everything again", async () => {
  const { desk, backend, calls, fact } = await started(["1"]);
  calls.set("2", detail("2"));
  fact("approval_asked", "2");
  await settle();
  expect(desk.queue.waiting).toBe(2);
  expect(backend.snapshot).toHaveBeenCalledTimes(1);
  calls.set("3", detail("3"));
  fact("approval_asked", "3", 1);
  await settle();
  expect(backend.snapshot).toHaveBeenCalledTimes(2);
  expect(desk.queue.waiting).toBe(3);
});

test("a call that is asked while the first card is still being fetched comes in all the same", async () => {
  const given = gate(["1"]);
  const desk = new Desk(given.backend as unknown as Backend);
  let answer: () => void = () => undefined;
  given.backend.approvalsGet.mockImplementationOnce(() => new Promise((resolve) => (answer = () => resolve(detail("1")))));
  const starting = desk.start();
  await settle();
  given.calls.set("2", detail("2"));
  given.fact("approval_asked", "2");
  answer();
  await starting;
  await settle();
  expect(desk.queue.get("2")).toBeDefined();
});

test("facts that were heard of already change nothing", async () => {
  const { desk, fact } = await started(["1"]);
  const before = desk.changes.history;
  fact("approval_expired", "1", -2);
  expect(desk.changes.history).toBe(before);
  expect(desk.judged.settled).toBeUndefined();
});

test("cancelling goes by ids and says how many were settled already", async () => {
  const { desk, backend } = await started(["1", "2", "3"]);
  desk.selection.toggle("1");
  desk.selection.toggle("2");
  await desk.cancelSelected();
  expect(backend.approvalsCancel).toHaveBeenCalledWith({ ids: ["1", "2"] });
  expect(desk.toast).toBe("Cancelled 1 call. One was settled already.");
  expect(desk.selection.ids.size).toBe(0);
  await settle();
  expect(desk.judged.id).toBe("3");
});

test("approving waits for lines that were not shown; denying does not", async () => {
  const { desk, calls, backend } = await started([]);
  calls.set("1", detail("1", { card: { ...detail("1").card, content: [{ kind: "text", title: [], language: "text", lines: Array.from({ length: 200 }, () => []) }] } }));
  await desk.reload();
  await arm(desk);
  desk.decide("approve");
  expect(backend.approvalsApprove).not.toHaveBeenCalled();
  expect(desk.blocked("approve")).toBe("unseen");
  expect(desk.blocked("deny")).toBeUndefined();
  desk.judged.folds?.openNext();
  expect(desk.blocked("approve")).toBeUndefined();
});

test("a gate that cannot be reached leaves nothing to answer", async () => {
  const { desk, backend } = await started(["1"]);
  await arm(desk);
  backend.snapshot.mockRejectedValueOnce({ code: "not_open", message: "not_open: gone" });
  await desk.reload();
  expect(desk.phase).toBe("down");
  expect(desk.blocked("approve")).toBe("not_answerable");
  await desk.reload();
  expect(desk.phase).toBe("ready");
});

test("the window comes back to where it was", async () => {
  const first = await started(["1", "2"]);
  await first.desk.judge("2");
  first.desk.go("history");
  const second = await started(["1", "2"]);
  expect(second.desk.place).toBe("history");
  expect(second.desk.judged.id).toBe("2");
});
