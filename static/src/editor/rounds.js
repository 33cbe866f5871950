// Contexts and rounds in which the text fails, or gives another prompt than the saved version, are marked: in the
// picker, on the rounds and in the list of problems. Tried in the background at a pause; new typing ends that.
import { parse } from "./page.js";

const PAUSE = 900; // after the preview's pause: that one goes first
const AGAIN = 2000; // the server is busy with something more urgent
const SIGNS = { fails: "✕", changes: "●" };

/** `current()` gives the editor shown; `words`: {fails, changes}; `onShow(context, round)` turns to one. */
export function rounds(form, current, words, onShow) {
  const url = form.dataset.roundsUrl;
  if (!url) return { changed() {}, follow() {} };
  let known = null; // what was last answered, and of which template
  let asked = "";
  let timer = 0;
  let flight = null;

  function plan(time = PAUSE) {
    clearTimeout(timer);
    timer = setTimeout(ask, time);
  }

  function question() {
    const { kind, textarea } = current();
    const { context, round } = form.elements;
    return { kind, [textarea.name]: textarea.value, context: context?.value ?? "", round: round?.value ?? "" };
  }

  async function ask() {
    clearTimeout(timer);
    const { view, kind } = current();
    // A text that was stopped at a limit would be stopped again.
    const problems = JSON.parse(document.getElementById("preview").dataset.problems || "[]");
    if (document.hidden || problems.some(({ code }) => code.startsWith("jail-"))) return;
    if (view.composing || view.compositionStarted) return plan();
    const wanted = question();
    const key = JSON.stringify(wanted);
    if (key === asked) return mark();
    flight?.abort();
    const mine = (flight = new AbortController());
    const { csrfmiddlewaretoken: token, tab } = form.elements;
    const body = new URLSearchParams({ ...wanted, tab: tab.value, csrfmiddlewaretoken: token.value });
    let found = null;
    try {
      const answer = await fetch(url, { method: "POST", body, signal: mine.signal, priority: "low" });
      // 204: not now. Anything else that is no answer, such as a page to sign in, is no matter of these marks.
      found = answer.status === 200 ? parse(await answer.text()).getElementById("rounds-tried") : null;
    } catch {
      // new typing, or offline
    }
    if (flight !== mine) return;
    flight = null;
    if (!found) return plan(AGAIN);
    asked = key;
    known = { kind, marks: JSON.parse(found.dataset.marks) };
    document.getElementById("rounds-tried").replaceWith(document.adoptNode(found));
    mark();
  }

  function mark() {
    // What a refused save said of this text, the list of all rounds says too.
    if (asked === JSON.stringify(question())) {
      for (const each of form.querySelectorAll(`#problems .finding.error[data-kind="${known.kind}"]`)) each.remove();
    }
    const marks = known?.kind === form.elements.kind.value ? known.marks : { fails: {}, changes: {} };
    const context = form.elements.context?.value ?? "";
    for (const option of form.querySelectorAll("#context option")) {
      option.dataset.title ??= option.textContent.trim();
      put(option, option.dataset.title, ["fails", "changes"].find((name) => marks[name][option.value]?.length));
    }
    for (const each of document.querySelectorAll("#preview [data-round]")) {
      const { round } = each.dataset;
      put(each, round, ["fails", "changes"].find((name) => marks[name][context]?.includes(Number(round))));
    }
  }

  function put(element, title, name) {
    if ((element.dataset.mark ?? "") === (name ?? "")) return;
    if (!name) {
      delete element.dataset.mark;
      element.textContent = title;
      element.removeAttribute("title");
      return;
    }
    element.dataset.mark = name;
    if (element.matches("option")) {
      element.textContent = `${title} ${SIGNS[name]} ${words[name]}`;
      return;
    }
    const word = document.createElement("span");
    word.className = "visually-hidden";
    word.textContent = ` ${words[name]}`;
    element.replaceChildren(title, word);
    element.title = words[name];
  }

  form.addEventListener("click", ({ target }) => {
    const finding = target.closest("#rounds-tried .finding");
    if (finding) onShow(finding.dataset.context, finding.dataset.round);
  });
  // Contexts are made in other tabs.
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) return;
    asked = "";
    plan();
  });

  plan();
  return {
    /** The text changed: what is under way is about an older one. */
    changed() {
      flight?.abort();
      flight = null;
      plan();
    },
    /** After each preview, whose rounds come without marks. */
    follow() {
      if (known && known.kind !== form.elements.kind.value) document.getElementById("rounds-tried").replaceChildren();
      mark();
      plan();
    },
  };
}
