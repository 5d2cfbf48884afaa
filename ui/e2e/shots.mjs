// Pictures of the built window in every state that matters, into out/shots, to be looked at.
import { mkdir } from "node:fs/promises";
import { fileURLToPath } from "node:url";

import { chromium } from "playwright-core";

import { serve } from "./serve.mjs";

const out = fileURLToPath(new URL("../out/shots/", import.meta.url));
await mkdir(out, { recursive: true });
const only = process.argv[2];

const inbox = (scene, row) => async (page) => {
  if (row !== undefined) await page.locator('[data-testid="queue-row"]').nth(row).click();
  await page.locator('[data-testid="answer"][data-phase="ready"]').waitFor({ timeout: 5_000 }).catch(() => {});
};
const place = (name) => async (page) => {
  await page.locator(`[data-testid="place-${name}"]`).click();
  await page.waitForTimeout(300);
};

const shots = [
  ["inbox-light", "plain", 1280, 820, {}, inbox("plain", 0)],
  ["inbox-dark", "plain", 1280, 820, { dark: true }, inbox("plain", 0)],
  ["inbox-wide-dark", "plain", 1600, 1000, { dark: true }, inbox("plain", 0)],
  ["inbox-900", "plain", 900, 720, {}, inbox("plain", 0)],
  ["inbox-text200", "plain", 1280, 820, { text: 200 }, inbox("plain")],
  ["inbox-command-dark", "plain", 1280, 820, { dark: true }, inbox("plain", 3)],
  ["inbox-url", "plain", 1280, 820, {}, inbox("plain", 6)],
  ["inbox-send", "plain", 1280, 820, {}, async (page) => { await inbox("plain", 5)(page); await page.locator('[data-testid="says-toggle"]').click(); }],
  ["inbox-empty", "empty", 1280, 820, {}, async (page) => page.waitForTimeout(300)],
  ["inbox-first", "first", 1280, 820, {}, async (page) => page.waitForTimeout(300)],
  ["hostile-protected", "hostile", 1280, 820, {}, inbox("hostile", 7)],
  ["hostile-long", "hostile", 1280, 820, {}, inbox("hostile", 6)],
  ["hostile-markup", "hostile", 1280, 820, {}, inbox("hostile", 5)],
  ["flood", "flood", 1280, 820, {}, inbox("flood", 2)],
  ["down", "down", 1280, 820, {}, async (page) => page.waitForTimeout(200)],
  ["paused", "paused", 1280, 820, {}, inbox("paused", 0)],
  ["policy-notice", "policy", 1280, 820, {}, inbox("policy", 0)],
  ["selected", "plain", 1280, 820, {}, async (page) => { await page.keyboard.press("j"); await page.keyboard.press("x"); await page.keyboard.press("j"); await page.keyboard.press("j"); await page.keyboard.press("Shift+X"); await page.waitForTimeout(700); }],
  ["sheet-cancel", "plain", 1280, 820, {}, async (page) => { await page.keyboard.press("x"); await page.keyboard.press("j"); await page.keyboard.press("x"); await page.keyboard.press("c"); await page.waitForTimeout(700); }],
  ["sheet-tell", "plain", 1280, 820, {}, async (page) => { await inbox("plain", 0)(page); await page.keyboard.press("r"); await page.waitForTimeout(700); }],
  ["sheet-scope", "plain", 1280, 820, {}, async (page) => { await inbox("plain", 2)(page); await page.keyboard.press("g"); await page.waitForTimeout(900); }],
  ["sheet-keys", "plain", 1280, 820, {}, async (page) => { await page.keyboard.press("?"); await page.waitForTimeout(300); }],
  ["history", "plain", 1280, 820, {}, place("history")],
  ["history-900", "plain", 900, 720, {}, place("history")],
  ["history-text200", "plain", 1280, 820, { text: 200 }, place("history")],
  ["history-call", "plain", 1280, 820, {}, async (page) => { await place("history")(page); await page.locator('[data-testid="history-row"]').nth(4).click(); await page.waitForTimeout(300); }],
  ["agents", "plain", 1280, 820, {}, place("agents")],
  ["agents-run", "plain", 1280, 820, {}, async (page) => { await place("agents")(page); await page.locator('[data-testid="agent-start"]').click(); await page.locator('[data-testid="start-confirm"]').click(); await page.locator('[data-testid="run"]').waitFor(); await page.waitForTimeout(300); }],
  ["agents-run-dark", "hostile", 1280, 820, { dark: true }, async (page) => { await place("agents")(page); await page.locator('[data-testid="agent-start"]').click(); await page.locator('[data-testid="start-confirm"]').click(); await page.locator('[data-testid="run"]').waitFor(); await page.waitForTimeout(300); }],
  ["sheet-start", "plain", 1280, 820, {}, async (page) => { await place("agents")(page); await page.locator('[data-testid="agent-start"]').click(); await page.locator('[data-testid="start-provider-anthropic"]').click(); await page.waitForTimeout(400); }],
  ["settings-dark", "plain", 1280, 1000, { dark: true }, place("settings")],
  ["settings-light", "alert", 1280, 1000, {}, async (page) => { await place("settings")(page); await page.locator('[data-testid="set-quiet"]').click(); await page.waitForTimeout(200); }],
  ["sheet-export", "plain", 1280, 820, {}, async (page) => { await place("history")(page); await page.locator('[data-testid="history-decision"]').selectOption("denied_by_rule"); await page.locator('[data-testid="history-export"]').click(); await page.waitForTimeout(300); }],
  ["grants", "plain", 1280, 820, {}, place("grants")],
  ["grants-empty", "first", 1280, 820, {}, place("grants")],
  ["policy", "plain", 1280, 820, { dark: true }, place("policy")],
  ["policy-broken", "policy", 1280, 820, {}, place("policy")],
  ["settings", "plain", 1280, 820, {}, place("settings")],
];

const server = await serve();
const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
for (const [name, scene, width, height, { dark = false, text = 100 }, act] of shots) {
  if (only !== undefined && !name.includes(only)) continue;
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: dark ? "dark" : "light" });
  const page = await context.newPage();
  page.on("pageerror", (error) => console.log(name, "PAGE ERROR", error.message));
  page.on("console", (message) => message.type() === "error" && console.log(name, "CONSOLE", message.text()));
  if (text !== 100) await page.addInitScript((size) => localStorage.setItem("placet.window", JSON.stringify({ textSize: size })), text);
  await page.goto(`${server.url}?demo=${scene}`);
  await page.locator('[data-testid="app"]:not([data-phase="loading"])').waitFor();
  await act(page);
  await page.screenshot({ path: `${out}${name}.png` });
  await context.close();
}
await browser.close();
server.close();
