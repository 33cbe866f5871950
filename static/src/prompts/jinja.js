// Where a template is prose and where it is Jinja: one scan of the text, for the editor and for the pages that show one.
const OPENING = /\{(?:\{[-+]?|%[-+]?|#)/g;
const END_OF_RAW = /\{%[-+]?\s*endraw\s*[-+]?%\}/g;
const TOKEN =
  /\s+|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\d[\d_]*(?:\.\d+)?|[\p{ID_Start}_]\p{ID_Continue}*|[-+]?[%}]\}|\/\/|\*\*|[=!<>]=|./suy;
const KEYWORDS = new Set(
  "and as call elif else endcall endfilter endfor endif endmacro endraw endset endwith filter for if in is macro not or raw recursive set with".split(
    " ",
  ),
);
const CONSTANTS = new Set(["true", "false", "none", "True", "False", "None"]);

/**
 * The stretches of Jinja in a text, in order: {kind, from, to, inner, end, closed, tag, tokens}.
 * `inner` is where the opening sign ends and `end` where the closing one begins.
 */
export function scan(text) {
  const found = [];
  for (let at = 0; at < text.length; ) {
    OPENING.lastIndex = at;
    const opening = OPENING.exec(text);
    if (!opening) break;
    const segment = opening[0] === "{#" ? comment(text, opening.index) : code(text, opening.index, opening[0]);
    found.push(segment);
    at = segment.to;
    if (segment.tag === "raw" && segment.closed) {
      END_OF_RAW.lastIndex = at;
      at = END_OF_RAW.exec(text)?.index ?? text.length;
    }
  }
  return found;
}

function comment(text, from) {
  const end = text.indexOf("#}", from + 2);
  const closed = end >= 0;
  const to = closed ? end + 2 : text.length;
  return { kind: "comment", from, to, inner: from + 2, end: closed ? end : to, closed, tag: "", tokens: [] };
}

function code(text, from, sign) {
  const kind = sign[1] === "{" ? "expression" : "statement";
  const close = kind === "expression" ? "}}" : "%}";
  const inner = from + sign.length;
  const tokens = [];
  let depth = 0;
  for (let at = inner; at < text.length; ) {
    // Somebody is still typing this one: it must not swallow the next.
    if (text[at] === "{" && "{%#".includes(text[at + 1] ?? " ") && !(kind === "expression" && depth)) break;
    TOKEN.lastIndex = at;
    let word = TOKEN.exec(text)[0];
    if (word.endsWith(close) && word.length <= 3 && !depth) {
      return { kind, from, to: at + word.length, inner, end: at, closed: true, tag: tagOf(kind, tokens), tokens };
    }
    if (/^[-+]?[%}]\}$/.test(word)) word = word[0];
    depth += word === "{" ? 1 : word === "}" && depth ? -1 : 0;
    if (word.trim()) tokens.push({ from: at, to: at + word.length, word, type: typeOf(word, tokens, kind) });
    at += word.length;
  }
  // Without its end it reaches to the end of its line.
  const line = text.indexOf("\n", inner);
  const to = line < 0 ? text.length : line;
  const kept = tokens.filter((token) => token.to <= to);
  return { kind, from, to, inner, end: to, closed: false, tag: tagOf(kind, kept), tokens: kept };
}

function tagOf(kind, tokens) {
  return kind === "statement" ? (tokens[0]?.word ?? "") : "";
}

function typeOf(word, before, kind) {
  const last = before.at(-1);
  if (/^["']/.test(word)) return word.length > 1 ? "string" : "sign";
  if (/^\d/.test(word)) return "number";
  if (!/^[\p{ID_Start}_]/u.test(word)) return "sign";
  if (kind === "statement" && !last) return "keyword";
  if (last?.word === ".") return "attribute";
  if (last?.word === "|" || (last?.word === "filter" && before.length === 1)) return "filter";
  if (last?.word === "is" || (last?.word === "not" && before.at(-2)?.word === "is")) return word === "not" ? "keyword" : "test";
  if (CONSTANTS.has(word)) return "number";
  return KEYWORDS.has(word) ? "keyword" : "name";
}

/** What has a colour in a text, outer stretches first: [name, from, to]. */
export function coloured(segments) {
  const parts = [];
  for (const { kind, from, to, inner, end, closed, tokens } of segments) {
    parts.push([kind, from, to]);
    if (kind === "comment") continue;
    parts.push(["sign", from, inner]);
    for (const token of tokens) parts.push([token.type, token.from, token.to]);
    if (closed) parts.push(["sign", end, to]);
  }
  return parts;
}
