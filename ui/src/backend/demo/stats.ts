import type { HistoryFilter, HistoryItem, HistoryStats } from "../types";
import { pathKey, plain } from "../../text/spans";

const HOUR = 3_600_000;

/** Whether a call is among those asked for. */
export function matches(item: HistoryItem, { text, agent, tool, decision, under, host, from_ms, to_ms, session, grant }: HistoryFilter): boolean {
  const words = `${plain(item.subject)} ${item.agent} ${item.rule ?? ""} ${item.note ?? ""} ${pathKey(item.workspace)}`.toLowerCase();
  const subject = plain(item.subject);
  return (
    (text === undefined || words.includes(text.toLowerCase())) && (agent === undefined || item.agent === agent) && (tool === undefined || item.tool === tool) &&
    (decision === undefined || item.decision === decision || (decision === "approved" && item.decision === "consumed")) &&
    (under === undefined || subject === under || subject.startsWith(`${under}/`)) && (host === undefined || subject.includes(`//${host}`)) &&
    (from_ms === undefined || item.at_ms >= from_ms) && (to_ms === undefined || item.at_ms < to_ms) && (session === undefined || item.session === session) && (grant === undefined || item.grant === grant)
  );
}

export function statsOf(items: readonly HistoryItem[], { from_ms, to_ms, by }: { from_ms: number; to_ms: number; by: "hour" | "day" }): HistoryStats {
  const wide = by === "hour" ? HOUR : 24 * HOUR;
  const timeline = new Map<string, { at_ms: number; decision: string; calls: number }>();
  const tally = (names: readonly string[]): { name: string; calls: number }[] => [...new Set(names)].map((name) => ({ name, calls: names.filter((one) => one === name).length }));
  const within = items.filter((item) => item.at_ms >= from_ms && item.at_ms < to_ms);
  for (const { at_ms, decision } of within) {
    const at = Math.floor(at_ms / wide) * wide;
    const entry = timeline.get(`${at} ${decision}`) ?? { at_ms: at, decision, calls: 0 };
    timeline.set(`${at} ${decision}`, { ...entry, calls: entry.calls + 1 });
  }
  const waited = within.flatMap((item) => (item.waited_ms === undefined ? [] : [item.waited_ms])).sort((a, b) => a - b);
  return {
    timeline: [...timeline.values()].sort((a, b) => a.at_ms - b.at_ms), agents: tally(within.map((item) => item.agent)), tools: tally(within.map((item) => item.tool)), calls: within.length, asked: waited.length,
    ...(waited.length > 0 && { median_wait_ms: waited[Math.floor(waited.length / 2)] ?? 0 }),
  };
}
