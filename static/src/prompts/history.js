// [data-picked]: which two versions the bar of a history would compare.
function say() {
  const said = document.querySelector("[data-picked]");
  if (!said) return;
  const picked = ["old", "new"].map((name) => said.closest("form").querySelector(`[name=${name}]:checked`).value);
  const numbers = picked.filter((value) => value !== "draft").sort((one, other) => one - other);
  const named = [...numbers.map((number) => `v${number}`), ...(picked.includes("draft") ? [said.dataset.draft] : [])];
  said.textContent = named.join(" → ");
  said.hidden = false;
}

say();
document.addEventListener("change", (event) => event.target.closest(".history") && say());
document.addEventListener("htmx:afterSettle", say);
