import { expect, test } from "vitest";

import { Selection } from "./selection.svelte";

const order = ["a", "b", "c", "d", "e"];

test("a range runs from the last one marked, in either direction", () => {
  const selection = new Selection();
  selection.toggle("d");
  selection.rangeTo("b", order);
  expect([...selection.ids].sort()).toEqual(["b", "c", "d"]);
});

test("a range without a beginning marks one", () => {
  const selection = new Selection();
  selection.rangeTo("c", order);
  expect([...selection.ids]).toEqual(["c"]);
});

test("what is settled falls out, and nothing stays after clearing", () => {
  const selection = new Selection();
  selection.toggle("a");
  selection.toggle("b");
  selection.drop("a");
  expect([...selection.ids]).toEqual(["b"]);
  selection.clear();
  expect(selection.ids.size).toBe(0);
});
