import type { ApprovalItem } from "../backend/types";

export type Deed = "approved" | "edited" | "granted" | "denied" | "deniedTold" | "cancelled";

export interface Entry {
  at_ms: number;
  deed: Deed;
  item: ApprovalItem;
}

/** Whether something was let through. */
export const isYes = (deed: Deed): boolean => deed === "approved" || deed === "edited" || deed === "granted";

const KEEP = 50;

/** What was done in this window since it opened, newest first. */
export class Journal {
  entries = $state.raw<readonly Entry[]>([]);

  add(deed: Deed, item: ApprovalItem, at_ms: number): void {
    this.entries = [{ at_ms, deed, item }, ...this.entries].slice(0, KEEP);
  }
}
