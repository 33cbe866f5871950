// The editor's page: puts its parts together. Without this file it is a form with textareas.
import { address } from "./editor/address.js";
import { autosave } from "./editor/autosave.js";
import { coverage } from "./editor/coverage.js";
import { keys } from "./editor/keys.js";
import { mount } from "./editor/mount.js";
import { parse } from "./editor/page.js";
import { preview } from "./editor/preview.js";
import { applySuggestion, goToLine, goToProblem, showProblems } from "./editor/problems.js";
import { problemList } from "./editor/problem_list.js";
import { remember } from "./editor/remember.js";
import { restore } from "./editor/restore.js";
import { rounds } from "./editor/rounds.js";
import { saving } from "./editor/save.js";
import { reordering } from "./editor/reorder.js";
import { splitter } from "./editor/splitter.js";
import { cacheablePrefix } from "./editor/cacheable_prefix.js";
import { stash } from "./editor/stash.js";
import { stateLine } from "./editor/state.js";
import { tabs } from "./editor/tabs.js";
import { variables } from "./editor/variables.js";

function open(form) {
  // A page out of the browser's cache, as a duplicated tab is, comes with the name of another tab.
  form.elements.tab.value = Array.from(crypto.getRandomValues(new Uint32Array(3)), (part) => part.toString(36)).join("");
  const words = JSON.parse(form.dataset.words);
  const editors = new Map();
  const current = () => editors.get(form.elements.kind.value);
  const line = stateLine(form.querySelector("[data-state]"));
  const kept = stash(form);
  const bar = conflictBar();
  const drafts = autosave(form, line, bar, kept);
  const note = address(form);

  function found(kind, problems, doc, changes) {
    const { view } = editors.get(kind);
    showProblems(view, problems, doc, changes, words);
    panels.count(kind, problems.filter(({ severity }) => severity === "error").length);
    note();
  }
  const shown = preview(form, current, found, () => {
    panel.follow();
    tried.follow();
  });
  const panels = tabs(form, (kind) => {
    editors.get(kind).view.requestMeasure();
    note();
    shown.now();
    covered.turned();
  });

  for (const textarea of form.querySelectorAll("textarea[data-editor]")) {
    const { kind } = textarea.dataset;
    const onChange = (view, update) => {
      drafts.changed();
      shown.changed(kind, update);
      covered.changed(kind, update);
      stable.changed(kind, update);
      tried.changed();
    };
    editors.set(kind, { kind, textarea, view: mount(textarea, { words: words.completion, phrases: words.phrases, onChange }) });
  }

  const covered = coverage(form, editors, current, form.querySelector("[data-coverage]"), words.coverage);
  const stable = cacheablePrefix(form, editors, current);
  const panel = variables(form, current);
  const tried = rounds(form, current, words.rounds, showRound);

  function showRound(context, round) {
    const { context: picker, round: number } = form.elements;
    if (picker) picker.value = context;
    const field = document.createElement("input");
    Object.assign(field, { type: "hidden", name: "round", value: round });
    if (number) number.replaceWith(field);
    shown.now();
  }

  /** Shows the problems that came with the page itself. */
  function readPage() {
    const element = document.getElementById("preview");
    const { doc } = editors.get(element.dataset.kind)?.view.state ?? {};
    if (!doc) return;
    const problems = JSON.parse(element.dataset.problems || "[]");
    for (const kind of panels.kinds) {
      panels.count(kind, form.querySelectorAll(`.finding.error[data-kind="${kind}"]`).length);
    }
    const asTheyAre = { mapPos: (place) => place };
    found(element.dataset.kind, problems, doc, asTheyAre);
    const elsewhere = JSON.parse(document.getElementById("problems").dataset.elsewhere || "{}");
    for (const [kind, list] of Object.entries(elsewhere)) found(kind, list, editors.get(kind).view.state.doc, asTheyAre);
  }

  const save = saving(form, drafts, line, (kind) => {
    if (kind !== form.elements.kind.value) panels.show(kind);
    readPage();
    const first = form.querySelector(`.finding.error[data-kind="${kind}"]`);
    if (first) visit(kind, Number(first.dataset.line));
  });

  function visit(kind, number) {
    if (kind !== form.elements.kind.value) panels.show(kind);
    goToLine(current().view, number);
  }
  form.addEventListener("click", (event) => {
    const finding = event.target.closest(".finding");
    if (!finding) return;
    event.preventDefault();
    visit(finding.dataset.kind, Number(finding.dataset.line));
    if (event.target.closest("[data-apply]")) applySuggestion(current().view);
  });
  form.elements.message.addEventListener("input", () => drafts.changed());
  form.querySelector("[data-context]")?.addEventListener("change", () => {
    form.elements.round?.remove();
    shown.now();
  });
  form.querySelector("[data-preview-now]")?.addEventListener("click", (event) => {
    event.preventDefault();
    shown.now();
  });
  form.addEventListener("studio:kept", ({ detail }) => {
    // Beside the draft of another tab there is nothing to compare or discard: that would be the other one's text.
    for (const link of form.querySelectorAll("[data-when]")) link.hidden = detail.beside || (link.dataset.when === "clean") !== detail.clean;
    // The server is back: so is the preview.
    if ("stale" in document.getElementById("preview").dataset) shown.now();
  });

  keys({
    "Mod-s": save,
    "Mod-enter": shown.now,
    "Mod-.": () => applySuggestion(current().view),
    F8: () => goToProblem(current().view, 1),
    "Shift-F8": () => goToProblem(current().view, -1),
    "Alt-r": () => form.querySelector("[data-next-round]")?.click(),
    ...Object.fromEntries(
      panels.kinds.map((kind, at) => [
        `Alt-${at + 1}`,
        () => {
          panels.show(kind);
          current().view.focus();
        },
      ]),
    ),
  });

  // A page that the browser kept whole knows nothing of what was written since.
  addEventListener("pageshow", async ({ persisted }) => {
    if (!persisted || drafts.isDirty()) return;
    const answer = await fetch(location.href).catch(() => null);
    if (!answer) return; // offline: the next draft that is sent finds out
    const other = parse(await answer.text()).querySelector("form[data-editor-form]");
    const same = other && ["base", "revision"].every((name) => other.elements[name].value === form.elements[name].value);
    if (!same) location.reload();
  });

  remember();
  problemList(form);
  reordering(form, drafts, line, editors);
  splitter(form.querySelector("[data-splitter]"));
  readPage();
  // The answer to a plain form's preview, sent before the scripts were there: nothing of it is stored yet.
  if ("shownOnly" in form.querySelector("[data-state]").dataset) drafts.changed();
  restore(form, drafts, kept, editors, bar, document.querySelector("[data-restored]"));
  form.dataset.ready = "";
  if (!form.elements.message.hasAttribute("aria-invalid")) current().view.focus();
}

function conflictBar() {
  const bar = document.querySelector("[data-conflict-bar]");
  return {
    show(url) {
      bar.querySelector("[data-conflict-link]").href = url;
      bar.hidden = false;
    },
    hide: () => (bar.hidden = true),
  };
}

const form = document.querySelector("form[data-editor-form]");
if (form) open(form);
else for (const textarea of document.querySelectorAll("textarea[data-editor]")) mount(textarea);
