// Runs a behaviour on every element that matches: those of the page, and those that htmx brings in later.
export function onContent(selector, attach) {
  const known = new WeakSet();
  const look = (root) => {
    for (const element of root.querySelectorAll(selector)) {
      if (known.has(element)) continue;
      known.add(element);
      attach(element);
    }
  };
  look(document);
  // Its target is the swapped element's parent or the element itself; the page is small, so look again.
  document.addEventListener("htmx:load", () => look(document));
}
