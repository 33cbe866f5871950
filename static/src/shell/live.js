// [data-live]: asks the server again and again, by htmx. In a hidden tab it rests, and asks at once when it is seen.
// An answer that is no page (the studio restarts, the session ended) changes nothing but the line that says so.
const isLive = (event) => event.target instanceof Element && event.target.matches("[data-live]");

document.addEventListener("htmx:beforeRequest", (event) => {
  if (isLive(event) && document.hidden) event.preventDefault();
});

document.addEventListener("visibilitychange", () => {
  if (document.hidden || !window.htmx) return;
  document.querySelectorAll("[data-live]").forEach((element) => window.htmx.trigger(element, "live"));
});

document.addEventListener("htmx:beforeSwap", (event) => {
  const { requestConfig, xhr } = event.detail;
  if (!requestConfig?.elt?.matches("[data-live]") || xhr.status < 400) return;
  event.detail.shouldSwap = false;
  away(requestConfig.elt);
});

for (const name of ["htmx:sendError", "htmx:timeout"]) {
  document.addEventListener(name, (event) => {
    if (isLive(event)) away(event.target);
  });
}

function away(element) {
  if (!element.dataset.away || element.querySelector(".stale")) return;
  const words = document.createElement("span");
  words.className = "stale";
  words.setAttribute("role", "status");
  words.textContent = element.dataset.away;
  element.append(" ", words);
}
