import { errorBody, type Backend } from "../backend/backend";
import type { ApprovalDetail, ApprovalPreview, ErrorBody } from "../backend/types";
import type { Arming } from "./arming.svelte";
import { asJson, asObject, fieldsOf, type Field } from "./fields";
import { Folds } from "./folds.svelte";

const TYPING_MS = 250;

/**
 * A call that is changed before it is approved. Whatever is typed takes the guard back to its start: an answer counts only for
 * what the gate has judged anew, was shown, and has been on the screen for long enough.
 */
export class Editing {
  readonly fields: Field[];
  readonly hasFields: boolean;
  /** The whole input as text, or a field each. */
  mode = $state<"fields" | "json">("fields");
  /** What would be sent. */
  input = $state.raw<unknown>(undefined);
  json = $state("");
  /** Why the text is no JSON. */
  notJson = $state<string | undefined>(undefined);
  phase = $state<"same" | "judging" | "judged" | "failed">("same");
  preview = $state.raw<ApprovalPreview | undefined>(undefined);
  folds = $state.raw<Folds | undefined>(undefined);
  error = $state.raw<ErrorBody | undefined>(undefined);

  #asked = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    readonly about: ApprovalDetail,
    private readonly backend: Backend,
    private readonly arming: Arming,
  ) {
    this.input = about.input;
    this.json = asJson(about.input);
    this.fields = fieldsOf(about.tool, about.input);
    this.hasFields = this.fields.length > 0;
    if (!this.hasFields) this.mode = "json";
  }

  get changed(): boolean {
    return asJson(this.input) !== asJson(this.about.input);
  }

  /** Lines of the edited call that approving waits for. */
  get unseen(): number {
    return this.folds?.unseen ?? 0;
  }

  get answerable(): boolean {
    return this.phase === "judged" && this.preview !== undefined && !this.preview.refused && this.unseen === 0;
  }

  /** Input that is sent as it came, besides the fields. */
  get others(): string[] {
    const keys = new Set(this.fields.map((field) => field.key));
    return Object.keys(asObject(this.input) ?? {}).filter((key) => !keys.has(key));
  }

  /** What was changed, field by field. */
  get changes(): { field: Field; before: string; after: string }[] {
    const asked = asObject(this.about.input);
    return this.fields.map((field) => ({ field, before: String(asked?.[field.key] ?? ""), after: this.valueOf(field) })).filter(({ before, after }) => before !== after);
  }

  valueOf(field: Field): string {
    const value = asObject(this.input)?.[field.key];
    return typeof value === "string" ? value : "";
  }

  setField(field: Field, value: string): void {
    this.#set({ ...asObject(this.input), [field.key]: value });
    this.json = asJson(this.input);
  }

  setJson(json: string): void {
    this.json = json;
    try {
      this.#set(JSON.parse(json) as unknown);
      this.notJson = undefined;
    } catch (thrown) {
      this.#forget();
      this.phase = "same";
      this.notJson = thrown instanceof Error ? thrown.message : String(thrown);
    }
  }

  show(mode: "fields" | "json"): void {
    if (this.notJson === undefined) this.mode = mode;
  }

  stop(): void {
    this.#forget();
  }

  /** Once more from the gate, after it refused what was sent. */
  again(): void {
    this.#forget();
    void this.#judge();
  }

  /** The edited call was painted: the gate is told, then the guard begins. */
  async painted(digest: string): Promise<void> {
    const preview = this.preview;
    if (preview?.digest !== digest) return;
    try {
      await this.backend.approvalsShown(this.about.id, digest);
    } catch (thrown) {
      if (this.preview === preview) this.error = errorBody(thrown);
      return;
    }
    if (this.preview === preview) this.arming.arm(preview.card.grave || this.about.card.grave);
  }

  /** The gate's own no to what was sent. */
  refused(error: ErrorBody): void {
    this.error = error;
    if (error.code === "stale_digest" || error.code === "not_armed") {
      this.again();
      this.error = error;
    }
  }

  #set(input: unknown): void {
    this.input = input;
    this.#forget();
    this.phase = this.changed ? "judging" : "same";
    if (this.changed) this.#timer = setTimeout(() => void this.#judge(), TYPING_MS);
  }

  #forget(): void {
    this.#asked += 1;
    clearTimeout(this.#timer);
    this.preview = undefined;
    this.folds = undefined;
    this.error = undefined;
    this.arming.clear();
  }

  async #judge(): Promise<void> {
    const asked = ++this.#asked;
    this.phase = "judging";
    try {
      const preview = await this.backend.approvalsPreview(this.about.id, this.input);
      if (asked !== this.#asked) return;
      this.folds = new Folds(preview.card);
      this.preview = preview;
      this.phase = "judged";
    } catch (thrown) {
      if (asked !== this.#asked) return;
      this.error = errorBody(thrown);
      this.phase = "failed";
    }
  }
}
