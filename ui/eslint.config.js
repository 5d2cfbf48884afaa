import js from "@eslint/js";
import svelte from "eslint-plugin-svelte";
import globals from "globals";
import ts from "typescript-eslint";

import svelteConfig from "./svelte.config.js";

/** Text of an agent is never markup: every way to turn a string into elements is shut. */
const noMarkupFromText = [
  { selector: "MemberExpression[property.name=/^(innerHTML|outerHTML|insertAdjacentHTML|setHTMLUnsafe|createContextualFragment)$/]", message: "Text becomes a text node, never markup." },
  { selector: "CallExpression[callee.object.name='document'][callee.property.name=/^write(ln)?$/]", message: "Text becomes a text node, never markup." },
];

export default ts.config(
  { ignores: ["dist/", "node_modules/", "out/", "src/backend/bindings/"] },
  js.configs.recommended,
  ...ts.configs.strict,
  ...svelte.configs.recommended,
  { languageOptions: { globals: { ...globals.browser } } },
  { files: ["**/*.svelte", "**/*.svelte.ts"], languageOptions: { parserOptions: { parser: ts.parser, extraFileExtensions: [".svelte"], svelteConfig } } },
  { files: ["e2e/**", "*.config.*"], languageOptions: { globals: { ...globals.node } } },
  {
    rules: {
      "no-restricted-syntax": ["error", ...noMarkupFromText],
      "no-eval": "error",
      "svelte/no-at-html-tags": "error",
      "svelte/no-dom-manipulating": "error",
      // Maps and sets here are replaced whole in `$state.raw`, or are no state at all.
      "svelte/prefer-svelte-reactivity": "off",
      "no-undef": "off",
    },
  },
  {
    files: ["src/**"],
    ignores: ["src/backend/tauri.ts"],
    rules: { "no-restricted-imports": ["error", { patterns: [{ group: ["@tauri-apps/*"], message: "Only src/backend/tauri.ts knows Tauri." }] }] },
  },
);
