// data-keys="g p": pressing the keys one after the other follows the link, presses the button or focuses the field.
let pressed = [];
let forget;

function inText(target) {
  return target.closest("input, textarea, select, [contenteditable]:not([contenteditable='false'])");
}

/** Does what an element is there for. */
export function activate(element) {
  if (element.matches("input, textarea, select")) {
    element.focus();
    element.select?.();
  } else {
    element.click();
  }
}

document.addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key.length !== 1 || inText(event.target) || "keysOff" in document.documentElement.dataset) return;
  clearTimeout(forget);
  pressed = [...pressed, event.key].slice(-2);
  forget = setTimeout(() => (pressed = []), 1200);
  for (const keys of [pressed.join(" "), event.key]) {
    // What a page offers comes after the frame around it, and counts before it.
    const element = [...document.querySelectorAll(`[data-keys="${CSS.escape(keys)}"]`)].at(-1);
    if (!element) continue;
    event.preventDefault();
    pressed = [];
    activate(element);
    return;
  }
});
