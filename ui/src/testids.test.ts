import { expect, test } from "vitest";

import listed from "../../docs/testing.md?raw";

const sources = import.meta.glob<string>("./**/*.svelte", { query: "?raw", import: "default", eager: true });

test("every test id of the window is listed, and none that is not there", () => {
  const used = new Set<string>();
  for (const source of Object.values(sources)) {
    for (const [, plain, built, chosen] of source.matchAll(/(?:data-)?testid=(?:"([^"{]+)"|"([^"]*\{[^"]*)"|\{([^}]*"[^}]*)\})/g)) {
      if (plain !== undefined) used.add(plain);
      if (built !== undefined) used.add(built);
      for (const [, one] of (chosen ?? "").matchAll(/"([a-z-]+)"/g)) if (one !== undefined) used.add(one);
    }
  }
  const names = [...used].filter((name) => !name.includes("{"));
  const ids = new Set([...listed.matchAll(/`([a-z]+(?:-[a-z]+)*(?:-\*)?)`/g)].map(([, name]) => name));
  expect(names.filter((name) => !ids.has(name))).toEqual([]);

  // Built from a kind, in JudgedNotes.svelte.
  const made = ["note-stale", "note-refreshed"];
  const tables = listed.slice(listed.indexOf("### Frame"));
  const inTables = [...tables.matchAll(/^\| (`[^|]+) \|/gm)].flatMap(([, cell]) => [...(cell ?? "").matchAll(/`([a-z]+(?:-[a-z]+)*(?:-\*)?)`/g)].map(([, name]) => name ?? ""));
  expect(inTables.filter((name) => !used.has(name) && !name.endsWith("-*") && !made.includes(name))).toEqual([]);
});
