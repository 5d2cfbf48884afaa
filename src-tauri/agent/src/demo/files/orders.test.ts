import { test } from "node:test";
import assert from "node:assert/strict";
import { place, find } from "../src/orders.ts";

test("an order is found again", async () => {
  const order = await place({ customer: "c1", items: [{ sku: "tea", count: 2, cents: 450 }] });
  assert.equal(order.total, 900);
  assert.deepEqual(await find(order.id), order);
});
