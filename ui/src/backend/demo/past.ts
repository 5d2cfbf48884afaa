import type { Grant, HistoryCall, HistoryEvent, HistoryItem, PolicyState, SessionItem, Span } from "../types";
import { APP, HOME, fakeDigest, t } from "./make";

const MINUTE = 60_000;

type Row = [HistoryItem["action"], string, string, string, string | undefined, number | undefined];

const rows: Row[] = [
  ["write", `${APP}/src/routes/`, "orders.ts", "allowed_by_grant", "grant of 14:40", undefined],
  ["write", `${APP}/src/db/`, "pool.ts", "allowed_by_grant", "grant of 14:40", undefined],
  ["delete", `${APP}/src/legacy/`, "cart.ts", "denied", "you: “keep until 1.5”", 21_000],
  ["read", `${APP}/src/`, "main.rs", "allowed_by_rule", "read in the workspace", undefined],
  ["write", `${APP}/src/routes/`, "orders.ts", "approved", "you, with a grant", 29_000],
  ["execute", "sed -i ", "'s/all/page/' src/db/page.ts", "expired", "nobody, 5 min", 300_000],
  ["write", `${APP}/src/auth/`, "session.ts", "approved", "you", 48_000],
  ["write", `${APP}/tests/`, "orders.test.ts", "denied_by_rule", "tests are the yardstick", undefined],
  ["write", `${APP}/config/`, "live/server.toml", "approved", "you", 12_000],
  ["execute", "npm run ", "lint", "approved", "you", 4_000],
  ["fetch", "https://", "docs.example.com", "allowed_by_rule", "packages", undefined],
  ["send", "tracker · ", "create_comment", "cancelled", "withdrawn", 9_000],
];

const agents = ["claude-code", "codex", "gemini-cli", "builtin"];

/** The n-th call back from now. */
export function historyItem(seq: number, newest: number, now: number): HistoryItem {
  const back = newest - seq;
  const [action, lead, main, decision, word, waited] = rows[back % rows.length] as Row;
  return {
    seq, at_ms: now - (back + 1) * 2.6 * MINUTE, agent: agents[back % agents.length] ?? "codex", session: `0193a0af-0000-7000-8000-00000000${(0x4f2a + (back % 4)).toString(16)}`, workspace: APP, tool: "Edit", action, decision,
    ...(word !== undefined && { word }), flags: decision === "denied_by_rule" ? ["dotdot"] : [], lead: [t(lead)], main: [t(main)], rest: action === "fetch" ? [t("/pool/limits.html")] : [], ...(waited !== undefined && { waited_ms: waited }), number: 200 - (back % 190),
  };
}

export function historyCall(item: HistoryItem, card: HistoryCall["card"]): HistoryCall {
  const asked = item.waited_ms !== undefined;
  const kinds: [string, string, number][] = asked
    ? [["approval_asked", `${item.tool}, by the hook of ${item.agent}`, 0], [{ denied: "approval_denied", expired: "approval_expired", cancelled: "approval_cancelled" }[item.decision] ?? "approval_approved", item.word ?? "", item.waited_ms ?? 0]]
    : [[item.decision.startsWith("denied") ? "call_denied" : "call_allowed", item.word ?? "", 0]];
  if (item.decision === "approved") kinds.push(["approval_consumed", "Subject and digest as they were when you saw them.", (item.waited_ms ?? 0) + 5], ["call_ran", "done, 1 line of output", (item.waited_ms ?? 0) + 450]);
  const events: HistoryEvent[] = kinds.map(([kind, text, after], index) => ({ seq: item.seq + index, at_ms: item.at_ms - (item.waited_ms ?? 0) + after, kind, text, hash: fakeDigest(`${item.seq}/${index}`).slice(7) }));
  const output: Span[][] | undefined = item.decision === "approved" ? [[t("Applied 1 edit (71 lines)")]] : undefined;
  return { item, digest: fakeDigest(`h${item.seq}`), ...(card !== undefined && { card }), events, ...(output !== undefined && { output }) };
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
    { id: "0193a0a0-5555-7000-8000-00000000aa01", agent: "codex", workspace: `${HOME}/site`, started_at_ms: now - 300 * MINUTE, ended_at_ms: now - 240 * MINUTE, ended: "stopped", calls: 88, waiting: 0 },
  ];
}

export function demoGrants(now: number): Grant[] {
  const grant = (id: string, sentence: string, minutes: number, extra: Partial<Grant>): Grant => ({
    id, sentence, effect: "allow", scope: { who: "agent_in_workspace", on: { exact: true }, expires_in_ms: 7_200_000 }, state: "active", from_approval: "0193", issued_at_ms: now - 17 * MINUTE, expires_at_ms: now + minutes * MINUTE, used: 0, ...extra,
  });
  return [
    grant("g1", "claude-code, in ~/app, may write any file under ~/app/src until 16:40, at most 20 times", 103, { used: 7, uses_left: 13, last_used_at_ms: now - MINUTE }),
    grant("g2", "gemini-cli, in ~/app/web, may fetch anything under https://docs.example.com/api/ until 15:30, at most 10 times", 33, { used: 3, uses_left: 7, last_used_at_ms: now - 12 * MINUTE }),
    grant("g3", "codex, in ~/app, may not run commands that begin with git push until tomorrow 09:00", 1_080, { effect: "deny", used: 4, last_used_at_ms: now - 22 * MINUTE }),
    grant("g4", "claude-code, session 4f2a, may run exactly npm run lint until 14:40, at most 5 times", -17, { state: "exhausted", used: 5, uses_left: 0, last_used_at_ms: now - 76 * MINUTE }),
    grant("g5", "codex, in ~/app, may write any file under ~/app/migrations until 18:00", 180, { state: "revoked", used: 2, last_used_at_ms: now - 168 * MINUTE }),
  ];
}

const policyText = (decide: string): string => `default = "ask"
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

export function demoPolicy(now: number, broken: boolean): PolicyState {
  return {
    text: policyText(broken ? "aks" : "ask"), path: `${HOME}/.config/placet/policy.toml`, digest: fakeDigest("policy"), loaded_at_ms: now - 217 * MINUTE,
    rules: [
      { name: "tests are the yardstick", decide: "deny", line: 11, summary: "write, delete under tests" },
      { name: "live configuration is looked at first", decide: "ask", line: 18, summary: "anything under config/live" },
      { name: "anything sent is looked at", decide: "ask", line: 23, summary: "send" },
      { name: "read in the workspace", decide: "allow", line: 4, summary: "read, list, search; not .env*" },
    ],
    ...(broken && { error: { message: "“aks” is not one of allow, ask, deny. Did you mean “ask”?", line: 20, column: 10 } }),
  };
}
