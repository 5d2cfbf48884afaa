import { expect, test } from "vitest";

import { text } from "../text/en";
import { commandFor, keymap, keyOf, type KeyPress } from "./keymap";

const press = (key: string, more: Partial<KeyPress> = {}): KeyPress => ({ key, ctrlKey: false, altKey: false, metaKey: false, repeat: false, isTrusted: true, ...more });

test("no key means two things in one place", () => {
  for (const place of ["inbox", "grants", "history", "agents", "policy", "settings"] as const) {
    const keys = keymap.filter((one) => one.places === undefined || one.places.includes(place)).flatMap((one) => one.keys);
    expect(new Set(keys).size).toBe(keys.length);
  }
});

test("every command is named in the help and has a keycap", () => {
  for (const { command } of keymap) {
    expect(text.keys.commands[command], command).toBeTruthy();
    expect(keyOf(command)).not.toBe("");
  }
});

test("a decision takes a real, single press in the inbox only", () => {
  expect(commandFor(press("a"), "inbox", false)?.command).toBe("approve");
  expect(commandFor(press("a", { isTrusted: false }), "inbox", false)).toBeUndefined();
  expect(commandFor(press("a", { repeat: true }), "inbox", false)).toBeUndefined();
  expect(commandFor(press("a"), "history", false)).toBeUndefined();
  expect(commandFor(press("d", { repeat: true }), "inbox", false)).toBeUndefined();
});

test("letters with a modifier are the system's, and while typing they are text", () => {
  expect(commandFor(press("a", { ctrlKey: true }), "inbox", false)).toBeUndefined();
  expect(commandFor(press("d", { metaKey: true }), "inbox", false)).toBeUndefined();
  expect(commandFor(press("a"), "inbox", true)).toBeUndefined();
  expect(commandFor(press("Escape"), "inbox", true)?.command).toBe("escape");
});

test("a held key goes on moving, and nothing else", () => {
  expect(commandFor(press("j", { repeat: true }), "inbox", false)?.command).toBe("next");
  expect(keymap.filter((one) => one.repeats === true).map((one) => one.command)).toEqual(["next", "previous"]);
});

test("Shift tells marking one from marking up to here", () => {
  expect(commandFor(press("x"), "inbox", false)?.command).toBe("select");
  expect(commandFor(press("X"), "inbox", false)?.command).toBe("selectRange");
  expect(keyOf("selectRange")).toBe("Shift x");
});
