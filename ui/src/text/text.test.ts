import { expect, test } from "vitest";

import type { HistoryItem } from "../backend/types";
import { colour } from "./colour";
import { digestGroups, shortDigest } from "./digest";
import { defaultOf, rulesOf } from "./policy";
import { byteSize } from "./size";
import { apart, cutTail, escapeText, pathSpans, plain, spanLines, tildeSpans, visible } from "./spans";
import { wordOf } from "./word";
import { ago, countdown, duration, isSoon, moment, percentLeft } from "./time";

const hex = "0599b22abfb1eb4db9c1941c69ec62bd7bded65016d7c233b19b9535709505ab";

test("a digest stands in sixteen groups of four, and short as its two ends", () => {
  expect(digestGroups(`sha256:${hex}`)).toHaveLength(16);
  expect(digestGroups(`sha256:${hex}`).join("")).toBe(hex);
  expect(shortDigest(`sha256:${hex}`)).toBe("0599 b22a … 7095 05ab");
  expect(digestGroups("sha256:odd")).toEqual(["odd"]);
});

test.each([
  [222_000, "3:42"], [24_000, "0:24"], [23_001, "0:24"], [1, "0:01"], [0, "0:00"], [-5_000, "0:00"], [3_600_000, "1:00:00"], [3_785_000, "1:03:05"], [187_200_000, "2 d 4 h"],
])("%i ms left is said as %s", (ms, said) => expect(countdown(ms)).toBe(said));

test.each([[0, "just now"], [20_000, "20 s ago"], [180_000, "3 min ago"], [7_200_000, "2 h ago"], [500_000_000, "5 d ago"]])("%i ms ago is said as %s", (ms, said) => expect(ago(ms)).toBe(said));

test.each([[0, "0 ms"], [480, "480 ms"], [3_200, "3.2 s"], [28_800, "29 s"], [300_000, "5 min"], [7_200_000, "2 h"]])("%i ms long is said as %s", (ms, said) => expect(duration(ms)).toBe(said));

test("today is a time of day, another day has its date", () => {
  const noon = new Date(2026, 10, 30, 12, 5, 9).getTime();
  expect(moment(noon, noon)).toBe("12:05");
  expect(moment(noon, noon, true)).toBe("12:05:09");
  expect(moment(noon, noon + 86_400_000)).toBe("30 Nov 12:05");
  expect(moment(noon, noon + 366 * 86_400_000)).toBe("30 Nov 2026 12:05");
});

test("what is left is between nothing and all, and soon under a minute", () => {
  expect(percentLeft(0, 100, 25)).toBe(75);
  expect(percentLeft(0, 100, 500)).toBe(0);
  expect(percentLeft(0, 100, -500)).toBe(100);
  expect(percentLeft(5, 5, 5)).toBe(0);
  expect(isSoon(59_999)).toBe(true);
  expect(isSoon(60_000)).toBe(false);
});

test.each([
  [{ escape: "U+202E", label: "" }, "\\u{202E}"], [{ escape: "U+001B", label: "" }, "\\u{1B}"], [{ escape: "U+0000", label: "" }, "\\u{00}"], [{ escape: "U+E0073", label: "" }, "\\u{E0073}"],
  [{ escape: "0xFF", label: "" }, "\\xFF"], [{ escape: "U+000A", label: "", count: 31 }, "⏎×31"], [{ escape: "U+0020", label: "", count: 40 }, "␠×40"], [{ escape: "U+200B", label: "", count: 1 }, "\\u{200B}"],
])("%o is drawn as %s", (span, drawn) => expect(escapeText(span)).toBe(drawn));

test("the home folder is a tilde at the start of a real path, and nowhere else", () => {
  expect(plain(tildeSpans([{ text: "/home/ana/app/" }], "/home/ana"))).toBe("~/app/");
  expect(plain(tildeSpans([{ text: "/home/anabel/" }], "/home/ana"))).toBe("/home/anabel/");
  expect(plain(tildeSpans([{ text: "x/home/ana/" }], "/home/ana"))).toBe("x/home/ana/");
  expect(plain(tildeSpans([{ text: "/home/ana" }], ""))).toBe("/home/ana");
});

test("raw names show what would not show", () => {
  expect(visible("a\u202Eb")).toEqual([{ text: "a" }, { escape: "U+202E", label: "does not show" }, { text: "b" }]);
  for (const hidden of ["\u200b", "\u00ad", "\u061c", "\u2066", "\ufeff", "\u0007", "\u00a0", "\u3164", "\u{e0041}", "\ufe0f", "\ue000"]) expect("escape" in (visible(hidden)[0] ?? {}), hidden.codePointAt(0)?.toString(16)).toBe(true);
  expect(visible("naïve שלום 中文 -_.")).toEqual([{ text: "naïve שלום 中文 -_." }]);
  expect(plain(pathSpans({ bytes: "2f77ff" }, ""))).toBe("/w\\xFF");
});

test("cutting keeps the end and every character, and never cuts an escape", () => {
  const spans = [{ text: "abcdef" }, { escape: "U+202E", label: "" }, { text: "xyz" }];
  for (let keep = 0; keep <= 20; keep += 1) {
    const [head, tail] = cutTail(spans, keep);
    expect(plain(head) + plain(tail)).toBe(plain(spans));
    expect([...plain(tail)].length).toBeLessThanOrEqual(keep);
  }
  expect(plain(cutTail(spans, 3)[1])).toBe("xyz");
  expect(plain(cutTail(spans, 9)[1])).toBe("xyz");
});

test("words of an agent come apart at line feeds", () => {
  expect(spanLines([{ text: "a\nb" }, { escape: "U+001B", label: "" }, { text: "\n\nc" }]).map(plain)).toEqual(["a", "b\\u{1B}", "", "c"]);
});

test("colouring loses no character", () => {
  const samples = ['name = "x" # note', "const a = 'b'; // c", '{"k": 1.5e3, "v": "\\"q\\""}', "🙂 “odd” 'unclosed", "[pool]", "a#b // c", "x".repeat(3_000), ""];
  for (const language of ["toml", "ts", "json", "shell", "text", "md"]) for (const sample of samples) expect(colour(sample, language).map((token) => token.text).join("")).toBe(sample);
  expect(colour("max = 40", "toml").map((token) => token.ink)).toEqual(["k", "", "n"]);
  expect(colour("let a = 1; // b", "rs").at(-1)).toEqual({ ink: "cm", text: "// b" });
});

test.each([[0, "0 bytes"], [1, "1 byte"], [999, "999 bytes"], [1_000, "1.0 kB"], [48_213, "48.2 kB"], [999_960, "1.0 MB"], [1_300_000, "1.3 MB"]])("%i bytes are said as %s", (bytes, said) => expect(byteSize(bytes)).toBe(said));

test("a subject in one line comes apart without losing a character", () => {
  const cases: [string, [string, string, string]][] = [
    ["/home/ana/app/a.ts", ["/home/ana/app/", "a.ts", ""]],
    ["https://docs.example.com/pool?x=1", ["https://", "docs.example.com", "/pool?x=1"]],
    ["http://[::1]:80", ["http://", "[::1]:80", ""]],
    ["npm run lint", ["", "npm run lint", ""]],
    ["/usr/bin/env x", ["", "/usr/bin/env x", ""]],
    ["/", ["", "/", ""]],
    ["/etc/", ["", "/etc/", ""]],
  ];
  for (const [subject, [lead, main, rest]] of cases) {
    const parts = apart([{ text: subject }]);
    expect([plain(parts.lead), plain(parts.main), plain(parts.rest)]).toEqual([lead, main, rest]);
  }
  const split = apart([{ text: "https://exa" }, { escape: "U+200B", label: "" }, { text: "mple.com/x" }]);
  expect(plain(split.main)).toBe("exa\\u{200B}mple.com/x");
});

test("the rules of a policy's text are found by their lines, and no other table is taken for one", () => {
  const policy = 'default = "ask"\n\n[[context]]\nname = "no"\n[[rule]]\nname = "a \\"b\\""\ndecide = "deny"\n\n[[rule]] # two\nname = \'c\'\n[other]\ndecide = "allow"\n';
  expect(rulesOf(policy)).toEqual([
    { name: 'a "b"', decide: "deny", says: "", line: 5 },
    { name: "c", decide: "", says: "", line: 9 },
  ]);
});

test("on whose word is said in words of ours, the person's own beside them", () => {
  const call = { seq: 1, at_ms: 1, session: "", agent: "", workspace: "", tool: "", action: "write", subject: [], action_digest: "", flags: [] } as const;
  const word = (more: Partial<HistoryItem>): string => wordOf({ ...call, subject: [], flags: [], decision: "denied", ...more });
  expect(word({ by: "user", note: "keep it" })).toBe("you: “keep it”");
  expect(word({ decision: "expired" })).toBe("nobody");
  expect(word({ decision: "denied_by_rule", by: "policy", rule: "tests" })).toBe("tests");
  expect(word({ decision: "consumed", by: "user", rule: "writes are asked" })).toBe("you");
  expect(word({ decision: "allowed_by_grant" })).toBe("a grant");
});

test("a rule says what it is about, and the file what holds otherwise", () => {
  const policy = 'default = "deny" # strict\n[[rule]]\nname = "tests"\naction = ["write", "delete"]\npath = ["${workspace}/tests/**"]\n[[rule]]\nname = "long"\npath = [\n  "a",\n]\n';
  expect(rulesOf(policy).map((rule) => rule.says)).toEqual(["write, delete under tests/**", ""]);
  expect(defaultOf(policy)).toEqual({ decide: "deny", line: 1 });
  expect(defaultOf('[[rule]]\ndefault = "ask"')).toBeUndefined();
});
