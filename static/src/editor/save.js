// Saves without leaving the page: the editors keep their undo, and a server that is away costs nothing.
import { adopt, parse } from "./page.js";

/** `onAnswer(kind)` hears which template the page turned to after a save that was refused. */
export function saving(form, drafts, line, onAnswer) {
  const { elements } = form;
  let busy = false;

  async function save() {
    if (busy) return;
    if (!elements.message.value.trim()) return askForMessage();
    // Written for an earlier attempt, and not looked at since: the next press saves with it.
    if (document.querySelector("#message-kept:not([data-seen])")) return lookAtMessage();
    busy = true;
    try {
      await send();
    } finally {
      busy = false;
    }
  }

  async function send() {
    // What is on its way must arrive before; if it cannot, the line says so already.
    if (!(await drafts.flush())) return;
    drafts.stop();
    line.show("busy");
    elements.seq.value = Number(elements.seq.value) + 1;
    const body = new URLSearchParams(new FormData(form));
    let answer;
    let page;
    try {
      answer = await fetch(form.action, { method: "POST", body, redirect: "manual" });
      page = parse(await (answer.type === "opaqueredirect" ? await fetch(location.href) : answer).text());
    } catch {
      drafts.resume();
      drafts.changed();
      return;
    }
    drafts.resume();
    const conflict = page.querySelector("#conflict");
    if (conflict) {
      const copy = conflict.querySelector("[name=copy]")?.value;
      // What was typed since belongs on that page too.
      await drafts.flush();
      location.assign(conflict.getAttribute("action") + (copy ? `?copy=${copy}` : ""));
      return;
    }
    const other = page.querySelector("form[data-editor-form]");
    if (!other) {
      line.show(answer.status >= 500 ? "offline" : "signedout");
      return;
    }
    take(other, page, body);
  }

  function take(other, page, body) {
    const texts = [...form.querySelectorAll("textarea[data-editor]")];
    if (texts.some((each) => other.elements[each.name].value !== body.get(each.name).replaceAll("\r\n", "\n"))) {
      // Somebody saved another version in between: this page is not about it any more.
      location.assign(form.dataset.editUrl);
      return;
    }
    for (const name of ["base", "revision"]) elements[name].value = other.elements[name].value;
    const { changed, is } = other.querySelector("[data-state]").dataset;
    form.querySelector("[data-state]").dataset.changed = changed;
    if (changed === "false") {
      for (const each of texts) each.defaultValue = body.get(each.name);
      // Empty after a save; where nothing had changed, still there.
      if (elements.message.value === body.get("message")) elements.message.value = other.elements.message.value;
    }
    // «Saved as v6» stands where one looks for it, and moves nothing on the page.
    const said = changed === "false" ? page.querySelector("main > .notices") : null;
    said?.remove();
    adopt(page);
    line.show(is ?? "saved", said?.textContent.trim());
    if (texts.some((each) => each.value !== body.get(each.name))) drafts.changed();
    onAnswer(other.dataset.kind);
    if (elements.message.hasAttribute("aria-invalid")) elements.message.focus();
  }

  // The page that saves and exports reads the draft from the server: whatever is not in it is looked at first.
  async function leaveForExport() {
    if (busy || !(await drafts.flush())) return;
    const { is } = form.querySelector("[data-state]").dataset;
    if (is === "conflict") location.assign(document.querySelector("[data-conflict-link]").href);
    else if (is !== "refused") location.assign(form.dataset.exportUrl);
  }

  function lookAtMessage() {
    elements.message.focus();
    elements.message.select();
  }

  function askForMessage() {
    const { message } = elements;
    message.setAttribute("aria-invalid", "true");
    if (!document.querySelector("#message-error")) {
      const words = document.createElement("p");
      words.className = "field-error";
      words.id = "message-error";
      words.textContent = message.dataset.empty;
      document.querySelector(".editor-save").append(words);
    }
    message.setAttribute("aria-describedby", "message-error");
    message.focus();
  }

  elements.message.addEventListener("focus", () => document.querySelector("#message-kept")?.setAttribute("data-seen", ""));
  elements.message.addEventListener("input", () => {
    elements.message.removeAttribute("aria-invalid");
    elements.message.removeAttribute("aria-describedby");
    for (const note of document.querySelectorAll("#message-error, #message-kept")) note.remove();
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (event.submitter?.name === "then") leaveForExport();
    else save();
  });
  return save;
}
