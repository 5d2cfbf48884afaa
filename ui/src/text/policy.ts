/** A rule as it stands in the file: enough to list it and to go to it. */
export interface RuleInFile {
  name: string;
  decide: string;
  /** The line of its `[[rule]]`, from 1. */
  line: number;
}

/** The rules of a policy's text, in their order. Reads headings and plain strings only: it judges nothing and refuses nothing. */
export function rulesOf(text: string): RuleInFile[] {
  const rules: RuleInFile[] = [];
  let inRule = false;
  for (const [index, line] of text.split("\n").entries()) {
    if (/^\s*\[/.test(line)) {
      inRule = /^\s*\[\[\s*rule\s*\]\]/.test(line);
      if (inRule) rules.push({ name: "", decide: "", line: index + 1 });
      continue;
    }
    const rule = rules.at(-1);
    const pair = /^\s*(name|decide)\s*=\s*(?:"((?:\\.|[^"\\])*)"|'([^']*)')/.exec(line);
    if (!inRule || rule === undefined || pair === null) continue;
    const value = pair[3] ?? (pair[2] ?? "").replace(/\\(["\\])/g, "$1");
    if (pair[1] === "name") rule.name = value;
    else rule.decide = value;
  }
  return rules;
}
