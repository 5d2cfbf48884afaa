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

/** The lines of a unified diff, with the numbers that its hunks give them; the file's two names before them are left out. */
export function unifiedOf(diff: string): DiffLine[] {
  const lines: DiffLine[] = [];
  let [old, now] = [0, 0];
  for (const line of linesOf(diff)) {
    const hunk = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/.exec(line);
    const spans = spansOf(line.slice(1));
    if (hunk !== null) [old, now] = [Number(hunk[1]), Number(hunk[2])];
    // Before the first hunk stand the names; "\" says that a file ends without a new line.
    else if (old + now === 0 || line.startsWith("\\")) continue;
    else if (line.startsWith("+")) lines.push({ change: "added", new: now++, spans });
    else if (line.startsWith("-")) lines.push({ change: "removed", old: old++, spans });
    else lines.push({ change: "same", old: old++, new: now++, spans });
  }
  return lines;
}
