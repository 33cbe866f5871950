// The editor's keys work everywhere on its page. By code where Alt writes another letter, as on a Mac.
export function keys(actions) {
  document.addEventListener(
    "keydown",
    (event) => {
      if (event.isComposing) return;
      const action = actions[nameOf(event)];
      if (!action) return;
      event.preventDefault();
      event.stopPropagation();
      action();
    },
    // Before CodeMirror, which has other ideas for Mod-Enter.
    { capture: true },
  );
}

function nameOf({ key, code, ctrlKey, metaKey, altKey, shiftKey }) {
  if ((ctrlKey || metaKey) && !altKey && !shiftKey) return `Mod-${key.toLowerCase()}`;
  if (altKey && !ctrlKey && !metaKey && !shiftKey) return `Alt-${code.replace(/^(Digit|Key)/, "").toLowerCase()}`;
  if (key === "F8" && !ctrlKey && !metaKey && !altKey) return shiftKey ? "Shift-F8" : "F8";
  return "";
}
