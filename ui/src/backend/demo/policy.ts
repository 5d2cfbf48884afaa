// The demonstration's policy file: it is read for what a policy's author gets wrong most often, and no further.
import type { PolicyCheck, PolicyProposal, PolicyRuling, PolicyState, TriedCall } from "../types";
import { rulesOf } from "../../text/policy";
import { HOME, fakeDigest } from "./make";

export function checkPolicy(text: string): PolicyCheck {
  for (const [index, line] of text.split("\n").entries()) {
    const decide = /^\s*decide\s*=\s*"([^"]*)"/.exec(line);
    if (decide !== null && !["allow", "ask", "deny"].includes(decide[1] ?? "")) {
      const meant = decide[1]?.startsWith("a") ? " Did you mean “ask”?" : "";
      return { ok: false, error: { message: `“${decide[1]}” is not one of allow, ask, deny.${meant}`, line: index + 1, column: line.indexOf('"') + 1 } };
    }
    if (/^\s*[a-z_]+\s*=\s*$/.test(line)) return { ok: false, error: { message: "A value is missing after “=”.", line: index + 1, column: line.length } };
  }
  if (text.trim() === "") return { ok: false, error: { message: "The policy is empty." } };
  return { ok: true, digest: fakeDigest(`policy/${text}`) };
}

export function policyState(text: string, before: string): PolicyState {
  const check = checkPolicy(text);
  const digest = fakeDigest(`policy/${text}`);
  return { text, path: `${HOME}/.config/placet/policy.toml`, digest, in_force: check.ok ? digest : fakeDigest(`policy/${before}`), ok: check.ok, ...(!check.ok && { error: check.error }) };
}

/** The file with a rule more at its end. */
export function proposal(before: string, name: string, decide: string, action: string | undefined): PolicyProposal {
  const rule = `[[rule]]\nname = ${JSON.stringify(name)}\ndecide = "${decide}"\n${action === undefined ? "" : `action = ["${action}"]\n`}`;
  return { names: [name], rule, text: `${before.trimEnd()}\n\n${rule}`, diff: rule.replace(/^/gm, "+"), digest: fakeDigest(`policy/${before}`) };
}

export function tryCall(text: string, { tool, input }: TriedCall): PolicyRuling {
  const words = JSON.stringify(input);
  const named = (part: string): string | undefined => rulesOf(text).find((rule) => rule.name.includes(part))?.name;
  const deny = words.includes("tests/") && !/read/i.test(tool) ? named("yardstick") : undefined;
  if (deny !== undefined) return { ruling: "deny", rule: deny, reason: "Tests are protected: change the code, not the tests.", rules: [deny] };
  const ask = words.includes("config/") ? named("live") : undefined;
  if (ask !== undefined) return { ruling: "ask", rule: ask, reason: "The path as written matches no rule. Where it leads, config/live/server.toml, matches. The stricter one counts.", rules: [ask] };
  const allow = /read|list|grep|glob/i.test(tool) ? named("read in") : undefined;
  if (allow !== undefined) return { ruling: "allow", rule: allow, reason: "Every part of the call is covered.", rules: [allow] };
  return { ruling: "ask", reason: "No rule matches, and the policy's default is to ask.", rules: [] };
}
