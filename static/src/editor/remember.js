// Parts that fold stay as their reader left them, on the next visit too.
const NARROW = "(max-width: 60rem)"; // where everything stands in one column, they begin folded

export function remember() {
  for (const fold of document.querySelectorAll("details[data-remember]")) {
    const key = fold.dataset.remember;
    const kept = localStorage.getItem(key);
    if (kept) fold.open = kept === "open";
    else if (matchMedia(NARROW).matches) fold.open = false;
    fold.addEventListener("toggle", () => localStorage.setItem(key, fold.open ? "open" : "closed"));
  }
}
