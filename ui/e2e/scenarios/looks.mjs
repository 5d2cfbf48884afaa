import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";

const axe = await readFile(new URL("../../node_modules/axe-core/axe.min.js", import.meta.url), "utf8");
const places = ["inbox", "grants", "history", "agents", "policy", "settings"];

async function noViolations(window, what) {
  await window.page.waitForTimeout(650); // Arming greys the buttons, and disabled ones are not measured.
  if (!(await window.page.evaluate(() => "axe" in globalThis))) await window.page.evaluate(`${axe}; undefined`);
  const found = await window.page.evaluate(async () => {
    const { violations } = await globalThis.axe.run(document, { resultTypes: ["violations"] });
    return violations.map((one) => `${one.id}: ${one.nodes.map((node) => `${node.target.join(" ")} ${node.any.map((any) => any.message).join("; ")}`).slice(0, 3).join(" | ")}`);
  });
  assert.deepEqual(found, [], what);
}

/** Nothing sticks out of the window, and nothing but what is meant to scroll does. */
async function noOverflow(window, what) {
  const out = await window.page.evaluate(() => {
    const wide = document.documentElement.clientWidth;
    const sticking = [...document.querySelectorAll("body *")].filter((element) => {
      const box = element.getBoundingClientRect();
      if (box.width === 0 || box.height === 0 || element.closest("svg, .hidden, option, .mid, .group-where, .row-who, .h-agent, .h-word, .r-name, .badge, .cm-editor, .pill-words, .plot")) return false;
      return box.right > wide + 1 || (element.scrollWidth > element.clientWidth + 1 && getComputedStyle(element).overflowX !== "visible" && !element.matches("input, textarea, select, .hidden"));
    });
    return sticking.slice(0, 5).map((element) => `${element.tagName}.${element.className} ${Math.round(element.getBoundingClientRect().right)} of ${wide}, ${element.scrollWidth} in ${element.clientWidth}`);
  });
  assert.deepEqual(out, [], what);
}

async function everyPlace(window, look, what) {
  for (const place of places) {
    await window.id(`place-${place}`).click();
    await window.page.waitForTimeout(120);
    await look(window, `${what}, ${place}`);
  }
}

export const scenarios = {
  "no accessibility violations in any place, light": async (open) => {
    const window = await open();
    await everyPlace(window, noViolations, "light");
    await window.page.keyboard.press("3");
    await window.id("history-row").nth(4).click();
    await window.id("history-call").waitFor();
    await noViolations(window, "the life of a call");
    await window.page.keyboard.press("2");
    await window.id("grant-open").first().click();
    await window.id("grant-calls").waitFor();
    await noViolations(window, "a grant and its calls");
    await window.page.keyboard.press("4");
    await window.id("session-open").first().click();
    await window.id("session-call").first().waitFor();
    await noViolations(window, "a session and its calls");
    await window.close();
  },

  "no accessibility violations in any place, dark": async (open) => {
    const window = await open("plain", { dark: true });
    await everyPlace(window, noViolations, "dark");
    await window.close();
  },

  "no accessibility violations in the scenes and sheets": async (open) => {
    for (const scene of ["hostile", "empty", "first", "down", "paused", "policy", "away", "flood"]) {
      const window = await open(scene, { dark: scene === "hostile" });
      await noViolations(window, scene);
      await window.close();
    }
    const window = await open();
    await window.ready();
    for (const [key, sheet] of [["r", "tell"], ["?", "keys"], ["u", "done"], ["g", "scope"]]) {
      await window.ready();
      await window.page.keyboard.press(key);
      await window.id(`sheet-${sheet}`).waitFor();
      await noViolations(window, sheet);
      await window.page.keyboard.press("Escape");
    }
    await window.id("queue-row").nth(1).click();
    await window.page.mouse.move(900, 400);
    await window.ready();
    await window.page.keyboard.press("e");
    await window.id("edit-command").waitFor();
    await window.page.keyboard.type("x");
    await window.page.locator('[data-testid="edit-preview"][data-phase="judged"]').waitFor();
    await noViolations(window, "edit");
    await window.page.keyboard.press("Escape");
    await window.page.keyboard.press("Escape");
    await window.page.keyboard.press("x");
    await window.page.keyboard.press("c");
    await window.id("sheet-cancel").waitFor();
    await noViolations(window, "cancel");
    await window.close();
  },

  "nothing overflows at 900, 1280 and 1600 pixels, at 150 and 200 % text": async (open) => {
    for (const [width, height, textSize] of [[900, 720, 100], [1280, 820, 100], [1600, 1000, 100], [1280, 820, 150], [1280, 820, 200], [900, 720, 200]]) {
      for (const scene of ["plain", "hostile"]) {
        const window = await open(scene, { width, height, textSize });
        await everyPlace(window, noOverflow, `${scene} ${width} ${textSize} %`);
        await window.page.keyboard.press("1");
        for (let row = 0; row < 10; row += 1) {
          await window.page.keyboard.press(row === 0 ? "Home" : "j");
          await window.page.waitForTimeout(60);
          await noOverflow(window, `${scene} ${width} ${textSize} %, call ${row}`);
        }
        await window.close();
      }
    }
  },

  "hostile text is text": async (open) => {
    const window = await open("hostile");
    for (let row = 0; row < 10; row += 1) {
      await window.page.keyboard.press(row === 0 ? "Home" : "j");
      await window.page.waitForTimeout(60);
      const toggle = window.id("says-toggle");
      if ((await toggle.count()) > 0) await toggle.click();
      assert.equal(await window.page.evaluate(() => document.querySelectorAll('[data-testid="app"] :is(script, img, iframe, style, b b, h1 script)').length), 0);
      // Nothing from outside stands in the page as a character that would not show.
      assert.equal(await window.page.evaluate(() => /[\p{Cf}\p{Co}]|(?!\s)\p{Cc}/u.test(document.body.innerText)), false);
      const bare = await window.page.evaluate(() => [...document.querySelectorAll("bdi")].filter((one) => getComputedStyle(one).unicodeBidi !== "isolate-override" && !one.closest(".h-word")).length);
      assert.equal(bare, 0);
    }
    assert.match(await window.page.title(), /^Placet · \d+ waiting$/);
    await window.close();
  },

  "with less motion nothing moves but the guard": async (open) => {
    const window = await open("plain", { reducedMotion: "reduce" });
    assert.equal(await window.page.evaluate(() => Number.parseFloat(getComputedStyle(document.documentElement).getPropertyValue("--move"))), 0);
    await window.id("queue-row").nth(2).click();
    await window.page.waitForFunction(() => document.querySelector('[data-testid="answer"]')?.dataset.phase === "arming");
    assert.equal(await window.id("approve").getAttribute("data-armed"), "false");
    await window.ready();
    await window.close();
  },

  "the narrow window shows the queue in place of the call": async (open) => {
    const window = await open("plain", { width: 700, height: 720 });
    await window.id("queue-open").click();
    await window.id("queue-row").nth(3).click();
    await window.page.waitForFunction(() => getComputedStyle(document.querySelector('[data-testid="queue"]')).display === "none");
    await window.ready();
    assert.ok(await window.id("deny").isVisible());
    await window.close();
  },
};
