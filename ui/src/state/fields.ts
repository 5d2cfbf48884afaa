// Which fields of a known tool's input are worth an own place in the editor.

export interface Field {
  key: string;
  /** The key into the catalogue's words for fields. */
  name: "path" | "content" | "old" | "new" | "command" | "url" | "prompt" | "patch";
  /** A line, or a text of several. */
  several: boolean;
}

const path = (key: string): Field => ({ key, name: "path", several: false });
const several = (key: string, name: Field["name"]): Field => ({ key, name, several: true });

const paths = ["file_path", "path", "absolute_path", "notebook_path", "filePath"].map(path);

/** Fields by what a tool does; the names are those that clients give their tools. */
const tools: readonly { names: readonly string[]; fields: readonly Field[] }[] = [
  { names: ["write", "write_file", "create_file", "create"], fields: [...paths, several("content", "content"), several("file_text", "content")] },
  { names: ["edit", "edit_file", "replace", "str_replace", "str_replace_editor"], fields: [...paths, several("old_string", "old"), several("old_str", "old"), several("oldString", "old"), several("new_string", "new"), several("new_str", "new"), several("newString", "new")] },
  { names: ["bash", "shell", "run_shell_command", "execute", "exec_command", "run_command"], fields: [several("command", "command"), several("cmd", "command")] },
  { names: ["webfetch", "web_fetch", "fetch"], fields: [{ key: "url", name: "url", several: false }, several("prompt", "prompt")] },
  { names: ["read", "read_file", "view", "delete_file", "notebookedit"], fields: [...paths, several("new_source", "new")] },
  { names: ["apply_patch"], fields: [several("input", "patch"), several("patch", "patch"), several("command", "patch")] },
];

export const asObject = (input: unknown): Record<string, unknown> | undefined => (typeof input === "object" && input !== null && !Array.isArray(input) ? (input as Record<string, unknown>) : undefined);

/** The fields of a tool's input that are there and are text; none for a tool that is not known. */
export function fieldsOf(tool: string, input: unknown): Field[] {
  const object = asObject(input);
  const known = tools.find(({ names }) => names.includes(tool.toLowerCase()));
  if (object === undefined || known === undefined) return [];
  return known.fields.filter(({ key }) => Object.hasOwn(object, key) && typeof object[key] === "string");
}

/** The input as JSON to be read and changed. */
export const asJson = (input: unknown): string => JSON.stringify(input, null, 2) ?? "null";
