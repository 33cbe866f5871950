// Takes a suggested order into the draft without leaving the page: the server puts the old text aside, and here it can
// be undone as if it had been typed.
import { replaceText } from "./mount.js";
import { adopt, parse } from "./page.js";

export function reordering(form, drafts, line, editors) {
  const { elements } = form;
  let busy = false;

  form.addEventListener("click", async (event) => {
    const button = event.target.closest("button[name=take]");
    if (!button) return;
    event.preventDefault();
    if (busy) return;
    busy = true;
    try {
      await take(button);
    } finally {
      busy = false;
    }
  });

  async function take(button) {
    // What is on its way must arrive before; if it cannot, the line says so already.
    if (!(await drafts.flush())) return;
    drafts.stop();
    line.show("busy");
    elements.seq.value = Number(elements.seq.value) + 1;
    const body = new URLSearchParams(new FormData(form, button));
    const kind = elements.kind.value;
    let answer;
    let page;
    try {
      answer = await fetch(button.formAction, { method: "POST", body });
      page = parse(await answer.text());
    } catch {
      drafts.resume();
      line.show("offline");
      return;
    }
    drafts.resume();
    const conflict = page.querySelector("#conflict");
    const other = page.querySelector("form[data-editor-form]");
    if (conflict) {
      const copy = conflict.querySelector("[name=copy]")?.value;
      location.assign(conflict.getAttribute("action") + (copy ? `?copy=${copy}` : ""));
    } else if (!other) line.show(answer.status >= 500 ? "offline" : "signedout");
    else put(kind, other, page, body, answer.ok);
  }

  function put(kind, other, page, body, isTaken) {
    const { view, textarea } = editors.get(kind);
    for (const name of ["base", "revision"]) elements[name].value = other.elements[name].value;
    const said = isTaken ? page.querySelector("main > .notices") : null;
    said?.remove();
    adopt(page);
    line.show("saved", said?.textContent.trim());
    if (!isTaken) return;
    form.querySelector("[data-state]").dataset.changed = other.querySelector("[data-state]").dataset.changed;
    // What was typed meanwhile is newer than the question: it stays, and so does the hint.
    if (textarea.value === body.get(textarea.name).replaceAll("\r\n", "\n")) replaceText(view, other.elements[textarea.name].value);
    else drafts.changed();
    view.focus();
  }
}
