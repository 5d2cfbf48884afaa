import { test } from "node:test";
import assert from "node:assert/strict";
import { limits, withinLimits } from "../src/limits.ts";

test("more than the limit in a minute is refused", () => {
  for (let n = 0; n < limits.orders.per_minute; n++) assert.ok(withinLimits("192.0.2.1", 1_000));
  assert.equal(withinLimits("192.0.2.1", 1_000), false);
});
