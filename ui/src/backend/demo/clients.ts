// Settings of clients in memory: one connected, one by an older version, one that cannot be read, the rest as found.
import { clientNames, type ClientChange, type ClientItem, type ClientKnown, type ClientName, type ClientProof, type ClientTold } from "../clients";

const files: Record<ClientName, string> = {
  "claude-code": ".claude/settings.json", codex: ".codex/hooks.json", "gemini-cli": ".gemini/settings.json", "qwen-code": ".qwen/settings.json",
  copilot: ".copilot/hooks/placet.json", opencode: ".config/opencode/plugin/placet.js", cursor: ".cursor/hooks.json",
};

export class DemoClients {
  #states = new Map<ClientName, ClientItem["state"]>(clientNames.map((name) => [name, name === "claude-code" ? "connected" : name === "codex" ? "out_of_date" : name === "cursor" ? "unclear" : "not_connected"]));

  constructor(private readonly home: string, private readonly installedAtMs: number) {}

  list(): ClientItem[] {
    return clientNames.map((client) => {
      const state = this.#states.get(client) ?? "unclear";
      return { client, file: this.#file(client), state, altered: client === "opencode" ? ["/usr/bin/placet hook opencode || true"] : [], known: this.#known(client, state), ...(state === "unclear" && { why: `${this.#file(client)}: expected value at line 3 column 1` }) };
    });
  }

  preview(client: ClientName, change: ClientChange): ClientTold {
    const file = this.#file(client);
    const state = this.#states.get(client);
    const hook = `      "hooks": [{ "type": "command", "command": "/usr/bin/placet hook ${client}" }]`;
    const [sign, from, to] = change === "connect" ? ["+", 4, 6] : ["-", 6, 4];
    const diff = `--- ${file}\n+++ ${file}\n@@ -7,${from} +7,${to} @@\n   "hooks": {\n     "PreToolUse": [\n${sign}      "matcher": "*",\n${sign}${hook}\n     ]\n   }\n`;
    const changed = change === "connect" ? state !== "connected" : state !== "not_connected";
    return { client, file, changed, written: false, diff: changed ? diff : "", note: client === "codex" ? "Codex runs no hook that you have not trusted: open Codex, type /hooks, and trust the entries of Placet." : null };
  }

  change(client: ClientName, change: ClientChange, diff: string): ClientTold | undefined {
    const told = this.preview(client, change);
    if (told.diff !== diff) return undefined;
    this.#states.set(client, change === "connect" ? "connected" : "not_connected");
    return { ...told, written: told.changed, backup: `${told.file}.before-placet-1` };
  }

  prove(): ClientProof[] {
    return this.list().map(({ client, state }) => ({ client, state: state === "connected" ? "blocked" : state === "out_of_date" ? "not_blocked" : state === "unclear" ? "unreadable" : "not_installed", ...(state === "out_of_date" && { why: "the hook did not answer" }) }));
  }

  #known(client: ClientName, state: ClientItem["state"]): ClientKnown | null {
    if (state === "connected") return { installed_at_ms: this.installedAtMs, vanished: false, proof: { at_ms: this.installedAtMs, version: "0.1.0", client_version: "2.1.332 (Claude Code)", holds: true } };
    if (state === "out_of_date") return { installed_at_ms: this.installedAtMs, vanished: false, proof: { at_ms: this.installedAtMs, version: "0.1.0", client_version: null, holds: false } };
    return client === "gemini-cli" ? { installed_at_ms: this.installedAtMs, vanished: true, proof: null } : null;
  }

  #file(client: ClientName): string {
    return `${this.home}/${files[client]}`;
  }
}
