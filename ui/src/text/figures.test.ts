import { expect, test } from "vitest";

import { buckets, byGrants, totals, momentWords, typedMoment } from "./figures";

const HOUR = 3_600_000;
const stats = { timeline: [{ at_ms: HOUR, decision: "consumed", calls: 2 }, { at_ms: HOUR, decision: "denied_by_rule", calls: 3 }, { at_ms: 3 * HOUR, decision: "allowed_by_grant", calls: 6 }, { at_ms: 3 * HOUR, decision: "pending", calls: 9 }], agents: [], tools: [], calls: 20, asked: 2 };

test("the timeline has no gaps, and what waits is on neither side", () => {
  const all = buckets(stats, HOUR + 5, 4 * HOUR, HOUR);
  expect(all.map((one) => one.at_ms / HOUR)).toEqual([1, 2, 3]);
  expect(all[0]?.calls).toEqual({ rule: 0, grant: 0, once: 2, denied: 3, expired: 0 });
  expect(totals(all)).toEqual({ rule: 0, grant: 6, once: 2, denied: 3, expired: 0 });
  expect(byGrants(stats, totals(all))).toBe(75);
  expect(byGrants({ ...stats, asked: 0 }, totals([]))).toBeUndefined();
});

test("a moment is read as it is typed, and what is none is said to be none", () => {
  const now = new Date(2026, 2, 5, 9, 0).getTime();
  expect(typedMoment("", now)).toBeUndefined();
  expect(typedMoment("2026-03-01", now)).toBe(new Date(2026, 2, 1).getTime());
  expect(typedMoment("2026-03-01 14:30", now)).toBe(new Date(2026, 2, 1, 14, 30).getTime());
  expect(typedMoment("08:05", now)).toBe(new Date(2026, 2, 5, 8, 5).getTime());
  for (const wrong of ["yesterday", "2026-02-31", "25:00", "1"]) expect(typedMoment(wrong, now)).toBe("unreadable");
});

test("a moment is written as it is read", () => {
  for (const at of [new Date(2026, 2, 1), new Date(2020, 1, 3, 4, 5), new Date(2026, 11, 31, 23, 59)]) expect(typedMoment(momentWords(at.getTime()), 0)).toBe(at.getTime());
  expect(momentWords(undefined)).toBe("");
});
