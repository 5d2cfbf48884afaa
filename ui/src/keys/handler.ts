import type { Decision } from "../state/arming.svelte";
import type { Desk } from "../state/desk.svelte";
import { commandFor, type Command, type Place } from "./keymap";

const decisions: Partial<Record<Command, Decision>> = { approve: "approve", approveFor: "approveFor", deny: "deny", denyAndTell: "denyAndTell" };

const isTyping = (target: EventTarget | null): boolean => target instanceof HTMLElement && (target.isContentEditable || target.matches("input, textarea, select"));

/** Keys of the whole window. A sheet has its own keys; here only Escape and the keys' own meaning reach it. */
export function keyDown(desk: Desk, event: KeyboardEvent): void {
  desk.queue.keyPressed();
  const binding = commandFor(event, desk.place, isTyping(event.target));
  if (binding === undefined) return;
  if (desk.sheet !== undefined && binding.command !== "escape") return;
  event.preventDefault();
  const decision = decisions[binding.command];
  if (decision !== undefined) {
    if (desk.blocked(decision) === undefined) desk.judged.arming.press(decision, `key ${event.key}`, () => desk.decide(decision));
    return;
  }
  run(desk, binding.command, event);
}

export function keyUp(desk: Desk, event: KeyboardEvent): void {
  const binding = commandFor({ key: event.key, ctrlKey: false, altKey: false, metaKey: false, repeat: false, isTrusted: event.isTrusted }, desk.place, false);
  const decision = binding && decisions[binding.command];
  if (decision !== undefined && desk.judged.arming.release(decision, `key ${event.key}`) && desk.sheet === undefined) desk.decide(decision);
}

function run(desk: Desk, command: Command, event: KeyboardEvent): void {
  switch (command) {
    case "next":
      return desk.move(1);
    case "previous":
      return desk.move(-1);
    case "first":
      return desk.moveToEnd(false);
    case "last":
      return desk.moveToEnd(true);
    case "select":
      if (desk.judged.id !== undefined && desk.judged.settled === undefined) desk.selection.toggleAll(desk.queue.standsFor(desk.judged.id));
      return;
    case "selectRange":
      if (desk.judged.id !== undefined) desk.selection.rangeTo(desk.judged.id, desk.queue.pendingRows().map((item) => item.id));
      return;
    case "cancelSelected":
      if (desk.selection.ids.size > 0) desk.openSheet("cancel");
      return;
    case "unfold": {
      const opened = desk.judged.folds?.openNext();
      if (opened !== undefined) document.getElementById(`fold-end-${opened.block}`)?.scrollIntoView({ block: "nearest" });
      return;
    }
    case "alike":
      return desk.unfoldAlike();
    case "justDone":
      return desk.openSheet("done");
    case "help":
      return desk.openSheet("keys");
    case "filter":
      if (desk.place === "inbox") desk.queueOpen = true;
      requestAnimationFrame(() => document.querySelector<HTMLInputElement>("[data-filter]")?.select());
      return;
    case "escape":
      return escape(desk, event.target);
    case "edit":
      return desk.edit();
    case "inbox":
    case "grants":
    case "history":
    case "agents":
    case "policy":
    case "settings":
      return desk.go(command satisfies Place);
    case "approve":
    case "approveFor":
    case "deny":
    case "denyAndTell":
      return;
  }
}

/** One step back: a sheet, the field, the open row, the marks, a note. */
function escape(desk: Desk, target: EventTarget | null): void {
  if (desk.sheet !== undefined) return desk.closeSheet();
  if (isTyping(target) && target instanceof HTMLElement) return target.blur();
  if (desk.queueOpen) desk.queueOpen = false;
  else if (desk.place === "history" && desk.open !== undefined) desk.open = undefined;
  else if (desk.selection.ids.size > 0) desk.selection.clear();
  else if (desk.judged.note !== undefined) desk.judged.note = undefined;
}
