import { errorBody, type Backend } from "../backend/backend";
import type { ErrorBody, PolicyCheck, PolicyState, RuleSource } from "../backend/types";

const TYPING_MS = 300;

/** The policy file and the text that a person makes of it. Nothing here is in force before it was saved. */
export class PolicyDraft {
  /** The file as it was last read. */
  file = $state.raw<PolicyState | undefined>(undefined);
  text = $state("");
  /** The text that the draft began from, and its digest: what saving replaces. */
  base = $state.raw<{ text: string; digest: string | undefined }>({ text: "", digest: undefined });
  check = $state.raw<PolicyCheck | undefined>(undefined);
  loadError = $state<string | undefined>(undefined);
  saveError = $state.raw<ErrorBody | undefined>(undefined);
  saving = $state(false);

  #timer: ReturnType<typeof setTimeout> | undefined;
  #asked = 0;

  constructor(private readonly backend: Backend) {}

  get dirty(): boolean {
    return this.file !== undefined && this.text !== this.base.text;
  }

  /** Somebody changed the file while it was being edited here. */
  get overtaken(): boolean {
    return this.dirty && this.file !== undefined && this.file.digest !== this.base.digest;
  }

  /** What is wrong with the text as it stands in the editor. */
  get error(): { message: string; line?: number; column?: number } | undefined {
    if (this.dirty || this.file === undefined) return this.check !== undefined && !this.check.ok ? this.check.error : undefined;
    return this.file.error ?? undefined;
  }

  get savable(): boolean {
    return this.dirty && !this.overtaken && !this.saving && this.check?.ok === true && this.base.digest !== undefined;
  }

  async load(): Promise<void> {
    try {
      const file = await this.backend.policyGet();
      const dirty = this.dirty;
      this.file = file;
      this.loadError = undefined;
      if (!dirty) this.takeFile();
    } catch (thrown) {
      this.loadError = errorBody(thrown).message;
    }
  }

  type(text: string): void {
    this.text = text;
    this.check = undefined;
    this.saveError = undefined;
    this.#asked += 1;
    clearTimeout(this.#timer);
    if (this.dirty) this.#timer = setTimeout(() => void this.#check(), TYPING_MS);
  }

  /** Back to what is in the file. */
  takeFile(): void {
    if (this.file === undefined) return;
    clearTimeout(this.#timer);
    this.#asked += 1;
    this.base = { text: this.file.text, digest: this.file.digest };
    this.text = this.file.text;
    this.check = undefined;
    this.saveError = undefined;
  }

  /** Takes a rule made of an answer into the draft, checked; gives its name. A draft that somebody works on is left alone: `dirty`. */
  async propose(from: RuleSource): Promise<{ name: string | undefined } | "dirty"> {
    await this.load();
    if (this.dirty) return "dirty";
    const made = await this.backend.policyPropose(from);
    // Of another text than the one that was just read: somebody is changing the file, and saving would be refused.
    if (made.digest !== this.file?.digest) await this.load();
    if (this.dirty) return "dirty";
    this.type(made.text);
    clearTimeout(this.#timer);
    await this.#check();
    return { name: made.names[0] };
  }

  /** The draft stays, and is meant to replace the file as it now is. */
  keepMine(): void {
    if (this.file === undefined) return;
    this.base = { text: this.file.text, digest: this.file.digest };
    this.saveError = undefined;
    void this.#check();
  }

  /** True: it is in the file and in force. */
  async save(): Promise<boolean> {
    const { digest } = this.base;
    if (!this.savable || digest === undefined) return false;
    this.saving = true;
    const text = this.text;
    try {
      this.file = await this.backend.policyPut(text, digest);
      this.base = { text: this.file.text, digest: this.file.digest };
      this.saveError = undefined;
      return true;
    } catch (thrown) {
      const error = errorBody(thrown);
      this.saveError = error;
      if (error.code === "stale_digest") await this.load();
      return false;
    } finally {
      this.saving = false;
    }
  }

  async #check(): Promise<void> {
    const asked = ++this.#asked;
    try {
      const check = await this.backend.policyCheck(this.text);
      if (asked === this.#asked) this.check = check;
    } catch (thrown) {
      if (asked === this.#asked) this.saveError = errorBody(thrown);
    }
  }
}
