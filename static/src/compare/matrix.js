// table[data-matrix]: its pending rows are asked for one after the other, by htmx, with a progress bar. Leaving the
// page ends it, a hidden tab rests, and rows that came once come at once the next time.
import { onContent } from "../shell/ready.js";

onContent("[data-matrix]", (table) => {
  const bar = document.querySelector("[data-matrix-progress]");
  if (!bar) return;
  const [stop, goOn] = [bar.querySelector("[data-stop]"), bar.querySelector("[data-go-on]")];
  const total = table.tBodies[0].rows.length;
  let asking = null;
  let stopped = false;
  let failures = 0;

  const pending = () => table.querySelectorAll("tr[data-pending]");

  function say(words) {
    const there = total - pending().length;
    bar.querySelector("progress").value = there;
    bar.querySelector("output").textContent = words.replace("##", total).replace("#", there);
  }

  function buttons() {
    const left = pending().length > 0;
    stop.hidden = !left || stopped;
    goOn.hidden = !left || !stopped;
  }

  function halt(words) {
    stopped = true;
    say(words);
    buttons();
  }

  function next() {
    if (asking || stopped || document.hidden) return;
    asking = pending()[0] ?? null;
    say(asking ? bar.dataset.words : bar.dataset.done);
    buttons();
    if (asking) window.htmx.trigger(asking, "turn");
  }

  // Whatever is no row (a proxy's page, say) is not put among the rows.
  document.addEventListener("htmx:beforeSwap", (event) => {
    const row = event.detail.requestConfig?.elt;
    if (row instanceof Element && table.contains(row) && !event.detail.xhr.responseText.trimStart().startsWith("<tr")) {
      event.detail.shouldSwap = false;
    }
  });

  document.addEventListener("htmx:afterRequest", (event) => {
    if (!asking || event.detail.requestConfig?.elt !== asking) return;
    const { id } = asking;
    asking = null;
    // The new row stands there now, or the old one still does.
    setTimeout(() => {
      const row = document.getElementById(id);
      if (row?.matches("[data-pending]")) return halt(bar.dataset.away);
      failures = row?.matches("[data-failed]") ? failures + 1 : 0;
      // Two in a row: the jail has a rest before it is asked again.
      if (failures > 1 && pending().length) return halt(bar.dataset.stopped);
      next();
    });
  });

  stop.addEventListener("click", () => halt(bar.dataset.stopped));
  goOn.addEventListener("click", () => {
    stopped = false;
    failures = 0;
    next();
  });
  document.addEventListener("visibilitychange", next);

  if (!pending().length) return;
  // htmx attaches to the rows when the page is ready.
  if (document.readyState === "complete") next();
  else window.addEventListener("load", next);
});
