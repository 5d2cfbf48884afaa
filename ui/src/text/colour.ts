/** A run of a line and the ink it takes: key, string, number, comment. */
export interface Token {
  ink: "k" | "st" | "n" | "cm" | "";
  text: string;
}

const hash = new Set(["toml", "sh", "bash", "shell", "py", "yml", "yaml", "rb", "ini", "conf", "env"]);
const slashes = new Set(["js", "ts", "jsx", "tsx", "mjs", "rs", "go", "c", "h", "cpp", "java", "kt", "swift", "svelte", "css", "scss", "cs", "php"]);
const keywords =
  /^(?:as|async|await|bool|break|case|catch|class|const|continue|def|default|delete|do|elif|else|enum|export|extends|false|fi|finally|fn|for|from|func|function|if|impl|import|in|interface|is|let|loop|match|mod|mut|new|nil|none|None|not|null|or|and|pass|pub|raise|return|self|static|struct|super|switch|then|this|throw|trait|true|True|False|try|type|undefined|use|var|void|where|while|with|yield)$/;
const token = /(?<st>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|`(?:\\.|[^`\\])*`)|(?<n>\b\d[\w.]*)|(?<k>[A-Za-z_][\w-]*)|(?<other>[^"'`\dA-Za-z_]+|.)/gsu;
const LONGEST = 2_000;

/** Light colouring of one line, enough to read it by; wrong at worst in its ink. Joined, the tokens are the text. */
export function colour(text: string, language: string): Token[] {
  const known = hash.has(language) || slashes.has(language) || language === "json";
  if (!known || text.length > LONGEST) return [{ ink: "", text }];
  const sign = hash.has(language) ? "#" : slashes.has(language) ? "//" : undefined;
  const tokens: Token[] = [];
  let quoted = false;
  const push = (ink: Token["ink"], run: string): void => {
    const last = tokens.at(-1);
    if (last?.ink === ink) last.text += run;
    else tokens.push({ ink, text: run });
  };
  for (const match of text.matchAll(token)) {
    const { st, n, k, other } = match.groups ?? {};
    if (quoted) push("cm", match[0]);
    else if (st !== undefined) push(language === "json" && /^\s*:/.test(text.slice(match.index + st.length)) ? "k" : "st", st);
    else if (n !== undefined) push("n", n);
    else if (k !== undefined) push(isKey(k, text, match.index, language) ? "k" : "", k);
    else if (other !== undefined) {
      const at = sign === undefined ? -1 : other.indexOf(sign);
      if (at < 0) push("", other);
      else {
        if (at > 0) push("", other.slice(0, at));
        push("cm", other.slice(at));
        quoted = true;
      }
    }
  }
  return tokens;
}

function isKey(word: string, text: string, at: number, language: string): boolean {
  if (keywords.test(word)) return true;
  return (language === "toml" || language === "ini") && /^\s*(?:\[+[\w.-]*)?$/.test(text.slice(0, at)) && /^\s*(?:=|[\w.-]*\])/.test(text.slice(at + word.length));
}

/** The language of a file by its name's end. */
export const languageOf = (name: string): string => /\.(\w+)$/.exec(name)?.[1]?.toLowerCase() ?? "text";
