import { afterEach, beforeEach, expect, test, vi } from "vitest";

import type { Backend } from "../backend/backend";
import type { PolicyCheck, PolicyState } from "../backend/types";
import { PolicyDraft } from "./policy.svelte";

function drafted() {
  let file: PolicyState = { text: "a", path: "/p", digest: "sha256:a", ok: true };
  const check = vi.fn((text: string): Promise<PolicyCheck> => Promise.resolve(text.includes("!") ? { ok: false, error: { message: "no", line: 1 } } : { ok: true, digest: `sha256:${text}` }));
  const put = vi.fn((text: string, digest: string) => {
    if (digest !== file.digest) return Promise.reject({ code: "stale_digest", message: "stale_digest: it changed" });
    file = { text, path: "/p", digest: `sha256:${text}`, ok: true };
    return Promise.resolve(file);
  });
  const propose = vi.fn(() => Promise.resolve({ names: ["new"], rule: "r", text: `${file.text}\nr`, diff: "+r", digest: file.digest ?? "" }));
  const backend = { policyGet: () => Promise.resolve(file), policyCheck: check, policyPut: put, policyPropose: propose } as unknown as Backend;
  const elsewhere = (text: string): void => void (file = { ...file, text, digest: `sha256:${text}` });
  return { draft: new PolicyDraft(backend), check, put, propose, elsewhere };
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

test("typing is checked once it pauses; only what holds can be saved", async () => {
  const { draft, check, put } = drafted();
  await draft.load();
  expect([draft.dirty, draft.savable]).toEqual([false, false]);
  draft.type("b!");
  draft.type("b!!");
  expect(draft.savable).toBe(false);
  await vi.advanceTimersByTimeAsync(400);
  expect(check).toHaveBeenCalledTimes(1);
  expect(draft.error?.line).toBe(1);
  expect(await draft.save()).toBe(false);
  expect(put).not.toHaveBeenCalled();
  draft.type("b");
  await vi.advanceTimersByTimeAsync(400);
  expect(await draft.save()).toBe(true);
  expect(put).toHaveBeenCalledWith("b", "sha256:a");
  expect(draft.dirty).toBe(false);
});

test("who edits an older file is told, keeps the draft, and chooses", async () => {
  const { draft, elsewhere } = drafted();
  await draft.load();
  draft.type("mine");
  await vi.advanceTimersByTimeAsync(400);
  elsewhere("theirs");
  expect(await draft.save()).toBe(false);
  expect([draft.saveError?.code, draft.overtaken, draft.text, draft.savable]).toEqual(["stale_digest", true, "mine", false]);
  draft.keepMine();
  await vi.advanceTimersByTimeAsync(10);
  expect([draft.overtaken, draft.base.text, draft.savable]).toEqual([false, "theirs", true]);
  elsewhere("theirs again");
  await draft.load();
  draft.takeFile();
  expect([draft.text, draft.dirty]).toEqual(["theirs again", false]);
});

test("a file that changes on disk is followed while nothing was typed", async () => {
  const { draft, elsewhere } = drafted();
  await draft.load();
  elsewhere("theirs");
  await draft.load();
  expect([draft.text, draft.overtaken]).toEqual(["theirs", false]);
});

test("a rule made of an answer is a checked draft, in force only once it is saved", async () => {
  const { draft, put, propose } = drafted();
  expect(await draft.propose({ approval: "1", deny: true })).toEqual({ name: "new" });
  expect(propose).toHaveBeenCalledWith({ approval: "1", deny: true });
  expect([draft.text, draft.base.text, draft.savable]).toEqual(["a\nr", "a", true]);
  expect(put).not.toHaveBeenCalled();
  expect(await draft.save()).toBe(true);
  expect(put).toHaveBeenCalledWith("a\nr", "sha256:a");
});

test("a rule made of an answer never takes the place of what somebody is writing", async () => {
  const { draft, propose } = drafted();
  await draft.load();
  draft.type("mine");
  expect(await draft.propose({ grant: "g" })).toBe("dirty");
  expect([draft.text, propose.mock.calls.length]).toEqual(["mine", 0]);
});
