import type { HistoryFilter } from "../backend/types";
import type { Place } from "../keys/keymap";
import type { Grouping } from "./queue.svelte";

/** What the window remembers of itself between openings: where it was, nothing of what it showed. */
export interface Remembered {
  place: Place;
  filter: string;
  grouping: Grouping;
  current: string | undefined;
  theme: "system" | "light" | "dark";
  textSize: number;
  /** What the person narrowed the history to, but not to one grant or session: those are gone before long. */
  history: HistoryFilter;
}

const KEY = "placet.window";
const places: readonly Place[] = ["inbox", "grants", "history", "agents", "policy", "settings"];
const fresh: Remembered = { place: "inbox", filter: "", grouping: "session", current: undefined, theme: "system", textSize: 100, history: {} };

/** A memory that cannot be read is no memory. */
export function recall(): Remembered {
  let stored: Record<string, unknown> = {};
  try {
    const parsed: unknown = JSON.parse(localStorage.getItem(KEY) ?? "{}");
    if (typeof parsed === "object" && parsed !== null) stored = parsed as Record<string, unknown>;
  } catch {
    return fresh;
  }
  const { place, filter, grouping, current, theme, textSize, history } = stored;
  return {
    place: places.find((one) => one === place) ?? fresh.place,
    filter: typeof filter === "string" ? filter : fresh.filter,
    grouping: grouping === "time" ? "time" : fresh.grouping,
    current: typeof current === "string" ? current : undefined,
    theme: theme === "light" || theme === "dark" ? theme : "system",
    textSize: typeof textSize === "number" && textSize >= 50 && textSize <= 300 ? textSize : fresh.textSize,
    history: filterOf(history),
  };
}

const words = ["text", "agent", "tool", "decision", "under", "host"] as const;
const moments = ["from_ms", "to_ms"] as const;

/** The part of a filter that is kept; what is not of its kind is left out. */
export function filterOf(stored: unknown): HistoryFilter {
  const from = (typeof stored === "object" && stored !== null ? stored : {}) as Record<string, unknown>;
  const kept = [...words.filter((name) => typeof from[name] === "string" && from[name] !== ""), ...moments.filter((name) => Number.isSafeInteger(from[name]))];
  return Object.fromEntries(kept.map((name) => [name, from[name]]));
}

export function remember(what: Remembered): void {
  try {
    localStorage.setItem(KEY, JSON.stringify(what));
  } catch {
    // A full or forbidden storage costs only the memory.
  }
}
