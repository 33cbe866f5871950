// [data-changes]: n and p (j and k) go from change to change; rows that the page held back are fetched on the way.
import { onContent } from "../shell/ready.js";

const steps = { n: 1, j: 1, p: -1, k: -1 };

function changes() {
  return [...document.querySelectorAll("[data-diff] [data-change]")];
}

// Changes are counted through all templates of the page.
function number(row) {
  return Number(row.closest("[data-diff]").dataset.changesBefore) + Number(row.dataset.change);
}

function show(bar, row) {
  for (const each of document.querySelectorAll("[data-change][aria-current]")) each.removeAttribute("aria-current");
  row.setAttribute("aria-current", "true");
  row.focus({ preventScroll: true });
  row.scrollIntoView({ block: "center" });
  const words = bar.dataset.words.replace("##", bar.dataset.total).replace("#", number(row));
  bar.querySelector("output").textContent = words;
  // The address leads to this change: without an entry in the history for each.
  history.replaceState(history.state, "", `#${row.id}`);
}

// Where nobody has gone to a change yet, the first one comes first.
function current() {
  const row = document.querySelector("[data-change][aria-current]") ?? document.querySelector("[data-change]:target");
  return row ? number(row) : 0;
}

function go(bar, step) {
  const total = Number(bar.dataset.total);
  const wanted = Math.min(Math.max(current() + step, 1), total);
  const row = changes().find((each) => number(each) === wanted);
  if (row) return show(bar, row);
  const before = changes().filter((each) => number(each) < wanted).at(-1);
  const more = [...document.querySelectorAll("[data-diff] [data-more]")].find(
    (link) => !before || before.compareDocumentPosition(link) & Node.DOCUMENT_POSITION_FOLLOWING,
  );
  if (!more) return;
  document.addEventListener("htmx:load", () => go(bar, step), { once: true });
  more.click();
}

onContent("[data-changes]", (bar) => {
  for (const button of bar.querySelectorAll("[data-step]")) {
    button.hidden = false;
    button.addEventListener("click", () => go(bar, Number(button.dataset.step)));
  }
});

document.addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
  const step = steps[event.key];
  const bar = document.querySelector("[data-changes]");
  if (!step || !bar || "keysOff" in document.documentElement.dataset) return;
  if (event.target.closest("input, textarea, select, [contenteditable]")) return;
  event.preventDefault();
  go(bar, step);
});
