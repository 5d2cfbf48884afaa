import { errorBody, type Backend, type Unlisten } from "../backend/backend";
import type { ClientChange, ClientTold } from "../backend/clients";
import type { RunOrder } from "../backend/agent";
import type { ApprovalItem, ErrorBody, FactMessage, Grant, HistoryFilter, RuleSource, Scope, SessionItem, Snapshot } from "../backend/types";
import type { Place } from "../keys/keymap";
import { text } from "../text/en";
import type { Decision } from "./arming.svelte";
import { Arming } from "./arming.svelte";
import { Clock } from "./clock.svelte";
import { isYes, Journal, type Deed } from "./journal.svelte";
import { Judged } from "./judged.svelte";
import { filterOf, recall, remember, type Remembered } from "./memory";
import { PolicyDraft } from "./policy.svelte";
import { Queue, type Grouping, type Settled } from "./queue.svelte";
import { Selection } from "./selection.svelte";

export type SheetName = "tell" | "cancel" | "scope" | "keys" | "done" | "lift" | "revoke" | "edit" | "policy" | "shorten" | "stop" | "start" | "client" | "export";

/** A call in the history, by its row or by its approval. */
export type OpenCall = { seq: number } | { approval: string };

const PAGE = 1_000;
/** The name of our own agent at the gate. */
export const BUILT_IN = "builtin";
/** More arrivals at once than this are fetched as a list. */
const SINGLY_AT_MOST = 20;

/** States that end an approval's waiting, by the kind of fact that brings them. */
const settledBy: Record<string, string> = {
  approval_approved: "approved",
  approval_denied: "denied",
  approval_expired: "expired",
  approval_cancelled: "cancelled",
  approval_voided: "void",
  approval_lapsed: "lapsed",
};

/** The person's side of the gate: a snapshot first, then every fact in its order; a gap means a new snapshot. */
export class Desk {
  phase = $state<"loading" | "ready" | "down">("loading");
  snapshot = $state.raw<Snapshot | undefined>(undefined);
  downError = $state.raw<ErrorBody | undefined>(undefined);
  place = $state<Place>("inbox");
  sheet = $state<SheetName | undefined>(undefined);
  toast = $state<string | undefined>(undefined);
  alert = $state<string | undefined>(undefined);
  awayDismissed = $state(false);
  /** The narrow window shows the queue in place of the call. */
  queueOpen = $state(false);
  theme = $state<Remembered["theme"]>("system");
  textSize = $state(100);
  /** Counted up when something of that kind happened, for screens that list it. */
  changes = $state({ history: 0, sessions: 0, grants: 0, policy: 0, clients: 0 });
  /** The call that is open in the history, and the policy line to go to. */
  open = $state.raw<OpenCall | undefined>(undefined);
  policyRule = $state<string | undefined>(undefined);
  /** The grants that a sheet asks about, and the session. */
  grantsAsked = $state.raw<readonly Grant[]>([]);
  /** The session whose calls stand beside the list of sessions. */
  sessionOpen = $state<string | undefined>(undefined);
  /** The change of a client's settings that a sheet shows. */
  clientAsked = $state.raw<{ change: ClientChange; told: ClientTold } | undefined>(undefined);
  /** What the history was narrowed to when its export was asked for. */
  exporting = $state.raw<{ filter: HistoryFilter; filtered: boolean }>({ filter: {}, filtered: false });
  stopping = $state.raw<SessionItem | undefined>(undefined);
  /** What the history was last narrowed to; comes back with the place and after a restart. */
  #history: HistoryFilter = {};
  /** What the history is to be narrowed to when it is next shown. */
  historyWanted: { filter: HistoryFilter; about: string | undefined } | undefined;

  readonly clock = new Clock();
  readonly queue = new Queue();
  readonly selection = new Selection();
  readonly journal = new Journal();
  readonly judged: Judged;
  readonly policy: PolicyDraft;
  /** The guard of a sheet's own confirming button. */
  readonly sheetArming = new Arming();

  #seq = 0;
  /** The number of the last alert that the person has seen and put away. */
  #alertsSeen = 0;
  #loading: Promise<void> | undefined;
  #early: FactMessage[] = [];
  #asked = new Set<string>();
  #toastTimer: ReturnType<typeof setTimeout> | undefined;
  #unlisten: Unlisten[] = [];

  /** The person's home, to shorten paths by; none where it is no text. */
  get home(): string {
    const home = this.snapshot?.home;
    return typeof home === "string" ? home : "";
  }

  constructor(readonly backend: Backend) {
    this.judged = new Judged(backend);
    this.policy = new PolicyDraft(backend);
    const remembered = recall();
    this.place = remembered.place;
    this.queue.filter = remembered.filter;
    this.queue.grouping = remembered.grouping;
    this.theme = remembered.theme;
    this.textSize = remembered.textSize;
    this.#wanted = remembered.current;
    this.#history = remembered.history;
  }

  #wanted: string | undefined;

  async start(): Promise<void> {
    this.clock.start();
    this.#unlisten.push(await this.backend.onFact((fact) => this.#onFact(fact)), await this.backend.onShow((approval) => this.show(approval)));
    await this.reload();
  }

  stop(): void {
    this.clock.stop();
    for (const unlisten of this.#unlisten.splice(0)) unlisten();
  }

  /** Asks the gate again; one that could not be opened is opened anew, with the app. */
  async retry(): Promise<void> {
    await this.reload();
    if (this.phase === "down") await this.backend.startAgain().catch(() => undefined);
  }

  /** A new snapshot and everything that waits. Facts that arrive meanwhile are kept and applied after it. */
  reload(): Promise<void> {
    this.#loading ??= this.#load().finally(() => {
      this.#loading = undefined;
      // Some may have come while the first card was opened; nothing else would bring them up.
      for (const fact of this.#early.splice(0)) this.#onFact(fact);
    });
    return this.#loading;
  }

  async #load(): Promise<void> {
    try {
      const snapshot = await this.backend.snapshot();
      this.clock.set(snapshot.now_ms);
      this.queue.load(await this.#allPending());
      this.snapshot = snapshot;
      const raised = (snapshot.alerts ?? []).filter((one) => one.seq > this.#alertsSeen);
      if (raised.length > 0) this.alert = raised.map((one) => one.message).join(" ");
      this.#seq = snapshot.seq;
      this.downError = undefined;
      this.phase = "ready";
      performance.mark("ready");
    } catch (thrown) {
      this.downError = errorBody(thrown);
      this.phase = "down";
      this.judged.arming.clear();
      return;
    }
    const early = this.#early.splice(0).filter((fact) => fact.seq > this.#seq);
    for (const fact of early) this.#apply(fact);
    for (const id of this.selection.ids) if (this.queue.get(id) === undefined) this.selection.drop(id);
    await this.#judgeSomething();
  }

  async #allPending(): Promise<ApprovalItem[]> {
    const all: ApprovalItem[] = [];
    for (let after: string | undefined; ; ) {
      const page = await this.backend.approvalsList({ state: "pending", limit: PAGE, ...(after !== undefined && { after }) });
      all.push(...page.items);
      if (page.next === undefined || page.next === null || page.items.length === 0) return all;
      after = page.next;
    }
  }

  /** After a reload: the call that was under judgement, or was when the window closed, or the first. */
  async #judgeSomething(): Promise<void> {
    const { judged, queue } = this;
    if (judged.id !== undefined) {
      if (judged.settled === undefined) await judged.refresh();
      return;
    }
    const wanted = this.#wanted !== undefined && queue.get(this.#wanted) !== undefined ? this.#wanted : queue.neighbour(undefined, 1);
    this.#wanted = undefined;
    if (wanted !== undefined) await judged.open(wanted);
  }

  // ── Facts ────────────────────────────────────────────────────────────

  #onFact(fact: FactMessage): void {
    if (this.phase !== "ready" || this.#loading !== undefined) {
      this.#early.push(fact);
      return;
    }
    if (fact.seq <= this.#seq) return;
    if (fact.seq !== this.#seq + 1) {
      void this.reload();
      return;
    }
    this.#apply(fact);
  }

  #apply(fact: FactMessage): void {
    this.#seq = fact.seq;
    const { changes, snapshot } = this;
    changes.history += 1;
    if (fact.kind.startsWith("session_") || fact.kind.startsWith("approval_")) changes.sessions += 1;
    if (fact.kind.startsWith("grant_")) changes.grants += 1;
    if (fact.kind.startsWith("policy_")) {
      changes.policy += 1;
      void this.#refreshSnapshot();
    }
    if ((fact.kind === "paused" || fact.kind === "resumed") && snapshot !== undefined) this.snapshot = { ...snapshot, paused: fact.kind === "paused" };
    if (fact.kind === "alert_raised") this.alert = (fact as FactMessage & { message?: string }).message ?? "";
    if (fact.approval !== undefined) this.#applyApproval(fact, fact.approval);
  }

  #applyApproval(fact: FactMessage, id: string): void {
    const state = settledBy[fact.kind];
    if (state !== undefined) {
      const who = typeof fact.by === "object" ? fact.by.who : fact.by;
      this.#settled(id, { state, by: who ?? fact.reason, at_ms: fact.at_ms });
      return;
    }
    if (fact.kind !== "approval_asked" && fact.kind !== "approval_refreshed" && fact.kind !== "approval_attached") return;
    if (fact.item !== undefined) this.#arrived(fact.item);
    else this.#fetchSoon(id);
    if (fact.kind === "approval_refreshed" && this.judged.id === id) void this.judged.refresh({ kind: "refreshed" });
  }

  #arrived(item: ApprovalItem): void {
    this.queue.put(item);
    if (item.state !== "pending" || (this.judged.id !== undefined && item.id !== this.#wanted)) return;
    this.#wanted = undefined;
    void this.judge(item.id);
  }

  #settled(id: string, how: Settled): void {
    this.queue.settle(id, how);
    this.selection.drop(id);
    if (this.judged.id === id && this.judged.answering === undefined) this.judged.settle(how);
  }

  /** Several arrivals within a moment are fetched together. */
  #fetchSoon(id: string): void {
    this.#asked.add(id);
    if (this.#asked.size > 1) return;
    setTimeout(() => {
      const ids = [...this.#asked];
      this.#asked.clear();
      void this.#fetchItems(ids);
    }, 30);
  }

  async #fetchItems(ids: readonly string[]): Promise<void> {
    try {
      if (ids.length > SINGLY_AT_MOST) {
        for (const item of await this.#allPending()) this.#arrived(item);
        return;
      }
      for (const item of await Promise.all(ids.map((id) => this.backend.approvalsGet(id)))) if (item.state === "pending") this.#arrived(item);
    } catch {
      await this.reload();
    }
  }

  async #refreshSnapshot(): Promise<void> {
    try {
      this.snapshot = await this.backend.snapshot();
    } catch (thrown) {
      this.downError = errorBody(thrown);
    }
  }

  // ── Moving about ─────────────────────────────────────────────────────

  go(place: Place): void {
    this.place = place;
    this.open = undefined;
    this.queueOpen = false;
    this.save();
  }

  /** Asked from outside (tray, notification, second start): the inbox, at a call where one is named. */
  show(approval: string | undefined): void {
    this.sheet = undefined;
    this.go("inbox");
    if (approval !== undefined && this.queue.get(approval) !== undefined) void this.judge(approval);
    else if (approval !== undefined) this.#wanted = approval;
  }

  async judge(id: string | undefined): Promise<void> {
    if (this.judged.answering !== undefined) return;
    this.queueOpen = false;
    this.#reveal(id);
    await this.judged.open(id);
    this.save();
  }

  /** A call that another row stands for is unfolded before it comes under judgement. */
  #reveal(id: string | undefined): void {
    const item = id === undefined ? undefined : this.queue.get(id);
    const alike = item === undefined ? undefined : this.queue.alikeOf(item);
    if (alike !== undefined && !alike.open && !alike.head) this.queue.unfold(alike.key, true);
  }

  /** Unfolds or folds the calls that ask for the same as the one under judgement. */
  unfoldAlike(open?: boolean): void {
    const item = this.judged.id === undefined ? undefined : this.queue.get(this.judged.id);
    const alike = item === undefined ? undefined : this.queue.alikeOf(item);
    if (alike !== undefined) this.queue.unfold(alike.key, open ?? !alike.open);
  }

  move(by: number): void {
    const to = this.queue.neighbour(this.judged.id, by);
    if (to !== undefined) void this.judge(to);
    else if (this.judged.settled !== undefined) void this.judge(this.queue.neighbour(this.judged.id, -by));
  }

  moveToEnd(last: boolean): void {
    const rows = this.queue.drawn.filter((item) => this.queue.settledAs(item.id) === undefined);
    const to = last ? rows.at(-1) : rows[0];
    if (to !== undefined) void this.judge(to.id);
  }

  group(by: Grouping): void {
    this.queue.group(by);
    this.save();
  }

  save(): void {
    remember({ place: this.place, filter: this.queue.filter, grouping: this.queue.grouping, current: this.judged.id, theme: this.theme, textSize: this.textSize, history: this.#history });
  }

  get historyFilter(): HistoryFilter {
    return this.#history;
  }

  keepHistoryFilter(filter: HistoryFilter): void {
    this.#history = filterOf(filter);
    this.save();
  }

  // ── Answers ──────────────────────────────────────────────────────────

  /** Why a decision cannot be taken at all, arming aside. */
  blocked(decision: Decision): "unseen" | "once_only" | "not_answerable" | undefined {
    const { judged } = this;
    if (!judged.answerable || this.phase !== "ready") return "not_answerable";
    if (decision === "approve" && judged.unseen > 0) return "unseen";
    if (decision === "approveFor" && judged.detail?.grantable.length === 0) return "once_only";
    if (decision === "approveFor" && judged.unseen > 0) return "unseen";
    return undefined;
  }

  /** What a real press, armed and let go on its own control, does. */
  decide(decision: Decision): void {
    if (this.blocked(decision) !== undefined) return;
    if (decision === "approve") void this.approve();
    else if (decision === "deny") void this.deny();
    else this.openSheet(decision === "denyAndTell" ? "tell" : "scope");
  }

  openSheet(sheet: SheetName): void {
    this.sheet = sheet;
    // What is edited or compared arms when it has been shown.
    if (sheet === "edit") this.sheetArming.clear();
    else this.sheetArming.arm(false);
  }

  closeSheet(): void {
    const edited = this.sheet === "edit";
    this.sheet = undefined;
    this.sheetArming.clear();
    if (!edited) return this.judged.arming.rearm();
    // The gate was told of other cards meanwhile: the call as asked is on the screen again.
    this.judged.arming.clear();
    if (this.judged.detail !== undefined) void this.judged.painted(this.judged.detail.digest);
  }

  async approve(grant?: Scope): Promise<boolean> {
    const detail = this.judged.detail;
    if (detail === undefined || this.blocked(grant === undefined ? "approve" : "approveFor") !== undefined) return false;
    return this.#answer(detail, grant === undefined ? "approve" : "approveFor", grant === undefined ? "approved" : "granted", () =>
      this.backend.approvalsApprove({ id: detail.id, digest: detail.digest, ...(grant !== undefined && { grant }) }),
    );
  }

  /** Opens the editor, where the client takes a changed input. */
  edit(): void {
    const { detail, answerable } = this.judged;
    if (detail === undefined || !answerable || this.phase !== "ready") return;
    if (detail.can_edit) this.openSheet("edit");
    else this.say(text.answer.cannotEdit);
  }

  /** Approves the call with another input, as it was previewed. What it was refused for is the sheet's to say. */
  async approveEdited(input: unknown, digest: string): Promise<ErrorBody | undefined> {
    const { judged } = this;
    const detail = judged.detail;
    if (detail === undefined || !judged.answerable || this.phase !== "ready") return { code: "already_settled", message: text.judged.gone };
    const next = this.#nextAfter(detail.id);
    judged.answering = "approve";
    try {
      await this.backend.approvalsApprove({ id: detail.id, digest, input });
    } catch (thrown) {
      judged.answering = undefined;
      return errorBody(thrown);
    }
    judged.answering = undefined;
    this.sheet = undefined;
    this.sheetArming.clear();
    await this.#answered(detail, "edited", next);
    return undefined;
  }

  async deny(note?: string): Promise<boolean> {
    const detail = this.judged.detail;
    if (detail === undefined || this.blocked("deny") !== undefined) return false;
    return this.#answer(detail, note === undefined ? "deny" : "denyAndTell", note === undefined ? "denied" : "deniedTold", () =>
      this.backend.approvalsDeny({ id: detail.id, ...(note !== undefined && { note }) }),
    );
  }

  async #answer(item: ApprovalItem, decision: Decision, deed: "approved" | "granted" | "denied" | "deniedTold", send: () => Promise<unknown>): Promise<boolean> {
    const { judged } = this;
    const next = this.#nextAfter(item.id);
    judged.answering = decision;
    judged.note = undefined;
    try {
      await send();
    } catch (thrown) {
      judged.answering = undefined;
      await this.#refused(item.id, errorBody(thrown));
      return false;
    }
    judged.answering = undefined;
    await this.#answered(item, deed, next);
    return true;
  }

  #nextAfter(id: string): string | undefined {
    return this.queue.neighbour(id, 1) ?? this.queue.neighbour(id, -1);
  }

  /** An answer that counted: it is noted, and the next call comes under judgement. */
  async #answered(item: ApprovalItem, deed: Exclude<Deed, "cancelled">, next: string | undefined): Promise<void> {
    this.journal.add(deed, item, this.clock.exact());
    this.#settled(item.id, { state: isYes(deed) ? "approved" : "denied", by: "user", at_ms: this.clock.exact() });
    this.say(text.done[deed]);
    if (this.judged.id === item.id) await this.judge(next);
  }

  /** An answer that did not count: say why, and show the call as it now is. */
  async #refused(id: string, error: ErrorBody): Promise<void> {
    const { judged } = this;
    if (judged.id !== id) return;
    const data = error.data ?? {};
    if (error.code === "stale_digest") await judged.refresh({ kind: "stale" });
    else if (error.code === "not_armed") await judged.refresh({ kind: "not_armed" });
    else if (error.code === "already_settled" || error.code === "no_such_approval") {
      const by = data["by"];
      const who = typeof by === "object" && by !== null ? (by as { who?: string }).who : by;
      const settled: Settled = {
        state: typeof data["state"] === "string" ? data["state"] : "settled",
        by: typeof who === "string" ? who : undefined,
        at_ms: typeof data["at_ms"] === "number" ? data["at_ms"] : undefined,
      };
      this.#settled(id, settled);
      judged.note = { kind: "settled", settled };
    } else if (error.code === "denied_by_policy") {
      judged.note = { kind: "denied_by_policy", rule: typeof data["rule"] === "string" ? data["rule"] : "" };
      judged.arming.rearm();
    } else {
      judged.note = { kind: "failed", error };
      judged.arming.rearm();
    }
  }

  async cancelSelected(note?: string): Promise<void> {
    const ids = [...this.selection.ids];
    const items = ids.map((id) => this.queue.get(id));
    try {
      const { outcomes } = await this.backend.approvalsCancel({ ids, ...(note !== undefined && { note }) });
      const now = this.clock.exact();
      outcomes.forEach((outcome, index) => {
        const item = items[index];
        if (item === undefined) return;
        if (outcome.changed) this.journal.add("cancelled", item, now);
        this.#settled(item.id, { state: outcome.state ?? "settled", by: outcome.changed ? "user" : undefined, at_ms: now });
      });
      const changed = outcomes.filter((outcome) => outcome.changed).length;
      this.say(text.cancel.result(changed, outcomes.length - changed));
      this.selection.clear();
      if (this.judged.id !== undefined && ids.includes(this.judged.id)) void this.judge(this.queue.neighbour(this.judged.id, 1) ?? this.queue.neighbour(this.judged.id, -1));
    } catch (thrown) {
      this.say(errorBody(thrown).message);
    }
  }

  async setPaused(paused: boolean): Promise<void> {
    try {
      await (paused ? this.backend.pause() : this.backend.resume());
      if (this.snapshot !== undefined) this.snapshot = { ...this.snapshot, paused };
    } catch (thrown) {
      this.say(errorBody(thrown).message);
    }
  }

  async revoke(grants: readonly Grant[], note?: string): Promise<void> {
    try {
      const { outcomes } = await this.backend.grantsRevoke(grants.map((grant) => grant.id), note);
      this.changes.grants += 1;
      this.say(text.grants.revoked(outcomes.filter((one) => one.changed).length));
    } catch (thrown) {
      this.say(errorBody(thrown).message);
    }
  }

  /** Each by itself: one that cannot be shortened holds none of the others up. */
  async shorten(grants: readonly Grant[], expires_at_ms: number): Promise<void> {
    const done = await Promise.allSettled(grants.map((grant) => this.backend.grantsShorten(grant.id, expires_at_ms)));
    this.changes.grants += 1;
    const failed = done.find((one) => one.status === "rejected");
    this.say(failed === undefined ? text.grants.shortened(done.length) : errorBody(failed.reason).message);
  }

  /** Shows a change of a client's settings before it is made. */
  askClient(change: ClientChange, told: ClientTold): void {
    this.clientAsked = { change, told };
    this.openSheet("client");
  }

  /** What the alert says was read; it does not come back with the next snapshot. */
  dismissAlert(): void {
    this.#alertsSeen = Math.max(this.#seq, ...(this.snapshot?.alerts ?? []).map((one) => one.seq));
    this.alert = undefined;
  }

  /** Makes the change that was shown. What it was refused for is the sheet's to say. */
  async changeClient(change: ClientChange, shown: ClientTold): Promise<void> {
    const { client, backup } = await this.backend.clientsChange(shown.client, change, shown.diff);
    this.changes.clients += 1;
    if (this.sheet === "client") this.closeSheet();
    this.say(text.agents.connect.done(change, text.agents.connect.names[client], backup ?? undefined));
  }

  /** Starts the built-in agent and shows its session. What it was refused for is the sheet's to say. */
  async startRun(order: RunOrder): Promise<void> {
    const { session } = await this.backend.agentStart(order);
    this.changes.sessions += 1;
    this.sessionOpen = session;
    if (this.sheet === "start") this.closeSheet();
    this.say(text.agents.run.started);
  }

  /** Cancels what a session waits for and ends it. A run of the built-in agent is broken off, where it runs here. */
  async stopSession(session: SessionItem): Promise<void> {
    try {
      if (!(session.agent === BUILT_IN && (await this.#stopRun(session.id)))) await this.backend.sessionsStop(session.id);
      this.changes.sessions += 1;
      this.say(text.agents.stoppedNow);
    } catch (thrown) {
      this.say(errorBody(thrown).message);
    }
  }

  async #stopRun(session: string): Promise<boolean> {
    try {
      await this.backend.agentStop(session);
      return true;
    } catch (thrown) {
      if (errorBody(thrown).code === "no_such_session") return false;
      throw thrown;
    }
  }

  /** A rule of what was answered, as a change of the policy that only the person's own saving puts in force. */
  async makeRule(from: RuleSource): Promise<void> {
    try {
      const made = await this.policy.propose(from);
      this.sheet = undefined;
      this.go("policy");
      if (made === "dirty") return this.say(text.policy.finishDraft);
      this.policyRule = made.name;
      this.changes.policy += 1;
      if (this.policy.savable) this.openSheet("policy");
    } catch (thrown) {
      this.say(errorBody(thrown).message);
    }
  }

  /** The life of one call, in the history. */
  openCall(call: OpenCall): void {
    this.go("history");
    this.open = call;
  }

  /** The history, narrowed. `about` says to what, where the filter itself is a mere id. */
  openHistory(filter: HistoryFilter, about?: string): void {
    this.historyWanted = { filter, about };
    this.go("history");
  }

  /** A short word at the foot of the window, said aloud as well. */
  say(words: string): void {
    clearTimeout(this.#toastTimer);
    this.toast = words;
    this.#toastTimer = setTimeout(() => {
      this.toast = undefined;
    }, 5_000);
  }
}
