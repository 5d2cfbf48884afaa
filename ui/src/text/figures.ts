import type { HistoryStats } from "../backend/types";

/** Above the horizon stands what was let through, below it what was not. */
export const series = ["rule", "grant", "once", "denied", "expired"] as const;
export type Series = (typeof series)[number];

/** One stretch of the timeline. */
export interface Bucket {
  at_ms: number;
  calls: Record<Series, number>;
}

const kinds: Record<string, Series> = {
  allowed_by_rule: "rule", allowed_by_grant: "grant", approved: "once", consumed: "once", approved_edited: "once", denied: "denied", denied_by_rule: "denied", denied_by_grant: "denied", denied_by_default: "denied",
  denied_by_pause: "denied", refused: "denied", nobody_to_ask: "denied", repeated_denial: "denied", too_many_waiting: "denied", expired: "expired", cancelled: "expired", lapsed: "expired", void: "expired",
};

const none = (): Record<Series, number> => ({ rule: 0, grant: 0, once: 0, denied: 0, expired: 0 });

/** The timeline without gaps: one bucket for each stretch, also where nothing happened. What still waits is in none. */
export function buckets({ timeline }: HistoryStats, from_ms: number, to_ms: number, wide_ms: number): Bucket[] {
  const start = Math.floor(from_ms / wide_ms) * wide_ms;
  const all: Bucket[] = [];
  for (let at = start; at < to_ms; at += wide_ms) all.push({ at_ms: at, calls: none() });
  for (const { at_ms, decision, calls } of timeline) {
    const kind = kinds[decision];
    const bucket = all[Math.floor((at_ms - start) / wide_ms)];
    if (kind !== undefined && bucket !== undefined) bucket.calls[kind] += calls;
  }
  return all;
}

export function totals(all: readonly Bucket[]): Record<Series, number> {
  const sum = none();
  for (const bucket of all) for (const one of series) sum[one] += bucket.calls[one];
  return sum;
}

/** Of the calls that would have been asked, how many a grant answered, 0 to 100; none where there were none. */
export function byGrants(stats: HistoryStats, sum: Record<Series, number>): number | undefined {
  const would = stats.asked + sum.grant;
  return would === 0 ? undefined : Math.round((sum.grant / would) * 100);
}

/** A moment in the words that `typedMoment` reads. */
export function momentWords(atMs: number | undefined): string {
  if (atMs === undefined) return "";
  const at = new Date(atMs);
  const two = (number: number): string => String(number).padStart(2, "0");
  const day = `${String(at.getFullYear()).padStart(4, "0")}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  return at.getHours() + at.getMinutes() === 0 ? day : `${day} ${two(at.getHours())}:${two(at.getMinutes())}`;
}

/** A moment as a person types it: `2026-03-01`, `2026-03-01 14:30`, or `14:30` for today. Nothing typed is no bound. */
export function typedMoment(words: string, nowMs: number): number | undefined | "unreadable" {
  const typed = /^(?:(\d{4})-(\d\d?)-(\d\d?))?(?:[ T]*(\d\d?):(\d\d))?$/.exec(words.trim());
  if (words.trim() === "") return undefined;
  if (typed === null) return "unreadable";
  const [, year, month, day, hours, minutes] = typed.map((part) => (part === undefined ? undefined : Number(part)));
  const now = new Date(nowMs);
  const at = new Date(year ?? now.getFullYear(), month === undefined ? now.getMonth() : month - 1, day ?? now.getDate(), hours ?? 0, minutes ?? 0);
  const fits = (day === undefined || (at.getDate() === day && at.getMonth() + 1 === month)) && (hours ?? 0) < 24 && (minutes ?? 0) < 60;
  return fits ? at.getTime() : "unreadable";
}
