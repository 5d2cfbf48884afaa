// Every place as a picture, beside the one it had when somebody last looked at it. `npm run pictures` draws them anew, to be
// looked at and committed.
import assert from "node:assert/strict";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

import pixelmatch from "pixelmatch";
import { PNG } from "pngjs";

const kept = fileURLToPath(new URL("../looks/", import.meta.url));
const out = fileURLToPath(new URL("../../out/looks/", import.meta.url));
const anew = process.env.PLACET_LOOKS === "anew";
/**
 * What is let pass: the share of pixels that differ, and by how much one may and is the same. One browser always draws alike,
 * another one draws the edges of letters otherwise.
 */
const SAME_BROWSER = { share: 0.0001, threshold: 0.03 };
const OTHER_BROWSER = { share: 0.03, threshold: 0.1 };

const place = (name) => async (window) => {
  await window.id(`place-${name}`).click();
};
const inbox = (row) => async (window) => {
  await window.id("queue-row").nth(row).click();
};
const sheet = (open, row = 0) => async (window) => {
  await inbox(row)(window);
  await window.pass(2_000);
  await window.page.keyboard.press(open);
};
const dark = { dark: true };
const looks = {
  "inbox": ["plain", {}, inbox(0)],
  "inbox-dark": ["plain", dark, inbox(0)],
  "inbox-900": ["plain", { width: 900, height: 720 }, async () => {}],
  "inbox-1600": ["plain", { width: 1600, height: 1000 }, inbox(0)],
  "inbox-text-200": ["plain", { textSize: 200 }, async () => {}],
  "inbox-less-motion": ["plain", { reducedMotion: "reduce" }, inbox(1)],
  "inbox-command-dark": ["plain", dark, inbox(3)],
  "inbox-address": ["plain", {}, inbox(6)],
  "inbox-empty": ["empty", {}, async () => {}],
  "inbox-down": ["down", {}, async () => {}],
  "inbox-paused": ["paused", {}, inbox(0)],
  "hostile-markup": ["hostile", {}, inbox(5)],
  "hostile-long-dark": ["hostile", dark, inbox(6)],
  "hostile-protected": ["hostile", {}, inbox(7)],
  "flood": ["flood", {}, inbox(2)],
  "sheet-scope": ["plain", {}, sheet("g", 2)],
  "sheet-tell-dark": ["plain", dark, sheet("r")],
  "sheet-keys": ["plain", {}, sheet("?")],
  "grants": ["plain", {}, place("grants")],
  "grants-dark": ["plain", dark, place("grants")],
  "history": ["plain", {}, place("history")],
  "history-dark": ["plain", dark, place("history")],
  "history-900": ["plain", { width: 900, height: 720 }, place("history")],
  "history-text-200": ["plain", { textSize: 200 }, place("history")],
  "agents": ["plain", {}, place("agents")],
  "agents-1600-dark": ["plain", { ...dark, width: 1600, height: 1000 }, place("agents")],
  "policy": ["plain", {}, place("policy")],
  "policy-dark": ["policy", dark, place("policy")],
  "settings": ["plain", {}, place("settings")],
  "settings-text-200-dark": ["plain", { ...dark, textSize: 200 }, place("settings")],
};

async function draw(open, [scene, options, act]) {
  const window = await open(scene, { ...options, still: true });
  await act(window);
  // What was pressed is let go of; what arms, folds and fades has done so.
  await window.page.mouse.move(0, 0);
  for (let step = 0; step < 30; step += 1) await window.pass(100);
  const picture = await window.page.screenshot({ animations: "disabled", caret: "hide" });
  await window.close();
  return picture;
}

async function beside(name, picture, { share, threshold }) {
  const now = PNG.sync.read(picture);
  const before = PNG.sync.read(await readFile(`${kept}${name}.png`));
  assert.deepEqual([now.width, now.height], [before.width, before.height], name);
  const { width, height } = now;
  const difference = new PNG({ width, height });
  const pixels = pixelmatch(before.data, now.data, difference.data, width, height, { threshold });
  if (pixels <= width * height * share) return undefined;
  await mkdir(out, { recursive: true });
  await writeFile(`${out}${name}.png`, picture);
  await writeFile(`${out}${name}.difference.png`, PNG.sync.write(difference));
  return `${name}: ${pixels} pixels differ`;
}

export const scenarios = {
  "pictures: every place looks as it did when somebody last looked": async (open, browser) => {
    if (anew) {
      await mkdir(kept, { recursive: true });
      for (const [name, look] of Object.entries(looks)) await writeFile(`${kept}${name}.png`, await draw(open, look));
      await writeFile(`${kept}browser.txt`, `${browser}\n`);
      return;
    }
    const may = (await readFile(`${kept}browser.txt`, "utf8")).trim() === browser ? SAME_BROWSER : OTHER_BROWSER;
    const other = [];
    for (const [name, look] of Object.entries(looks)) other.push(await beside(name, await draw(open, look), may));
    const differing = other.filter((one) => one !== undefined);
    assert.deepEqual(differing, [], "pictures of both are in ui/out/looks; if it is meant to look so, run `npm run pictures`, look at them, and commit them");
  },
};
