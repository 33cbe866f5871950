// The template in an editor: its stretches of Jinja and their colours. Completion and pairs read it, too.
import { StateField } from "@codemirror/state";
import { Decoration, EditorView } from "@codemirror/view";
import { coloured, scan } from "../prompts/jinja.js";

/** The names that a template gives to something itself, before a place in it. */
export function ownNames(segments, before) {
  const names = new Set();
  for (const { tag, tokens, to } of segments) {
    if (to > before) break;
    if (tag === "set" || tag === "for") {
      const stop = tokens.findIndex(({ word }) => word === "=" || word === "in" || word === "|" || word === ".");
      for (const { type, word } of tokens.slice(1, stop < 0 ? undefined : stop)) if (type === "name") names.add(word);
    } else if (tag === "macro" || tag === "call") {
      for (const { type, word } of tokens.slice(1)) if (type === "name") names.add(word);
    } else if (tag === "with") {
      tokens.forEach(({ type, word }, at) => type === "name" && tokens[at + 1]?.word === "=" && names.add(word));
    }
  }
  return names;
}

/** The stretch of Jinja that a place lies in, between its two signs. */
export function segmentAt(state, place) {
  return state.field(template, false)?.segments.find(({ inner, end, to, closed }) => inner <= place && place <= (closed ? end : to));
}

export const template = StateField.define({
  create: (state) => read(state),
  update: (value, transaction) => (transaction.docChanged ? read(transaction.state) : value),
  provide: (field) => EditorView.decorations.from(field, ({ colours }) => colours),
});

const marks = new Map();
function mark(name) {
  if (!marks.has(name)) marks.set(name, Decoration.mark({ class: `jinja-${name}` }));
  return marks.get(name);
}

function read(state) {
  const segments = scan(state.doc.toString());
  const ranges = coloured(segments).map(([name, from, to]) => mark(name).range(from, to));
  return { segments, colours: Decoration.set(ranges, true) };
}
