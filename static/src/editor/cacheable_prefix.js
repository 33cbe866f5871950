// The beginning that a cache can keep is highlighted, in the template and in the prompt, while its drawer is open. Asked
// for after each preview, one question at a time, and never waited for: meanwhile the marks move along with the text.
import { ChangeSet, StateEffect, StateField } from "@codemirror/state";
import { Decoration, EditorView, WidgetType } from "@codemirror/view";
import { parse } from "./page.js";

const PAUSE = 150; // after the preview: that one goes first
const AGAIN = 2000; // the server is busy with something more urgent
const SHADE = "studio-cache-shade";

class End extends WidgetType {
  constructor(name, title) {
    super();
    this.name = name;
    this.title = title;
  }

  eq(other) {
    return other.name === this.name && other.title === this.title;
  }

  toDOM() {
    const line = document.createElement("span");
    line.className = `cm-stable-end ${this.name}`;
    line.title = this.title;
    return line;
  }
}

const shade = StateEffect.define();
const shades = StateField.define({
  create: () => Decoration.none,
  update(value, transaction) {
    for (const effect of transaction.effects) if (effect.is(shade)) return effect.value;
    return transaction.docChanged ? value.map(transaction.changes) : value;
  },
  provide: (field) => EditorView.decorations.from(field),
});

/** The shades themselves, for an editor's extensions. */
export function prefixShades() {
  return shades;
}

function decorations(task, round, words) {
  const found = [];
  const end = (name, title, at) => Decoration.widget({ widget: new End(name, title), side: 1 }).range(at);
  if (task) found.push(Decoration.mark({ class: "cm-stable-task" }).range(0, task));
  if (task) found.push(end("task", task < round ? words.taskEnd : words.bothEnd, task));
  if (task < round) found.push(Decoration.mark({ class: "cm-stable-round" }).range(task, round), end("round", words.roundEnd, round));
  return Decoration.set(found, true);
}

function sharedLength(one, other) {
  const most = Math.min(one.length, other.length);
  let at = 0;
  while (at < most && one[at] === other[at]) at += 1;
  return at;
}

/** `current()` gives the editor shown, `editors` all of them by kind. */
export function cacheablePrefix(form, editors, current) {
  const block = form.querySelector("[data-cache]");
  if (!block) return { changed() {} };
  const control = block.querySelector("[data-cache-switch]");
  const opened = new Set(); // hints whose order is shown
  const drawer = block.closest("details");
  let isOn = localStorage.getItem(SHADE) !== "off";
  let known = null; // what was last answered: {kind, task, round, prompt}
  let sent = null;
  let timer = 0;

  function plan(time = PAUSE) {
    clearTimeout(timer);
    timer = setTimeout(ask, time);
  }

  function shown() {
    const preview = document.getElementById("preview");
    return { preview, pre: preview?.querySelector("pre.prompt:not(.last-good)") };
  }

  async function ask() {
    clearTimeout(timer);
    const { preview, pre } = shown();
    const { kind, view, textarea } = current();
    // The answer to the last question asks the next one.
    if (sent || document.hidden || !drawer.open || preview?.dataset.kind !== kind) return;
    if (!pre) return fade(kind);
    if (view.composing || view.compositionStarted) return plan(AGAIN / 4);
    const { doc } = view.state;
    const question = { kind, doc, prompt: pre.textContent, changes: ChangeSet.empty(doc.length) };
    sent = question;
    const found = await answer(kind, textarea);
    sent = null;
    if (!found) return plan(AGAIN);
    // A new answer among letters that are being put together would take them apart.
    if (view.composing || view.compositionStarted) return plan(AGAIN / 4);
    show(question, found);
    if (current().kind !== kind || current().view.state.doc !== doc || shown().pre?.textContent !== question.prompt) plan();
  }

  async function answer(kind, textarea) {
    const { csrfmiddlewaretoken: token, context, round, tab } = form.elements;
    const body = new URLSearchParams({ kind, [textarea.name]: textarea.value, tab: tab.value, csrfmiddlewaretoken: token.value });
    if (context) body.set("context", context.value);
    if (round) body.set("round", round.value);
    try {
      const response = await fetch(block.dataset.url, { method: "POST", body, headers: { "HX-Request": "true" }, priority: "low" });
      // 204: not now. Anything else that is no answer, such as a page to sign in, is no matter of this block.
      return response.status === 200 ? parse(await response.text()).getElementById("cacheable-prefix") : null;
    } catch {
      return null;
    }
  }

  function show({ kind, prompt, changes }, found) {
    const number = (name) => Number(found.dataset[name] ?? 0);
    known = { kind, task: number("task"), round: number("round"), prompt };
    const at = (name) => changes.mapPos(Math.min(number(name), changes.length), -1);
    paintSource(kind, at("taskSource"), at("roundSource"));
    paintPrompt();
    delete block.dataset.stale;
    put(document.adoptNode(found));
  }

  /** The new block in the old one's place, with the same orders open. */
  function put(fresh) {
    const old = document.getElementById("cacheable-prefix");
    for (const each of fresh.querySelectorAll("[data-hint]")) each.open = opened.has(each.dataset.hint);
    if (!fresh.isEqualNode(old)) old.replaceWith(fresh);
  }

  /** Of a text with errors nothing is known. */
  function fade(kind) {
    known = null;
    paintSource(kind, 0, 0);
    block.dataset.stale = "";
  }

  function paintSource(kind, task, round) {
    const { view } = editors.get(kind);
    view.dispatch({ effects: shade.of(isOn && drawer.open ? decorations(task, Math.max(task, round), block.dataset) : Decoration.none) });
  }

  /** Shades the prompt; of one that is newer than the answer, no more than is the same. */
  function paintPrompt() {
    const { preview, pre } = shown();
    if (!pre) return;
    const text = pre.textContent;
    const isAbout = isOn && drawer.open && known?.kind === preview.dataset.kind;
    const most = !isAbout ? 0 : text === known.prompt ? text.length : sharedLength(text, known.prompt);
    const task = Math.min(known?.task ?? 0, most);
    const round = Math.max(task, Math.min(known?.round ?? 0, most));
    const scroll = pre.scrollTop;
    for (const each of pre.querySelectorAll(".stable")) each.replaceWith(...each.childNodes);
    pre.normalize();
    for (const [node, start] of textNodes(pre)) {
      // From the end on, so that what is before stays in its place.
      wrap(node, "round", task - start, round - start);
      wrap(node, "task", -start, task - start);
    }
    for (const name of ["task", "round"]) [...pre.querySelectorAll(`.stable.${name}`)].at(-1)?.classList.add("end");
    pre.scrollTop = scroll;
  }

  /** The pieces of text in an element, each with its offset in the whole. */
  function textNodes(element) {
    const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
    const found = [];
    for (let start = 0; walker.nextNode(); start += walker.currentNode.length) found.push([walker.currentNode, start]);
    return found;
  }

  function wrap(node, name, from, to) {
    const start = Math.max(from, 0);
    const end = Math.min(to, node.length);
    if (start >= end) return;
    if (end < node.length) node.splitText(end);
    const part = start ? node.splitText(start) : node;
    const element = document.createElement("span");
    element.className = `stable ${name}`;
    part.replaceWith(element);
    element.append(part);
  }

  // Whatever brings a new preview: a pause, a round, another context or tab, a save.
  new MutationObserver(() => {
    paintPrompt();
    plan();
  }).observe(document.getElementById("preview").parentElement, { childList: true });

  block.addEventListener(
    "toggle",
    ({ target }) => {
      const { hint } = target.dataset;
      if (hint) opened[target.open ? "add" : "delete"](hint);
    },
    true,
  );
  function switched() {
    if (!isOn || !drawer.open) for (const { view } of editors.values()) view.dispatch({ effects: shade.of(Decoration.none) });
    paintPrompt();
    plan(0);
  }
  control.parentElement.hidden = false;
  control.checked = isOn;
  control.addEventListener("change", () => {
    isOn = control.checked;
    localStorage.setItem(SHADE, isOn ? "on" : "off");
    switched();
  });
  drawer.addEventListener("toggle", ({ target }) => target === drawer && switched());
  document.addEventListener("visibilitychange", () => document.hidden || plan());
  plan(PAUSE * 2);

  return {
    /** A change of an editor's text. */
    changed(kind, update) {
      if (sent?.kind === kind) sent.changes = sent.changes.compose(update.changes);
    },
  };
}
