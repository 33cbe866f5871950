// Problems stand in the gutter and under the words; a key walks them, a key takes the suggestion.
import { forEachDiagnostic, lintGutter, setDiagnostics } from "@codemirror/lint";
import { StateEffect, StateField } from "@codemirror/state";
import { EditorView, showTooltip } from "@codemirror/view";

const SEVERITY = { error: "error", warning: "warning", hint: "info" };

/** The stretch of the text that a problem is about. */
function place(doc, { line, column, replaces }) {
  const at = doc.line(Math.min(Math.max(line, 1), doc.lines));
  if (!column) return wholeLine(at);
  // Columns count characters, CodeMirror counts halves of those beyond the basic plane.
  let from = at.from + [...at.text].slice(0, column - 1).join("").length;
  if (replaces && doc.sliceString(from, from + replaces.length) !== replaces) {
    const found = at.text.indexOf(replaces);
    if (found < 0) return wholeLine(at);
    from = at.from + found;
  }
  if (replaces) return [from, from + replaces.length];
  const word = /^[\p{ID_Continue}]+|^\S/u.exec(doc.sliceString(from, at.to))?.[0] ?? "";
  return word ? [from, from + word.length] : wholeLine(at);
}

function wholeLine(line) {
  const indent = /^\s*/.exec(line.text)[0].length;
  return indent < line.length ? [line.from + indent, line.to] : [line.from, line.to];
}

/** Shows what the server found in `doc`; `changes` are those made since that text was sent. */
export function showProblems(view, problems, doc, changes, words) {
  const found = problems.map((problem) => {
    const [from, to] = place(doc, problem);
    const fix = problem.replaces && problem.replacement != null ? problem.replacement : null;
    return {
      from: changes.mapPos(from, 1),
      to: Math.max(changes.mapPos(from, 1), changes.mapPos(to, -1)),
      severity: SEVERITY[problem.severity],
      message: problem.message,
      renderMessage: () => sentence(problem),
      fix,
      replaces: problem.replaces,
      actions:
        fix === null
          ? []
          : [{ name: words.apply.replace("%s", fix), apply: (each, start, end) => mend(each, start, end, fix) }],
    };
  });
  // The check knows the text that was sent; where its place is gone, so is the problem.
  const standing = found.filter(({ from, to, fix, replaces }) => fix === null || view.state.sliceDoc(from, to) === replaces);
  view.dispatch(setDiagnostics(view.state, standing));
  return standing;
}

function sentence({ message, suggestion, replacement }) {
  const text = document.createElement("span");
  text.textContent = message;
  // A button says it where there is one.
  if (suggestion && replacement == null) {
    const advice = document.createElement("span");
    advice.className = "soft";
    advice.textContent = ` ${suggestion}`;
    text.append(advice);
  }
  return text;
}

function mend(view, from, to, fix) {
  view.dispatch({ changes: { from, to, insert: fix }, selection: { anchor: from + fix.length }, userEvent: "input.complete" });
  view.focus();
}

function standing(state) {
  const found = [];
  forEachDiagnostic(state, (problem, from, to) => found.push({ problem, from, to }));
  return found.sort((one, other) => one.from - other.from);
}

/** Takes the suggestion at the cursor, else the next one on. */
export function applySuggestion(view) {
  const { head } = view.state.selection.main;
  const line = view.state.doc.lineAt(head);
  const mendable = standing(view.state).filter(({ problem }) => problem.fix != null);
  const chosen =
    mendable.find(({ from, to }) => from <= head && head <= to) ??
    mendable.find(({ from }) => line.from <= from && from <= line.to) ??
    mendable.find(({ from }) => from >= head) ??
    mendable[0];
  if (!chosen) return false;
  mend(view, chosen.from, chosen.to, chosen.problem.fix);
  return true;
}

/** Goes to the next problem (`step` 1) or the one before (-1), round and round, and says what it is. */
export function goToProblem(view, step) {
  const all = standing(view.state);
  if (!all.length) return false;
  const { from: at, to: until } = view.state.selection.main;
  const next =
    step > 0
      ? (all.find(({ from }) => from > at || (from === at && until === at && !view.state.field(shown))) ?? all[0])
      : (all.findLast(({ from }) => from < at) ?? all.at(-1));
  select(view, next);
  return true;
}

/** Goes to the problem of that line, or just to the line. */
export function goToLine(view, number) {
  const line = view.state.doc.line(Math.min(Math.max(number, 1), view.state.doc.lines));
  const found = standing(view.state).find(({ from }) => line.from <= from && from <= line.to);
  select(view, found ?? { from: line.from, to: line.from });
}

function select(view, { problem, from, to }) {
  view.dispatch({
    selection: { anchor: from, head: to },
    effects: [show.of(problem ? { problem, from } : null), EditorView.scrollIntoView(from, { y: "center" })],
  });
  view.focus();
}

const show = StateEffect.define();
const shown = StateField.define({
  create: () => null,
  update(value, transaction) {
    for (const effect of transaction.effects) if (effect.is(show)) return effect.value;
    return transaction.docChanged || transaction.selection ? null : value;
  },
  provide: (field) =>
    showTooltip.from(field, (value) => value && { pos: value.from, above: false, arrow: false, create: (view) => bubble(view, value) }),
});

function bubble(view, { problem }) {
  const dom = document.createElement("div");
  dom.className = `problem-bubble ${problem.severity}`;
  dom.setAttribute("role", "status");
  // A press on its button must not take the focus away, for then it goes.
  dom.addEventListener("mousedown", (event) => event.preventDefault());
  const text = document.createElement("p");
  text.append(problem.renderMessage());
  dom.append(text);
  for (const action of problem.actions) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "small";
    button.textContent = action.name;
    button.addEventListener("click", () => applySuggestion(view));
    const key = document.createElement("kbd");
    key.textContent = /Mac|iP/.test(navigator.platform) ? "⌘." : "Ctrl .";
    button.append(" ", key);
    dom.append(button);
  }
  return { dom };
}

export function problems() {
  return [
    lintGutter({ hoverTime: 150 }),
    shown,
    EditorView.domEventHandlers({
      blur: (_event, view) => {
        if (view.state.field(shown)) view.dispatch({ effects: show.of(null) });
      },
    }),
  ];
}
