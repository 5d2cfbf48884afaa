import { afterEach, expect, test } from "vitest";

import { filterOf, recall, remember } from "./memory";

afterEach(() => localStorage.clear());

test("what the history was narrowed to is remembered, a grant or session is not", () => {
  const filter = { text: "a", agent: "codex", under: "/home/ana", from_ms: 5, session: "s", grant: "g", limit: 3 };
  remember({ ...recall(), history: filterOf(filter) });
  expect(recall().history).toEqual({ text: "a", agent: "codex", under: "/home/ana", from_ms: 5 });
});

test("what is no filter is left out of one", () => {
  expect(filterOf({ text: 4, agent: "", host: ["x"], to_ms: 1.5, from_ms: "5" })).toEqual({});
  expect([filterOf(null), filterOf("x"), filterOf(undefined)]).toEqual([{}, {}, {}]);
  localStorage.setItem("placet.window", "{");
  expect(recall().history).toEqual({});
});
