import type { HistoryFilter } from "./types";

/** What an agent hears that finds no gate: one is started, no, or nothing (the client goes by its own rules). */
export type WhenNoGate = "start" | "deny" | "client";

export interface Quiet {
  on: boolean;
  /** `HH:MM`, by the clock on the wall. */
  from: string;
  to: string;
}

export interface SettingsState {
  notifications: { on: boolean; gather_over: number; sound: boolean; quiet: Quiet };
  when_no_gate: WhenNoGate;
  /** None where the gate has places of its own. */
  start_at_login: boolean | null;
  waiting: { per_session: number; in_all: number };
  path: string;
  /** Why the file is not followed: then nothing in it is changed either. */
  problem?: string;
}

/** What is to be another; what is left out stays. */
export interface SettingsChange {
  notifications?: { on?: boolean; gather_over?: number; sound?: boolean; quiet?: Partial<Quiet> };
  when_no_gate?: WhenNoGate;
  start_at_login?: boolean;
  waiting?: { per_session?: number; in_all?: number };
}

export type ExportFormat = "facts" | "csv" | "audit_log" | "session_summaries" | "ocsf";

export interface ExportOrder {
  format: ExportFormat;
  filter?: HistoryFilter;
}

/** `file` is null where the person dismissed the dialog, or stopped it: then nothing is left. */
export interface Exported {
  file: string | null;
  lines: number;
  stopped: boolean;
}
