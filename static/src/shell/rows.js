// table[data-rows]: j and k move through the rows' links; Enter is the link's own.
document.addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
  const step = { j: 1, k: -1 }[event.key];
  if (!step || "keysOff" in document.documentElement.dataset) return;
  if (event.target.closest("input, textarea, select, [contenteditable]")) return;
  const links = [...document.querySelectorAll("[data-rows] .row-link")];
  if (!links.length) return;
  const row = document.activeElement.closest("[data-rows] tbody tr");
  const at = links.indexOf(row?.querySelector(".row-link"));
  const next = at < 0 ? (step > 0 ? 0 : links.length - 1) : at + step;
  links[Math.min(Math.max(next, 0), links.length - 1)].focus();
  event.preventDefault();
});
