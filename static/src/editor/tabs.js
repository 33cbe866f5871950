// Three tabs, one editor at a time. Arrow keys walk them, as tabs do.
export function tabs(form, onShow) {
  const all = [...form.querySelectorAll("[data-tab]")];

  function show(kind) {
    for (const tab of all) {
      const chosen = tab.dataset.tab === kind;
      tab.setAttribute("aria-selected", String(chosen));
      tab.tabIndex = chosen ? 0 : -1;
      form.querySelector(`[data-panel="${tab.dataset.tab}"]`).hidden = !chosen;
    }
    form.elements.kind.value = kind;
    form.dataset.kind = kind;
    onShow(kind);
  }

  for (const [at, tab] of all.entries()) {
    tab.type = "button";
    tab.tabIndex = tab.getAttribute("aria-selected") === "true" ? 0 : -1;
    tab.addEventListener("click", () => show(tab.dataset.tab));
    tab.addEventListener("keydown", (event) => {
      const next = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: -1 }[event.key];
      if (next === undefined) return;
      event.preventDefault();
      const target = all.at(next % all.length);
      target.focus();
      show(target.dataset.tab);
    });
  }

  return {
    show,
    kinds: all.map((tab) => tab.dataset.tab),
    /** How many problems a template has, on its tab. */
    count(kind, number) {
      const badge = form.querySelector(`[data-tab="${kind}"] [data-count]`);
      badge.textContent = number;
      badge.parentElement.hidden = !number;
    },
  };
}
