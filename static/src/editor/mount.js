// Turns a <textarea data-editor> into a CodeMirror editor. The textarea stays the form's field.
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { bracketMatching, indentUnit } from "@codemirror/language";
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
import { EditorState } from "@codemirror/state";
import {
  EditorView,
  drawSelection,
  highlightActiveLine,
  highlightActiveLineGutter,
  highlightSpecialChars,
  keymap,
  lineNumbers,
} from "@codemirror/view";
import { completion } from "./completion.js";
import { coverageGutter } from "./coverage.js";
import { template } from "./jinja.js";
import { overwrite } from "./overwrite.js";
import { pairs } from "./pairs.js";
import { problems } from "./problems.js";
import { prefixShades } from "./cacheable_prefix.js";
import { toml } from "./toml.js";
import { variableTips } from "./variables.js";

const NO_WORDS = { tags: [], filters: [], tests: [], methods: [], loop: [] };

/** `words`: what may be completed; `phrases`: CodeMirror's own words; `onChange(view, update)` hears of each change. */
export function mount(textarea, { words = NO_WORDS, phrases = {}, onChange } = {}) {
  const variables = JSON.parse(textarea.dataset.variables ?? "[]");
  // It takes the focus anyway; tools that look for what does are told by this.
  const attributes = { tabindex: "0", "aria-label": textarea.getAttribute("aria-label") ?? textarea.name };
  const help = textarea.getAttribute("aria-describedby");
  if (help) attributes["aria-describedby"] = help;
  const isToml = textarea.dataset.kind === "system";
  const view = new EditorView({
    parent: textarea.parentElement,
    state: EditorState.create({
      doc: textarea.value,
      extensions: [
        // CodeMirror adds a <style>; the page's policy lets it in by this nonce alone.
        EditorView.cspNonce.of(textarea.dataset.nonce ?? ""),
        EditorState.phrases.of(phrases),
        EditorView.lineWrapping,
        EditorView.contentAttributes.of(attributes),
        EditorState.readOnly.of(textarea.readOnly),
        problems(),
        lineNumbers(),
        isToml ? [] : coverageGutter(),
        prefixShades(),
        highlightActiveLine(),
        highlightActiveLineGutter(),
        highlightSpecialChars(),
        highlightSelectionMatches(),
        history(),
        drawSelection(),
        bracketMatching(),
        search({ top: true }),
        indentUnit.of("  "),
        overwrite,
        isToml ? toml : [template, pairs(), completion(variables, words), variableTips],
        keymap.of([...searchKeymap, ...historyKeymap, ...defaultKeymap, indentWithTab]),
        EditorView.updateListener.of((update) => {
          if (!update.docChanged) return;
          textarea.value = update.state.doc.toString();
          onChange?.(view, update);
        }),
      ],
    }),
  });
  textarea.hidden = true;
  return view;
}

/** Puts another text in an editor's place; it can be undone. */
export function replaceText(view, text) {
  if (view.state.doc.toString() === text) return;
  view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } });
}
