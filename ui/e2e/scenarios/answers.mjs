import assert from "node:assert/strict";

const PLAIN = 2; // A row of the ordinary afternoon that is not grave, with nothing folded away.
const GRAVE = 5;
const LONG = 3;

/** Puts a row under judgement and takes the pointer off the queue. */
async function judge(window, row) {
  await window.id("queue-row").nth(row).click();
  await window.page.mouse.move(900, 400);
  await window.ready();
  return window.judged();
}
const waiting = (window) => window.id("queue-count").textContent();

export const scenarios = {
  "a button takes no answer while it arms, and one afterwards": async (open) => {
    const window = await open();
    await window.id("queue-row").nth(PLAIN).click();
    const id = await window.judged();
    await window.id("approve").click({ force: true });
    await window.page.waitForTimeout(60);
    assert.equal(await window.judged(), id);
    assert.equal(await waiting(window), "10");
    await window.ready();
    await window.id("approve").click();
    await window.page.waitForFunction((was) => document.querySelector('[data-testid="judged"]')?.dataset.approval !== was, id);
    assert.equal(await waiting(window), "9");
    assert.match(await window.id("toast").textContent(), /Approved once/);
    await window.close();
  },

  "events that no hand made decide nothing": async (open) => {
    const window = await open();
    const id = await judge(window, PLAIN);
    await window.page.evaluate(() => {
      const button = document.querySelector('[data-testid="approve"]');
      button.click();
      for (const type of ["pointerdown", "pointerup", "click"]) button.dispatchEvent(new PointerEvent(type, { bubbles: true, button: 0 }));
      for (const type of ["keydown", "keyup"]) for (const key of ["a", "d", "Enter"]) for (const target of [globalThis, button]) target.dispatchEvent(new KeyboardEvent(type, { key, bubbles: true }));
    });
    await window.page.waitForTimeout(100);
    assert.equal(await window.judged(), id);
    assert.equal(await waiting(window), "10");
    await window.close();
  },

  "a key approves once when it is let go, and a held key goes no further": async (open) => {
    const window = await open();
    const id = await judge(window, PLAIN);
    await window.page.keyboard.down("a");
    for (let i = 0; i < 5; i += 1) await window.page.keyboard.down("a");
    assert.equal(await window.judged(), id);
    await window.page.keyboard.up("a");
    await window.page.waitForFunction((was) => document.querySelector('[data-testid="judged"]')?.dataset.approval !== was, id);
    assert.equal(await waiting(window), "9");
    await window.close();
  },

  "a press that ends elsewhere answers nothing": async (open) => {
    const window = await open();
    const id = await judge(window, PLAIN);
    await window.id("approve").hover();
    await window.page.mouse.down();
    await window.id("deny").hover();
    await window.page.mouse.up();
    await window.page.waitForTimeout(60);
    assert.equal(await window.judged(), id);
    assert.equal(await waiting(window), "10");
    await window.close();
  },

  "a focused button answers to Enter, once": async (open) => {
    const window = await open();
    const id = await judge(window, PLAIN);
    await window.id("deny").focus();
    await window.page.keyboard.press("Enter");
    await window.page.waitForFunction((was) => document.querySelector('[data-testid="judged"]')?.dataset.approval !== was, id);
    assert.equal(await waiting(window), "9");
    assert.match(await window.id("toast").textContent(), /Denied/);
    await window.close();
  },

  "a grave call is approved by holding, not by a click": async (open) => {
    const window = await open();
    const id = await judge(window, GRAVE);
    assert.match(await window.id("approve").textContent(), /Hold to approve/);
    await window.id("approve").click();
    await window.page.keyboard.press("a");
    await window.page.waitForTimeout(60);
    assert.equal(await window.judged(), id);
    await window.id("approve").hover();
    await window.page.mouse.down();
    await window.page.waitForTimeout(700);
    await window.page.mouse.up();
    await window.page.waitForTimeout(60);
    assert.equal(await window.judged(), id);
    await window.page.mouse.down();
    await window.page.waitForFunction((was) => document.querySelector('[data-testid="judged"]')?.dataset.approval !== was, id, { timeout: 3_000 });
    await window.page.mouse.up();
    assert.equal(await waiting(window), "9");
    await window.close();
  },

  "approving waits for lines that were not shown, and denying does not": async (open) => {
    const window = await open();
    const id = await judge(window, LONG);
    assert.equal(await window.id("approve").getAttribute("aria-disabled"), "true");
    assert.equal(await window.id("approve-for").getAttribute("aria-disabled"), "true");
    assert.match(await window.id("answer").textContent(), /Approve waits for 27 lines/);
    assert.equal(await window.id("deny").getAttribute("aria-disabled"), null);
    await window.page.keyboard.press("o");
    await window.page.waitForTimeout(50);
    assert.equal(await window.id("approve").getAttribute("aria-disabled"), null);
    assert.equal(await window.id("fold-unseen").count(), 0);
    assert.equal(await window.judged(), id);
    await window.close();
  },

  "an answer to what has changed since approves nothing, and shows what it is now": async (open) => {
    const window = await open();
    const id = await judge(window, PLAIN);
    const before = await window.id("digest").getAttribute("data-digest");
    await window.demo((one) => globalThis.placetDemo.change(one, true), id);
    await window.id("approve").click();
    await window.id("note-stale").waitFor();
    assert.equal(await window.judged(), id);
    assert.notEqual(await window.id("digest").getAttribute("data-digest"), before);
    assert.match(await window.id("headline").textContent(), /changed since/);
    assert.equal(await waiting(window), "10");
    await window.ready();
    await window.id("approve").click();
    await window.page.waitForFunction((was) => document.querySelector('[data-testid="judged"]')?.dataset.approval !== was, id);
    await window.close();
  },

  "a change on the way disarms the buttons at once": async (open) => {
    const window = await open();
    const id = await judge(window, PLAIN);
    await window.demo((one) => globalThis.placetDemo.change(one), id);
    await window.id("note-refreshed").waitFor();
    assert.equal(await window.id("approve").getAttribute("data-armed"), "false");
    await window.ready();
    await window.close();
  },

  "who is too late is told who settled it": async (open) => {
    const window = await open();
    const id = await judge(window, PLAIN);
    await window.demo((one) => globalThis.placetDemo.settleElsewhere(one, true), id);
    await window.id("approve").click();
    await window.id("note-settled").waitFor();
    assert.match(await window.id("note-settled").textContent(), /Already denied by the supervisor.+\d\d:\d\d:\d\d/s);
    await window.id("note-next").click();
    assert.notEqual(await window.judged(), id);
    await window.close();
  },

  "time that runs out is said, and the card stays until the person moves on": async (open) => {
    const window = await open();
    const id = await judge(window, PLAIN);
    await window.demo((one) => globalThis.placetDemo.expire(one), id);
    await window.id("note-settled").waitFor();
    assert.match(await window.id("note-settled").textContent(), /Time ran out/);
    assert.equal(await window.id("deny").getAttribute("aria-disabled"), "true");
    await window.page.keyboard.press("j");
    await window.page.waitForFunction((was) => document.querySelector('[data-testid="judged"]')?.dataset.approval !== was, id);
    await window.close();
  },

  "denying with words takes the words, and Escape takes nothing": async (open) => {
    const window = await open();
    const id = await judge(window, PLAIN);
    await window.page.keyboard.press("r");
    await window.id("sheet-tell").waitFor();
    assert.equal(await window.id("app").evaluate((app) => app.inert), true);
    await window.page.keyboard.type("da");
    await window.page.keyboard.press("Escape");
    await window.id("sheet-tell").waitFor({ state: "detached" });
    assert.equal(await window.judged(), id);
    await window.ready();
    await window.page.keyboard.press("r");
    await window.page.keyboard.type("Keep it until 1.5");
    await window.page.locator('[data-testid="tell-send"][data-armed="true"]').click();
    await window.page.waitForFunction((was) => document.querySelector('[data-testid="judged"]')?.dataset.approval !== was, id);
    assert.match(await window.id("toast").textContent(), /with your words/);
    await window.close();
  },

  "a grant is offered narrow first, said in one sentence, and given": async (open) => {
    const window = await open();
    const id = await judge(window, PLAIN);
    await window.page.keyboard.press("g");
    await window.id("sheet-scope").waitFor();
    await window.id("scope-sentence").waitFor();
    assert.match(await window.id("scope-sentence").textContent(), /session 4f2a.*exactly this call.*at most 20 times/);
    assert.equal(await window.id("scope-on-2").count(), 0, "the folder is a further step away");
    await window.id("scope-on-wider").click();
    await window.id("scope-on-2").click();
    await window.page.waitForFunction(() => /folder ~\/app\/src\/routes/.test(document.querySelector('[data-testid="scope-sentence"]')?.textContent ?? ""));
    await window.page.locator('[data-testid="scope-confirm"][data-armed="true"]').click();
    await window.page.waitForFunction((was) => document.querySelector('[data-testid="judged"]')?.dataset.approval !== was, id);
    await window.page.keyboard.press("2");
    assert.match(await window.id("grant").first().textContent(), /folder ~\/app\/src\/routes/);
    await window.close();
  },

  "the answer bar never moves": async (open) => {
    const window = await open();
    const seen = new Set();
    for (let row = 0; row < 8; row += 1) {
      await window.id("queue-row").nth(row).click();
      await window.ready();
      for (const name of ["deny", "approve", "approve-for", "deny-and-tell"]) {
        const { x, y, width, height } = await window.id(name).boundingBox();
        seen.add(`${name} ${[x, y, width, height].map(Math.round).join(" ")}`);
      }
    }
    assert.equal(seen.size, 4, [...seen].join("\n"));
    await window.close();
  },
};
