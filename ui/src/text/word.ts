import type { ChainedFact, HistoryItem } from "../backend/types";
import { text } from "./en";

/** On whose word a call was let through or not: who, and the words that came with it. */
export function wordOf({ decision, by, note, rule }: HistoryItem): string {
  if (decision === "expired") return text.word.nobody;
  const who = by === undefined || by === null ? undefined : (text.word.by[by] ?? by.replaceAll("_", " "));
  const name = rule !== undefined && rule !== null && /rule|policy/.test(`${decision} ${by ?? ""}`) ? rule : (who ?? text.word.decided[decision] ?? "");
  return note ? `${name}: “${note}”` : name;
}

/** What there is to say of one fact, beyond its name. */
export function factSentence(fact: ChainedFact): string {
  const who = typeof fact.by === "object" && fact.by !== null ? fact.by.who : fact.by;
  const by = typeof who === "string" ? (text.word.by[who] ?? who.replaceAll("_", " ")) : undefined;
  const rules = fact.rules?.length ? fact.rules.join(", ") : fact.rule;
  const grant = typeof fact.grant === "object" && fact.grant !== null ? fact.grant.sentence : undefined;
  const parts = [by, rules, fact.reason?.replaceAll("_", " "), fact.note && `“${fact.note}”`, fact.changed?.join(" "), fact.outcome, grant];
  return parts.filter((part) => part !== undefined && part !== null && part !== "").join(". ");
}
