// data-theme-switch: changes the theme at once and tells the server, which remembers it; without this the form posts.
import { onContent } from "./ready.js";

onContent((root) => {
  for (const form of root.querySelectorAll("[data-theme-switch]")) {
    form.addEventListener("submit", (event) => {
      const button = event.submitter;
      if (!button) return;
      event.preventDefault();
      const body = new FormData(form, button);
      fetch(form.action, { method: "POST", body, redirect: "manual" }).catch(() => form.submit());
      document.documentElement.dataset.theme = button.value;
      for (const each of form.querySelectorAll("button")) each.setAttribute("aria-pressed", String(each === button));
    });
  }
});
