import assert from "node:assert/strict";

export const scenarios = {
  "the keys 1 to 5 and the comma go to the places": async (open) => {
    const window = await open();
    for (const [key, place] of [["2", "grants"], ["3", "history"], ["4", "agents"], ["5", "policy"], [",", "settings"], ["1", "inbox"]]) {
      await window.page.keyboard.press(key);
      await window.id(place).waitFor();
      assert.equal(await window.id(`place-${place}`).getAttribute("aria-current"), "page");
    }
    await window.close();
  },

  "the history pages as it is scrolled, filters, and opens a call": async (open) => {
    const window = await open();
    await window.page.keyboard.press("3");
    await window.id("history-row").first().waitFor();
    assert.ok((await window.id("history-row").count()) < 60);
    for (let i = 0; i < 4; i += 1) {
      await window.id("history-list").evaluate((list) => list.scrollTo(0, list.scrollHeight));
      await window.page.waitForTimeout(120);
    }
    assert.match(await window.id("history-count").textContent(), /^[3-9]\d\d\+ shown/);
    await window.id("history-decision").selectOption("denied_by_rule");
    await window.page.waitForFunction(() => [...document.querySelectorAll('[data-testid="history-row"]')].every((row) => row.dataset.decision === "denied_by_rule"));
    await window.id("history-text").fill("no such word");
    await window.id("history-empty").waitFor();
    await window.id("history-clear").click();
    await window.id("history-row").nth(4).click();
    await window.id("history-call").waitFor();
    await window.page.locator('[data-testid="life-event"][data-kind="approval_approved"]').waitFor();
    await window.page.keyboard.press("Escape");
    await window.id("history").waitFor();
    await window.close();
  },

  "what was just answered stands at the top of the history": async (open) => {
    const window = await open();
    await window.id("queue-row").nth(2).click();
    await window.ready();
    await window.id("deny").click();
    await window.page.waitForFunction(() => document.querySelector('[data-testid="queue-count"]')?.textContent === "9");
    await window.page.keyboard.press("3");
    await window.page.locator('[data-testid="history-row"][data-decision="denied"]').first().waitFor();
    assert.match(await window.id("history-row").first().textContent(), /orders\.ts/);
    await window.close();
  },

  "pausing is one switch, lifting asks": async (open) => {
    const window = await open();
    await window.page.keyboard.press("4");
    await window.id("pause").click();
    await window.id("notice-paused").waitFor();
    assert.equal(await window.id("pause").getAttribute("aria-checked"), "true");
    await window.id("pause").click();
    await window.page.locator('[data-testid="lift-confirm"][data-armed="true"]').click();
    await window.id("notice-paused").waitFor({ state: "detached" });
    assert.equal(await window.id("session").count(), 4);
    await window.close();
  },

  "an agent is started from the sheet, its session opens, and it is stopped": async (open) => {
    const window = await open();
    await window.page.keyboard.press("4");
    await window.id("agent-start").click();
    await window.id("start-provider-anthropic").click();
    assert.equal(await window.id("start-confirm").getAttribute("aria-disabled"), "true");
    await window.id("start-workspace").fill("/home/ana/app");
    await window.id("start-task").fill("Tidy up");
    await window.id("start-confirm").click();
    assert.match(await window.id("start-error").textContent(), /agent\.toml names no provider/);
    await window.id("start-provider-demo").click();
    assert.equal(await window.id("start-workspace").count(), 0);
    await window.id("start-confirm").click();
    await window.id("session-panel").waitFor();
    await window.page.waitForFunction(() => document.querySelectorAll('[data-testid="session"]').length === 5);
    await window.id("session-stop").click();
    await window.page.locator('[data-testid="stop-confirm"][data-armed="true"]').click();
    await window.page.waitForFunction(() => document.querySelectorAll('[data-testid="session"]').length === 4);
    await window.close();
  },

  "a run of the built-in agent is followed as it speaks, and its question is a click away": async (open) => {
    const window = await open();
    await window.page.keyboard.press("4");
    await window.id("agent-start").click();
    await window.id("start-confirm").click();
    await window.id("run").waitFor();
    assert.deepEqual(await window.id("run-call-state").allTextContents(), ["done", "blocked", "done", "done", "waits for you"]);
    assert.match(await window.id("run-usage").textContent(), /^3,871 tokens read, 310 written$/);
    await window.demo(() => globalThis.placetDemo.tell({ event: "tool_ended", call_id: "c4", tool: "edit_file", decision: "allowed", is_error: false, text: "Replaced 1 place." }, { event: "text", text: "It is " }, { event: "text", text: "done." }));
    await window.page.locator('[data-testid="run-line"]', { hasText: "It is done." }).waitFor();
    assert.equal(await window.id("run-call-state").last().textContent(), "done");
    await window.demo(() => globalThis.placetDemo.tell({ event: "ended", ending: { ending: "max_turns" }, tally: { calls: 6, allowed: 3, denied: 3, asked: 2, blocked_protected: 1, clamped: 1, masked: 1 } }));
    assert.match(await window.id("run-ended").textContent(), /^It has taken all its turns\./);
    assert.equal(await window.id("run-tally").textContent(), "6 calls: 3 ran, 3 did not. You were asked about 2, or would have been. 1 tried to change what is protected. 1 held within bounds. In 1 a secret was masked.");
    await window.close();
  },

  "what a run says is text, however much it would like to be more": async (open) => {
    const window = await open("hostile");
    await window.page.keyboard.press("4");
    await window.id("agent-start").click();
    await window.id("start-confirm").click();
    await window.id("run-ended").waitFor();
    assert.equal(await window.page.locator('[data-testid="run"] img, [data-testid="run"] bdi bdi, [data-testid="run"] bdi b').count(), 0);
    const drawn = await window.id("run").textContent();
    assert.ok(!["\u202E", "\u200B", "\u001B"].some((one) => drawn.includes(one)));
    assert.ok(drawn.includes("\\u{202E}") && drawn.includes("<img src=x"));
    const { scrollWidth, clientWidth } = await window.id("session-panel").evaluate(({ scrollWidth, clientWidth }) => ({ scrollWidth, clientWidth }));
    assert.ok(scrollWidth <= clientWidth, `${scrollWidth} wide in ${clientWidth}`);
    await window.close();
  },

  "the history is exported as it is narrowed, with its progress, and stopped": async (open) => {
    const window = await open();
    await window.page.keyboard.press("3");
    await window.id("history-row").first().waitFor();
    await window.id("history-export").click();
    assert.equal(await window.id("export-what").count(), 0, "nothing is narrowed");
    await window.id("export-write").click();
    await window.page.waitForFunction(() => /so far/.test(document.querySelector('[data-testid="export-progress"]')?.textContent ?? ""));
    await window.id("toast").filter({ hasText: "/home/ana/placet-history.csv" }).waitFor({ state: "attached" });
    await window.id("sheet-export").waitFor({ state: "detached" });
    await window.id("history-decision").selectOption("denied_by_rule");
    await window.id("history-export").click();
    assert.equal(await window.id("export-what-narrowed").getAttribute("aria-checked"), "true");
    await window.id("export-format-facts").click();
    assert.equal(await window.id("export-what").count(), 0, "a chain is whole or it is none");
    await window.id("export-write").click();
    await window.id("export-back").click();
    await window.id("sheet-export").waitFor({ state: "detached" });
    await window.close();
  },

  "a setting is changed at once, and what is refused is said beside it": async (open) => {
    const window = await open();
    await window.page.keyboard.press(",");
    await window.id("set-notify").click();
    await window.page.locator('[data-testid="set-notify"][aria-checked="false"]').waitFor();
    await window.id("set-quiet").click();
    await window.id("set-quiet-from").fill("21:30");
    await window.id("set-quiet-from").press("Tab");
    await window.id("set-no-gate-deny").click();
    await window.page.locator('[data-testid="set-no-gate-deny"][aria-checked="true"]').waitFor();
    await window.id("set-gather").fill("500");
    await window.id("set-gather").press("Tab");
    assert.match(await window.id("setting-refused").textContent(), /from 1 to 100/);
    await window.id("set-per-session").fill("twenty");
    await window.id("set-per-session").press("Tab");
    await window.page.locator('[data-testid="setting-refused"][data-setting="per-session"]').waitFor();
    await window.page.keyboard.press("Escape");
    await window.page.keyboard.press("1");
    await window.page.keyboard.press(",");
    await window.page.locator('[data-testid="set-notify"][aria-checked="false"]').waitFor();
    assert.equal(await window.id("set-quiet-from").inputValue(), "21:30");
    await window.close();
  },

  "an alert that was raised before the window opened is shown, and stays away once it was read": async (open) => {
    const window = await open("alert");
    assert.match(await window.id("notice-alert").textContent(), /cannot be watched/);
    await window.id("alert-dismiss").click();
    await window.id("notice-alert").waitFor({ state: "detached" });
    await window.page.keyboard.press("3");
    await window.id("history").waitFor();
    assert.equal(await window.id("notice-alert").count(), 0);
    await window.close();
  },

  "a client is connected after its change was shown, proved, and disconnected": async (open) => {
    const window = await open();
    await window.page.keyboard.press("4");
    const gemini = window.page.locator('[data-testid="client"][data-client="gemini-cli"]');
    assert.equal(await window.id("client").count().then(async (n) => n || (await gemini.waitFor(), window.id("client").count())), 7);
    await gemini.locator('[data-testid="client-connect"]').click();
    assert.match(await window.id("client-diff").textContent(), /placet hook gemini-cli/);
    assert.equal(await window.page.locator('[data-testid="client-diff"] .ln.add').count(), 2);
    await window.id("client-back").click();
    assert.equal(await gemini.getAttribute("data-state"), "not_connected");
    await gemini.locator('[data-testid="client-connect"]').click();
    await window.page.locator('[data-testid="client-confirm"][data-armed="true"]').click();
    await window.page.locator('[data-testid="client"][data-client="gemini-cli"][data-state="connected"]').waitFor();
    await window.id("connect-prove").click();
    await gemini.locator('[data-testid="client-proof"][data-state="blocked"]').waitFor();
    await window.page.locator('[data-client="codex"] [data-testid="client-proof"][data-state="not_blocked"]').waitFor();
    await gemini.locator('[data-testid="client-disconnect"]').click();
    await window.page.locator('[data-testid="client-diff"] .ln.del').first().waitFor();
    await window.page.locator('[data-testid="client-confirm"][data-armed="true"]').click();
    await window.page.locator('[data-testid="client"][data-client="gemini-cli"][data-state="not_connected"]').waitFor();
    await window.close();
  },

  "a broken policy is named by its line, and the rule that asks is shown in it": async (open) => {
    const window = await open("policy");
    await window.id("notice-policy").waitFor();
    await window.id("queue-row").first().click();
    await window.id("why-rule").click();
    await window.id("policy-error").waitFor();
    assert.match(await window.id("policy-error").textContent(), /Line 20: .*aks/);
    await window.page.locator('.cm-line.cm-bad[data-line="20"]').waitFor();
    await window.page.locator('.cm-line.cm-here[data-line="18"]').waitFor();
    await window.close();
  },

  "a grant is revoked after asking": async (open) => {
    const window = await open();
    await window.page.keyboard.press("2");
    await window.id("revoke").first().click();
    await window.page.locator('[data-testid="revoke-confirm"][data-armed="true"]').click();
    await window.page.locator('[data-testid="grant"][data-grant="g1"][data-state="revoked"]').waitFor();
    await window.close();
  },

  "theme, text size, place and filter come back after a reload": async (open) => {
    const window = await open();
    await window.id("queue-filter").fill("codex");
    await window.page.keyboard.press("Tab");
    await window.page.keyboard.press(",");
    await window.id("theme-dark").click();
    await window.id("text-size-125").click();
    await window.page.reload();
    await window.id("settings").waitFor();
    assert.equal(await window.page.evaluate(() => `${document.documentElement.className} ${document.documentElement.style.fontSize}`), "dark 125%");
    await window.page.keyboard.press("1");
    assert.equal(await window.id("queue-filter").inputValue(), "codex");
    await window.close();
  },

  "what the history was narrowed to comes back after a reload": async (open) => {
    const window = await open();
    await window.page.keyboard.press("3");
    await window.id("history-row").first().waitFor();
    await window.id("history-agent").selectOption("codex");
    await window.id("history-wide").click();
    await window.id("history-from").fill("2020-02-03 04:05");
    await window.id("history-from").press("Enter");
    await window.page.waitForFunction(() => (JSON.parse(localStorage.getItem("placet.window")).history ?? {}).from_ms !== undefined);
    await window.page.reload();
    await window.id("history-row").first().waitFor();
    assert.equal(await window.id("history-agent").inputValue(), "codex");
    assert.equal(await window.id("history-from").inputValue(), "2020-02-03 04:05");
    await window.id("history-clear").click();
    await window.page.reload();
    await window.id("history-row").first().waitFor();
    assert.equal(await window.id("history-agent").inputValue(), "");
    await window.close();
  },

  "without a gate and without being asked to, nothing is demonstrated": async (open) => {
    const window = await open();
    await window.page.goto(window.url);
    await window.id("no-gate").waitFor();
    assert.equal(await window.id("inbox").count(), 0);
    await window.close();
  },
};
