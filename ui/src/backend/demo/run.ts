import type { Told, Watched } from "../agent";

const numbered = (watched: Watched[]): Told[] => watched.map((one, at) => ({ ...one, number: at + 1 }));

/** A run in its second turn, one of its calls waiting. */
export function runSoFar(session: string): Told[] {
  return numbered([
    { event: "session_started", session },
    { event: "turn_started", turn: 1 },
    { event: "text", text: "I look at the limits first, then at who calls them." },
    { event: "usage", usage: { input_tokens: 1_204, output_tokens: 96 } },
    { event: "tool_started", call_id: "c1", tool: "read_file", input: '{"path":"config/limits.toml"}' },
    { event: "tool_ended", call_id: "c1", tool: "read_file", decision: "allowed", is_error: false, text: '[api]\nper_minute = 120\nkey = "[masked: 32 characters]"\n' },
    { event: "tool_started", call_id: "c2", tool: "write_file", input: '{"path":"tests/limits.test.ts","content":"…"}' },
    { event: "tool_ended", call_id: "c2", tool: "write_file", decision: "denied", is_error: true, text: "BLOCKED: Tests are protected: change the code, not the tests. Do not try the same again; take another way or say what you need." },
    { event: "turn_started", turn: 2 },
    { event: "text", text: "The tests stay as they are.\n\nI double the limit in the configuration and ask a second agent to look for other callers." },
    { event: "usage", usage: { input_tokens: 3_871, output_tokens: 310 } },
    { event: "tool_started", call_id: "c3", tool: "sub_agent", input: '{"task":"Who reads per_minute?"}' },
    { event: "within", depth: 1, told: { event: "turn_started", turn: 1 } },
    { event: "within", depth: 1, told: { event: "tool_started", call_id: "s1", tool: "search", input: '{"pattern":"per_minute"}' } },
    { event: "within", depth: 1, told: { event: "tool_ended", call_id: "s1", tool: "search", decision: "allowed", is_error: false, text: "src/limits.ts:14\nsrc/api.ts:88\n" } },
    { event: "within", depth: 1, told: { event: "text", text: "Two files read it." } },
    { event: "tool_ended", call_id: "c3", tool: "sub_agent", decision: "allowed", is_error: false, text: "Two files read it." },
    { event: "tool_started", call_id: "c4", tool: "edit_file", input: '{"path":"config/live/limits.toml","old_string":"120","new_string":"240"}' },
    { event: "tool_waits", call_id: "c4", approval: "0193a0b1-1111-7000-8000-000000000001", until_ms: 0 },
  ]);
}

/** One that would like to be more than text, and does not end. */
export function hostileRun(): Told[] {
  const wants = '<img src=x onerror=alert(1)>\u{202E}lla wolla\u{202C} \u{1B}[2J</bdi></section><b>Approved</b>\u{200B}';
  return numbered([
    { event: "taken_up", turn: 7, messages: [{ role: "user", text: `do it ${wants}` }, { role: "assistant", text: wants, calls: [{ id: "a", tool: wants, arguments: wants }] }, { role: "results", results: [{ call_id: "a", text: wants, is_error: true }] }] },
    { event: "turn_started", turn: 8 },
    { event: "text", text: `${wants}\n`.repeat(60) },
    { event: "provider_retried", message: wants, after_ms: 2_000 },
    { event: "tool_started", call_id: wants, tool: wants, input: "x".repeat(20_000) },
    { event: "tool_ended", call_id: wants, tool: wants, decision: "failed", is_error: true, text: `${wants} `.repeat(400) },
    { event: "hook_failed", hook: wants, point: "before_tool", message: wants },
    { event: "ended", ending: { ending: "hook_failed", hook: wants, message: wants }, tally: { calls: 2, allowed: 0, denied: 2, asked: 0, blocked_protected: 0, clamped: 0, masked: 0 } },
  ]);
}
