"""The syntax tree of a template, with the line and column of every node. Nothing is compiled."""

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace

import jinja2
from jinja2 import nodes
from jinja2.lexer import TOKEN_BLOCK_BEGIN, TOKEN_INTEGER, TOKEN_WHITESPACE, TokenStream, newline_re
from jinja2.parser import Parser

from builder.messages import message
from builder.problems import Problem
from builder.template.parser_words import in_japanese
from builder.template.render import PARSING_ENVIRONMENT, reason_of

MOST_CHARACTERS = 65_536
MOST_NODES = 3_000
MOST_DEPTH = 30
_MOST_DIGITS = 20
_MOST_QUOTED = 80

TOO_LONG = message(
    "syntax-too-long",
    "The template has {length} characters; {most} are allowed.",
    "テンプレートは{length}文字あります。上限は{most}文字です。",
    fix_en="Shorten the template.",
    fix_ja="テンプレートを短くしてください。",
)
BAD_CHARACTER = message(
    "syntax-character",
    "The character {character} is not allowed in a template.",
    "文字 {character} はテンプレートに使えません。",
    fix_en="Delete it; it is invisible and was probably pasted by accident.",
    fix_ja="削除してください。目に見えない文字で、貼り付けのときに紛れ込んだものと思われます。",
)
SYNTAX_ERROR = message(
    "syntax-error",
    "Jinja2 syntax error: {reason}",
    "Jinja2の構文エラー：{reason_ja}",
)
UNKNOWN_TAG = message(
    "syntax-unknown-tag",
    "Jinja2 syntax error: {reason}",
    "Jinja2の構文エラー：{reason_ja}",
    fix_en="Use if, for, set, with, macro, call, filter or raw, and close each with its end tag.",
    fix_ja="使えるタグは if、for、set、with、macro、call、filter、raw で、終了タグで閉じます。",
)
UNCLOSED = message(
    "syntax-unclosed",
    "Jinja2 syntax error: {reason}",
    "Jinja2の構文エラー：{reason_ja}",
    fix_en="Close every {% if %} with {% endif %}, every {% for %} with {% endfor %}, every {{ with }}.",
    fix_ja="{% if %} は {% endif %}、{% for %} は {% endfor %}、{{ は }} で閉じてください。",
)
UNCLOSED_BLOCK = message(
    "syntax-unclosed-block",
    "Jinja2 syntax error: {reason}",
    "Jinja2の構文エラー：{reason_ja}",
    fix_en="The {% {tag} %} of line {opened} is still open: close it with {% end{tag} %}.",
    fix_ja="{opened}行目の {% {tag} %} が閉じられていません。{% end{tag} %} で閉じてください。",
)
TOO_DEEP = message(
    "gate-too-deep",
    "The template is nested too deeply; {most} levels are allowed.",
    "テンプレートの入れ子が深すぎます。上限は{most}段です。",
    fix_en="Split it with {% set %}, join texts with `~`, or use {% elif %} instead of nested ifs.",
    fix_ja="{% set %} で部分に分ける、文字列は `~` でつなぐ、{% elif %} を使うなどして浅くしてください。",
)
TOO_LARGE = message(
    "gate-too-large",
    "The template has too many parts; {most} are allowed.",
    "テンプレートの構成要素が多すぎます。上限は{most}個です。",
    fix_en="Write fixed text instead of tags, or shorten the template.",
    fix_ja="タグを減らして通常のテキストにするか、テンプレートを短くしてください。",
)

# Of nothing but words and values.
_LEAVES = frozenset({nodes.Name, nodes.NSRef, nodes.Const, nodes.TemplateData})
_FORBIDDEN = re.compile("[\x00\ud800-\udfff]")
_OFFSET = re.compile(r" at \d+$")
_STILL_OPEN = re.compile(r"^Unexpected end of template\..* closed is '(\w+)'")


class PlacedLine(int):
    """A line number that knows its column as well; jinja2 hands it on to its nodes."""

    column: int | None = None

    @classmethod
    def of(cls, line: int, column: int) -> "PlacedLine":
        place = cls(line)
        place.column = column
        return place


def parse(text: str, environment: jinja2.Environment = PARSING_ENVIRONMENT) -> nodes.Template | Problem:
    """The tree of a template, or the problem that keeps it from having one."""
    if len(text) > MOST_CHARACTERS:
        return Problem("error", TOO_LONG, 1, params={"length": len(text), "most": MOST_CHARACTERS})
    source = newline_re.sub("\n", text)
    if forbidden := _FORBIDDEN.search(source):
        line, column = _line_and_column(source, forbidden.start())
        return Problem("error", BAD_CHARACTER, line, column, {"character": f"U+{ord(forbidden[0]):04X}"})
    parser = Parser(environment, "")
    try:
        parser.stream = _stream(source, environment)
        return parser.parse()
    except jinja2.TemplateSyntaxError as error:
        return _syntax_problem(error, source)
    except RecursionError:
        return _too(TOO_DEEP, MOST_DEPTH, parser.stream.current.lineno)
    except Exception as error:  # Python's own complaints must not reach a person as a traceback
        return Problem(
            "error", SYNTAX_ERROR, *place_of(parser.stream.current.lineno), _said(reason_of(error))
        )


def measure(tree: nodes.Template) -> list[Problem]:
    """Bounds on size and nesting; the other rules rely on them."""
    level: list[nodes.Node] = [tree]
    count, depth, line = 0, -1, 1
    while level:
        count += len(level)
        depth += 1
        placed = [node.lineno for node in level if node.lineno is not None]
        line = placed[0] if placed else line
        if count > MOST_NODES:
            return [_too(TOO_LARGE, MOST_NODES, line)]
        if depth > MOST_DEPTH:
            return [_too(TOO_DEEP, MOST_DEPTH, line)]
        level = [child for node in level for child in children(node)]
    return []


def children(node: nodes.Node) -> Sequence[nodes.Node]:
    """``node.iter_child_nodes()``, in a third of the time: a check walks over the tree again and again."""
    if type(node) in _LEAVES:
        return ()
    inside: list[nodes.Node] = []
    for name in node.fields:
        value = getattr(node, name, None)
        if isinstance(value, nodes.Node):
            inside.append(value)
        elif isinstance(value, list):
            inside += [child for child in value if isinstance(child, nodes.Node)]
    return inside


def descendants(tree: nodes.Node) -> list[nodes.Node]:
    """What ``tree.find_all(nodes.Node)`` finds, in the same order."""
    below: list[nodes.Node] = []
    waiting = [*reversed(children(tree))]
    while waiting:
        node = waiting.pop()
        below.append(node)
        waiting += reversed(children(node))
    return below


def _too(code: str, most: int, lineno: int) -> Problem:
    return Problem("error", code, *place_of(lineno), {"most": most})


def error_at(lineno: int, code: str, **params: str | int) -> Problem:
    """An error at a node's place; what a template's author wrote is quoted in bounds."""
    quoted = {name: value if name == "known" else _clip(value) for name, value in params.items()}
    return Problem("error", code, *place_of(lineno), quoted)


def misspelt(lineno: int, code: str, name: str, meant: str, **params: str | int) -> Problem:
    """An error that a name in the template should be another one, which can be put in its place."""
    problem = error_at(lineno, code, name=name, meant=meant, **params)
    return replace(problem, replaces=name, replacement=meant)


def _clip(value: str | int) -> str | int:
    if isinstance(value, int) or len(value) <= _MOST_QUOTED:
        return value
    return value[: _MOST_QUOTED - 1] + "…"


def place_of(lineno: int) -> tuple[int, int | None]:
    """Line and, where the parser knew it, column."""
    return int(lineno), getattr(lineno, "column", None)


def _syntax_problem(error: jinja2.TemplateSyntaxError, source: str) -> Problem:
    reason = _OFFSET.sub("", reason_of(error))
    code = SYNTAX_ERROR
    if reason.startswith("Encountered unknown tag"):
        code = UNKNOWN_TAG
    elif "end of template" in reason.lower() or reason.startswith("Missing end of"):
        code = UNCLOSED
    params = _said(reason)
    if tag := _STILL_OPEN.search(reason):
        code, params["tag"], params["opened"] = UNCLOSED_BLOCK, tag[1], _opened(source, tag[1])
    return Problem("error", code, *place_of(error.lineno), params)


def _said(reason: str) -> dict[str, str | int]:
    return {"reason": reason, "reason_ja": in_japanese(reason)}


def _opened(source: str, tag: str) -> int:
    """The line of the last {% tag %} that has no end."""
    lines = [1]
    tokens = PARSING_ENVIRONMENT.lexer.tokeniter(source, None)
    with suppress(jinja2.TemplateSyntaxError):
        for line, kind, _ in tokens:
            if kind != TOKEN_BLOCK_BEGIN:
                continue
            name = next((value for _, kind, value in tokens if kind != TOKEN_WHITESPACE), "")
            if name == tag:
                lines.append(line)
            elif name == f"end{tag}" and len(lines) > 1:
                lines.pop()
    return lines[-1]


def _line_and_column(source: str, offset: int) -> tuple[int, int]:
    return source.count("\n", 0, offset) + 1, offset - source.rfind("\n", 0, offset)


def _stream(source: str, environment: jinja2.Environment) -> TokenStream:
    lexer = environment.lexer
    return TokenStream(lexer.wrap(_placed(source, environment)), None, None)


def _placed(source: str, environment: jinja2.Environment) -> Iterator[tuple[int, str, str]]:
    """The lexer's tokens, each line number with its column."""
    position = start_of_line = 0
    try:
        for line, kind, value in environment.lexer.tokeniter(source, None):
            # Between two tokens the lexer drops nothing but white space, so this finds the token itself.
            position = source.index(value, position)
            start_of_line = source.rfind("\n", start_of_line, position) + 1 or start_of_line
            place = PlacedLine.of(line, position - start_of_line + 1)
            position += len(value)
            # Python converts no number of thousands of digits; cut short it is still too large. After
            # a leading zero, which only 0x and its like have, the digits that count may be the last.
            long = kind == TOKEN_INTEGER and value[0] != "0"
            yield place, kind, value[:_MOST_DIGITS] if long else value
    except jinja2.TemplateSyntaxError as error:
        error.lineno = PlacedLine.of(*_line_and_column(source, position))
        raise
