import { errorBody, type Backend } from "../backend/backend";
import type { ApprovalDetail, ErrorBody } from "../backend/types";
import { Arming, type Decision } from "./arming.svelte";
import { Folds } from "./folds.svelte";
import type { Settled } from "./queue.svelte";

/** Something to say about the call under judgement, above it. */
export type JudgedNote =
  | { kind: "stale" | "refreshed" | "not_armed" }
  | { kind: "settled"; settled: Settled }
  | { kind: "denied_by_policy"; rule: string }
  | { kind: "failed"; error: ErrorBody };

/** The one call under judgement: its card, whether it is on the screen, what was said of it, and the answer on its way. */
export class Judged {
  id = $state<string | undefined>(undefined);
  detail = $state.raw<ApprovalDetail | undefined>(undefined);
  folds = $state.raw<Folds | undefined>(undefined);
  loadError = $state.raw<ErrorBody | undefined>(undefined);
  shownError = $state.raw<ErrorBody | undefined>(undefined);
  note = $state.raw<JudgedNote | undefined>(undefined);
  settled = $state.raw<Settled | undefined>(undefined);
  answering = $state<Decision | undefined>(undefined);
  readonly arming = new Arming();

  #load = 0;

  constructor(private readonly backend: Backend) {}

  /** Lines that approving waits for. */
  get unseen(): number {
    return this.folds?.unseen ?? 0;
  }

  /** Whether an answer could be given at all, arming aside. */
  get answerable(): boolean {
    return this.detail !== undefined && this.settled === undefined && this.answering === undefined && this.loadError === undefined;
  }

  /** Puts another call under judgement; nothing of the last one stays. */
  async open(id: string | undefined): Promise<void> {
    if (id === this.id && this.loadError === undefined) return;
    this.id = id;
    this.detail = undefined;
    this.folds = undefined;
    this.note = undefined;
    this.settled = undefined;
    this.answering = undefined;
    await this.#fetch();
  }

  /** The card as it now is. Unfolded again from the start where its digest is another. */
  async refresh(note?: JudgedNote): Promise<void> {
    await this.#fetch(note);
  }

  /** The card with this digest was painted. The gate is told first, so that its clock starts no later than ours. */
  async painted(digest: string): Promise<void> {
    const detail = this.detail;
    if (detail?.digest !== digest || this.settled !== undefined) return;
    try {
      await this.backend.approvalsShown(detail.id, digest);
    } catch (thrown) {
      if (this.detail === detail) this.shownError = errorBody(thrown);
      return;
    }
    if (this.detail !== detail) return;
    this.shownError = undefined;
    this.arming.arm(detail.card.grave);
  }

  /** Somebody or something else answered, or time ran out. The card stays, saying so. */
  settle(how: Settled): void {
    if (this.settled !== undefined) return;
    this.settled = how;
    this.arming.clear();
  }

  async #fetch(note?: JudgedNote): Promise<void> {
    const [id, load] = [this.id, ++this.#load];
    this.loadError = undefined;
    this.shownError = undefined;
    this.arming.clear();
    if (id === undefined) return;
    try {
      const detail = await this.backend.approvalsGet(id);
      if (load !== this.#load) return;
      if (this.folds === undefined || this.detail?.digest !== detail.digest) this.folds = new Folds(detail.card);
      this.detail = detail;
      // Of two notes on one change, the one that says that nothing was approved stands.
      if (!(note?.kind === "refreshed" && this.note?.kind === "stale")) this.note = note;
      if (detail.state !== "pending") this.settle({ state: detail.state, by: detail.by, at_ms: detail.settled_at_ms });
    } catch (thrown) {
      if (load === this.#load) this.loadError = errorBody(thrown);
    }
  }
}
