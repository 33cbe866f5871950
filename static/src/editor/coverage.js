// Lines that no sample context reaches are hatched in the gutter. Asked for after the preview, one question at a time,
// and never waited for: what comes back is moved along with what was typed meanwhile.
import { ChangeSet, RangeSet, StateEffect, StateField } from "@codemirror/state";
import { GutterMarker, gutter } from "@codemirror/view";

const PAUSE = 700; // after the preview's pause: that one goes first
const AGAIN = 2000; // the server is busy with something more urgent
const KEPT = "studio-coverage";

class Unreached extends GutterMarker {
  constructor(title) {
    super();
    this.title = title;
  }

  eq(other) {
    return other.title === this.title;
  }

  toDOM() {
    const mark = document.createElement("span");
    mark.className = "coverage-mark";
    mark.title = this.title;
    return mark;
  }
}

const mark = StateEffect.define();
const marks = StateField.define({
  create: () => RangeSet.empty,
  update(value, transaction) {
    for (const effect of transaction.effects) if (effect.is(mark)) return effect.value;
    return transaction.docChanged ? value.map(transaction.changes) : value;
  },
});

/** 3, 4, 5, 9 as 3–5, 9. */
function stretches(numbers) {
  const found = [];
  for (const number of numbers) {
    if (found.at(-1)?.to === number - 1) found.at(-1).to = number;
    else found.push({ from: number, to: number });
  }
  return found.map(({ from, to }) => (from === to ? `${from}` : `${from}–${to}`));
}

/** The gutter itself, for an editor's extensions. */
export function coverageGutter() {
  return [marks, gutter({ class: "cm-gutter-coverage", markers: (view) => view.state.field(marks) })];
}

/** `current()` gives the editor shown, `editors` all of them by kind; `control` is the switch, `words` what it may say. */
export function coverage(form, editors, current, control, words) {
  if (!control) return { changed() {}, turned() {} }; // no templates, no contexts
  const legend = control.querySelector("[data-legend]");
  const line = new Unreached(words.line);
  const known = new Map(); // by kind: {doc, lines} as last answered
  let isOn = localStorage.getItem(KEPT) !== "off";
  let timer = 0;
  let sent = null;

  function plan(time = PAUSE) {
    clearTimeout(timer);
    if (isOn) timer = setTimeout(ask, time);
  }

  async function ask() {
    clearTimeout(timer);
    const { kind, view, textarea } = current();
    const { doc } = view.state;
    // The answer to the last question asks the next one.
    if (sent || !isOn || document.hidden) return;
    if (view.composing || view.compositionStarted) return plan();
    if (known.get(kind)?.doc === doc) return tell();
    sent = { kind, doc, changes: ChangeSet.empty(doc.length) };
    const found = await answer(kind, textarea);
    const { changes } = sent;
    sent = null;
    if (!isOn) return;
    if (found) {
      known.set(kind, { doc, known: found.known });
      show(kind, doc, changes, found.unreached);
    }
    if (!found) plan(AGAIN);
    else if (current().kind !== kind || current().view.state.doc !== doc) plan();
    tell();
  }

  async function answer(kind, textarea) {
    const { csrfmiddlewaretoken: token } = form.elements;
    const body = new URLSearchParams({ kind, [textarea.name]: textarea.value, csrfmiddlewaretoken: token.value });
    try {
      const response = await fetch(control.dataset.url, { method: "POST", body, priority: "low" });
      // 204: not now. Anything else that is no answer, such as a page to sign in, is no matter of this gutter.
      return response.status === 200 ? await response.json() : null;
    } catch {
      return null;
    }
  }

  function show(kind, doc, changes, numbers) {
    const { view } = editors.get(kind);
    const places = new Set();
    for (const number of numbers) {
      if (number > doc.lines) continue;
      const at = changes.mapPos(doc.line(number).from, 1);
      places.add(view.state.doc.lineAt(at).from);
    }
    const ranges = [...places].sort((one, other) => one - other).map((place) => line.range(place));
    view.dispatch({ effects: mark.of(RangeSet.of(ranges)) });
  }

  function lines(view) {
    const found = [];
    for (let each = view.state.field(marks).iter(); each.value; each.next()) found.push(view.state.doc.lineAt(each.from).number);
    return found;
  }

  /** The legend: how many lines, and which for those who do not see the gutter. */
  function tell() {
    const { kind, view } = current();
    const found = isOn ? lines(view) : [];
    const state = !isOn ? "off" : !known.has(kind) ? "asking" : !known.get(kind).known ? "unknown" : found.length ? "some" : "none";
    control.dataset.is = state;
    legend.textContent = found.length === 1 ? words.one : words[state].replace("%s", found.length);
    control.title = found.length ? words.which.replace("%s", stretches(found).join(", ")) : words.about;
  }

  control.hidden = false;
  control.setAttribute("aria-pressed", String(isOn));
  control.addEventListener("click", () => {
    isOn = !isOn;
    localStorage.setItem(KEPT, isOn ? "on" : "off");
    control.setAttribute("aria-pressed", String(isOn));
    known.clear();
    if (isOn) plan(0);
    else for (const { view } of editors.values()) view.dispatch({ effects: mark.of(RangeSet.empty) });
    tell();
  });
  // Contexts are made in other tabs: who comes back sees what they reach.
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) return;
    known.clear();
    plan();
  });

  tell();
  plan();
  return {
    /** A change of an editor's text. */
    changed(kind, update) {
      if (sent?.kind === kind) sent.changes = sent.changes.compose(update.changes);
      plan();
    },
    /** Another template is shown. */
    turned() {
      tell();
      plan(0);
    },
  };
}
