import { expect, test } from "vitest";

import { unifiedOf } from "./diff";
import { plain } from "./spans";

test("a unified diff is shown whole, with the numbers of its hunks and what cannot be seen as its number", () => {
  const diff = "--- /s\n+++ /s\n@@ -7,2 +7,3 @@\n a\n+--- b\u202e\n c\n@@ -20 +21 @@\n-d\n\\ No newline at end of file\n+e\n";
  const lines = unifiedOf(diff).map(({ change, old, new: now, spans }) => [change, old, now, plain(spans)]);
  expect(lines.map(([change, old, now]) => [change, old, now])).toEqual([["same", 7, 7], ["added", undefined, 8], ["same", 8, 9], ["removed", 20, undefined], ["added", undefined, 21]]);
  expect(lines[1]?.[3]).toMatch(/^--- b/);
  expect(lines[1]?.[3]).not.toContain("\u202e");
  expect(unifiedOf("--- /s\n+++ /s\n@@ -0,0 +1,1 @@\n+x\n").map((line) => line.new)).toEqual([1]);
  expect(unifiedOf("")).toEqual([]);
});
