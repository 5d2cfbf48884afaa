import type { RunEnding, RunMessage, RunTally, RunUsage, Told, Watched } from "../backend/agent";

/** One thing in a run as it is drawn, in the order in which it began. `depth`: 0 for the run itself, 1 for its sub-agents. */
export type RunLine = { depth: number; key: number } & (
  | { kind: "turn"; turn: number }
  | { kind: "task"; text: string }
  | { kind: "text"; text: string }
  | { kind: "note"; note: "taken_up"; turn: number }
  | { kind: "note"; note: "retried"; message: string; after_ms: number }
  | { kind: "note"; note: "hook_failed"; hook: string; message: string }
  | { kind: "call"; call_id: string; tool: string; input: string; state: CallState; approval?: string; result?: string }
);

export type CallState = "running" | "waiting" | "allowed" | "denied" | "answered" | "failed" | "before";

/** A run, as far as it has told. */
export interface RunView {
  lines: readonly RunLine[];
  usage: RunUsage | undefined;
  ended: { ending: RunEnding; tally: RunTally } | undefined;
  /** The number of the last thing that it told. */
  last: number;
}

export const nothingYet: RunView = { lines: [], usage: undefined, ended: undefined, last: 0 };

/** At most so many lines are kept: the window shows the newest. */
export const MOST_LINES = 2_000;

/** The run after what it told next. What was told already changes nothing. */
export function after(view: RunView, told: readonly Told[]): RunView {
  const lines = [...view.lines];
  let { usage, ended, last } = view;
  for (const one of told) {
    if (one.number <= last) continue;
    last = one.number;
    take(lines, one, 0, one.number);
    if (one.event === "usage") usage = one.usage;
    if (one.event === "ended") ended = { ending: one.ending, tally: one.tally };
  }
  return { lines: lines.length > MOST_LINES ? lines.slice(-MOST_LINES) : lines, usage, ended, last };
}

function take(lines: RunLine[], told: Watched, depth: number, key: number): void {
  switch (told.event) {
    case "within":
      take(lines, told.told, told.depth, key);
      break;
    case "turn_started":
      if (depth === 0) lines.push({ kind: "turn", turn: told.turn, depth, key });
      break;
    case "text":
      say(lines, told.text, depth, key);
      break;
    case "taken_up":
      for (const message of told.messages) before(lines, message, depth, key);
      lines.push({ kind: "note", note: "taken_up", turn: told.turn, depth, key });
      break;
    case "provider_retried":
      // The pieces of this turn that came are void: the answer begins anew.
      if (lines.at(-1)?.kind === "text" && lines.at(-1)?.depth === depth) lines.pop();
      lines.push({ kind: "note", note: "retried", message: told.message, after_ms: told.after_ms, depth, key });
      break;
    case "hook_failed":
      lines.push({ kind: "note", note: "hook_failed", hook: told.hook, message: told.message, depth, key });
      break;
    case "tool_started":
      lines.push({ kind: "call", call_id: told.call_id, tool: told.tool, input: told.input, state: "running", depth, key });
      break;
    case "tool_waits":
      change(lines, told.call_id, depth, { state: "waiting", approval: told.approval });
      break;
    case "tool_ended":
      change(lines, told.call_id, depth, { state: told.decision, result: told.text });
      break;
    case "session_started":
    case "usage":
    case "ended":
      break;
  }
}

function say(lines: RunLine[], text: string, depth: number, key: number): void {
  const last = lines.at(-1);
  if (last?.kind === "text" && last.depth === depth) lines[lines.length - 1] = { ...last, text: last.text + text };
  else if (text.trim() !== "") lines.push({ kind: "text", text, depth, key });
}

/** The call of this id that began last: an id is a run's own. */
function change(lines: RunLine[], call_id: string, depth: number, to: { state: CallState; approval?: string; result?: string }): void {
  const at = lines.findLastIndex((line) => line.kind === "call" && line.call_id === call_id && line.depth === depth);
  const line = lines[at];
  if (line?.kind === "call") lines[at] = { ...line, ...to };
}

function before(lines: RunLine[], message: RunMessage, depth: number, key: number): void {
  if (message.role === "user") lines.push({ kind: "task", text: message.text, depth, key });
  else if (message.role === "assistant") {
    say(lines, message.text, depth, key);
    for (const call of message.calls) lines.push({ kind: "call", call_id: call.id, tool: call.tool, input: call.arguments, state: "running", depth, key });
  } else for (const result of message.results) change(lines, result.call_id, depth, { state: "before", result: result.text });
}
