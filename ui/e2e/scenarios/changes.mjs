import assert from "node:assert/strict";

/** Puts a row under judgement and takes the pointer off the queue. */
async function judge(window, row) {
  await window.id("queue-row").nth(row).click();
  await window.page.mouse.move(900, 400);
  await window.ready();
  return window.judged();
}
const judgedOther = (window, id) => window.page.waitForFunction((was) => document.querySelector('[data-testid="judged"]')?.dataset.approval !== was, id);
const armed = (window, name) => window.page.locator(`[data-testid="${name}"][data-armed="true"]`);
const preview = (window) => window.page.locator('[data-testid="edit-preview"][data-phase="judged"]');

export const scenarios = {
  "a server and its tool stand apart in the row and in the card": async (open) => {
    const window = await open();
    await judge(window, 5);
    assert.match(await window.id("queue-row").nth(5).textContent(), /tracker · create_comment/);
    assert.match(await window.id("really").textContent(), /^tracker · create_comment$/);
    await window.close();
  },

  "a call is edited, judged anew, and approved as changed": async (open) => {
    const window = await open();
    const id = await judge(window, 1);
    const digest = await window.id("digest").getAttribute("data-digest");
    await window.page.keyboard.press("e");
    await window.id("edit-command").waitFor();
    assert.equal(await window.id("edit-confirm").getAttribute("data-armed"), "false", "nothing is changed yet");
    await window.page.keyboard.press("End");
    await window.page.keyboard.type(" $(date)");
    await preview(window).waitFor();
    assert.match(await window.id("edit-preview").textContent(), /cannot be inspected/);
    assert.equal(await window.page.locator('[data-testid="edit-flag"][data-flag="uninspectable"]').count(), 1);
    assert.match(await window.id("edit-change").textContent(), /--coverage \$\(date\)/);
    assert.match(await window.id("edit-others").textContent(), /description, timeout/);
    assert.notEqual(await window.id("edit-preview").getAttribute("data-digest"), digest);
    await armed(window, "edit-confirm").waitFor();
    // What is typed after arming disarms at once.
    await window.page.keyboard.type("x");
    assert.equal(await window.id("edit-confirm").getAttribute("data-armed"), "false");
    await armed(window, "edit-confirm").click();
    await judgedOther(window, id);
    assert.match(await window.id("toast").textContent(), /as you changed it/);
    assert.equal(await window.id("queue-count").textContent(), "9");
    await window.close();
  },

  "a rule that forbids the edit is said in the sheet, and going back leaves the call as asked": async (open) => {
    const window = await open();
    const id = await judge(window, 2);
    await window.page.keyboard.press("e");
    await window.id("edit-path").waitFor();
    await window.id("edit-path").fill("/home/ana/app/tests/orders.ts");
    await armed(window, "edit-confirm").click();
    await window.id("edit-error").waitFor();
    assert.match(await window.id("edit-error").textContent(), /A rule forbids it.*Nothing was approved/s);
    await window.id("edit-back").click();
    assert.equal(await window.judged(), id);
    await window.ready();
    await window.id("approve").click();
    await judgedOther(window, id);
    await window.close();
  },

  "JSON that does not read is said and not sent; a client that takes no edit gets none": async (open) => {
    const window = await open();
    await judge(window, 2);
    await window.page.keyboard.press("e");
    await window.id("edit-mode-json").click();
    await window.id("edit-json").fill("{");
    await window.id("edit-not-json").waitFor();
    assert.equal(await window.id("edit-confirm").getAttribute("data-armed"), "false");
    await window.page.keyboard.press("Escape");
    await window.page.keyboard.press("Escape");
    await judge(window, 0);
    assert.equal(await window.id("edit").getAttribute("aria-disabled"), "true");
    await window.page.keyboard.press("e");
    assert.equal(await window.id("sheet-edit").count(), 0);
    assert.match(await window.id("toast").textContent(), /takes no changed call/);
    await window.close();
  },

  "the same call again and again is one row, and each is answered by itself": async (open) => {
    const window = await open("alike");
    const rows = await window.id("queue-row").count();
    assert.equal(await window.id("queue-count").textContent(), "12");
    assert.equal(rows, 10);
    await window.page.keyboard.press("End");
    await window.page.keyboard.press("f");
    await window.page.waitForFunction((was) => document.querySelectorAll('[data-testid="queue-row"]').length === was + 2, rows);
    await window.page.keyboard.press("f");
    await window.page.waitForFunction((was) => document.querySelectorAll('[data-testid="queue-row"]').length === was, rows);
    await window.ready();
    await window.page.keyboard.press("d");
    await window.page.waitForFunction(() => document.querySelector('[data-testid="queue-count"]')?.textContent === "11");
    assert.match(await window.id("queue-alike").last().textContent(), /×2/);
    await window.page.keyboard.press("End");
    await window.page.keyboard.press("x");
    assert.match(await window.id("selected-count").textContent(), /^2 selected/);
    await window.close();
  },

  "a grant, an answer and a call of the past become rules, which the person saves": async (open) => {
    const window = await open();
    await window.page.keyboard.press("2");
    await window.page.locator('[data-testid="grant"][data-grant="g1"] [data-testid="grant-rule"]').click();
    await window.id("sheet-policy").waitFor();
    assert.match(await window.id("policy-change").textContent(), /may write any file under ~\/app\/src/);
    await window.id("policy-save-back").click();
    // A draft is not thrown away by the next.
    await window.page.keyboard.press("2");
    await window.page.locator('[data-testid="grant"][data-grant="g3"] [data-testid="grant-rule"]').click();
    await window.id("policy").waitFor();
    assert.match(await window.id("toast").textContent(), /first/);
    assert.equal(await window.id("sheet-policy").count(), 0);
    await window.id("policy-revert").click();
    await window.page.keyboard.press("1");
    await judge(window, 1);
    await window.id("deny").click();
    await window.page.waitForFunction(() => document.querySelector('[data-testid="queue-count"]')?.textContent === "9");
    await window.page.keyboard.press("u");
    await window.id("deed-rule").first().click();
    await armed(window, "policy-save-confirm").click();
    await window.page.waitForFunction(() => document.querySelector('[data-testid="policy-state"]')?.dataset.inForce === "true");
    assert.equal(await window.page.locator('[data-testid="policy-rule"][data-decide="deny"]').count(), 2);
    await window.page.keyboard.press("3");
    await window.page.locator('[data-testid="history-row"]').first().click();
    await window.id("life-rule").click();
    await window.id("sheet-policy").waitFor();
    assert.match(await window.id("policy-change").textContent(), /decide = "deny"/);
    await window.close();
  },

  "a policy is checked while it is typed, compared, and saved": async (open) => {
    const window = await open();
    await window.page.keyboard.press("5");
    await window.id("policy-text").click();
    await window.page.keyboard.press("Control+End");
    await window.page.keyboard.type('\n[[rule]]\nname = "no pushes"\ndecide = "dney"');
    await window.id("policy-error").waitFor();
    assert.match(await window.id("policy-error").textContent(), /Line \d+: .*dney/);
    assert.equal(await window.page.locator(".cm-line.cm-bad").count(), 1);
    assert.equal(await window.page.locator(".cm-bad-number").count(), 1);
    assert.equal(await window.id("policy-save").getAttribute("aria-disabled"), "true");
    for (let i = 0; i < 5; i += 1) await window.page.keyboard.press("Backspace");
    await window.page.keyboard.type('deny"');
    await window.page.locator('[data-testid="policy-save"]:not([aria-disabled])').waitFor();
    await window.page.keyboard.press("Control+s");
    await window.id("sheet-policy").waitFor();
    assert.match(await window.id("policy-change").textContent(), /no pushes/);
    await armed(window, "policy-save-confirm").click();
    await window.page.locator('[data-testid="policy-state"][data-in-force="true"]').waitFor();
    assert.match(await window.id("toast").textContent(), /in force/);
    await window.close();
  },

  "a policy that somebody else changed meanwhile is not overwritten": async (open) => {
    const window = await open();
    await window.page.keyboard.press("5");
    await window.id("policy-text").click();
    await window.page.keyboard.press("Control+End");
    await window.page.keyboard.type("# mine");
    await window.demo(() => globalThis.placetDemo.changePolicy('default = "deny"\n# theirs\n'));
    await window.id("policy-overtaken").waitFor();
    assert.equal(await window.id("policy-save").getAttribute("aria-disabled"), "true");
    await window.id("policy-keep-mine").click();
    await window.page.locator('[data-testid="policy-save"]:not([aria-disabled])').waitFor();
    await window.id("policy-save").click();
    assert.match(await window.id("policy-change").textContent(), /# theirs/);
    await window.page.keyboard.press("Escape");
    await window.id("policy-revert").click();
    assert.match(await window.id("policy-text").textContent(), /# theirs/);
    await window.close();
  },

  "a call is tried against the policy": async (open) => {
    const window = await open();
    await window.page.keyboard.press("5");
    await window.id("try-words").fill("{");
    await window.id("try-problem").waitFor();
    await window.id("try-words").fill('{"tool": "Write", "input": {"file_path": "tests/a.ts"}, "cwd": "/home/ana/app"}');
    await window.page.locator('[data-testid="try-ruling"][data-ruling="deny"]').waitFor();
    await window.id("try-rule").click();
    await window.page.locator('.cm-line.cm-here[data-line="11"]').waitFor();
    await window.close();
  },

  "the history has figures, a horizon, a chain, and narrows": async (open) => {
    const window = await open();
    await window.page.keyboard.press("3");
    await window.page.locator('[data-testid="timeline-chart"] rect >> nth=0').waitFor();
    assert.match(await window.id("figure-asked").textContent(), /^\d+$/);
    assert.match(await window.id("legend-grant").textContent(), /by grant \d+/);
    await window.id("timeline-span-168").click();
    await window.page.waitForFunction(() => /\d{3}/.test(document.querySelector('[data-testid="figure-asked"]')?.textContent ?? ""));
    await window.id("chain-verify").click();
    await window.page.locator('[data-testid="chain"][data-intact="true"]').waitFor();
    assert.match(await window.id("chain-key").textContent(), /key in a file.*2 anchors held/);
    await window.id("history-wide").click();
    await window.id("history-under").fill("~/app/tests");
    await window.id("history-under").press("Enter");
    await window.page.waitForFunction(() => [...document.querySelectorAll('[data-testid="history-row"]')].every((row) => row.textContent.includes("tests/")));
    await window.id("history-from").fill("soon");
    await window.id("history-from").press("Enter");
    assert.equal(await window.id("history-from").getAttribute("aria-invalid"), "true");
    await window.close();
  },

  "a chain that is broken is said with its row": async (open) => {
    const window = await open("hostile");
    await window.page.keyboard.press("3");
    await window.id("chain-verify").click();
    await window.page.locator('[data-testid="chain"][data-intact="false"]').waitFor();
    assert.match(await window.id("chain").textContent(), /broken at row 1,204/);
    await window.close();
  },

  "a walk of a long chain says how far it is, and is stopped": async (open) => {
    const window = await open("many");
    await window.page.keyboard.press("3");
    await window.id("chain-verify").click();
    await window.id("chain-walked").waitFor();
    assert.match(await window.id("chain-walked").textContent(), /^[\d,]+ of [\d,]+ rows$/);
    assert.equal(await window.id("chain-verify").textContent(), "Stop");
    await window.id("chain-verify").click();
    await window.page.getByText(/^Stopped after [\d,]+ rows/).waitFor();
    assert.equal(await window.id("chain").getAttribute("data-intact"), "false");
    assert.equal(await window.page.getByText("Chain intact").count(), 0);
    await window.id("chain-verify").click();
    await window.id("chain-walked").waitFor();
    await window.page.keyboard.press("1");
    await window.page.keyboard.press("3");
    assert.equal(await window.id("chain-verify").textContent(), "Check the chain");
    await window.close();
  },

  "a grant shows its calls, and several end earlier or at once": async (open) => {
    const window = await open();
    await window.page.keyboard.press("2");
    await window.id("grant-open").first().click();
    await window.id("grant-history").click();
    await window.id("history-about").waitFor();
    await window.page.waitForFunction(() => {
      const rows = [...document.querySelectorAll('[data-testid="history-row"]')];
      return rows.length > 0 && rows.every((row) => row.dataset.decision === "allowed_by_grant");
    });
    await window.page.keyboard.press("2");
    await window.id("shorten").first().click();
    await armed(window, "shorten-confirm").click();
    await window.page.waitForFunction(() => /^\s*[45]:\d\d/.test(document.querySelector('[data-grant="g1"] .left')?.textContent ?? ""));
    for (const at of [0, 1]) await window.id("grant-mark").nth(at).click();
    assert.match(await window.id("grants-selected").textContent(), /^2 selected/);
    await window.id("revoke-selected").click();
    await armed(window, "revoke-confirm").click();
    await window.page.waitForFunction(() => document.querySelectorAll('[data-testid="grant"][data-state="revoked"]').length === 3);
    assert.match(await window.id("grant-ended").first().textContent(), /revoked by you/);
    await window.close();
  },

  "a session shows its calls in order, and is stopped after asking": async (open) => {
    const window = await open();
    await window.page.keyboard.press("4");
    await window.id("session-open").first().click();
    await window.id("session-call").first().waitFor();
    const times = await window.page.locator('[data-testid="session-call"] time').allTextContents();
    assert.ok(times.length > 5);
    await window.id("session-stop").click();
    assert.match(await window.id("sheet-stop").textContent(), /3 calls of it wait/);
    await armed(window, "stop-confirm").click();
    await window.page.waitForFunction(() => document.querySelectorAll('[data-testid="session"]').length === 3);
    await window.page.keyboard.press("1");
    await window.page.waitForFunction(() => document.querySelector('[data-testid="queue-count"]')?.textContent === "7");
    await window.close();
  },
};
