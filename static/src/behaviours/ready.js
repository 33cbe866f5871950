// Runs a behaviour on the page, and again on whatever htmx brings in.
export function onContent(attach) {
  attach(document);
  document.addEventListener("htmx:load", (event) => attach(event.target));
}
