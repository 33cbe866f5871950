// Colours for TOML, line by line: comments, the heads of tables, keys and values. What is wrong, the check says.
import { StateField } from "@codemirror/state";
import { Decoration, EditorView } from "@codemirror/view";

const TOKEN =
  /(?<comment>#.*)|(?<keyword>^\s*\[\[?[^\]]*\]\]?)|(?<name>^\s*[\w.-]+(?=\s*=))|(?<string>"(?:[^"\\]|\\.)*"|'[^']*')|(?<number>\b(?:true|false|[-+]?\d[\d_.:TZ+-]*)\b)/gu;
const LONGEST = 2000; // of a line: longer ones stay plain

const marks = Object.fromEntries(
  ["comment", "keyword", "name", "string", "number"].map((name) => [name, Decoration.mark({ class: `jinja-${name}` })]),
);

function read({ doc }) {
  const ranges = [];
  for (let number = 1; number <= doc.lines; number++) {
    const { from, text } = doc.line(number);
    if (text.length > LONGEST) continue;
    for (const found of text.matchAll(TOKEN)) {
      const [name] = Object.entries(found.groups).find(([, value]) => value !== undefined);
      ranges.push(marks[name].range(from + found.index, from + found.index + found[0].length));
    }
  }
  return Decoration.set(ranges);
}

export const toml = StateField.define({
  create: read,
  update: (value, transaction) => (transaction.docChanged ? read(transaction.state) : value),
  provide: (field) => EditorView.decorations.from(field),
});
