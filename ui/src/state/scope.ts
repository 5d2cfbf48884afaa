import type { ApprovalDetail, PathText, Scope, ScopeOn, Span } from "../backend/types";
import { text } from "../text/en";
import { pathSpans, visible } from "../text/spans";

/** One choice of a scope's row, the narrowest first. */
export interface Choice<T> {
  value: T;
  label: string;
  /** What it names, as it would be shown. */
  what: readonly Span[];
  /** Wider than what is offered first. */
  wider: boolean;
}

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

export const durations: readonly Choice<number>[] = [
  { value: 15 * MINUTE, label: text.scope.minutes15, what: [], wider: false },
  { value: HOUR, label: text.scope.hour1, what: [], wider: false },
  { value: 8 * HOUR, label: text.scope.hours8, what: [], wider: true },
  { value: 7 * 24 * HOUR, label: text.scope.days7, what: [], wider: true },
];

export function whoChoices(detail: ApprovalDetail, home: string): Choice<Scope["who"]>[] {
  const workspace = pathSpans(detail.workspace, home);
  return [
    { value: "session", label: text.scope.session, what: visible(detail.session.replaceAll("-", "").slice(-4)), wider: false },
    { value: "agent_in_workspace", label: text.scope.agentIn(detail.agent), what: workspace, wider: false },
    { value: "agent", label: text.scope.agentAnywhere(detail.agent), what: [], wider: true },
    { value: "workspace", label: text.scope.anyAgentIn, what: workspace, wider: true },
  ];
}

/** The subject as the gate knows it, as far as a scope is made of it. */
interface RawSubject {
  kind?: string;
  resolved?: PathText;
  normalized?: string;
  scheme?: string;
  host?: string;
  port?: number;
  path?: string;
  asked?: string;
  commands?: { argv?: string[]; prefix_grantable?: boolean }[];
  server?: string;
  tool?: string;
}

/** The forms of `on` that the gate says this call may take, with the values they would have. */
export function onChoices(detail: ApprovalDetail, home: string): Choice<ScopeOn>[] {
  const subject = (detail.subjects[0] ?? {}) as RawSubject;
  return detail.grantable.flatMap((form) => onForm(form, subject, home));
}

function onForm(form: string, subject: RawSubject, home: string): Choice<ScopeOn>[] {
  const { resolved, normalized, scheme, host, port, path, asked, commands, server, tool } = subject;
  switch (form) {
    case "exact":
      return [{ value: { exact: true }, label: text.scope.exact, what: [], wider: false }];
    case "path":
      return typeof resolved === "string" ? [{ value: { path: resolved }, label: text.scope.path, what: [], wider: false }] : [];
    case "folder": {
      if (typeof resolved !== "string") return [];
      const parent = resolved.slice(0, resolved.lastIndexOf("/"));
      return parent === "" ? [] : [{ value: { folder: parent }, label: text.scope.folder, what: pathSpans(parent, home), wider: true }];
    }
    case "url":
      return normalized === undefined ? [] : [{ value: { url: normalized }, label: text.scope.url, what: [], wider: false }];
    case "url_prefix": {
      if (scheme === undefined || host === undefined || path === undefined) return [];
      const prefix = `${origin(scheme, host, port)}${path.slice(0, path.lastIndexOf("/") + 1)}`;
      return [{ value: { url_prefix: prefix }, label: text.scope.urlPrefix, what: visible(prefix), wider: true }];
    }
    case "origin":
      return scheme === undefined || host === undefined ? [] : [{ value: { origin: origin(scheme, host, port) }, label: text.scope.origin, what: visible(origin(scheme, host, port)), wider: true }];
    case "command":
      return asked === undefined ? [] : [{ value: { command: asked }, label: text.scope.command, what: [], wider: false }];
    case "command_prefix": {
      const words = commands?.[0]?.argv?.slice(0, 2);
      return words === undefined || words.length === 0 ? [] : [{ value: { command_prefix: words }, label: text.scope.commandPrefix, what: visible(words.join(" ")), wider: true }];
    }
    case "mcp_tool":
      return server === undefined || tool === undefined ? [] : [{ value: { mcp_tool: `${server}/${tool}` }, label: text.scope.mcpTool, what: visible(`${server}/${tool}`), wider: true }];
    default:
      return [];
  }
}

function origin(scheme: string, host: string, port: number | undefined): string {
  const name = host.includes(":") ? `[${host}]` : host;
  const usual = port === undefined || (scheme === "https" && port === 443) || (scheme === "http" && port === 80);
  return `${scheme}://${name}${usual ? "" : `:${port}`}`;
}
