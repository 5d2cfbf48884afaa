import { afterEach, beforeEach, expect, test, vi } from "vitest";

import type { Backend } from "../backend/backend";
import type { ApprovalDetail, ApprovalPreview } from "../backend/types";
import { ARM_MS, Arming } from "./arming.svelte";
import { Editing } from "./editing.svelte";

const about = {
  id: "1", digest: "sha256:asked", tool: "Bash", input: { command: "ls", timeout: 5 }, card: { headline: "", shown: [], subjects: [], commands: [], content: [], says: [], undo: "yes", reach: "this_file", grave: false },
} as unknown as ApprovalDetail;

function editor(over: Partial<ApprovalDetail> = {}) {
  const arming = new Arming();
  const preview = vi.fn((_: string, input: unknown) => Promise.resolve({ ...about, digest: `sha256:${JSON.stringify(input)}`, refused: null } as unknown as ApprovalPreview));
  const shown = vi.fn(() => Promise.resolve());
  const backend = { approvalsPreview: preview, approvalsShown: shown } as unknown as Backend;
  return { editing: new Editing({ ...about, ...over }, backend, arming), arming, preview, shown };
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

test("typing is judged once it pauses, and what was judged before answers nothing", async () => {
  const { editing, arming, preview, shown } = editor();
  const field = editing.fields[0] as (typeof editing.fields)[0];
  expect(editing.others).toEqual(["timeout"]);
  expect(editing.answerable).toBe(false);
  editing.setField(field, "ls -");
  editing.setField(field, "ls -l");
  await vi.advanceTimersByTimeAsync(300);
  expect(preview.mock.calls).toEqual([["1", { command: "ls -l", timeout: 5 }]]);
  expect(arming.phase).toBe("unshown");
  await editing.painted(editing.preview?.digest ?? "");
  expect(shown).toHaveBeenCalledWith("1", editing.preview?.digest);
  await vi.advanceTimersByTimeAsync(ARM_MS);
  expect([arming.phase, editing.answerable]).toEqual(["ready", true]);
  editing.setField(field, "ls -la");
  expect([arming.phase, editing.answerable, editing.preview]).toEqual(["unshown", false, undefined]);
});

test("an answer of the gate that was overtaken by typing is dropped", async () => {
  const { editing, preview } = editor();
  const field = editing.fields[0] as (typeof editing.fields)[0];
  let answer: (preview: ApprovalPreview) => void = () => undefined;
  preview.mockImplementationOnce(() => new Promise((resolve) => (answer = resolve)));
  editing.setField(field, "a");
  await vi.advanceTimersByTimeAsync(300);
  editing.setField(field, "b");
  answer({ ...about, digest: "sha256:old", refused: null } as unknown as ApprovalPreview);
  await vi.advanceTimersByTimeAsync(10);
  expect(editing.preview).toBeUndefined();
});

test("what is no JSON is never sent; what was changed back is no change", async () => {
  const { editing, preview } = editor({ tool: "unknown_tool" });
  expect(editing.mode).toBe("json");
  editing.setJson("{");
  await vi.advanceTimersByTimeAsync(300);
  expect(editing.notJson).toBeDefined();
  editing.setJson('{"command": "ls", "timeout": 5}');
  await vi.advanceTimersByTimeAsync(300);
  expect(editing.phase).toBe("same");
  expect(preview).not.toHaveBeenCalled();
});

test("a refused call cannot be approved; a stale one is judged again", async () => {
  const { editing, preview } = editor();
  preview.mockImplementation((_, input) => Promise.resolve({ ...about, digest: `sha256:${JSON.stringify(input)}`, refused: { code: "x", reason: "no" } } as unknown as ApprovalPreview));
  editing.setField(editing.fields[0] as (typeof editing.fields)[0], "x");
  await vi.advanceTimersByTimeAsync(300);
  expect(editing.answerable).toBe(false);
  editing.refused({ code: "stale_digest", message: "It changed." });
  await vi.advanceTimersByTimeAsync(10);
  expect(preview).toHaveBeenCalledTimes(2);
  expect(editing.error?.code).toBe("stale_digest");
});
