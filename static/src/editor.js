// Turns each <textarea data-editor> into a CodeMirror editor. The textarea stays the form's field.
import { closeBrackets, closeBracketsKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { bracketMatching, indentUnit } from "@codemirror/language";
import { lintGutter } from "@codemirror/lint";
import { highlightSelectionMatches, searchKeymap } from "@codemirror/search";
import { EditorState } from "@codemirror/state";
import {
  EditorView,
  drawSelection,
  highlightActiveLine,
  highlightActiveLineGutter,
  keymap,
  lineNumbers,
} from "@codemirror/view";

function mount(textarea) {
  const view = new EditorView({
    parent: textarea.parentElement,
    state: EditorState.create({
      doc: textarea.value,
      extensions: [
        // CodeMirror adds a <style>; the page's policy lets it in by this nonce alone.
        EditorView.cspNonce.of(textarea.dataset.nonce ?? ""),
        EditorView.lineWrapping,
        EditorView.contentAttributes.of({ "aria-label": textarea.getAttribute("aria-label") ?? textarea.name }),
        EditorState.readOnly.of(textarea.readOnly),
        lineNumbers(),
        highlightActiveLine(),
        highlightActiveLineGutter(),
        highlightSelectionMatches(),
        history(),
        drawSelection(),
        bracketMatching(),
        closeBrackets(),
        indentUnit.of("  "),
        lintGutter(),
        keymap.of([...closeBracketsKeymap, ...defaultKeymap, ...searchKeymap, ...historyKeymap]),
        EditorView.updateListener.of((update) => {
          if (!update.docChanged) return;
          textarea.value = update.state.doc.toString();
          textarea.dispatchEvent(new Event("input", { bubbles: true }));
        }),
      ],
    }),
  });
  textarea.hidden = true;
  textarea.form?.addEventListener("reset", () => {
    view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: textarea.defaultValue } });
  });
}

for (const textarea of document.querySelectorAll("textarea[data-editor]")) mount(textarea);
