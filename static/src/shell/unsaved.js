// form[data-unsaved]: asks before a page is left whose form holds what is stored nowhere. "yes": it does from the start.
import { onContent } from "./ready.js";

onContent("form[data-unsaved]", (form) => {
  let unsaved = form.dataset.unsaved === "yes";
  const changed = () => (unsaved = true);
  form.addEventListener("input", changed);
  // Rows that the server added or took out are a change as well.
  form.addEventListener("htmx:afterSwap", changed);
  form.addEventListener("submit", () => (unsaved = false));
  window.addEventListener("beforeunload", (event) => {
    if (unsaved) event.preventDefault();
  });
});
