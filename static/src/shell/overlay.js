// a[data-overlay]: shows the page it leads to above the current one, in #overlay. The same keys or Escape close it.
const overlay = document.getElementById("overlay");

async function show(link) {
  const answer = await fetch(link.href, { headers: { "HX-Request": "true" } });
  if (!answer.ok || answer.redirected) return window.location.assign(link.href);
  overlay.innerHTML = await answer.text();
  overlay.showModal();
}

if (overlay) {
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[data-overlay]");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    show(link);
  });
  overlay.addEventListener("click", (event) => {
    if (event.target === overlay) overlay.close();
  });
  overlay.addEventListener("keydown", (event) => {
    // Keys of the page below would act unseen.
    if (event.key.length === 1 && !event.ctrlKey && !event.metaKey) event.stopPropagation();
    if (event.key === "?") overlay.close();
  });
}
