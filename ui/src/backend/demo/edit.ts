// What the demonstration's gate makes of an edited input: enough of a judgement to edit against.
import type { ApprovalDetail, ApprovalPreview, DiffLine } from "../types";
import { APP, command, fakeDigest, path, t, textContent } from "./make";

const lines = (change: DiffLine["change"], text: string): DiffLine[] => (text === "" ? [] : text.split("\n").map((line, index) => ({ change, ...(change === "added" ? { new: index + 1 } : { old: index + 1 }), spans: [t(line)] })));

/** The call as it would be with this input. */
export function previewOf(call: ApprovalDetail, input: unknown): ApprovalPreview {
  const digest = fakeDigest(`${call.digest}/${JSON.stringify(input)}`);
  const { command: words, file_path, path: other, content, old_string, new_string } = (typeof input === "object" && input !== null ? input : {}) as Record<string, string | undefined>;
  const refused = typeof input !== "object" || input === null || Array.isArray(input) ? { code: "bad_input", reason: "The input is no object." } : null;
  if (words !== undefined) {
    const opaque = words.includes("$(");
    const headline = opaque ? "one command, which cannot be inspected" : "one command";
    return { ...call, digest, refused, headline, main: [t(words)], lead: [], rest: [], flags: opaque ? ["uninspectable"] : [], flags_explained: opaque ? [{ flag: "uninspectable", label: "not inspectable", sentence: "What this command does cannot be told from its text." }] : [], card: { ...call.card, headline, commands: [command("", [t(words)], "execute", [], opaque ? "The shell would run a command here and put its output in its place." : undefined)] } };
  }
  const where = file_path ?? other ?? "";
  const whole = where.startsWith("/") ? where : `${APP}/${where}`;
  const at = whole.lastIndexOf("/") + 1;
  const [removed, added] = [lines("removed", old_string ?? ""), lines("added", new_string ?? "")];
  const headline = content === undefined ? `to one file: ${added.length} ${added.length === 1 ? "line" : "lines"} added, ${removed.length} removed` : `a new file of ${content.split("\n").length} lines`;
  const shown = content === undefined ? { kind: "diff" as const, title: [t(whole)], added: added.length, removed: removed.length, lines: [...removed, ...added] } : textContent("New file", "md", content.split("\n"));
  const subjects = [path("write", whole.slice(0, at), whole.slice(at))];
  return { ...call, digest, refused, headline, lead: [t(whole.slice(0, at))], main: [t(whole.slice(at))], rest: [], card: { ...call.card, headline, subjects, content: [shown] } };
}
