// data-copy="text" or data-copy-from="#element": copies, and says so in the words of data-copied.
import { onContent } from "./ready.js";

async function copy(button) {
  const from = button.dataset.copyFrom;
  const text = from ? document.querySelector(from).textContent : button.dataset.copy;
  await navigator.clipboard.writeText(text);
  const title = button.title;
  button.dataset.done = "";
  button.title = button.dataset.copied;
  const spoken = document.createElement("span");
  spoken.className = "visually-hidden";
  spoken.setAttribute("role", "status");
  button.after(spoken);
  spoken.textContent = button.dataset.copied;
  setTimeout(() => {
    delete button.dataset.done;
    button.title = title;
    spoken.remove();
  }, 1500);
}

// Only a secure page (https, or this machine) may write to the clipboard; elsewhere the buttons stay hidden.
if (navigator.clipboard) {
  onContent("[data-copy], [data-copy-from]", (button) => {
    button.hidden = false;
    button.addEventListener("click", () => copy(button));
  });
}
