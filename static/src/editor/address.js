// The address says which template, context and round are shown: a reload and a shared link show the same.
export function address(form) {
  return () => {
    const url = new URL(form.dataset.editUrl, location.href);
    url.searchParams.set("kind", form.elements.kind.value);
    for (const name of ["context", "round"]) {
      const value = form.elements[name]?.value;
      if (value) url.searchParams.set(name, value);
    }
    history.replaceState(history.state, "", url);
  };
}
