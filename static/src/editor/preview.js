// The preview follows the text: at a pause, at once when asked, never while a word is being composed.
import { ChangeSet } from "@codemirror/state";
import { segmentAt } from "./jinja.js";

const PAUSE = 250;
const BETWEEN_SIGNS = 1500; // in {{ }} with nothing in it yet, somebody is about to choose a name
const LONGEST = 1000; // who types without a pause sees it move nevertheless

/**
 * `current()` gives the editor shown; `onAnswer(kind, problems, doc, changes)` hears what the server found, and
 * `onShow()` of each preview that takes the place of another.
 */
export function preview(form, current, onAnswer, onShow) {
  let timer = 0;
  let since = 0;
  let sent = null;
  let good = null; // the last prompt that rendered, and where

  /** A prompt that rendered stays, dimmed, while the text has errors. */
  function keepGood() {
    const shown = document.getElementById("preview");
    const { context, round } = form.elements;
    const key = [shown.dataset.kind, context?.value, round?.value].join(" ");
    const prompt = shown.querySelector("pre.prompt");
    if (shown.dataset.state === "text") {
      if (prompt) good = { key, prompt };
      return;
    }
    if (good?.key !== key) return;
    const copy = good.prompt.cloneNode(true);
    copy.classList.add("last-good");
    const note = shown.querySelector(".last-good-note");
    if (!note) return;
    note.textContent = note.dataset.own;
    note.hidden = false;
    if (prompt) prompt.replaceWith(copy);
    else shown.append(copy);
  }

  function plan() {
    since ||= Date.now();
    clearTimeout(timer);
    const { state } = current().view;
    const isEmpty = segmentAt(state, state.selection.main.head)?.tokens.length === 0;
    timer = setTimeout(now, isEmpty ? BETWEEN_SIGNS : Math.min(PAUSE, Math.max(0, since + LONGEST - Date.now())));
  }

  function now() {
    clearTimeout(timer);
    const { view } = current();
    if (view.composing || view.compositionStarted) {
      timer = setTimeout(now, PAUSE);
      return;
    }
    since = 0;
    form.dispatchEvent(new Event("studio:pause"));
  }

  form.addEventListener("htmx:configRequest", ({ detail }) => {
    const { kind, view, textarea } = current();
    // One template is previewed: the others need not travel at each pause.
    for (const other of form.querySelectorAll("textarea[data-editor]")) {
      if (other !== textarea) detail.formData.delete(other.name);
    }
    sent = { kind, doc: view.state.doc, changes: ChangeSet.empty(view.state.doc.length) };
  });

  form.addEventListener("htmx:beforeSend", ({ detail }) => {
    // That a newer request takes an older one's place is no error; htmx would put it into the console as one.
    detail.error = "";
  });

  const scrolls = new Map();
  const open = new Map();
  form.addEventListener("htmx:beforeSwap", ({ detail }) => {
    // An error's own page is none: in place of the preview, it would end all previews.
    if (detail.target.id === "preview" && !detail.serverResponse.includes('id="preview"')) {
      detail.shouldSwap = false;
      detail.target.dataset.stale = "";
      return;
    }
    for (const part of [".prompt", ".system-text"]) {
      const element = document.querySelector(`#preview ${part}`);
      if (element) scrolls.set(part, element.scrollTop);
    }
    for (const each of document.querySelectorAll("#preview [data-keep-open]")) open.set(each.id, each.open);
  });
  form.addEventListener("htmx:afterSettle", ({ target }) => {
    if (target.id !== "preview") return;
    for (const [part, top] of scrolls) {
      const element = target.querySelector(part);
      if (element) element.scrollTop = top;
    }
    for (const each of target.querySelectorAll("[data-keep-open]")) each.open = open.get(each.id) ?? false;
    // Whose templates met limits has to wait a little; the preview comes by itself then.
    if (target.dataset.wait) timer = setTimeout(now, Number(target.dataset.wait) * 1000);
    if (target.dataset.kind !== sent?.kind) return;
    onAnswer(sent.kind, JSON.parse(target.dataset.problems || "[]"), sent.doc, sent.changes);
  });
  // Whatever brings a new preview: a pause, a round, another context or tab, a save.
  new MutationObserver(() => {
    keepGood();
    onShow();
  }).observe(document.getElementById("preview").parentElement, { childList: true });
  keepGood();

  for (const name of ["htmx:sendError", "htmx:timeout"]) {
    form.addEventListener(name, () => (document.getElementById("preview").dataset.stale = ""));
  }

  return {
    /** A change of an editor's text. */
    changed(kind, update) {
      if (sent?.kind === kind) sent.changes = sent.changes.compose(update.changes);
      plan();
    },
    now,
  };
}
