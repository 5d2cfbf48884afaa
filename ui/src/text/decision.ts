import type { IconName } from "../kit/icons";

export type Tone = "allowed" | "denied" | "expired" | "waiting" | "ruled";

interface Decision {
  label: string;
  tone: Tone;
  icon: IconName;
}

/** What became of a call, as the history says it: the wire's word, then how it reads. Every one has an icon and a word besides its colour. */
export const decisions: Record<string, Decision> = {
  approved: { label: "approved once", tone: "allowed", icon: "check" },
  consumed: { label: "approved once", tone: "allowed", icon: "check" },
  approved_edited: { label: "approved edited", tone: "allowed", icon: "write" },
  allowed_by_grant: { label: "by grant", tone: "allowed", icon: "grants" },
  allowed_by_rule: { label: "by rule", tone: "ruled", icon: "policy" },
  allowed: { label: "by rule", tone: "ruled", icon: "policy" },
  denied: { label: "denied", tone: "denied", icon: "x" },
  denied_by_rule: { label: "denied by rule", tone: "denied", icon: "policy" },
  denied_by_grant: { label: "denied by grant", tone: "denied", icon: "grants" },
  denied_by_default: { label: "denied by default", tone: "denied", icon: "policy" },
  denied_by_pause: { label: "denied, paused", tone: "denied", icon: "pause" },
  nobody_to_ask: { label: "nobody to ask", tone: "denied", icon: "x" },
  repeated_denial: { label: "denied again", tone: "denied", icon: "x" },
  too_many_waiting: { label: "too many waited", tone: "denied", icon: "x" },
  unasked: { label: "never asked", tone: "waiting", icon: "warn" },
  refused: { label: "refused", tone: "denied", icon: "x" },
  expired: { label: "expired", tone: "expired", icon: "clock" },
  cancelled: { label: "cancelled", tone: "expired", icon: "minus" },
  lapsed: { label: "lapsed", tone: "expired", icon: "clock" },
  void: { label: "void", tone: "expired", icon: "minus" },
  pending: { label: "waiting", tone: "waiting", icon: "asked" },
};

/** What the history can be filtered by. */
export const decisionFilters = ["approved", "allowed_by_grant", "allowed_by_rule", "denied", "denied_by_rule", "expired", "cancelled"] as const;

/** A word that this version does not know is shown as it came, with underscores as blanks. */
export const decisionOf = (word: string): Decision => decisions[word] ?? { label: word.replaceAll("_", " "), tone: "expired", icon: "dot" };
