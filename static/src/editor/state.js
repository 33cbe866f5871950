// The line that says whether the text is safe. Its words stand in data-* attributes, in the reader's language.
export function stateLine(output) {
  const title = document.title;
  return {
    /** `name` is the data-* attribute; `text` takes the place of its words. */
    show(name, text) {
      output.dataset.is = name;
      const words = text || output.dataset[name] || "";
      // Written only when it differs: a screen reader reads every change aloud.
      if (output.textContent !== words) output.textContent = words;
      document.title = ["unsaved", "saving", "offline", "refused", "signedout"].includes(name) ? `• ${title}` : title;
    },
  };
}
