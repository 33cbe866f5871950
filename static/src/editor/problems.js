// Problems stand in the gutter and under the words; a key walks them, a key takes the suggestion.
import { forEachDiagnostic, lintGutter, setDiagnostics } from "@codemirror/lint";
import { StateEffect, StateField } from "@codemirror/state";
import { EditorView, showTooltip } from "@codemirror/view";

const RANK = ["error", "warning", "info"];
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
  // Every mark in the gutter is a new one: a tooltip at an old one would go to the corner of the page, and stay.
  window.dispatchEvent(new MouseEvent("mousemove", { clientX: -99, clientY: -99 }));
  return standing;
}

function sentence({ message, suggestion, replacement }) {
  const text = withCode(document.createElement("span"), message);
  // A button says it where there is one.
  if (suggestion && replacement == null) {
    const advice = document.createElement("span");
    advice.className = "soft";
    text.append(withCode(advice, ` ${suggestion}`));
  }
  return text;
}

/** A sentence whose `words between backticks` are shown as code, as the server's pages show them. */
function withCode(element, sentence) {
  sentence.split(/`([^`]+)`/).forEach((part, at) => {
    if (at % 2 === 0) return element.append(part);
    const code = document.createElement("code");
    code.textContent = part;
    element.append(code);
  });
  return element;
}

function mend(view, from, to, fix) {
  view.dispatch({ changes: { from, to, insert: fix }, selection: { anchor: from + fix.length }, userEvent: "input.complete" });
  view.focus();
}

function standing(state) {
  const found = [];
  forEachDiagnostic(state, (problem, from, to) => found.push({ problem, from, to }));
  const number = ({ from }) => state.doc.lineAt(from).number;
  // As the lists have them: errors first, then line by line.
  return found.sort((one, other) => byRank(one.problem, other.problem) || number(one) - number(other) || one.from - other.from);
}

function byRank(one, other) {
  return RANK.indexOf(one.severity) - RANK.indexOf(other.severity);
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
  const here = all.findIndex((each) => isShown(view, each));
  const { from: at, empty } = view.state.selection.main;
  const ahead = here < 0 ? all.findIndex(({ from }) => from > at || (from === at && empty)) : here + 1;
  const behind = here < 0 ? all.findLastIndex(({ from }) => from < at) : here - 1;
  select(view, all.at(step > 0 ? Math.max(ahead, 0) % all.length : behind));
  return true;
}

function isShown(view, { problem, from }) {
  const value = view.state.field(shown);
  return value !== null && value.from === from && value.problem.message === problem.message;
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
    lintGutter({ hoverTime: 150, tooltipFilter: (found) => [...found].sort(byRank) }),
    shown,
    EditorView.domEventHandlers({
      blur: (_event, view) => {
        if (view.state.field(shown)) view.dispatch({ effects: show.of(null) });
      },
    }),
  ];
}
