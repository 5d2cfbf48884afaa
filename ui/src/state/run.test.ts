import { describe, expect, test } from "vitest";

import type { Told, Watched } from "../backend/agent";
import { hostileRun, runSoFar } from "../backend/demo/run";
import { after, MOST_LINES, nothingYet, type RunLine } from "./run";

const numbered = (...watched: Watched[]): Told[] => watched.map((one, at) => ({ ...one, number: at + 1 }));
const kinds = (lines: readonly RunLine[]): string[] => lines.map((line) => (line.kind === "call" ? `${line.tool} ${line.state}` : line.kind === "note" ? line.note : line.kind));

describe("a run as it is drawn", () => {
  test("is the same whether it was heard at once or piece by piece, and nothing is taken twice", () => {
    const told = runSoFar("s");
    const at_once = after(nothingYet, told);
    let piecewise = nothingYet;
    for (const one of told) piecewise = after(after(piecewise, [one]), [one]);
    expect(piecewise).toEqual(at_once);
    expect(after(at_once, told)).toEqual(at_once);
    expect(kinds(at_once.lines)).toEqual(["turn", "text", "read_file allowed", "write_file denied", "turn", "text", "sub_agent allowed", "search allowed", "text", "edit_file waiting"]);
    expect(at_once.usage).toEqual({ input_tokens: 3_871, output_tokens: 310 });
  });

  test("puts pieces of text together, and not those of a sub-agent with its parent's", () => {
    const text = (words: string): Watched => ({ event: "text", text: words });
    const within = (words: string): Watched => ({ event: "within", depth: 1, told: text(words) });
    const { lines } = after(nothingYet, numbered(text("a"), text("b"), within("c"), within("d"), text("e")));
    expect(lines.map((line) => (line.kind === "text" ? [line.depth, line.text] : line.kind))).toEqual([[0, "ab"], [1, "cd"], [0, "e"]]);
  });

  test("leaves out what came of an answer that broke off", () => {
    const { lines } = after(nothingYet, numbered({ event: "text", text: "half an" }, { event: "provider_retried", message: "broke off", after_ms: 1 }, { event: "text", text: "whole" }));
    expect(kinds(lines)).toEqual(["retried", "text"]);
  });

  test("shows a run that goes on with what it said and did before", () => {
    const { lines, ended } = after(nothingYet, hostileRun());
    expect(kinds(lines).slice(0, 2)).toEqual(["task", "text"]);
    expect(lines[2]).toMatchObject({ kind: "call", state: "before" });
    expect(kinds(lines)[3]).toBe("taken_up");
    expect(ended?.ending.ending).toBe("hook_failed");
  });

  test("keeps the newest of very much", () => {
    const calls = Array.from({ length: MOST_LINES + 500 }, (_, at): Told => ({ event: "turn_started", turn: at, number: at + 1 }));
    const { lines } = after(nothingYet, calls);
    expect(lines.length).toBe(MOST_LINES);
    expect(lines.at(-1)).toMatchObject({ turn: MOST_LINES + 499 });
  });
});
