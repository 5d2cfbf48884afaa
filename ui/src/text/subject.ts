import type { ApprovalItem, PathText, Span } from "../backend/types";
import { plain, tildeSpans } from "./spans";

interface Line {
  lead: Span[];
  main: Span[];
  rest: Span[];
}

/** A row has room for about as many characters. */
const WIDE = 30;

/** Stands between an MCP server and its tool. Drawn by the window, so that no name can draw it for another. */
const between: Span = { text: " · " };

/** The quiet part of a subject as it is drawn: a folder with the home as `~`, a server with the point that parts it from its tool. */
export function leadOf(kind: string, lead: readonly Span[], home: string): Span[] {
  if (kind === "path") return tildeSpans(lead, home);
  return kind === "mcp" && lead.length > 0 ? [...lead, between] : [...lead];
}

/** The one line by which a call is known, in a list: server and tool apart. */
export function lineOf({ lead, main, rest, subjects }: Pick<ApprovalItem, "lead" | "main" | "rest" | "subjects">): Line {
  const kind = (subjects[0] as { kind?: string } | undefined)?.kind ?? "";
  return { lead: kind === "mcp" ? leadOf(kind, lead, "") : lead, main, rest };
}

/** As `lineOf`, for a narrow row: a long path within the workspace begins with `…/`, which no real path does. The workspace stands above the rows. */
export function rowLine(item: Pick<ApprovalItem, "lead" | "main" | "rest" | "subjects" | "workspace">, home: string): Line {
  const line = lineOf(item);
  const [first, ...others] = line.lead;
  const root = within(item.workspace);
  if (root === undefined || first === undefined || !("text" in first) || !first.text.startsWith(root)) return line;
  if (plain([...tildeSpans(line.lead, home), ...line.main]).length <= WIDE) return line;
  return { ...line, lead: [{ ...first, text: `…/${first.text.slice(root.length)}` }, ...others] };
}

const within = (workspace: PathText): string | undefined => (typeof workspace === "string" && workspace.length > 1 ? `${workspace.replace(/\/$/, "")}/` : undefined);
