// How the window says times. All in milliseconds; Unix time where it is a moment.

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** `3:42`, `1:03:05`, `2 d 4 h`; what is past is `0:00`. Whole seconds, rounded up, so that it says 0:00 only when it is over. */
export function countdown(leftMs: number): string {
  if (leftMs >= DAY) return `${Math.floor(leftMs / DAY)} d ${Math.floor((leftMs % DAY) / HOUR)} h`;
  const total = Math.max(0, Math.ceil(leftMs / SECOND));
  const [hours, minutes, seconds] = [Math.floor(total / 3_600), Math.floor((total % 3_600) / 60), total % 60];
  const two = (n: number): string => String(n).padStart(2, "0");
  return hours > 0 ? `${hours}:${two(minutes)}:${two(seconds)}` : `${minutes}:${two(seconds)}`;
}

/** `just now`, `20 s ago`, `3 min ago`, `2 h ago`, `5 d ago`. */
export function ago(elapsedMs: number): string {
  if (elapsedMs < 5 * SECOND) return "just now";
  if (elapsedMs < MINUTE) return `${Math.floor(elapsedMs / SECOND)} s ago`;
  if (elapsedMs < HOUR) return `${Math.floor(elapsedMs / MINUTE)} min ago`;
  if (elapsedMs < DAY) return `${Math.floor(elapsedMs / HOUR)} h ago`;
  return `${Math.floor(elapsedMs / DAY)} d ago`;
}

/** How long something took: `0 ms`, `480 ms`, `3.2 s`, `29 s`, `5 min`, `2 h`. */
export function duration(ms: number): string {
  if (ms < SECOND) return `${Math.round(ms)} ms`;
  if (ms < 10 * SECOND) return `${(ms / SECOND).toFixed(1)} s`;
  if (ms < MINUTE) return `${Math.round(ms / SECOND)} s`;
  if (ms < HOUR) return `${Math.round(ms / MINUTE)} min`;
  if (ms < DAY) return `${Math.round(ms / HOUR)} h`;
  return `${Math.round(ms / DAY)} d`;
}

/** Local time of day, `14:40`, with seconds `14:40:09`. */
export function clockTime(atMs: number, withSeconds = false): string {
  const at = new Date(atMs);
  const parts = [at.getHours(), at.getMinutes(), ...(withSeconds ? [at.getSeconds()] : [])];
  return parts.map((n) => String(n).padStart(2, "0")).join(":");
}

// Made once: making one takes longer than drawing a row.
const thisYear = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short" });
const otherYear = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric" });

/** The time of day for today, with the date before it otherwise. */
export function moment(atMs: number, nowMs: number, withSeconds = false): string {
  const [at, now] = [new Date(atMs), new Date(nowMs)];
  const time = clockTime(atMs, withSeconds);
  if (at.toDateString() === now.toDateString()) return time;
  return `${(at.getFullYear() === now.getFullYear() ? thisYear : otherYear).format(at)} ${time}`;
}

/** How much of its time a call has left, 0 to 100. */
export function percentLeft(createdMs: number, expiresMs: number, nowMs: number): number {
  const whole = expiresMs - createdMs;
  return whole <= 0 ? 0 : Math.round(Math.min(1, Math.max(0, (expiresMs - nowMs) / whole)) * 100);
}

/** Under a minute: the colour of the time changes. */
export const isSoon = (leftMs: number): boolean => leftMs < MINUTE;
