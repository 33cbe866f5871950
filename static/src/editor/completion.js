// What may stand here: the variables of this very template, and the tags, filters and tests that the check lets pass.
import { acceptCompletion, autocompletion, completionKeymap } from "@codemirror/autocomplete";
import { Prec } from "@codemirror/state";
import { keymap } from "@codemirror/view";
import { ownNames, segmentAt, template } from "./jinja.js";
import { described } from "./variables.js";

/** `variables`: [{name, type}]; `words`: {tags, filters, tests, methods, loop} as lists. */
export function completion(variables, words) {
  const known = variables.map((variable, at) => ({
    label: variable.name,
    type: "variable",
    detail: variable.type,
    info: () => described(variable.name),
    // As the template's variables are told everywhere: the task first, the clock last.
    boost: variables.length - at,
    apply: applyName,
  }));

  function source(context) {
    const segment = segmentAt(context.state, context.pos);
    if (!segment || segment.kind === "comment") return null;
    const word = context.matchBefore(/[\p{ID_Start}_]?\p{ID_Continue}*/u);
    const before = context.state.sliceDoc(segment.inner, word.from);
    // Inside a string nothing is a name.
    if (segment.tokens.some(({ type, from, to }) => type === "string" && from < context.pos && context.pos < to)) return null;
    if (/["'](?:[^"'\\]|\\.)*$/.test(before.replace(/"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'/g, ""))) return null;
    const options = optionsFor(context, segment, before);
    // A blank after a finished word asks for nothing; after an opening sign it asks for a name.
    if (!context.explicit && word.from === word.to && !/(?:^\s*|[|.(,=~[]\s*|\b(?:if|elif|in|and|or|not|is)\s+)$/.test(before)) return null;
    return options?.length ? { from: word.from, options, validFor: /^[\p{ID_Continue}]*$/u } : null;
  }

  function optionsFor(context, segment, before) {
    const plain = (list, type) => list.map((label) => ({ label, type }));
    if (segment.kind === "statement" && /^\s*$/.test(before)) return plain(words.tags, "keyword");
    if (/\|\s*$/.test(before) || /^\s*filter\s+$/.test(before)) return plain(words.filters, "filter");
    if (/\bis\s+(?:not\s+)?$/.test(before)) return plain(words.tests, "test");
    if (/\bloop\.$/.test(before)) return plain(words.loop, "attribute");
    if (/[\w)\]"']\.$/.test(before)) return plain(words.methods, "method");
    if (/^\s*(?:set|for|macro)\s+$/.test(before) || /^\s*(?:end\w*|else|raw)\b/.test(before)) return [];
    const { segments } = context.state.field(template);
    const declared = new Set(variables.map(({ name }) => name));
    const own = [...ownNames(segments, segment.from)].filter((name) => !declared.has(name));
    return [...known, ...own.map((label) => ({ label, type: "own", apply: applyName }))];
  }

  return [
    autocompletion({ override: [source], icons: false, activateOnTypingDelay: 30, maxRenderedOptions: 60 }),
    Prec.high(keymap.of([{ key: "Tab", run: acceptCompletion }, ...completionKeymap])),
  ];
}

/** Puts a name in, with a blank to each sign and the closing sign where it is missing. */
function applyName(view, { label }, from, to) {
  const { state } = view;
  const segment = segmentAt(state, from);
  const first = segment?.kind === "expression" && segment.inner === from ? " " : "";
  const rest = state.sliceDoc(to, state.doc.lineAt(to).to);
  let last = "";
  let cursor = first.length + label.length;
  if (segment?.kind === "expression" && /^[-+]?\}\}/.test(rest)) last = " ";
  else if (segment?.kind === "expression" && !segment.closed && !rest.trim()) last = " }}";
  // Who completed the only name of an expression goes on behind it.
  const whole = segment?.kind === "expression" && /^\s*$/.test(state.sliceDoc(segment.inner, from));
  const closing = /^\s*[-+]?\}\}/.exec(last + rest);
  if (whole && closing) cursor += closing[0].length;
  view.dispatch({
    changes: { from, to, insert: first + label + last },
    selection: { anchor: from + cursor },
    userEvent: "input.complete",
    scrollIntoView: true,
  });
}
