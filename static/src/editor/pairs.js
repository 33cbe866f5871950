// Signs come in pairs: the second one of {{ }}, {% %} and {# #} is put there, and typing it by hand steps over it.
import { closeBrackets, closeBracketsKeymap } from "@codemirror/autocomplete";
import { EditorState } from "@codemirror/state";
import { EditorView, keymap } from "@codemirror/view";
import { segmentAt } from "./jinja.js";

const CLOSING = { "{": "}}", "%": "%}", "#": "#}" };

function type(view, from, to, insert, cursor) {
  view.dispatch({
    changes: { from, to, insert },
    selection: { anchor: from + cursor },
    userEvent: "input.type",
    scrollIntoView: true,
  });
  return true;
}

function onType(view, from, to, text) {
  const { state } = view;
  if (view.composing || state.readOnly || state.selection.ranges.length > 1 || from !== to || text.length !== 1) return false;
  const line = state.doc.lineAt(from);
  const before = line.text.slice(0, from - line.from);
  const after = line.text.slice(from - line.from);
  if (text in CLOSING && before.endsWith("{") && !before.endsWith("{{") && !segmentAt(state, from)) {
    // Only where nothing follows that the sign could be meant for.
    if (/^\s*$|^\s/.test(after)) return type(view, from, to, `${text}  ${CLOSING[text]}`, 2);
    return false;
  }
  const segment = segmentAt(state, from);
  if (!segment) {
    // The second half of an end that was stepped into.
    return text === "}" && after[0] === "}" && /[%}#]$/.test(before) ? type(view, from, from + 1, "}", 1) : false;
  }
  if (text === "-" && segment.inner === from - 1 && /[{%] $/.test(before) && /^\s*[%}]\}/.test(after)) {
    return type(view, from - 1, from, "- ", 2);
  }
  // A blank that is already there is not doubled by who types it.
  if (text === " " && /[{%#-] $/.test(before) && segment.inner === from - 1 && /^ [%}#]\}/.test(after)) return true;
  const end = /^\s*/.exec(after)[0].length;
  const sign = after.slice(end, end + 2);
  if (sign === CLOSING[segment.kind === "expression" ? "{" : segment.kind === "statement" ? "%" : "#"] && text === sign[0]) {
    const gap = /[\s+-]$/.test(before) || !end ? "" : after.slice(0, end);
    if (!(text === "}" && unbalanced(segment))) return type(view, from, from + end + 1, gap + text, gap.length + 1);
  }
  return false;
}

function unbalanced({ tokens }) {
  return tokens.reduce((depth, { word }) => depth + (word === "{" ? 1 : word === "}" ? -1 : 0), 0) > 0;
}

function onBackspace(view) {
  const { state } = view;
  const { main } = state.selection;
  if (!main.empty || state.selection.ranges.length > 1) return false;
  const around = state.sliceDoc(main.head - 3, main.head + 3);
  if (!["{{  }}", "{%  %}", "{#  #}"].includes(around)) return false;
  view.dispatch({ changes: { from: main.head - 3, to: main.head + 3 }, userEvent: "delete.backward" });
  return true;
}

export function pairs() {
  return [
    EditorView.inputHandler.of(onType),
    // In prose an apostrophe is an apostrophe.
    EditorState.languageData.of((state, place) => [
      { closeBrackets: { brackets: segmentAt(state, place) ? ["(", "[", "'", '"'] : [] } },
    ]),
    closeBrackets(),
    keymap.of([{ key: "Backspace", run: onBackspace }, ...closeBracketsKeymap]),
  ];
}
