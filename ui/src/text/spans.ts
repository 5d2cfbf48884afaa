import type { PathText, Span } from "../backend/types";

/** How an escape is drawn: `\u{202E}` for `U+202E`, `\xFF` for `0xFF`, a run as `×31`. Agent text cannot draw the chip it stands in. */
export function escapeText(span: Extract<Span, { escape: string }>): string {
  const many = span.count !== undefined && span.count > 1 ? `×${span.count}` : "";
  if (span.escape === "U+000A") return `⏎${many}`;
  if (span.escape === "U+0009") return `⇥${many}`;
  if (span.escape === "U+0020") return `␠${many}`;
  if (span.escape.startsWith("0x")) return `\\x${span.escape.slice(2)}${many}`;
  return `\\u{${span.escape.slice(2).replace(/^0+(?=..)/, "")}}${many}`;
}

/** What the chip is called: `U+202E right-to-left override`. */
export const escapeTitle = (span: Extract<Span, { escape: string }>): string => `${span.escape} ${span.label}${span.count && span.count > 1 ? `, ${span.count} in a row` : ""}`;

/** A subject in one line, apart: what is quiet before, what to look at, what is quiet after. */
export function apart(subject: readonly Span[]): { lead: Span[]; main: Span[]; rest: Span[] } {
  const [first, ...others] = subject;
  const whole = { lead: [], main: [...subject], rest: [] };
  if (first === undefined || !("text" in first)) return whole;
  const address = /^(https?:\/\/)([^/?#]*)(.*)$/s.exec(first.text);
  if (address !== null) {
    const [, scheme = "", host = "", way = ""] = address;
    // A host that goes on in an escape is not taken apart.
    if (way === "" && others.length > 0) return { lead: [{ text: scheme }], main: [{ ...first, text: host }, ...others], rest: [] };
    return { lead: [{ text: scheme }], main: [{ ...first, text: host }], rest: [...(way === "" ? [] : [{ ...first, text: way }]), ...others] };
  }
  const slash = first.text.lastIndexOf("/");
  if (!first.text.startsWith("/") || slash <= 0 || slash === first.text.length - 1 || /\s/.test(first.text)) return whole;
  return { lead: [{ ...first, text: first.text.slice(0, slash + 1) }], main: [{ ...first, text: first.text.slice(slash + 1) }, ...others], rest: [] };
}

/** The last characters of spans, and what stands before them. An escape is never cut and counts as it is drawn. */
export function cutTail(spans: readonly Span[], keep: number): [Span[], Span[]] {
  const tail: Span[] = [];
  for (let at = spans.length - 1, left = keep; at >= 0; at -= 1) {
    const span = spans[at] as Span;
    const drawn = "text" in span ? [...span.text] : [...escapeText(span)];
    if (drawn.length <= left) {
      tail.unshift(span);
      left -= drawn.length;
      continue;
    }
    if (!("text" in span)) return [spans.slice(0, at + 1), tail];
    const cut = drawn.length - left;
    const head: Span = { ...span, text: drawn.slice(0, cut).join("") };
    return [[...spans.slice(0, at), head], left > 0 ? [{ ...span, text: drawn.slice(cut).join("") }, ...tail] : tail];
  }
  return [[], tail];
}

/** The text of spans, escapes as drawn: for filtering, names and announcements. */
export const plain = (spans: readonly Span[]): string => spans.map((span) => ("text" in span ? span.text : escapeText(span))).join("");

/** The leading home folder as `~`. A real path starts with `/`, so a `~` at its start can only be ours. */
export function tildeSpans(spans: readonly Span[], home: string): Span[] {
  const [first, ...others] = spans;
  if (first === undefined || home === "" || !("text" in first)) return [...spans];
  if (first.text === home || first.text.startsWith(`${home}/`)) return [{ ...first, text: `~${first.text.slice(home.length)}` }, ...others];
  return [...spans];
}

/** Control, format, unassigned and private characters, separators, and blanks that are no plain space. */
export const unseen = /[\p{Cc}\p{Cf}\p{Cn}\p{Co}\p{Cs}\p{Zl}\p{Zp}\u{FE00}-\u{FE0F}\u{E0100}-\u{E01EF}\u{115F}\u{1160}\u{3164}\u{FFA0}\u{2800}]|(?! )\p{Zs}/u;

/** A short name that came raw (an agent's, a tool's, a folder's) with what would not show as escapes. Cards come escaped already. */
export function visible(raw: string): Span[] {
  const spans: Span[] = [];
  for (const character of raw) {
    const last = spans.at(-1);
    if (unseen.test(character)) spans.push({ escape: `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`, label: "does not show" });
    else if (last !== undefined && "text" in last) last.text += character;
    else spans.push({ text: character });
  }
  return spans;
}

/** A path from the wire, bytes that are no text as escapes, the home folder as `~`. */
export function pathSpans(path: PathText, home: string): Span[] {
  if (typeof path === "string") return tildeSpans(visible(path), home);
  const spans: Span[] = [];
  for (const pair of path.bytes.match(/../g) ?? []) {
    const byte = Number.parseInt(pair, 16);
    const last = spans.at(-1);
    if (byte < 0x20 || byte > 0x7e) spans.push({ escape: `0x${pair.toUpperCase()}`, label: "a byte that is no text" });
    else if (last !== undefined && "text" in last) last.text += String.fromCharCode(byte);
    else spans.push({ text: String.fromCharCode(byte) });
  }
  return tildeSpans(spans, home);
}

/** A path as one string, for comparing and filtering. */
export const pathKey = (path: PathText): string => (typeof path === "string" ? path : path.bytes);

/** Spans cut into lines at line feeds, for words of an agent that come as one run. */
export function spanLines(spans: readonly Span[]): Span[][] {
  const lines: Span[][] = [[]];
  for (const span of spans) {
    if (!("text" in span)) {
      lines.at(-1)?.push(span);
      continue;
    }
    span.text.split("\n").forEach((text, index) => {
      if (index > 0) lines.push([]);
      if (text !== "") lines.at(-1)?.push({ ...span, text });
    });
  }
  return lines;
}
