// The list below the editor. An answer is about one template; what is known of the other two stays in it.
const isError = ({ classList }) => classList.contains("error");

export function problemList(form) {
  form.addEventListener("htmx:oobBeforeSwap", ({ detail: { target, fragment } }) => {
    const fresh = fragment.querySelector("#problems");
    if (target.id !== "problems" || !fresh) return;
    // Errors of the template that is shown stand above its prompt; once another one is shown, here.
    const before = [...form.querySelectorAll("#problems .finding, #preview .finding")];
    const others = before.filter(({ dataset }) => dataset.kind !== fresh.dataset.kind);
    if (!others.length) return;
    const list = fresh.querySelector("ol") ?? document.createElement("ol");
    list.className = "findings";
    const all = [...list.children, ...others];
    list.replaceChildren(...all.filter(isError), ...all.filter((each) => !isError(each)));
    fresh.replaceChildren(list);
  });
  // Nothing is left to fix: what a refused save asked for is done.
  form.addEventListener("htmx:afterSettle", () => {
    if (!form.querySelector(".finding.error")) document.querySelector("main > .notices:has(.refused)")?.remove();
  });
}
