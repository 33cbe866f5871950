// Typing over a selection. Left to itself the browser carries the old text's looks over as a style attribute, which
// the page's policy refuses with an error in the console; so the text is put there by CodeMirror.
import { EditorView } from "@codemirror/view";

export const overwrite = EditorView.domEventHandlers({
  beforeinput(event, view) {
    const { main } = view.state.selection;
    if (event.inputType !== "insertText" || !event.data || event.isComposing || view.composing || main.empty) return false;
    event.preventDefault();
    const insert = () => view.state.update({ ...view.state.replaceSelection(event.data), userEvent: "input.type", scrollIntoView: true });
    const isTaken = view.state.facet(EditorView.inputHandler).some((handle) => handle(view, main.from, main.to, event.data, insert));
    if (!isTaken) view.dispatch(insert());
    return true;
  },
});
