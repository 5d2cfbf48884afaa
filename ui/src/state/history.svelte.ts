import { errorBody, type Backend } from "../backend/backend";
import type { ErrorBody, HistoryFilter, HistoryItem } from "../backend/types";

const PAGE = 100;
const TYPING_MS = 200;

/** The list of the history: newest first, further pages by key as they come into view. */
export class HistoryList {
  items = $state.raw<readonly HistoryItem[]>([]);
  phase = $state<"idle" | "loading" | "more">("idle");
  error = $state.raw<ErrorBody | undefined>(undefined);
  filter = $state.raw<HistoryFilter>({});
  /** There is more behind the last row. */
  more = $state(false);

  #next: number | undefined;
  #search = 0;
  #typing: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly backend: Backend) {}

  get filtered(): boolean {
    return Object.values(this.filter).some((value) => value !== undefined && value !== "");
  }

  /** Words wait until the typing pauses; the rest is searched for at once. */
  narrow(change: HistoryFilter): void {
    this.filter = stripped({ ...this.filter, ...change });
    clearTimeout(this.#typing);
    this.#typing = setTimeout(() => void this.search(), change.text === undefined ? 0 : TYPING_MS);
  }

  clear(): void {
    this.filter = {};
    void this.search();
  }

  async search(): Promise<void> {
    const search = ++this.#search;
    this.phase = "loading";
    try {
      const page = await this.backend.historySearch({ ...stripped(this.filter), limit: PAGE });
      if (search !== this.#search) return;
      this.items = page.items;
      this.#next = page.next ?? undefined;
      this.more = this.#next !== undefined;
      this.error = undefined;
    } catch (thrown) {
      if (search === this.#search) this.error = errorBody(thrown);
    }
    if (search === this.#search) this.phase = "idle";
  }

  async loadMore(): Promise<void> {
    const [search, after] = [this.#search, this.#next];
    if (after === undefined || this.phase !== "idle") return;
    this.phase = "more";
    try {
      const page = await this.backend.historySearch({ ...stripped(this.filter), after, limit: PAGE });
      if (search !== this.#search) return;
      const known = new Set(this.items.map((item) => item.seq));
      this.items = [...this.items, ...page.items.filter((item) => !known.has(item.seq))];
      this.#next = page.next ?? undefined;
      this.more = this.#next !== undefined;
    } catch (thrown) {
      if (search === this.#search) this.error = errorBody(thrown);
    }
    if (search === this.#search) this.phase = "idle";
  }

  /** Something happened: the newest page is looked at again, what was scrolled to stays. */
  async refreshTop(): Promise<void> {
    if (this.phase !== "idle") return;
    const search = this.#search;
    try {
      const page = await this.backend.historySearch({ ...stripped(this.filter), limit: PAGE });
      if (search !== this.#search || this.phase !== "idle") return;
      const fresh = new Set(page.items.map((item) => item.seq));
      const oldest = page.items.at(-1)?.seq ?? Infinity;
      const kept = this.items.filter((item) => !fresh.has(item.seq) && item.seq < oldest);
      this.items = [...page.items, ...kept];
      if (kept.length === 0) this.#next = page.next ?? undefined;
      this.more = this.#next !== undefined;
    } catch {
      // The list that stands is still true; the next fact tries again.
    }
  }
}

/** Only what was asked for goes on the wire. */
function stripped(filter: HistoryFilter): HistoryFilter {
  return Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined && value !== ""));
}
