// The built window in a plain browser, over the gate in memory. Run `npm run build` first; `npm run e2e -- WORD` runs what has WORD in its name.
import { existsSync } from "node:fs";

import { chromium } from "playwright-core";

import { serve } from "./serve.mjs";

const executablePath = process.env.CHROMIUM ?? ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find((path) => existsSync(path));
const only = process.argv[2] ?? "";

const server = await serve();
const browser = await chromium.launch({ ...(executablePath && { executablePath }), args: ["--no-sandbox"] });
const scenarios = (await Promise.all(["answers", "queue", "places", "changes", "looks", "pictures"].map((name) => import(`./scenarios/${name}.mjs`)))).flatMap((module) => Object.entries(module.scenarios));

/**
 * A window at a scene. The page's prototypes are frozen and its policy is set, as in the app. In a still one time passes only
 * by `pass`, and the fonts are those that the tests bring.
 */
async function open(scene = "plain", { width = 1280, height = 820, dark = false, textSize = 100, reducedMotion = "no-preference", still = false } = {}) {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: dark ? "dark" : "light", reducedMotion, locale: "en-GB", ...(still && { timezoneId: "UTC" }) });
  const page = await context.newPage();
  if (still) {
    await page.clock.install({ time: new Date("2026-03-04T10:20:00Z") });
    await page.clock.pauseAt(new Date("2026-03-04T10:20:01Z"));
    await page.addInitScript(() => {
      const fonts = { "--sans": "DejaVu Sans", "--mono": "DejaVu Sans Mono" };
      document.addEventListener("DOMContentLoaded", () => { for (const [name, font] of Object.entries(fonts)) document.documentElement.style.setProperty(name, font); });
    });
  }
  const pass = (ms) => page.clock.runFor(ms);
  const troubles = [];
  page.on("pageerror", (error) => troubles.push(error.message));
  page.on("console", (message) => message.type() === "error" && troubles.push(message.text()));
  page.on("dialog", (dialog) => troubles.push(`a dialog: ${dialog.message()}`));
  await page.addInitScript((size) => {
    Object.freeze(Object.prototype);
    if (localStorage.getItem("placet.window") === null) localStorage.setItem("placet.window", JSON.stringify({ textSize: size }));
  }, textSize);
  await page.goto(`${server.url}?demo=${scene}`);
  const loaded = page.locator('[data-testid="app"]:not([data-phase="loading"])');
  // The page's own timers stand still as well, and it is loaded in steps.
  while (still && !(await loaded.isVisible())) await pass(20);
  await loaded.waitFor();
  const id = (name) => page.locator(`[data-testid="${name}"]`);
  const demo = (run, argument) => page.evaluate(run, argument);
  const ready = () => page.locator('[data-testid="answer"][data-phase="ready"]').waitFor();
  const judged = () => id("judged").getAttribute("data-approval");
  const close = async () => {
    if (troubles.length > 0) throw new Error(`the page complained: ${troubles.join(" | ")}`);
    await context.close();
  };
  return { page, id, demo, ready, judged, close, pass, url: server.url };
}

let failed = 0;
let ran = 0;
for (const [name, scenario] of scenarios) {
  if (!name.includes(only)) continue;
  ran += 1;
  const started = Date.now();
  try {
    await scenario(open, browser.version());
    console.log(`ok    ${name}  (${Date.now() - started} ms)`);
  } catch (error) {
    failed += 1;
    console.log(`FAIL  ${name}\n      ${String(error.stack ?? error).split("\n").slice(0, 12).join("\n      ")}`);
  }
}
await browser.close();
server.close();
console.log(`${ran - failed} of ${ran} passed`);
process.exit(failed === 0 && ran > 0 ? 0 : 1);
