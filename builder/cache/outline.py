"""The outline of a template: its pieces with how often each changes, and the cacheable prefix of each level.
Used by ``lints``, for a template and for its suggested orders."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from jinja2 import nodes
from jinja2.lexer import newline_re

from builder.cache.cacheable_prefix import LEVELS, CacheablePrefix, Level
from builder.cache.volatility import CALL, Env, Volatility
from builder.errors import SYNTAX, TemplateSyntaxFailure
from builder.problems import Problem
from builder.template.bindings import collect
from builder.template.dialect import Dialect
from builder.template.render import environment_for, mark, render_marked
from builder.template.syntax import descendants, parse, place_of
from builder.template.variables import PromptKind, types

_DEEPEST = 30
"""An ``elif`` is a level of its own; Python takes a hundred, and a template may have thirty of its own."""

_SILENT = (nodes.Assign, nodes.AssignBlock, nodes.Macro)
_TAGS: Mapping[type[nodes.Node], str] = {
    nodes.If: "if",
    nodes.For: "for",
    nodes.With: "with",
    nodes.FilterBlock: "filter",
    nodes.CallBlock: "call",
    nodes.FromImport: "import",
}


@dataclass(frozen=True)
class Piece:
    """A part of a template outside of all blocks: text, an output or a tag with all that is in it."""

    volatility: int
    offset: int
    """Where it begins in the source of its outline."""
    line: int
    names: frozenset[str] = frozenset()
    """Those that make it as volatile as it is."""
    culprit: str = ""
    """The first of them."""
    text: str | None = None
    """What it prints, if that is plain text."""
    test: int | None = None
    """Of an ``if``, how volatile its condition is."""
    tested: str = ""
    """The first name in the condition that is."""
    macro: str = ""
    """The name that a macro is defined by."""
    reads: frozenset[str] = frozenset()
    writes: frozenset[str] = frozenset()
    """The template's own names in it."""


@dataclass(frozen=True)
class _Stop:
    line: int
    offset: int
    culprit: str


@dataclass(frozen=True)
class Outline:
    """What an analysis read: the text that was rendered, its cacheable prefixes, and the pieces in order."""

    source: str
    """The template with ``\\n`` for every end of line."""
    text: str
    prefixes: tuple[CacheablePrefix, ...]
    pieces: tuple[Piece, ...]
    whole: tuple[int, ...] = ()
    """Where in the source a value that changes with every call is printed as it is."""
    own: frozenset[str] = frozenset()
    """The names that the template binds itself."""


def outline(
    kind: PromptKind,
    text: str,
    values: Mapping[str, str | int],
    dialect: Dialect,
    max_chars: int = 1_000_000,
    others: Mapping[str, int] | None = None,
) -> Outline:
    """Render a template once, with a mark at each place where a level's prefix ends.

    ``others`` are classes to take instead of those that the variables have. Raises ``TemplateFailure``.
    """
    tree = parse(text, environment_for(dialect))
    if isinstance(tree, Problem):
        raise TemplateSyntaxFailure(
            SYNTAX, line=tree.line, reason=str(tree.params.get("reason", tree.text()))
        )
    source = newline_re.sub("\n", text)
    parts = descendants(tree)
    bindings = collect(parts, types(kind))
    cut = _Cut(Volatility(kind, tree, bindings, others), source, dialect)
    tree.body = cut.body(tree.body, {}, set(LEVELS), outermost=True)
    whole = tuple(cut.whole(parts))
    output, met = render_marked(tree, values, dialect, max_chars)
    prefixes = [
        _prefix(level, output[: met.get(level, len(output))], cut.stops.get(level), text) for level in LEVELS
    ]
    return Outline(source, output, tuple(prefixes), tuple(cut.pieces), whole, frozenset(bindings))


def _prefix(level: Level, stable: str, stop: _Stop | None, template: str) -> CacheablePrefix:
    size = len(stable.encode())
    if stop is None:
        return CacheablePrefix(level, stable, size, len(stable), len(template), None, "")
    end = _as_typed(stop.offset, template)
    return CacheablePrefix(level, stable, size, len(stable), end, stop.line, stop.culprit)


def _as_typed(offset: int, text: str) -> int:
    """An offset among lines that end in ``\\n`` as one of the text as it was typed."""
    extra = 0
    if "\r\n" in text:
        for count, end in enumerate(re.finditer("\r\n", text)):
            if end.start() - count >= offset:
                break
            extra = count + 1
    return offset + extra


class _Cut:
    """Copies a tree and puts a mark before whatever is above a level that is still open."""

    def __init__(self, volatility: Volatility, source: str, dialect: Dialect) -> None:
        self.volatility = volatility
        self.source = source
        self.dialect = dialect
        self.environment = environment_for(dialect)
        self.stops: dict[Level, _Stop] = {}
        self.pieces: list[Piece] = []
        self._depth = 0
        self._lines = [0, *(end.end() for end in re.finditer("\n", source))]

    def body(
        self,
        body: Sequence[nodes.Node],
        env: Env,
        open_: set[Level],
        control: int = 0,
        outermost: bool = False,
    ) -> list[nodes.Node]:
        made: list[nodes.Node] = []
        for node in body:
            if isinstance(node, nodes.Output):
                made += self._output(node, env, open_, outermost)
            elif isinstance(node, nodes.If):
                made += self._if(node, env, open_, control, outermost)
            else:
                before = dict(env) if outermost else env
                highest = self.volatility.run([node], env, control)
                silent = isinstance(node, _SILENT)
                if outermost:
                    self._note(node, 0 if silent else highest, before)
                if not silent:
                    made += self._close(node, highest, before, open_)
                made.append(node)
        return made

    def _output(
        self, node: nodes.Output, env: Env, open_: set[Level], outermost: bool
    ) -> Iterator[nodes.Node]:
        before: list[nodes.Expr] = []
        for piece in node.nodes:
            highest = self.volatility.read(piece, env)
            if outermost:
                self._note(piece, highest, env)
            if marks := self._close(piece, highest, env, open_):
                yield nodes.Output(before, lineno=node.lineno, environment=self.environment)
                yield from marks
                before = []
            before.append(piece)
        yield nodes.Output(before, lineno=node.lineno, environment=self.environment)

    def _if(
        self, node: nodes.If, env: Env, open_: set[Level], control: int, outermost: bool
    ) -> Iterable[nodes.Node]:
        tests = [node.test]
        if self._depth + len(node.elif_) > _DEEPEST:
            tests += [other.test for other in node.elif_]
        test = max(self.volatility.read(expression, env) for expression in tests)
        if outermost:
            self._note(node, self.volatility.run([node], dict(env), control), env)
        made = self._close(node, test, env, open_)
        if not open_ or len(tests) > 1:
            before = dict(env)
            highest = self.volatility.run([node], env, control)
            return [*made, *self._close(node, highest, before, open_), node]
        otherwise = node.else_
        if node.elif_:
            # A second `if` inside of the else, where a mark can stand before it.
            first, *rest = node.elif_
            otherwise = [self._make_if(first, first.body, rest, node.else_)]
        within = max(control, test)
        ends, bodies, closed = [], [], set[Level]()
        self._depth += 1
        for branch in (node.body, otherwise):
            end, left = dict(env), set(open_)
            bodies.append(self.body(branch, end, left, within))
            ends.append(end)
            closed |= open_ - left
        self._depth -= 1
        self.volatility.join(env, ends)
        open_ -= closed
        made.append(self._make_if(node, bodies[0], [], bodies[1]))
        return [*made, *(mark(level, self.dialect) for level in sorted(closed))]

    def _make_if(
        self, node: nodes.If, body: list[nodes.Node], elif_: list[nodes.If], else_: list[nodes.Node]
    ) -> nodes.If:
        return nodes.If(node.test, body, elif_, else_, lineno=node.lineno, environment=self.environment)

    def _close(self, node: nodes.Node, highest: int, env: Env, open_: set[Level]) -> list[nodes.Node]:
        closing = sorted(level for level in open_ if level < highest)
        for level in closing:
            open_.remove(level)
            if level not in self.stops:
                offset, line = self._place(node)
                self.stops[level] = _Stop(line, offset, self._construct(node, level, env))
        return [mark(level, self.dialect) for level in closing]

    def _note(self, node: nodes.Node, highest: int, env: Env) -> None:
        offset, line = self._place(node)
        if isinstance(node, nodes.TemplateData):
            self.pieces.append(Piece(highest, offset, line, text=node.data))
            return
        names = self.volatility.culprits(node, highest - 1, env) if highest else []
        test, tested = None, [""]
        if isinstance(node, nodes.If):
            test = self.volatility.read(node.test, env)
            tested = self.volatility.culprits(node.test, test - 1, env) or tested
        reads, writes = set(), set()
        for part in [node, *descendants(node)]:
            if isinstance(part, nodes.NSRef | nodes.Macro) or (
                isinstance(part, nodes.Name) and part.ctx != "load"
            ):
                writes.add(part.name)
            elif isinstance(part, nodes.Name) and part.name in self.volatility.bindings:
                reads.add(part.name)
        self.pieces.append(
            Piece(
                highest,
                offset,
                line,
                frozenset(names),
                names[0] if names else "",
                test=test,
                tested=tested[0],
                macro=node.name if isinstance(node, nodes.Macro) else "",
                reads=frozenset(reads),
                writes=frozenset(writes),
            )
        )

    def whole(self, parts: Iterable[nodes.Node]) -> Iterator[int]:
        """Where a variable of the class of calls is printed alone, or beside others with ``~``."""
        for node in parts:
            if isinstance(node, nodes.Output | nodes.Concat):
                for part in node.nodes:
                    if isinstance(part, nodes.Name) and self.volatility.declared.get(part.name) == CALL:
                        yield self._offset(part)

    def _construct(self, node: nodes.Node, level: int, env: Env) -> str:
        if isinstance(node, nodes.Stmt):
            return _TAGS.get(type(node), type(node).__name__.lower())
        return next(iter(self.volatility.culprits(node, level, env)), "")

    def _place(self, node: nodes.Node) -> tuple[int, int]:
        """The offset and the line of a piece of text, or of the tag that a node stands in."""
        if isinstance(node, nodes.TemplateData):
            return self._offset(node), int(node.lineno)
        parts = [node] if isinstance(node, nodes.Stmt) else [node, *descendants(node)]
        offset = min(self._offset(part) for part in parts if part.lineno is not None)
        start = max(self.source.rfind("{{", 0, offset), self.source.rfind("{%", 0, offset), 0)
        return start, bisect_right(self._lines, start)

    def _offset(self, node: nodes.Node) -> int:
        line, column = place_of(node.lineno)
        return self._lines[line - 1] + (column or 1) - 1
