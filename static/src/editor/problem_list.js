// The list below the editor. An answer is about one template; what is known of the other two stays in it.
export function problemList(form) {
  form.addEventListener("htmx:oobBeforeSwap", ({ detail: { target, fragment } }) => {
    const fresh = fragment.querySelector("#problems");
    if (target.id !== "problems" || !fresh) return;
    const others = [...target.querySelectorAll(".finding")].filter(({ dataset }) => dataset.kind !== fresh.dataset.kind);
    if (!others.length) return;
    const list = fresh.querySelector("ol") ?? target.querySelector("ol").cloneNode(false);
    list.append(...others);
    fresh.replaceChildren(list);
  });
  // Nothing is left to mend: what a refused save asked for is done.
  form.addEventListener("htmx:oobAfterSwap", () => {
    if (!document.querySelector("#problems .finding.error")) document.querySelector("main > .notices:has(.refused)")?.remove();
  });
}
