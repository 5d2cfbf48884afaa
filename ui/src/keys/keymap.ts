// One table feeds the handler, the hints on buttons and the help.

export type Place = "inbox" | "grants" | "history" | "agents" | "policy" | "settings";

export type Command =
  | "approve" | "approveFor" | "edit" | "deny" | "denyAndTell" | "unfold"
  | "next" | "previous" | "first" | "last" | "select" | "selectRange" | "cancelSelected" | "alike" | "justDone" | "filter"
  | Place | "help" | "escape";

export interface Binding {
  command: Command;
  /** As in `KeyboardEvent.key`; the first is the one shown. */
  keys: readonly string[];
  shift?: boolean;
  group: "answer" | "queue" | "places" | "window";
  /** Where it works; everywhere if absent. */
  places?: readonly Place[];
  /** Takes a real, single press only: no synthetic event, no repeat. */
  decides?: boolean;
  /** A held key goes on. */
  repeats?: boolean;
}

const inInbox = ["inbox"] as const;

export const keymap: readonly Binding[] = [
  { command: "approve", keys: ["a"], group: "answer", places: inInbox, decides: true },
  { command: "approveFor", keys: ["g"], group: "answer", places: inInbox, decides: true },
  { command: "edit", keys: ["e"], group: "answer", places: inInbox, decides: true },
  { command: "deny", keys: ["d"], group: "answer", places: inInbox, decides: true },
  { command: "denyAndTell", keys: ["r"], group: "answer", places: inInbox, decides: true },
  { command: "unfold", keys: ["o"], group: "answer", places: inInbox },
  { command: "next", keys: ["j", "ArrowDown"], group: "queue", places: inInbox, repeats: true },
  { command: "previous", keys: ["k", "ArrowUp"], group: "queue", places: inInbox, repeats: true },
  { command: "first", keys: ["Home"], group: "queue", places: inInbox },
  { command: "last", keys: ["End"], group: "queue", places: inInbox },
  { command: "select", keys: ["x"], group: "queue", places: inInbox },
  { command: "selectRange", keys: ["X"], shift: true, group: "queue", places: inInbox },
  { command: "cancelSelected", keys: ["c"], group: "queue", places: inInbox, decides: true },
  { command: "alike", keys: ["f"], group: "queue", places: inInbox },
  { command: "justDone", keys: ["u"], group: "queue" },
  { command: "filter", keys: ["/"], group: "queue", places: ["inbox", "history", "grants"] },
  { command: "inbox", keys: ["1"], group: "places" },
  { command: "grants", keys: ["2"], group: "places" },
  { command: "history", keys: ["3"], group: "places" },
  { command: "agents", keys: ["4"], group: "places" },
  { command: "policy", keys: ["5"], group: "places" },
  { command: "settings", keys: [","], group: "places" },
  { command: "help", keys: ["?"], group: "window" },
  { command: "escape", keys: ["Escape"], group: "window" },
];

export interface KeyPress {
  key: string;
  ctrlKey: boolean;
  altKey: boolean;
  metaKey: boolean;
  repeat: boolean;
  isTrusted: boolean;
}

/** What a press means in a place. While the person types, only Escape has a meaning. */
export function commandFor(press: KeyPress, place: Place, typing: boolean): Binding | undefined {
  if (press.ctrlKey || press.altKey || press.metaKey) return undefined;
  if (typing && press.key !== "Escape") return undefined;
  const binding = keymap.find((one) => one.keys.includes(press.key) && (one.places === undefined || one.places.includes(place)));
  if (binding === undefined) return undefined;
  if (press.repeat && binding.repeats !== true) return undefined;
  if (binding.decides === true && !press.isTrusted) return undefined;
  return binding;
}

/** The keycap of a command. */
export function keyOf(command: Command): string {
  const binding = keymap.find((one) => one.command === command);
  const key = binding?.keys[0] ?? "";
  return { Escape: "Esc", X: "Shift x" }[key] ?? key;
}
