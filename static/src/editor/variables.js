// The panel of variables follows the template, the context and the round; a click puts a name into the text. Over a
// name in the text the same is shown.
import { hoverTooltip } from "@codemirror/view";
import { segmentAt } from "./jinja.js";
import { parse } from "./page.js";

function row(name) {
  return document.querySelector(`#variables [data-variable="${CSS.escape(name)}"]`);
}

/** What the panel says about a name, for a tooltip; null where it knows none. */
export function described(name) {
  const found = row(name);
  if (!found) return null;
  const box = document.createElement("div");
  box.className = "variable-tip";
  for (const [tag, part] of [["p", "about"], ["p", "type"], ["pre", "value"]]) {
    const element = document.createElement(tag);
    element.className = `variable-${part}`;
    element.textContent = found.querySelector(`.variable-${part}`).textContent.trim();
    box.append(element);
  }
  return box;
}

/** Tooltips over names, for an editor's extensions. */
export const variableTips = hoverTooltip(
  (view, at) => {
    const token = segmentAt(view.state, at)?.tokens.find(({ type, from, to }) => type === "name" && from <= at && at <= to);
    const box = token && described(view.state.sliceDoc(token.from, token.to));
    return box ? { pos: token.from, end: token.to, above: true, create: () => ({ dom: box }) } : null;
  },
  { hoverTime: 200 },
);

/** `current()` gives the editor shown. */
export function variables(form, current) {
  const { variablesUrl } = form.dataset;
  if (!variablesUrl) return { follow() {} };
  let asked = shownView();

  function shownView() {
    const { kind, context, round } = form.elements;
    return new URLSearchParams({ kind: kind.value, context: context?.value ?? "", round: round?.value ?? "" }).toString();
  }

  function offer() {
    const panel = document.getElementById("variables");
    for (const code of panel.querySelectorAll("code.variable-name")) {
      const button = document.createElement("button");
      Object.assign(button, { type: "button", className: code.className, title: panel.dataset.insert, textContent: code.textContent });
      code.replaceWith(button);
    }
  }

  /** After each preview: where it is about another template, context or round, so is the panel. */
  async function follow() {
    const wanted = shownView();
    if (wanted === asked) return;
    asked = wanted;
    const answer = await fetch(`${variablesUrl}?${wanted}`).catch(() => null);
    const fresh = answer?.ok && parse(await answer.text()).getElementById("variables");
    if (asked !== wanted) return;
    if (!fresh) {
      asked = "";
      return;
    }
    const old = document.getElementById("variables");
    const { scrollTop } = old;
    old.replaceWith(document.adoptNode(fresh));
    offer();
    document.getElementById("variables").scrollTop = scrollTop;
  }

  form.addEventListener("click", ({ target }) => {
    const button = target.closest("button.variable-name");
    if (button) insert(current().view, button.textContent);
  });
  offer();
  return { follow };
}

/** Inside of signs the name alone, outside with signs around it. */
function insert(view, name) {
  const { main } = view.state.selection;
  const segment = segmentAt(view.state, main.from);
  const text = segment && segment.kind !== "comment" ? name : `{{ ${name} }}`;
  view.dispatch({ ...view.state.replaceSelection(text), userEvent: "input.complete", scrollIntoView: true });
  view.focus();
}
