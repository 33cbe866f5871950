// The address says which text is shown, in which context and round, for which workspace: a reload and a shared link show the same.
export function address(form) {
  return () => {
    const url = new URL(form.dataset.editUrl, location.href);
    url.searchParams.set("kind", form.elements.kind.value);
    for (const name of ["context", "round", "workspace"]) {
      const value = form.elements[name]?.value;
      if (value) url.searchParams.set(name, value);
    }
    history.replaceState(history.state, "", url);
  };
}
