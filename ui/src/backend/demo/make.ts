// Small makers for the demonstration's calls. Nothing here is used inside the app.
import type { ApprovalDetail, Card, Content, DiffLine, FlagExplained, ShownCommand, ShownSubject, Span } from "../types";

export const HOME = "/home/ana";
export const APP = `${HOME}/app`;

export const t = (text: string, mark = false): Span => (mark ? { text, mark } : { text });
export const m = (text: string): Span => ({ text, mark: true });
export const esc = (escape: string, label: string, count?: number): Span => ({ escape, label, ...(count !== undefined && { count }) });

/** Sixty-four hex digits that depend on the seed, and look like it. */
export function fakeDigest(seed: string): string {
  let hex = "";
  let hash = 0x811c9dc5;
  for (let round = 0; hex.length < 64; round += 1) {
    for (const character of `${seed}/${round}`) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193) >>> 0;
    hash ^= hash >>> 16;
    hash = Math.imul(hash, 0x85ebca6b) >>> 0;
    hash ^= hash >>> 13;
    hash = Math.imul(hash, 0xc2b2ae35) >>> 0;
    hash = (hash ^ (hash >>> 16)) >>> 0;
    hex += hash.toString(16).padStart(8, "0");
  }
  return `sha256:${hex.slice(0, 64)}`;
}

export function path(action: ShownSubject["action"], folder: string, name: string, extra: Partial<ShownSubject> = {}): ShownSubject {
  return { action, kind: "path", lead: [t(folder)], main: [t(name)], rest: [], asked: [], notes: [], ...extra };
}

/** A diff from marked lines: `-`, `+` or blank before each; what stands between ⟦ and ⟧ is the part that differs. */
export function diff(title: string, firstLine: number, before: number, body: string, after: number): Content {
  const lines: DiffLine[] = [];
  let [old, now] = [1, 1];
  const same = (text: string): void => {
    lines.push({ change: "same", old: old++, new: now++, spans: [t(text)] });
  };
  for (let i = 0; i < before; i += 1) same(i % 4 === 3 ? "" : `# setting ${i + firstLine}`);
  for (const line of body.split("\n")) {
    const spans = marked(line.slice(1));
    if (line.startsWith("-")) lines.push({ change: "removed", old: old++, spans });
    else if (line.startsWith("+")) lines.push({ change: "added", new: now++, spans });
    else lines.push({ change: "same", old: old++, new: now++, spans });
  }
  for (let i = 0; i < after; i += 1) same(i % 3 === 2 ? "" : `keep_${i} = true`);
  return { kind: "diff", title: [t(title)], added: lines.filter((one) => one.change === "added").length, removed: lines.filter((one) => one.change === "removed").length, lines };
}

const marked = (line: string): Span[] =>
  line
    .split(/(⟦[^⟧]*⟧)/)
    .filter((part) => part !== "")
    .map((part) => (part.startsWith("⟦") ? m(part.slice(1, -1)) : t(part)));

export const textContent = (title: string, language: string, lines: (string | Span[])[]): Content => ({ kind: "text", title: [t(title)], language, lines: lines.map((line) => (typeof line === "string" ? [t(line)] : line)) });

export const command = (operator: string, words: Span[], effect: ShownCommand["effect"], effects: ShownCommand["effects"] = [], why_not?: string): ShownCommand => ({ operator, words, effect, effects, ...(why_not !== undefined && { why_not }) });

export interface Sketch {
  agent: string;
  session: string;
  number: number;
  tool: string;
  headline: string;
  subjects: ShownSubject[];
  commands?: ShownCommand[];
  content?: Content[];
  flags?: FlagExplained[];
  says?: Span[];
  /** In the queue, where it is not the first subject. */
  row?: [Span[], Span[], Span[]];
  action?: ShownSubject["action"];
  raw?: unknown[];
  askedAgo: number;
  lasts: number;
  grave?: boolean;
  grantable?: string[];
  workspace?: string;
  rule?: string;
  reason: string;
  alike?: ApprovalDetail["alike"];
  recent?: ApprovalDetail["recent"];
  undo?: Card["undo"];
  reach?: Card["reach"];
  process?: string;
  waiting?: boolean;
  /** The input, where the call can be edited. */
  input?: unknown;
  sameAs?: string;
}

let counter = 0;

/** A whole approval from a sketch. `now` is Unix milliseconds. */
export function approval(sketch: Sketch, now: number): ApprovalDetail {
  counter += 1;
  const id = `0193a0b0-${String(counter).padStart(4, "0")}-7000-8000-${fakeDigest(`${counter}`).slice(7, 19)}`;
  const first = sketch.subjects[0];
  const [lead, main, rest] = sketch.row ?? [first?.lead ?? [], first?.main ?? [], first?.rest ?? []];
  const seed = `${sketch.agent}${sketch.number}${sketch.headline}`;
  return {
    id,
    state: "pending",
    digest: fakeDigest(seed),
    action_digest: fakeDigest(`${sketch.sameAs ?? seed}/action`),
    tool: sketch.tool,
    action: sketch.action ?? first?.action ?? "execute",
    agent: sketch.agent,
    session: sketch.session,
    workspace: sketch.workspace ?? APP,
    subjects: sketch.raw ?? [],
    flags: (sketch.flags ?? []).map((one) => one.flag),
    created_at_ms: now - sketch.askedAgo,
    expires_at_ms: now - sketch.askedAgo + sketch.lasts,
    waiting: sketch.waiting ?? true,
    headline: sketch.headline,
    lead,
    main,
    rest,
    number: sketch.number,
    grave: sketch.grave ?? false,
    input: sketch.input ?? {},
    can_edit: sketch.input !== undefined,
    cwd: sketch.workspace ?? APP,
    ...(sketch.rule !== undefined && { rule: sketch.rule }),
    rule_reason: sketch.reason,
    flags_explained: sketch.flags ?? [],
    ...(sketch.process !== undefined && { process: { pid: 41_822 + sketch.number, name: [t(sketch.process)] } }),
    session_started_at_ms: now - 52 * 60_000,
    recent: sketch.recent ?? [],
    alike: sketch.alike ?? { approved: 0, denied: 0 },
    grantable: sketch.grantable ?? ["exact"],
    card: {
      headline: sketch.headline,
      shown: first?.asked.length ? first.asked : [...lead, ...main, ...rest],
      subjects: sketch.subjects,
      commands: sketch.commands ?? [],
      content: sketch.content ?? [],
      says: sketch.says ?? [],
      undo: sketch.undo ?? "with_effort",
      reach: sketch.reach ?? "this_file",
      grave: sketch.grave ?? false,
    },
  };
}

export const flag = (word: string, label: string, sentence: string): FlagExplained => ({ flag: word, label, sentence });
