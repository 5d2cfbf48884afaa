import type { Card, Content } from "../backend/types";

/** A run of lines, shown or folded. `must`: approving waits until it was unfolded. From and to count from 0, `to` is left out. */
export type Segment = { kind: "lines"; from: number; to: number } | { kind: "fold"; from: number; to: number; must: boolean };

const CONTEXT = 3;
const FOLD_AT_LEAST = 4;
const WHOLE_AT_MOST = 60;
const HEAD = 40;
const TAIL = 10;
/** As many lines as are laid out at a time. */
export const CHUNK = 1_000;

/** What a person has not been shown of a card: one block for the list of commands, one for each content. */
export class Folds {
  readonly #blocks: readonly Segment[][];
  #opened = $state.raw<ReadonlyMap<string, number>>(new Map());

  /** Lines that must be unfolded before an approval. */
  readonly unseen = $derived.by(() => this.#blocks.flatMap((_, block) => this.segments(block)).reduce((n, one) => (one.kind === "fold" && one.must ? n + one.to - one.from : n), 0));

  constructor(card: Card) {
    this.#blocks = [longList(card.commands.length), ...card.content.map(contentSegments)];
  }

  /** The segments of a block as they now stand: 0 is the list of commands, `n + 1` the n-th content. */
  segments(block: number): Segment[] {
    return (this.#blocks[block] ?? []).flatMap((segment) => {
      if (segment.kind === "lines") return [segment];
      const until = this.#opened.get(`${block}:${segment.from}`) ?? segment.from;
      const shown: Segment[] = until > segment.from ? [{ kind: "lines", from: segment.from, to: Math.min(until, segment.to) }] : [];
      return until >= segment.to ? shown : [...shown, { ...segment, from: until }];
    });
  }

  /** Unfolds the fold that now begins at `from`, a chunk at a time. */
  open(block: number, from: number): void {
    const segment = (this.#blocks[block] ?? []).find((one) => one.kind === "fold" && one.from <= from && from < one.to);
    if (segment === undefined) return;
    this.#opened = new Map(this.#opened).set(`${block}:${segment.from}`, Math.min(segment.to, from + CHUNK));
  }

  /** Unfolds the next one that approving waits for. Says where. */
  openNext(): { block: number; from: number } | undefined {
    for (const [block] of this.#blocks.entries()) {
      const fold = this.segments(block).find((one) => one.kind === "fold" && one.must);
      if (fold !== undefined) {
        this.open(block, fold.from);
        return { block, from: fold.from };
      }
    }
    return undefined;
  }
}

function contentSegments(content: Content): Segment[] {
  if (content.kind === "binary") return [];
  if (content.kind === "text") return longList(content.lines.length);
  return diffSegments(content.lines.map((line) => line.change !== "same"));
}

/** Long content folds in the middle only. */
function longList(count: number): Segment[] {
  if (count <= WHOLE_AT_MOST) return count === 0 ? [] : [{ kind: "lines", from: 0, to: count }];
  return [
    { kind: "lines", from: 0, to: HEAD },
    { kind: "fold", from: HEAD, to: count - TAIL, must: true },
    { kind: "lines", from: count - TAIL, to: count },
  ];
}

/** Runs of unchanged lines fold down to their context; a run of changed ones folds like any long content. */
function diffSegments(changed: readonly boolean[]): Segment[] {
  const segments: Segment[] = [];
  for (let from = 0; from < changed.length; ) {
    let to = from;
    while (to < changed.length && changed[to] === changed[from]) to += 1;
    if (changed[from] === true) {
      segments.push(...longList(to - from).map((one) => ({ ...one, from: one.from + from, to: one.to + from })));
    } else {
      const low = from === 0 ? from : from + CONTEXT;
      const high = to === changed.length ? to : to - CONTEXT;
      if (high - low < FOLD_AT_LEAST) segments.push({ kind: "lines", from, to });
      else {
        if (low > from) segments.push({ kind: "lines", from, to: low });
        segments.push({ kind: "fold", from: low, to: high, must: false });
        if (high < to) segments.push({ kind: "lines", from: high, to });
      }
    }
    from = to;
  }
  return segments;
}
