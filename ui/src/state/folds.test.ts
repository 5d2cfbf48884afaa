import { expect, test } from "vitest";

import type { Card, Content } from "../backend/types";
import { CHUNK, Folds } from "./folds.svelte";

const card = (content: Content[], commands = 0): Card => ({
  headline: "", shown: [], subjects: [], commands: Array.from({ length: commands }, () => ({ operator: "", words: [], effect: "read", effects: [] })), content, says: [], undo: "yes", reach: "this_file", grave: false,
});
const lines = (count: number): Content => ({ kind: "text", title: [], language: "text", lines: Array.from({ length: count }, () => []) });
const diff = (marks: string): Content => ({ kind: "diff", title: [], added: 0, removed: 0, lines: [...marks].map((mark) => ({ change: mark === "." ? "same" : "added", spans: [] })) });

test("short text is shown whole", () => {
  const folds = new Folds(card([lines(60)]));
  expect(folds.segments(1)).toEqual([{ kind: "lines", from: 0, to: 60 }]);
  expect(folds.unseen).toBe(0);
});

test("long text folds in its middle, and approving waits for exactly that", () => {
  const folds = new Folds(card([lines(100)]));
  expect(folds.segments(1)).toEqual([
    { kind: "lines", from: 0, to: 40 },
    { kind: "fold", from: 40, to: 90, must: true },
    { kind: "lines", from: 90, to: 100 },
  ]);
  expect(folds.unseen).toBe(50);
  expect(folds.openNext()).toEqual({ block: 1, from: 40 });
  expect(folds.unseen).toBe(0);
  expect(folds.openNext()).toBeUndefined();
});

test("very long text unfolds a chunk at a time until nothing is left", () => {
  const folds = new Folds(card([lines(CHUNK + 550)]));
  expect(folds.unseen).toBe(CHUNK + 500);
  folds.openNext();
  expect(folds.unseen).toBe(500);
  expect(folds.segments(1)).toHaveLength(4);
  folds.openNext();
  expect(folds.unseen).toBe(0);
});

test("unchanged lines fold down to their context and nobody waits for them", () => {
  const folds = new Folds(card([diff(`${".".repeat(20)}+${".".repeat(5)}+${".".repeat(20)}`)]));
  expect(folds.segments(1).filter((one) => one.kind === "fold")).toEqual([
    { kind: "fold", from: 0, to: 17, must: false },
    { kind: "fold", from: 30, to: 47, must: false },
  ]);
  expect(folds.unseen).toBe(0);
  folds.open(1, 0);
  expect(folds.segments(1).filter((one) => one.kind === "fold")).toHaveLength(1);
});

test("a long run of changed lines has to be unfolded too, and so has a long list of commands", () => {
  const folds = new Folds(card([diff("+".repeat(100))], 70));
  expect(folds.unseen).toBe(50 + 20);
  folds.openNext();
  folds.openNext();
  expect(folds.unseen).toBe(0);
});

test("every line is in exactly one segment", () => {
  for (const content of [lines(0), lines(1), lines(61), diff("...+...."), diff("+..........................+"), diff("."), diff(`${"+".repeat(70)}${".".repeat(70)}`)]) {
    const folds = new Folds(card([content]));
    const count = content.kind === "binary" ? 0 : content.lines.length;
    let next = 0;
    for (const segment of folds.segments(1)) {
      expect(segment.from).toBe(next);
      next = segment.to;
    }
    expect(next).toBe(count);
  }
});
