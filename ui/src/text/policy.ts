/** A rule as it stands in the file: enough to list it and to go to it. */
export interface RuleInFile {
  name: string;
  decide: string;
  /** What it is about, in a line: its matchers as far as they are plain lists of one line. */
  says: string;
  /** The line of its `[[rule]]`, from 1. */
  line: number;
}

/** Matchers that are told, in the order in which they are. */
const told: Record<string, string> = { action: "", tool: "", path: "under ", host: "at ", command: "", mcp_server: "server ", agent: "from ", network: "" };

/** The plain strings of a list or a value that stands in one line. */
const strings = (value: string): string[] => [...value.matchAll(/"((?:\\.|[^"\\])*)"|'([^']*)'/g)].map(([, one, other]) => other ?? one ?? "");

/** What holds where no rule matches. */
export function defaultOf(text: string): { decide: string; line: number } | undefined {
  for (const [index, line] of text.split("\n").entries()) {
    if (/^\s*\[/.test(line)) return undefined;
    const pair = /^\s*default\s*=\s*(?:"([^"]*)"|'([^']*)')/.exec(line);
    if (pair !== null) return { decide: pair[1] ?? pair[2] ?? "", line: index + 1 };
  }
  return undefined;
}

/** The rules of a policy's text, in their order. Reads headings and plain strings only: it judges nothing and refuses nothing. */
export function rulesOf(text: string): RuleInFile[] {
  const rules: RuleInFile[] = [];
  let inRule = false;
  for (const [index, line] of text.split("\n").entries()) {
    if (/^\s*\[/.test(line)) {
      inRule = /^\s*\[\[\s*rule\s*\]\]/.test(line);
      if (inRule) rules.push({ name: "", decide: "", says: "", line: index + 1 });
      continue;
    }
    const rule = rules.at(-1);
    const matcher = /^\s*(\w+)\s*=\s*(.+)$/.exec(line);
    const word = told[matcher?.[1] ?? ""];
    if (inRule && rule !== undefined && word !== undefined) {
      const values = strings(matcher?.[2] ?? "").map((value) => value.replace("${workspace}/", ""));
      if (values.length > 0) rule.says = `${rule.says}${rule.says === "" ? "" : " "}${word}${values.join(", ")}`;
    }
    const pair = /^\s*(name|decide)\s*=\s*(?:"((?:\\.|[^"\\])*)"|'([^']*)')/.exec(line);
    if (!inRule || rule === undefined || pair === null) continue;
    const value = pair[3] ?? (pair[2] ?? "").replace(/\\(["\\])/g, "$1");
    if (pair[1] === "name") rule.name = value;
    else rule.decide = value;
  }
  return rules;
}
