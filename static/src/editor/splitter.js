// The line between editor and preview: drawn by hand, moved with the arrow keys, put back by a double click.
const KEPT = "studio-split";
const LEAST = 25;
const MOST = 75;

export function splitter(line) {
  const bench = line.closest(".bench");

  function put(share) {
    const left = Math.round(Math.min(MOST, Math.max(LEAST, share)));
    bench.style.setProperty("--columns", `minmax(0, ${left}fr) minmax(0, ${100 - left}fr)`);
    line.setAttribute("aria-valuenow", String(left));
    localStorage.setItem(KEPT, String(left));
  }

  line.hidden = false;
  line.addEventListener("pointerdown", (event) => {
    event.preventDefault();
    line.setPointerCapture(event.pointerId);
  });
  line.addEventListener("pointermove", ({ pointerId, clientX }) => {
    if (!line.hasPointerCapture(pointerId)) return;
    const { left, width } = bench.getBoundingClientRect();
    put(((clientX - left) / width) * 100);
  });
  line.addEventListener("dblclick", () => put(50));
  line.addEventListener("keydown", (event) => {
    const now = Number(line.getAttribute("aria-valuenow"));
    const next = { ArrowLeft: now - 2, ArrowRight: now + 2, Home: LEAST, End: MOST, Enter: 50 }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    put(next);
  });
  const kept = Number(localStorage.getItem(KEPT));
  if (kept) put(kept);
}
