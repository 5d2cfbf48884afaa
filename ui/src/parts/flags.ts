/** Two or three words for each flag, as the gate says them; the queue shows the first that matters. */
const labels: Record<string, string> = {
  dotdot: "dot-dot", symlink: "symlink", hard_linked: "hard link", other_device: "other device", outside_workspace: "outside", protected: "protected", secret: "looks secret", not_utf8: "not text",
  bidi: "hidden text", invisible: "hidden text", control: "hidden text", mixed_script: "mixed letters", confusable: "lookalike", not_nfc: "odd accents", idn: "lookalike host",
  nonstandard_spelling: "odd spelling", control_chars_removed: "hidden text", backslash_in_authority: "odd spelling", loopback: "this machine", private: "local network", link_local: "link-local",
  metadata: "metadata", plain_http: "not encrypted", has_query: "carries data", odd_port: "odd port", uninspectable: "not inspectable", cwd_change: "changes folder", runs_project_code: "runs project code",
  runs_program_text: "runs code", carrier: "runs another", network: "reaches out", multi_line: "several lines", long: "long", many_commands: "many commands", non_ascii_space: "hidden text",
  expansion: "not inspectable", parse_error: "not inspectable", unknown_tool: "unknown tool", binary: "binary", tool_changed: "tool changed",
};

/** Most telling first; what is merely so (reaches out, long, runs project code) does not mark a row. */
const telling = [
  "uninspectable", "parse_error", "expansion", "protected", "metadata", "bidi", "invisible", "control", "non_ascii_space", "control_chars_removed", "idn", "confusable", "mixed_script", "backslash_in_authority",
  "nonstandard_spelling", "symlink", "dotdot", "outside_workspace", "secret", "hard_linked", "other_device", "not_utf8", "tool_changed", "link_local", "private", "loopback", "plain_http", "odd_port", "unknown_tool", "binary",
  "carrier", "runs_program_text", "not_nfc",
];

/** The one mark of a row in the queue. A flag that this version does not know is told rather than left out. */
export function rowMark(flags: readonly string[]): string | undefined {
  const first = telling.find((flag) => flags.includes(flag)) ?? flags.find((flag) => labels[flag] === undefined);
  return first === undefined ? undefined : flagLabel(first);
}

export const flagLabel = (flag: string): string => labels[flag] ?? flag.replaceAll("_", " ");
