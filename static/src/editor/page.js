// Takes over what another answer of the editor's page says, without losing the editors and their undo.
export function parse(html) {
  return new DOMParser().parseFromString(html, "text/html");
}

/** Messages, notices, facts, preview and problems of `other`, a parsed page, take the place of those shown. */
export function adopt(other) {
  swap("main > .notices", other, (element) => document.querySelector("#draft-notices").before(element));
  for (const selector of ["#draft-notices", ".page-facts", "#problems", "#preview"]) swap(selector, other);
  for (const selector of ["#message-error", "#message-kept"]) {
    swap(selector, other, (element) => document.querySelector(".editor-save").append(element));
  }
  const [chosen, offered] = [document, other].map((page) => page.querySelector("#context, #workspace"));
  // What was chosen may be gone by now.
  if (chosen && offered && ![...offered.options].some(({ value }) => value === chosen.value)) chosen.replaceChildren(...offered.options);
  const invalid = other.querySelector("#message")?.hasAttribute("aria-invalid");
  document.querySelector("#message").toggleAttribute("aria-invalid", Boolean(invalid));
}

function swap(selector, other, insert) {
  const old = document.querySelector(selector);
  const fresh = other.querySelector(selector);
  if (!fresh) {
    if (insert) old?.remove();
    return;
  }
  const element = document.adoptNode(fresh);
  if (old) old.replaceWith(element);
  else insert?.(element);
  window.htmx?.process(element);
}
