// The built window in a plain browser, over the gate in memory. Run `npm run build` first; `npm run e2e -- WORD` runs what has WORD in its name.
import { existsSync } from "node:fs";

import { chromium } from "playwright-core";

import { serve } from "./serve.mjs";

const executablePath = process.env.CHROMIUM ?? ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find((path) => existsSync(path));
const only = process.argv[2] ?? "";

const server = await serve();
const browser = await chromium.launch({ ...(executablePath && { executablePath }), args: ["--no-sandbox"] });
const scenarios = (await Promise.all(["answers", "queue", "places", "changes", "looks"].map((name) => import(`./scenarios/${name}.mjs`)))).flatMap((module) => Object.entries(module.scenarios));

/** A window at a scene. The page's prototypes are frozen and its policy is set, as in the app. */
async function open(scene = "plain", { width = 1280, height = 820, dark = false, textSize = 100, reducedMotion = "no-preference" } = {}) {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: dark ? "dark" : "light", reducedMotion });
  const page = await context.newPage();
  const troubles = [];
  page.on("pageerror", (error) => troubles.push(error.message));
  page.on("console", (message) => message.type() === "error" && troubles.push(message.text()));
  page.on("dialog", (dialog) => troubles.push(`a dialog: ${dialog.message()}`));
  await page.addInitScript((size) => {
    Object.freeze(Object.prototype);
    if (localStorage.getItem("placet.window") === null) localStorage.setItem("placet.window", JSON.stringify({ textSize: size }));
  }, textSize);
  await page.goto(`${server.url}?demo=${scene}`);
  await page.locator('[data-testid="app"]:not([data-phase="loading"])').waitFor();
  const id = (name) => page.locator(`[data-testid="${name}"]`);
  const demo = (run, argument) => page.evaluate(run, argument);
  const ready = () => page.locator('[data-testid="answer"][data-phase="ready"]').waitFor();
  const judged = () => id("judged").getAttribute("data-approval");
  const close = async () => {
    if (troubles.length > 0) throw new Error(`the page complained: ${troubles.join(" | ")}`);
    await context.close();
  };
  return { page, id, demo, ready, judged, close, url: server.url };
}

let failed = 0;
let ran = 0;
for (const [name, scenario] of scenarios) {
  if (!name.includes(only)) continue;
  ran += 1;
  const started = Date.now();
  try {
    await scenario(open);
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
