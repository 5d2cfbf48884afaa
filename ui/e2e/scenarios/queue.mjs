import assert from "node:assert/strict";

const order = (window) => window.page.locator('[data-testid="queue-row"]').evaluateAll((rows) => rows.map((row) => row.dataset.approval));

export const scenarios = {
  "the queue stands still under the pointer, and takes in what came when it leaves": async (open) => {
    const window = await open();
    await window.page.mouse.move(200, 300);
    const before = await order(window);
    const first = before[0];
    await window.demo(() => globalThis.placetDemo.arrive());
    await window.demo((id) => globalThis.placetDemo.expire(id), before[1]);
    await window.id("queue-held").waitFor();
    assert.deepEqual(await order(window), before);
    assert.equal(await window.page.locator(`[data-approval="${before[1]}"][data-testid="queue-row"]`).getAttribute("data-state"), "expired");
    await window.page.mouse.move(900, 300);
    await window.id("queue-held").waitFor({ state: "detached" });
    const after = await order(window);
    assert.equal(after[0], first);
    assert.equal(after.includes(before[1]), false);
    assert.equal(after.length, 10);
    await window.close();
  },

  "marking a range and cancelling it asks once and says how many": async (open) => {
    const window = await open();
    await window.ready();
    await window.page.keyboard.press("j");
    await window.page.keyboard.press("x");
    await window.page.keyboard.press("j");
    await window.page.keyboard.press("j");
    await window.page.keyboard.press("X");
    assert.match(await window.id("selected-count").textContent(), /3 selected/);
    await window.page.keyboard.press("c");
    await window.id("sheet-cancel").waitFor();
    assert.match(await window.id("sheet-cancel").textContent(), /Cancel 3 calls\?/);
    await window.page.locator('[data-testid="cancel-confirm"][data-armed="true"]').click();
    await window.page.waitForFunction(() => document.querySelector('[data-testid="queue-count"]')?.textContent === "7");
    assert.match(await window.id("toast").textContent(), /Cancelled 3 calls/);
    await window.page.keyboard.press("u");
    assert.equal(await window.page.locator('[data-testid="deed"][data-deed="cancelled"]').count(), 3);
    await window.close();
  },

  "filtering by typing, and Escape out of it": async (open) => {
    const window = await open();
    await window.page.keyboard.press("/");
    await window.page.waitForFunction(() => document.activeElement?.matches("[data-filter]"));
    await window.page.keyboard.type("delete carts");
    await window.page.waitForFunction(() => document.querySelectorAll('[data-testid="queue-row"]').length === 1);
    await window.page.keyboard.press("Escape");
    assert.equal(await window.page.evaluate(() => document.activeElement?.matches("[data-filter]")), false);
    await window.id("queue-filter").fill("no such thing");
    await window.id("queue-clear-filter").click();
    await window.page.waitForFunction(() => document.querySelectorAll('[data-testid="queue-row"]').length === 10);
    await window.close();
  },

  "ten thousand waiting calls lay out only what is in view": async (open) => {
    const window = await open("flood");
    assert.equal(await window.id("queue-count").textContent(), "10,000");
    assert.ok((await window.id("queue-row").count()) < 60);
    const started = Date.now();
    await window.page.keyboard.press("End");
    await window.page.waitForFunction(() => document.querySelector('[data-testid="place-in-queue"]')?.textContent?.startsWith("10,000 of"));
    await window.page.locator('[data-testid="queue-row"][aria-current="true"]').waitFor();
    assert.ok(Date.now() - started < 3_000, `took ${Date.now() - started} ms`);
    await window.page.keyboard.down("k");
    for (let i = 0; i < 30; i += 1) await window.page.keyboard.down("k");
    await window.page.keyboard.up("k");
    assert.ok((await window.id("queue-row").count()) < 60);
    await window.close();
  },

  "a gap in the facts loads everything again": async (open) => {
    const window = await open();
    await window.demo(() => globalThis.placetDemo.skipFact());
    await window.demo(() => globalThis.placetDemo.arrive());
    await window.page.waitForFunction(() => document.querySelector('[data-testid="queue-count"]')?.textContent === "11");
    await window.close();
  },

  "asked for from outside, the window comes up at the call": async (open) => {
    const window = await open();
    const ids = await order(window);
    await window.page.keyboard.press("3");
    await window.id("history").waitFor();
    await window.demo((id) => globalThis.placetDemo.ask(id), ids[4]);
    await window.id("inbox").waitFor();
    await window.page.waitForFunction((id) => document.querySelector('[data-testid="judged"]')?.dataset.approval === id, ids[4]);
    await window.close();
  },

  "an empty queue says so, and the first call that comes is under judgement": async (open) => {
    const window = await open("empty");
    await window.id("nothing-waits").waitFor();
    const id = await window.demo(() => globalThis.placetDemo.arrive());
    await window.page.waitForFunction((one) => document.querySelector('[data-testid="judged"]')?.dataset.approval === one, id);
    await window.ready();
    await window.id("deny").click();
    await window.id("nothing-waits").waitFor();
    await window.close();
  },

  "a gate that cannot be reached is said, and tried again": async (open) => {
    const window = await open("down");
    await window.id("notice-down").waitFor();
    assert.equal(await window.id("nothing-waits").count(), 0);
    await window.demo(() => globalThis.placetDemo.recover());
    await window.id("down-retry").click();
    await window.id("judged").waitFor();
    assert.equal(await window.id("notice-down").count(), 0);
    await window.close();
  },
};
