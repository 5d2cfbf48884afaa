// A gate in memory, so that the window runs and is tested in a plain browser. It keeps the same promises as the real one:
// one settlement each, the digest that was on the screen, and no answer before the card was.
import type { RunNext, RunOrder, RunSoFar, Told } from "./agent";
import type { ClientChange, ClientItem, ClientName, ClientProof, ClientTold } from "./clients";
import type { Backend, Unlisten } from "./backend";
import type { Exported, ExportOrder, SettingsChange, SettingsState } from "./settings";
import { alikeCalls, floodCalls, hostileCalls, newcomer, plainCalls } from "./demo/calls";
import { DemoClients } from "./demo/clients";
import { previewOf } from "./demo/edit";
import { HOME, fakeDigest } from "./demo/make";
import { demoGrants, demoSessions, historyCall, historyItem, policyText } from "./demo/past";
import { hostileRun, runSoFar } from "./demo/run";
import { checkPolicy, policyState, proposal, tryCall } from "./demo/policy";
import { matches, statsOf } from "./demo/stats";
import type { ApprovalDetail, ApprovalItem, ApprovalStateWord, ErrorBody, FactMessage, Grant, GrantPreview, HistoryCall, HistoryFilter, HistoryItem, Outcome, Page, PolicyProposal, PolicyRuling, PolicyState, RuleSource, Scope, SessionItem, Snapshot, TriedCall, WalkProgress } from "./types";

const PAST = 1_200;
const FLOOD = 10_000;

const refuse = (code: string, message: string, data: Record<string, unknown> = {}): ErrorBody => ({ code, message: `${code}: ${message}`, data: { code, ...data } });

/** A moment, so that loading states exist. */
const soon = <T>(value: T): Promise<T> => new Promise((resolve) => setTimeout(() => resolve(value), 8));

export class DemoBackend implements Backend {
  #calls: Map<string, ApprovalDetail>;
  #settledAt = new Map<string, { at_ms: number; by: string }>();
  #shownAt = new Map<string, number>();
  #decided: HistoryItem[] = [];
  #grants: Grant[];
  #facts = new Set<(fact: FactMessage) => void>();
  #shows = new Set<(approval: string | undefined) => void>();
  #seq = 4_000;
  #paused: boolean;
  #number = 60;
  #down: boolean;
  #policy: string;
  #stopped = new Set<string>();
  #started: SessionItem[] = [];
  #clients = new DemoClients(HOME, Date.now() - 3_600_000);
  #settings: SettingsState = {
    notifications: { on: true, gather_over: 3, sound: false, quiet: { on: false, from: "22:00", to: "07:00" } },
    when_no_gate: "start", start_at_login: false, waiting: { per_session: 50, in_all: 500 }, path: `${HOME}/.config/placet/settings.toml`,
  };
  #walking = false;
  #walks = new Set<(done: WalkProgress) => void>();
  #exporting = false;
  #exports = new Set<(lines: number) => void>();
  #runs = new Set<(next: RunNext) => void>();
  #followed: string | undefined;
  #told = 0;

  constructor(private readonly scene: string) {
    const now = Date.now();
    this.#policy = policyText(scene === "policy" ? "aks" : "ask");
    const calls = scene === "alike" ? alikeCalls(now) : scene === "hostile" ? hostileCalls(now) : scene === "empty" || scene === "first" ? [] : scene === "flood" ? floodCalls(now, FLOOD) : plainCalls(now);
    this.#calls = new Map(calls.map((call) => [call.id, call]));
    this.#grants = scene === "first" ? [] : demoGrants(now);
    this.#paused = scene === "paused";
    this.#down = scene === "down";
    for (const call of calls) this.#expireLater(call);
    // The browser's console and the browser tests make things happen through this.
    Object.assign(globalThis, { placetDemo: this });
  }

  // ── What the browser tests do from outside ─────────────────────────────

  arrive(): string {
    const call = newcomer(Date.now(), ++this.#number);
    this.#calls.set(call.id, call);
    this.#expireLater(call);
    this.#emit({ kind: "approval_asked", approval: call.id });
    return call.id;
  }

  /** What would run changes: another digest. `silent` tells nobody. */
  change(id: string, silent = false): void {
    const call = this.#calls.get(id);
    if (call === undefined) return;
    this.#calls.set(id, { ...call, digest: fakeDigest(`${call.digest}/changed`), headline: `${call.headline}, changed since`, card: { ...call.card, headline: `${call.headline}, changed since` } });
    if (!silent) this.#emit({ kind: "approval_refreshed", approval: id, changed: ["content"] });
  }

  settleElsewhere(id: string, silent = false): void {
    this.#settle(id, "denied", "supervisor", silent);
  }

  expire(id: string): void {
    this.#settle(id, "expired", "timeout");
  }

  changePolicy(text: string): void {
    this.#policy = text;
    this.#emit({ kind: "policy_loaded" });
  }

  skipFact(): void {
    this.#seq += 1;
  }

  recover(): void {
    this.#down = false;
  }

  ask(id: string | undefined): void {
    for (const show of this.#shows) show(id);
  }

  // ── The backend ────────────────────────────────────────────────────────

  settingsGet(): Promise<SettingsState> {
    return soon(structuredClone(this.#settings));
  }

  async settingsPut({ notifications, when_no_gate, start_at_login, waiting }: SettingsChange): Promise<SettingsState> {
    await soon(undefined);
    if (this.#settings.problem !== undefined) throw refuse("not_written", `settings.toml has a mistake, so nothing is put into it: ${this.#settings.problem}`);
    const { quiet, ...others } = notifications ?? {};
    const now = this.#settings;
    if (others.gather_over !== undefined && !(others.gather_over >= 1 && others.gather_over <= 100)) throw refuse("invalid_params", "notifications.gather_over is from 1 to 100");
    this.#settings = {
      ...now,
      notifications: { ...now.notifications, ...others, quiet: { ...now.notifications.quiet, ...quiet } },
      when_no_gate: when_no_gate ?? now.when_no_gate,
      start_at_login: start_at_login ?? now.start_at_login,
      waiting: { ...now.waiting, ...waiting },
    };
    return structuredClone(this.#settings);
  }

  async historyExport({ format, filter }: ExportOrder): Promise<Exported> {
    this.#exporting = true;
    let lines = 0;
    const all = this.#history().filter((item) => matches(item, filter ?? {})).length;
    while (this.#exporting && lines < all) {
      await soon(undefined);
      lines = Math.min(all, lines + 100);
      for (const listener of this.#exports) listener(lines);
    }
    const stopped = !this.#exporting;
    this.#exporting = false;
    const name = { facts: "placet-history.jsonl", csv: "placet-history.csv", audit_log: "audit_log.jsonl", session_summaries: "session_summaries.jsonl", ocsf: "placet-history.ocsf.jsonl" }[format];
    return { file: stopped ? null : `${HOME}/${name}`, lines, stopped };
  }

  async historyVerifyStop(): Promise<void> {
    await soon(undefined);
    this.#walking = false;
  }

  onWalk(listener: (done: WalkProgress) => void): Promise<Unlisten> {
    this.#walks.add(listener);
    return Promise.resolve(() => this.#walks.delete(listener));
  }

  async historyExportStop(): Promise<void> {
    await soon(undefined);
    this.#exporting = false;
  }

  onExport(listener: (lines: number) => void): Promise<Unlisten> {
    this.#exports.add(listener);
    return Promise.resolve(() => this.#exports.delete(listener));
  }

  snapshot(): Promise<Snapshot> {
    if (this.#down) return Promise.reject(refuse("not_open", "the gate's store could not be opened"));
    return soon({
      version: "0.1.0", paused: this.#paused, policy: this.#policyState(),
      waiting: this.#pending().length, expired_while_away: this.scene === "away" ? 3 : 0, seq: this.#seq, now_ms: Date.now(), home: HOME,
      alerts: this.scene === "alert" ? [{ seq: 3_990, at_ms: Date.now() - 90_000, alert: "files_unwatched", message: "Files cannot be watched here (no inotify instance is left), so a change of policy.toml is followed only when Placet is started again." }] : [],
    });
  }

  onFact(listener: (fact: FactMessage) => void): Promise<Unlisten> {
    this.#facts.add(listener);
    return Promise.resolve(() => this.#facts.delete(listener));
  }

  onShow(listener: (approval: string | undefined) => void): Promise<Unlisten> {
    this.#shows.add(listener);
    return Promise.resolve(() => this.#shows.delete(listener));
  }

  approvalsList({ after, limit = 50 }: { after?: string; limit?: number }): Promise<Page<ApprovalItem>> {
    const all = this.#pending();
    const from = after === undefined ? 0 : all.findIndex((item) => item.id === after) + 1;
    const items = all.slice(from, from + limit);
    const next = from + limit < all.length ? items.at(-1)?.id : undefined;
    return soon({ items, ...(next !== undefined && { next }) });
  }

  approvalsGet(id: string): Promise<ApprovalDetail> {
    const call = this.#calls.get(id);
    return call === undefined ? Promise.reject(refuse("no_such_approval", "no approval has this id")) : soon(call);
  }

  approvalsShown(id: string, digest: string): Promise<void> {
    const key = `${id}/${digest}`;
    // One card is on the screen: any other has left it.
    for (const other of this.#shownAt.keys()) if (other !== key) this.#shownAt.delete(other);
    if (!this.#shownAt.has(key)) this.#shownAt.set(key, performance.now());
    return soon(undefined);
  }

  approvalsPreview(id: string, input: unknown): ReturnType<Backend["approvalsPreview"]> {
    const call = this.#calls.get(id);
    return call === undefined ? Promise.reject(refuse("no_such_approval", "no approval has this id")) : soon(previewOf(call, input));
  }

  async approvalsApprove({ id, digest, grant, input }: { id: string; digest: string; grant?: Scope; input?: unknown }): Promise<{ approval: ApprovalItem; grant?: Grant }> {
    await soon(undefined);
    const call = this.#checked(id);
    const now = input === undefined ? call.digest : previewOf(call, input).digest;
    if (now !== digest) throw refuse("stale_digest", "what would run has changed", { digest: now });
    this.#mustBeArmed(call, digest);
    if (input !== undefined && !call.can_edit) throw refuse("not_editable", "this client takes no changed input");
    if (input !== undefined && JSON.stringify(input).includes("/tests/")) throw refuse("denied_by_policy", "a rule forbids it", { rule: "tests are the yardstick" });
    if (this.#paused) throw refuse("denied_by_policy", "everything is paused", { rule: "" });
    this.#settle(id, "approved", "user");
    if (grant === undefined) return { approval: call };
    const issued: Grant = { id: `g${this.#seq}`, sentence: this.#sentence(call, grant), effect: "allow", scope: grant, state: "active", from_approval: id, issued_at_ms: Date.now(), expires_at_ms: Date.now() + grant.expires_in_ms, used: 0, ...(grant.uses !== undefined && { uses_left: grant.uses }) };
    this.#grants.unshift(issued);
    this.#emit({ kind: "grant_issued" });
    return { approval: call, grant: issued };
  }

  async approvalsDeny({ id }: { id: string; note?: string }): Promise<{ approval: ApprovalItem }> {
    await soon(undefined);
    const call = this.#checked(id);
    this.#mustBeArmed(call, call.digest);
    this.#settle(id, "denied", "user");
    return { approval: call };
  }

  async approvalsCancel({ ids }: { ids: string[] }): Promise<{ outcomes: Outcome[] }> {
    await soon(undefined);
    return {
      outcomes: ids.map((id) => {
        const call = this.#calls.get(id);
        if (call === undefined) return { id, state: null, changed: false };
        if (call.state !== "pending") return { id, state: call.state, changed: false };
        this.#settle(id, "cancelled", "batch");
        return { id, state: "cancelled", changed: true };
      }),
    };
  }

  grantsList(): Promise<Page<Grant>> {
    return soon({ items: [...this.#grants] });
  }

  grantsPreview(approval: string, scope: Scope): Promise<GrantPreview> {
    const call = this.#calls.get(approval);
    if (call === undefined) return Promise.reject(refuse("no_such_approval", "no approval has this id"));
    const wide = "folder" in scope.on || "origin" in scope.on;
    const examples = wide ? [historyItem(this.#seq - 7, this.#seq, Date.now()), historyItem(this.#seq - 9, this.#seq, Date.now())].map(({ at_ms, action, decision, subject }) => ({ at_ms, action, decision, main: subject })) : [];
    return soon({ sentence: this.#sentence(call, scope), matched: wide ? 34 : 1, examples, also_pending: wide ? 1 : 0 });
  }

  async grantsRevoke(ids: string[]): Promise<{ outcomes: { id: string; state: string | null; changed: boolean }[] }> {
    await soon(undefined);
    this.#grants = this.#grants.map((grant) => (ids.includes(grant.id) ? { ...grant, state: "revoked" as const, revoked: { at_ms: Date.now(), by: "user", note: null } } : grant));
    this.#emit({ kind: "grant_revoked" });
    return { outcomes: ids.map((id) => ({ id, state: "revoked", changed: true })) };
  }

  async grantsShorten(id: string, expires_at_ms: number): Promise<Grant> {
    await soon(undefined);
    const grant = this.#grants.find((one) => one.id === id);
    if (grant === undefined) throw refuse("no_such_grant", "no grant has this id");
    if (grant.state !== "active" || expires_at_ms >= grant.expires_at_ms || expires_at_ms <= Date.now()) throw refuse("bad_expiry", "a grant can only end earlier than it does");
    const shorter = { ...grant, expires_at_ms };
    this.#grants = this.#grants.map((one) => (one.id === id ? shorter : one));
    this.#emit({ kind: "grant_shortened" });
    return shorter;
  }

  historySearch({ after, limit = 50, ...filter }: HistoryFilter): Promise<Page<HistoryItem, number>> {
    const all = this.#history().filter((item) => matches(item, filter));
    const from = after === undefined ? 0 : all.findIndex((item) => item.seq === after) + 1;
    const items = all.slice(from, from + limit);
    return soon({ items, ...(from + limit < all.length && { next: items.at(-1)?.seq ?? 0 }) });
  }

  historyGet(which: { seq: number } | { approval: string }): Promise<HistoryCall> {
    const decided = this.#decided.find((item) => ("seq" in which ? item.seq === which.seq : item.approval === which.approval));
    const card = [...this.#calls.values()].find((call) => (decided === undefined ? call.action === "write" : call.id === decided.approval))?.card;
    const item = decided ?? historyItem("seq" in which ? which.seq : 2_996, 3_000, Date.now());
    return soon(historyCall(item, item.waited_ms === undefined || item.action !== "write" ? undefined : card));
  }

  historyStats(span: Parameters<Backend["historyStats"]>[0]): ReturnType<Backend["historyStats"]> {
    return soon(statsOf(this.#history(), span));
  }

  async historyVerify(): ReturnType<Backend["historyVerify"]> {
    const broken = this.scene === "hostile";
    const [of, long] = [this.#seq, this.scene === "many"];
    this.#walking = true;
    // As long as it takes the person to say stop, where there is much.
    for (let part = 1; this.#walking && part <= (long ? 100 : 3); part += 1) {
      await new Promise((resolve) => setTimeout(resolve, 40));
      for (const listener of this.#walks) listener({ rows: Math.floor((of * part) / (long ? 100 : 3)), of });
    }
    const stopped = !this.#walking;
    this.#walking = false;
    return { intact: !broken && !stopped, ...(stopped ? { stopped } : {}), anchors: 2, key: "file", rows: broken ? 1_203 : stopped ? Math.floor(of / 3) : of, head: { seq: this.#seq, hash: fakeDigest(`head/${this.#seq}`) }, ...(broken && { broken: { seq: 1_204, kind: "hash" } }) };
  }

  sessionsList({ running }: { running: boolean }): ReturnType<Backend["sessionsList"]> {
    const waiting = new Map<string, number>();
    for (const item of this.#pending()) waiting.set(item.session, (waiting.get(item.session) ?? 0) + 1);
    const all = [...demoSessions(Date.now(), waiting), ...this.#started].map((one) => (this.#stopped.has(one.id) ? { ...one, stopped_at_ms: Date.now() } : one));
    return soon({ items: this.scene === "first" ? [] : all.filter((one) => (one.stopped_at_ms === undefined) === running) });
  }

  async sessionsStop(session: string): Promise<void> {
    await soon(undefined);
    this.#stopped.add(session);
    for (const call of this.#pending()) if (call.session === session) this.#settle(call.id, "cancelled", "user");
    this.#emit({ kind: "session_stopped", session });
  }

  async agentStart({ provider }: RunOrder): Promise<{ session: string }> {
    await soon(undefined);
    if (provider !== "demo") throw refuse("invalid_params", `agent.toml names no provider: add [provider] with kind = "${provider}" and a model`);
    const session = `0193a0b1-7777-7000-8000-0000000000${10 + this.#started.length}`;
    this.#started.push({ id: session, agent: "builtin", workspace: "/tmp/placet-demo", started_at_ms: Date.now(), calls: 0, waiting: 0 });
    this.#emit({ kind: "session_started", session });
    return { session };
  }

  async agentStop(session: string): Promise<void> {
    if (!this.#started.some((one) => one.id === session)) throw refuse("no_such_session", "No run of the built-in agent has this session here.");
    await this.sessionsStop(session);
  }

  async agentFollow(session: string | undefined): Promise<RunSoFar | null> {
    await soon(undefined);
    this.#followed = session;
    if (session === undefined) return null;
    if (!this.#started.some((one) => one.id === session)) throw refuse("no_such_session", "No run of the built-in agent has this session here.");
    const told = this.scene === "hostile" ? hostileRun() : runSoFar(session);
    this.#told = told.length;
    return { told, forgotten: this.scene === "hostile" };
  }

  onRun(listener: (next: RunNext) => void): Promise<Unlisten> {
    this.#runs.add(listener);
    return Promise.resolve(() => this.#runs.delete(listener));
  }

  /** The followed run tells something more. */
  tell(...watched: Told[]): void {
    if (this.#followed === undefined) return;
    const told = watched.map((one) => ({ ...one, number: (this.#told += 1) }));
    for (const listener of this.#runs) listener({ session: this.#followed, told, missed: false });
  }

  clientsList(): Promise<ClientItem[]> {
    return soon(this.#clients.list());
  }

  clientsPreview(client: ClientName, change: ClientChange): Promise<ClientTold> {
    return soon(this.#clients.preview(client, change));
  }

  async clientsChange(client: ClientName, change: ClientChange, diff: string): Promise<ClientTold> {
    await soon(undefined);
    const told = this.#clients.change(client, change, diff);
    if (told === undefined) throw refuse("not_written", "The settings have changed since the change was shown. Nothing was written: look again.");
    return told;
  }

  clientsProve(): Promise<ClientProof[]> {
    return soon(this.#clients.prove());
  }

  policyGet(): ReturnType<Backend["policyGet"]> {
    return soon(this.#policyState());
  }

  policyCheck(text: string): ReturnType<Backend["policyCheck"]> {
    return soon(checkPolicy(text));
  }

  async policyPut(text: string, digest: string): Promise<PolicyState> {
    await soon(undefined);
    const now = this.#policyState();
    if (now.digest !== digest) throw refuse("stale_digest", "the policy file has changed since it was read", { digest: now.digest });
    const check = checkPolicy(text);
    if (!check.ok) throw refuse("invalid_params", check.error.message);
    this.changePolicy(text);
    return this.#policyState();
  }

  async policyPropose(from: RuleSource): Promise<PolicyProposal> {
    await soon(undefined);
    if ("grant" in from) {
      const grant = demoGrants(Date.now()).find((one) => one.id === from.grant);
      if (grant === undefined) throw refuse("no_such_grant", "There is no grant of this id.");
      return proposal(this.#policy, grant.sentence, grant.effect, grant.sentence.includes("write") ? "write" : undefined);
    }
    const call = this.#calls.get(from.approval);
    if (call === undefined) throw refuse("no_such_approval", "no approval has this id");
    return proposal(this.#policy, `${call.action} by ${call.agent}`, from.deny === true ? "deny" : "allow", call.action);
  }

  policyTry(call: TriedCall): Promise<PolicyRuling> {
    return soon(tryCall(call.text ?? this.#policy, call));
  }

  async pause(): Promise<void> {
    this.#paused = true;
    this.#emit({ kind: "paused", by: { who: "user" } });
    await soon(undefined);
  }

  async startAgain(): Promise<void> {}

  async resume(): Promise<void> {
    this.#paused = false;
    this.#emit({ kind: "resumed", by: { who: "user" } });
    await soon(undefined);
  }

  // ── Within ─────────────────────────────────────────────────────────────

  #policyState(): PolicyState {
    return policyState(this.#policy, policyText("ask"));
  }

  #history(): HistoryItem[] {
    const past = this.scene === "first" ? [] : Array.from({ length: PAST }, (_, i) => historyItem(3_000 - i, 3_000, Date.now()));
    return [...this.#decided, ...past];
  }

  #pending(): ApprovalDetail[] {
    return [...this.#calls.values()].filter((call) => call.state === "pending");
  }

  #checked(id: string): ApprovalDetail {
    const call = this.#calls.get(id);
    if (call === undefined) throw refuse("no_such_approval", "no approval has this id");
    if (call.state !== "pending") throw refuse("already_settled", `it is ${call.state}`, { state: call.state, ...this.#settledAt.get(id) });
    return call;
  }

  #mustBeArmed(call: ApprovalDetail, digest: string): void {
    const shown = this.#shownAt.get(`${call.id}/${digest}`);
    if (shown === undefined || performance.now() - shown < (call.card.grave ? 1_000 : 500)) throw refuse("not_armed", "the card was not on the screen for long enough");
  }

  #settle(id: string, state: ApprovalStateWord, by: string, silent = false): void {
    const call = this.#calls.get(id);
    if (call?.state !== "pending") return;
    const at_ms = Date.now();
    this.#calls.set(id, { ...call, state, by, settled_at_ms: at_ms });
    this.#settledAt.set(id, { at_ms, by });
    const { agent, session, workspace, tool, action, flags, lead, main, rest, number, digest, action_digest, created_at_ms } = call;
    this.#decided.unshift({ seq: this.#seq + 1, at_ms, agent, session, workspace, tool, action, decision: state, by, flags, subject: [...lead, ...main, ...rest], number, digest, action_digest, waited_ms: at_ms - created_at_ms, approval: id });
    if (silent) this.#seq += 1;
    else this.#emit({ kind: `approval_${state}`, approval: id, by: { who: by } });
  }

  #expireLater(call: ApprovalDetail): void {
    setTimeout(() => this.#settle(call.id, "expired", "timeout"), Math.max(0, call.expires_at_ms - Date.now()));
  }

  #emit(fact: Omit<FactMessage, "seq" | "at_ms">): void {
    const message: FactMessage = { seq: ++this.#seq, at_ms: Date.now(), ...fact };
    setTimeout(() => {
      for (const listener of this.#facts) listener(message);
    }, 0);
  }

  #sentence(call: ApprovalDetail, scope: Scope): string {
    const who = { session: `${call.agent}, session ${call.session.slice(-4)}`, agent_in_workspace: `${call.agent}, in ~/app`, agent: `${call.agent}, anywhere`, workspace: "any agent, in ~/app" }[scope.who];
    const [form, value] = Object.entries(scope.on)[0] ?? ["exact", true];
    const on = form === "exact" ? "exactly this call" : `${form.replaceAll("_", " ")} ${Array.isArray(value) ? value.join(" ") : String(value)}`;
    const until = new Date(Date.now() + scope.expires_in_ms);
    return `${who}, may ${call.action} ${on.replaceAll(HOME, "~")} until ${String(until.getHours()).padStart(2, "0")}:${String(until.getMinutes()).padStart(2, "0")}${scope.uses === undefined ? "" : `, at most ${scope.uses} times`}.`;
  }
}
