// data-theme-switch: changes the theme at once, while htmx tells the server to remember it.
import { onContent } from "./ready.js";

onContent("[data-theme-switch]", (form) => {
  form.addEventListener("submit", (event) => {
    const button = event.submitter;
    if (!button) return;
    document.documentElement.dataset.theme = button.value;
    for (const each of form.querySelectorAll("button")) each.setAttribute("aria-pressed", String(each === button));
  });
});
