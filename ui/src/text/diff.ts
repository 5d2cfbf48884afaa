import { diffLines } from "diff";

import type { Content, DiffLine } from "../backend/types";
import { visible } from "./spans";

/** The spans of a line: what would not show as escapes, tabs as they are. */
const spansOf = (line: string): DiffLine["spans"] => line.split("\t").flatMap((part, index) => [...(index === 0 ? [] : [{ text: "\t" }]), ...visible(part)]);

const linesOf = (text: string): string[] => {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
};

/** What changed from one text to another, by lines, as the card shows a change. */
export function diffOf(title: string, before: string, after: string): Extract<Content, { kind: "diff" }> {
  const lines: DiffLine[] = [];
  let [old, now] = [1, 1];
  for (const part of diffLines(before, after)) {
    for (const line of linesOf(part.value)) {
      const spans = spansOf(line);
      if (part.added) lines.push({ change: "added", new: now++, spans });
      else if (part.removed) lines.push({ change: "removed", old: old++, spans });
      else lines.push({ change: "same", old: old++, new: now++, spans });
    }
  }
  const count = (change: DiffLine["change"]): number => lines.filter((line) => line.change === change).length;
  return { kind: "diff", title: visible(title), added: count("added"), removed: count("removed"), lines };
}
