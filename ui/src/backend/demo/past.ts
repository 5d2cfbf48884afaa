import type { Card, ChainedFact, Grant, HistoryCall, HistoryItem, SessionItem } from "../types";
import { APP, HOME, fakeDigest, t } from "./make";

const MINUTE = 60_000;

type Row = [HistoryItem["action"], string, string, Partial<HistoryItem>];

const rows: Row[] = [
  ["write", `${APP}/src/routes/orders.ts`, "allowed_by_grant", { grant: "g1", by: "grant" }],
  ["write", `${APP}/src/db/pool.ts`, "allowed_by_grant", { grant: "g1", by: "grant" }],
  ["delete", `${APP}/src/legacy/cart.ts`, "denied", { by: "user", note: "keep until 1.5", waited_ms: 21_000 }],
  ["read", `${APP}/src/main.rs`, "allowed_by_rule", { rule: "read in the workspace", by: "policy" }],
  ["write", `${APP}/src/routes/orders.ts`, "consumed", { by: "user", waited_ms: 29_000, outcome: "done", duration_ms: 450 }],
  ["execute", "sed -i 's/all/page/' src/db/page.ts", "expired", { waited_ms: 300_000 }],
  ["write", `${APP}/src/auth/session.ts`, "consumed", { by: "user", waited_ms: 48_000 }],
  ["write", `${APP}/tests/orders.test.ts`, "denied_by_rule", { by: "policy", rule: "tests are the yardstick", flags: ["dotdot"] }],
  ["write", `${APP}/config/live/server.toml`, "consumed", { by: "user", waited_ms: 12_000 }],
  ["execute", "npm run lint", "consumed", { by: "user", waited_ms: 4_000 }],
  ["fetch", "https://docs.example.com/pool/limits.html", "allowed_by_rule", { rule: "packages", by: "policy" }],
  ["send", "tracker · create_comment", "cancelled", { by: "withdrawn", waited_ms: 9_000 }],
];

const tools: Partial<Record<HistoryItem["action"], string>> = { execute: "Bash", read: "Read", fetch: "WebFetch", send: "mcp__tracker__create_comment", delete: "Bash" };

const running = ["0193a0af-1111-7000-8000-000000004f2a", "0193a0af-2222-7000-8000-0000000091c7", "0193a0af-3333-7000-8000-00000000c03e", "0193a0af-4444-7000-8000-000000007b1d"];
const agents = ["claude-code", "codex", "gemini-cli", "builtin"];

/** The n-th call back from now. */
export function historyItem(seq: number, newest: number, now: number): HistoryItem {
  const back = newest - seq;
  const [action, subject, decision, more] = rows[back % rows.length] as Row;
  return {
    seq, at_ms: now - (back + 1) * 2.6 * MINUTE, agent: agents[back % agents.length] ?? "codex", session: running[back % running.length] ?? "", workspace: APP, tool: tools[action] ?? "Edit", action, decision,
    flags: [], subject: [t(subject)], digest: fakeDigest(`h${seq}`), action_digest: fakeDigest(`a${seq}`), number: 200 - (back % 190), ...more,
  };
}

export function historyCall(call: HistoryItem, card: Card | undefined): HistoryCall {
  const waited = call.waited_ms ?? 0;
  const ends: Record<string, string> = { denied: "approval_denied", expired: "approval_expired", cancelled: "approval_cancelled" };
  const kinds: [string, Partial<ChainedFact>, number][] =
    call.waited_ms === undefined
      ? [[call.decision.startsWith("denied") ? "call_denied" : "call_allowed", { ...(call.rule !== undefined && { rules: [call.rule] }) }, 0]]
      : [["approval_asked", { reason: "No rule matches, and the policy's default is to ask." }, 0], [ends[call.decision] ?? "approval_approved", { ...(call.by !== undefined && { by: { who: call.by } }), ...(call.note !== undefined && { note: call.note }) }, waited]];
  if (call.decision === "consumed") kinds.push(["approval_consumed", {}, waited + 5], ["call_ran", { outcome: "done" }, waited + 450]);
  const facts = kinds.map(([kind, more, after], index) => ({ seq: call.seq + index, at_ms: call.at_ms - waited + after, kind, hash: fakeDigest(`${call.seq}/${index}`), ...more }));
  return { call, facts, ...(card !== undefined && { card }) };
}

export function demoSessions(now: number, waiting: ReadonlyMap<string, number>): SessionItem[] {
  const running: [string, string, string, number, number][] = [
    ["0193a0af-1111-7000-8000-000000004f2a", "claude-code", APP, 52, 33],
    ["0193a0af-2222-7000-8000-0000000091c7", "codex", APP, 30, 14],
    ["0193a0af-3333-7000-8000-00000000c03e", "gemini-cli", `${APP}/web`, 39, 9],
    ["0193a0af-4444-7000-8000-000000007b1d", "builtin", APP, 4, 6],
  ];
  return [
    ...running.map(([id, agent, workspace, minutes, calls]) => ({ id, agent, workspace, started_at_ms: now - minutes * MINUTE, calls, waiting: waiting.get(id) ?? 0 })),
    { id: "0193a0a0-5555-7000-8000-00000000aa01", agent: "codex", workspace: `${HOME}/site`, started_at_ms: now - 300 * MINUTE, stopped_at_ms: now - 240 * MINUTE, calls: 88, waiting: 0 },
  ];
}

export function demoGrants(now: number): Grant[] {
  const grant = (id: string, sentence: string, minutes: number, extra: Partial<Grant>): Grant => ({
    id, sentence, effect: "allow", scope: { who: "agent_in_workspace", on: { exact: true }, expires_in_ms: 7_200_000 }, state: "active", from_approval: `0193a0b0-9000-7000-8000-0000000000${id}`, issued_at_ms: now - 17 * MINUTE, expires_at_ms: now + minutes * MINUTE, used: 0, ...extra,
  });
  return [
    grant("g1", "claude-code, in ~/app, may write any file under ~/app/src until 16:40, at most 20 times", 103, { used: 7, uses_left: 13, last_used_at_ms: now - MINUTE }),
    grant("g2", "gemini-cli, in ~/app/web, may fetch anything under https://docs.example.com/api/ until 15:30, at most 10 times", 33, { used: 3, uses_left: 7, last_used_at_ms: now - 12 * MINUTE }),
    grant("g3", "codex, in ~/app, may not run commands that begin with git push until tomorrow 09:00", 1_080, { effect: "deny", used: 4, last_used_at_ms: now - 22 * MINUTE }),
    grant("g4", "claude-code, session 4f2a, may run exactly npm run lint until 14:40, at most 5 times", -17, { state: "exhausted", used: 5, uses_left: 0, last_used_at_ms: now - 76 * MINUTE }),
    grant("g5", "codex, in ~/app, may write any file under ~/app/migrations until 18:00", 180, { state: "revoked", revoked: { at_ms: now - 160 * MINUTE, by: "user", note: null }, used: 2, last_used_at_ms: now - 168 * MINUTE }),
  ];
}

export const policyText = (decide: string): string => `default = "ask"
timeout = "30m"

[[rule]]
name = "read in the workspace"
decide = "allow"
action = ["read", "list", "search"]
path = ["\${workspace}/**"]
except_path = ["**/.env*", "**/*secret*"]

[[rule]]
name = "tests are the yardstick"
decide = "deny"
action = ["write", "delete"]
path = ["\${workspace}/tests/**"]
reason = "Tests are protected: change the code, not the tests."

[[rule]]
name = "live configuration is looked at first"
decide = "${decide}"
path = ["\${workspace}/config/live/**"]

[[rule]]
name = "anything sent is looked at" # whoever asks
decide = "ask"
action = ["send"]
`;
