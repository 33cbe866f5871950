// [data-jinja]: templates in the editor's colours. They are painted over the text, by the editor's own grammar, when the
// browser has nothing else to do, what is in view first; the page itself stays as it came.
import { coloured, scan } from "./jinja.js";

const TEXT = 4; // NodeFilter.SHOW_TEXT
const NOT_TEXT = ".sign, .visually-hidden, .no-end";
const known = new WeakSet();
const layers = new Map();

const whenIdle = window.requestIdleCallback ?? ((work) => setTimeout(work, 50));

/** Text nodes of an element that are part of the template. */
function* textNodes(element) {
  const walker = document.createTreeWalker(element, TEXT);
  while (walker.nextNode()) if (!walker.currentNode.parentElement.closest(NOT_TEXT)) yield walker.currentNode;
}

/** What is scanned as one text: a source, or one side of rows that follow each other. Each is a list of lines. */
function texts(part) {
  if (part.matches("code")) return [[part]];
  if (part.matches(".change-rows")) return [[...part.querySelectorAll(".row")]];
  return [".old", ".new"].map((side) => [...part.querySelectorAll(`td${side}`)]);
}

/** The ranges of a text by their colours. A range is within one node: marks of a diff lie between them. */
function* ranges(lines) {
  const nodes = [];
  let text = "";
  for (const line of lines) {
    for (const node of textNodes(line)) {
      nodes.push({ node, from: text.length, to: text.length + node.length });
      text += node.data;
    }
    if (lines.length > 1) text += "\n";
  }
  // Rows of a diff may begin within a comment that opened in folded rows: its end comes before any opening.
  const end = lines.length > 1 ? text.indexOf("#}") : -1;
  const missing = end >= 0 && !text.slice(0, end).includes("{#") ? "{#" : "";
  let first = 0;
  for (const [name, begun, ended] of coloured(scan(missing + text))) {
    const [from, to] = [Math.max(begun - missing.length, 0), ended - missing.length];
    while (first < nodes.length && nodes[first].to <= from) first += 1;
    for (let at = first; at < nodes.length && nodes[at].from < to; at += 1) {
      const { node, from: start } = nodes[at];
      yield [
        name,
        new StaticRange({
          startContainer: node,
          startOffset: Math.max(from - start, 0),
          endContainer: node,
          endOffset: Math.min(to - start, node.length),
        }),
      ];
    }
  }
}

function layer(name) {
  if (!layers.has(name)) {
    layers.set(name, new Highlight());
    CSS.highlights.set(`jinja-${name}`, layers.get(name));
    // A stretch of Jinja lies below the words in it.
    layers.get(name).priority = name === "expression" || name === "statement" ? 0 : 1;
  }
  return layers.get(name);
}

function paint(part) {
  for (const lines of texts(part)) for (const [name, range] of ranges(lines)) layer(name).add(range);
}

function isInView(part) {
  const { top, bottom } = part.getBoundingClientRect();
  return bottom > 0 && top < innerHeight;
}

function look() {
  const parts = [...document.querySelectorAll("[data-jinja] :is(.source code, .change-rows, .diff tbody:not(.held))")];
  const fresh = parts.filter((part) => !known.has(part));
  if (!fresh.length) return;
  for (const part of fresh) known.add(part);
  const inView = fresh.filter(isInView);
  const queue = [...inView, ...fresh.filter((part) => !inView.includes(part))];
  whenIdle(function work(deadline) {
    do paint(queue.shift());
    while (queue.length && deadline?.timeRemaining?.() > 5);
    if (queue.length) whenIdle(work);
    else document.documentElement.dataset.coloured = "";
  });
}

if (window.CSS?.highlights && window.Highlight) {
  if (document.readyState === "complete") look();
  else window.addEventListener("load", look);
  document.addEventListener("htmx:load", look);
}
