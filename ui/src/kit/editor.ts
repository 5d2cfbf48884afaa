// The text editor, loaded when one is first shown. Everything that it draws is text; what would not show is drawn as an escape.
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { StreamLanguage, syntaxHighlighting } from "@codemirror/language";
import { json } from "@codemirror/legacy-modes/mode/javascript";
import { shell } from "@codemirror/legacy-modes/mode/shell";
import { toml } from "@codemirror/legacy-modes/mode/toml";
import { Compartment, EditorState, RangeSetBuilder, StateEffect, StateField, Transaction, type Extension } from "@codemirror/state";
import { Decoration, EditorView, gutterLineClass, GutterMarker, highlightSpecialChars, keymap, lineNumbers, type DecorationSet } from "@codemirror/view";
import { tagHighlighter, tags } from "@lezer/highlight";

import { escapeText, unseen } from "../text/spans";

export type EditorLanguage = "toml" | "json" | "shell" | "text";

/** Lines to mark, counted from 1. */
export interface Marks {
  bad?: number | undefined;
  here?: number | undefined;
}

export interface Editor {
  setText(text: string): void;
  mark(marks: Marks): void;
  reveal(line: number): void;
  focus(): void;
  destroy(): void;
}

interface Options {
  text: string;
  language: EditorLanguage;
  label: string;
  testid: string;
  numbered: boolean;
  change: (text: string) => void;
  caret: (line: number, column: number) => void;
}

const languages: Record<EditorLanguage, Extension> = { toml: StreamLanguage.define(toml), json: StreamLanguage.define(json), shell: StreamLanguage.define(shell), text: [] };

/** The classes of the inks in tokens.css; no style of the library's own. */
const inks = syntaxHighlighting(
  tagHighlighter([
    { tag: [tags.keyword, tags.propertyName, tags.atom, tags.definition(tags.variableName)], class: "k" },
    { tag: tags.string, class: "st" },
    { tag: [tags.number, tags.bool], class: "n" },
    { tag: tags.comment, class: "cm" },
  ]),
);

const setMarks = StateEffect.define<Marks>();

class BadLine extends GutterMarker {
  override elementClass = "cm-bad-number";
}
const badLine = new BadLine();

function decorated(state: EditorState, { bad, here }: Marks): { lines: DecorationSet; marks: Marks } {
  const builder = new RangeSetBuilder<Decoration>();
  for (const number of [...new Set([bad, here])].filter((one) => one !== undefined && one >= 1 && one <= state.doc.lines).sort((a, b) => Number(a) - Number(b))) {
    const line = state.doc.line(Number(number));
    const kinds = [number === bad && "cm-bad", number === here && "cm-here"].filter(Boolean).join(" ");
    builder.add(line.from, line.from, Decoration.line({ class: kinds, attributes: { "data-line": String(number) } }));
  }
  return { lines: builder.finish(), marks: { bad, here } };
}

const marked = StateField.define<{ lines: DecorationSet; marks: Marks }>({
  create: (state) => decorated(state, {}),
  update(value, transaction) {
    for (const effect of transaction.effects) if (effect.is(setMarks)) return decorated(transaction.state, effect.value);
    return transaction.docChanged ? { ...value, lines: value.lines.map(transaction.changes) } : value;
  },
  provide: (field) => [
    EditorView.decorations.from(field, (value) => value.lines),
    gutterLineClass.compute([field], (state) => {
      const { bad } = state.field(field).marks;
      const builder = new RangeSetBuilder<GutterMarker>();
      if (bad !== undefined && bad >= 1 && bad <= state.doc.lines) builder.add(state.doc.line(bad).from, state.doc.line(bad).from, badLine);
      return builder.finish();
    }),
  ],
});

/** The chip that the card wears for the same character. */
function chip(code: number): HTMLElement {
  const span = document.createElement("span");
  const escape = `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
  span.className = "esc";
  span.title = escape;
  span.textContent = escapeText({ escape, label: "" });
  return span;
}

export function createEditor(parent: HTMLElement, { text, language, label, testid, numbered, change, caret }: Options): Editor {
  const attributes = new Compartment();
  const view = new EditorView({
    parent,
    state: EditorState.create({
      doc: text,
      extensions: [
        numbered ? lineNumbers() : [],
        highlightSpecialChars({ addSpecialChars: unseen, render: chip }),
        history(),
        EditorView.lineWrapping,
        // Ctrl+Enter answers a sheet.
        keymap.of([...defaultKeymap.filter((binding) => binding.key !== "Mod-Enter"), ...historyKeymap]),
        languages[language],
        inks,
        marked,
        attributes.of(EditorView.contentAttributes.of({ "aria-label": label, "data-testid": testid, dir: "ltr", spellcheck: "false", autocapitalize: "off", autocorrect: "off" })),
        EditorView.updateListener.of((update) => {
          if (update.docChanged && update.transactions.some((one) => one.annotation(Transaction.remote) !== true)) change(update.state.doc.toString());
          if (update.docChanged || update.selectionSet) {
            const line = update.state.doc.lineAt(update.state.selection.main.head);
            caret(line.number, update.state.selection.main.head - line.from + 1);
          }
        }),
      ],
    }),
  });
  return {
    setText(to) {
      if (view.state.doc.toString() === to) return;
      view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: to }, annotations: Transaction.remote.of(true) });
    },
    mark: (marks) => view.dispatch({ effects: setMarks.of(marks) }),
    reveal(line) {
      if (line < 1 || line > view.state.doc.lines) return;
      const at = view.state.doc.line(line).from;
      view.dispatch({ selection: { anchor: at }, effects: EditorView.scrollIntoView(at, { y: "center" }) });
    },
    focus: () => view.focus(),
    destroy: () => view.destroy(),
  };
}
