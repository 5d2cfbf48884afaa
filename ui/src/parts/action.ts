import type { Action } from "../backend/types";
import type { IconName } from "../kit/icons";

/** The ink of an action's verb and icon: six weights, looking and listing weigh as reading. */
export function tint(action: Action): string {
  const tints: Record<Action, string> = {
    none: "read", search: "read", list: "read", read: "read", fetch: "fetch", write: "write", delete: "delete", execute: "execute", send: "send", other: "execute",
  };
  return tints[action] ?? "execute";
}

export function actionIcon(action: Action): IconName {
  const signs: Record<Action, IconName> = {
    none: "dot", search: "search", list: "policy", read: "read", fetch: "fetch", write: "write", delete: "delete", execute: "execute", send: "send", other: "tool",
  };
  return signs[action] ?? "tool";
}

/** The action that an effect's word stands for. */
export function effectTint(verb: string): string {
  return { reads: "read", writes: "write", deletes: "delete", reaches: "fetch", runs: "execute" }[verb] ?? "execute";
}
