"""The work of one step of a template, in turns of a loop: filters, comparisons and prints go through texts
and lists, too. Used by the count of repetitions: in a loop, `range(99999)|sum` is a loop in all but name.
"""

import math
from collections.abc import Iterable

from jinja2 import nodes

from builder.template.bindings import Bindings, is_call_of
from builder.template.sizes import CHARACTERS_OF_A_VALUE, OF_A_VALUE, Sizes

_ITEMS, _PRINTED, _READ, _LISTED = 5, 100, 200, 20
"""So many items that Python goes through, characters that are put together or only read, and items of a list
that are compared, take as long as one turn of a loop."""
_LONG_NUMBER = 20
"""Turns that arithmetic with a number takes which may have thousands of digits."""
_PIECE, _DIGITS, _OF_A_BLOCK, _OF_A_FORM = 100, 5, 1_000, 1_000_000
"""Characters of a line or a round's field, of a number, between the tags of a filter, and of what a text that
only a name is known of formats."""
_LONGEST = 1e15

_BY_ITEM = frozenset(
    {"batch", "dictsort", "join", "list", "max", "min", "reverse", "slice", "sort", "string", "striptags"}
    | {"sum", "title", "tojson", "unique", "urlencode", "wordcount", "wordwrap"}
)
_SAME_ITEMS = frozenset({"list", "reverse", "sort", "unique"})
_FREE = frozenset({"abs", "count", "d", "default", "filesizeformat", "first", "float", "last", "length"})
_FREE_METHODS = frozenset({"endswith", "startswith"})
_READING_TESTS = frozenset({"lower", "upper", "in", "eq", "equalto", "==", "ne", "!="})
_SPLITS = ("split", "splitlines")


class Work:
    """What each step of a template costs; bounds are from above, as those of ``Sizes``."""

    def __init__(self, sizes: Sizes, bindings: Bindings) -> None:
        self._sizes = sizes
        self._bindings = bindings
        self._known: dict[str, float] = {}
        self._open: set[str] = set()
        self._own: set[str] = set()
        """Names that are made from themselves."""

    def of(self, node: nodes.Node) -> float:
        """The turns that this node takes by itself, its parts left out."""
        match node:
            case nodes.Output():
                # What a macro prints is counted in it.
                printed = (_PIECE if _is_macro(part) else self.long(part) for part in node.nodes)
                return sum(printed) / _PRINTED
            case nodes.Concat():
                return self.long(node) / _READ
            case nodes.BinExpr() if not isinstance(node, nodes.And | nodes.Or):
                return self._calculated(node)
            case nodes.Getitem(arg=nodes.Slice()):
                return self.long(node) / _READ
            case nodes.Compare():
                return sum(self._compared(operand.op, operand.expr) for operand in node.ops)
            case nodes.Test() if node.name in _READING_TESTS:
                return sum(map(self.long, [node.node, *node.args])) / _READ
            case nodes.Filter():
                return self._filtered(node)
            case nodes.Call(node=nodes.Getattr(node=inner, attr=attr)) if attr not in _FREE_METHODS:
                by = _ITEMS if attr == "title" else _READ
                return max(self.long(inner), self.long(node)) / by
        return 0

    def _calculated(self, node: nodes.BinExpr) -> float:
        if not self._bindings.is_number(node):
            return self.long(node) / _READ
        return 0 if math.isfinite(self._sizes.number(node.left)[1]) else _LONG_NUMBER

    def _compared(self, op: str, other: nodes.Node) -> float:
        is_text = isinstance(other, nodes.Name) and other.name in self._bindings.declared
        by = _READ if op not in ("in", "notin") or is_text else _LISTED
        return 0 if self._bindings.is_number(other) else self.long(other) / by

    def _filtered(self, node: nodes.Filter) -> float:
        if node.name in _FREE:
            return 0
        if node.name == "sum" and node.kwargs:
            return self.long(node.node) ** 2 / _READ  # lists are put together one by one, each time anew
        if node.name in _BY_ITEM:
            return max(self._items(node.node) / _ITEMS, self.long(node) / _READ)
        return max(self.long(node.node), self.long(node)) / _READ

    def _items(self, node: nodes.Node | None) -> float:
        """How many items this has at most: a text has fewer lines and words than characters."""
        match node:
            case nodes.Call(node=nodes.Getattr(attr="split" | "splitlines")):
                return min(self.long(node), OF_A_VALUE)
            case nodes.Filter(node=inner) if node.name in _SAME_ITEMS:
                return self._items(inner)
            case nodes.Add():
                return self._items(node.left) + self._items(node.right)
        long = self.long(node)
        made_from_itself = node is not None and self._sizes.key(node) in self._own
        return min(long, OF_A_VALUE) if made_from_itself else long

    def expansion(self, block: nodes.FilterBlock) -> float:
        """How many times as much the filters of a block take as its text."""
        times, applied = 1.0, block.filter
        while isinstance(applied, nodes.Filter):
            by_item = _PRINTED / _ITEMS if applied.name in _BY_ITEM else 2
            times *= max(by_item, self._widened(applied.name, 1, _arguments(applied)))
            applied = applied.node  # type: ignore[assignment]
        return times

    # --- lengths ---------------------------------------------------------------------------

    def long(self, node: nodes.Node | None) -> float:
        """Characters or items that this has at most; a value counts as ``CHARACTERS_OF_A_VALUE``."""
        return min(_LONGEST, self._long(node))

    def _long(self, node: nodes.Node | None) -> float:
        if node is None:
            return _OF_A_BLOCK
        if self._bindings.is_number(node):
            return _DIGITS
        match node:
            case nodes.TemplateData():
                return len(node.data)
            case nodes.List() | nodes.Tuple() | nodes.Dict():
                return len(node.items) + sum(map(self.long, node.items))
            case nodes.Pair():
                return self.long(node.value)
            case nodes.Mul():
                return self._repeated(node)
            case nodes.Mod():
                return self._formatted(node)
            case nodes.Add() | nodes.And() | nodes.Or():
                return self.long(node.left) + self.long(node.right)
            case nodes.Concat():
                return sum(map(self.long, node.nodes))
            case nodes.CondExpr():
                return max(self.long(node.expr1), 0 if node.expr2 is None else self.long(node.expr2))
            case nodes.Getitem(arg=nodes.Slice() as part):
                each = _PIECE if self._is_pieces(node.node, 0) else 1
                cut = self._sizes.slice_size(part) * each
                return min(self.long(node.node), cut) if each > 1 or not self._is_list(node.node) else (
                    self.long(node.node))  # fmt: skip
            case nodes.Filter():
                return self._widened(node.name, self.long(node.node), _arguments(node))
            case nodes.Call(node=nodes.Getattr(node=inner, attr="join")):
                return self.long(node.args[0] if node.args else None) * (1 + self.long(inner))
            case nodes.Call(node=nodes.Getattr(node=inner, attr=attr)):
                return self._widened(attr, self.long(inner), node.args)
            case nodes.Getattr() | nodes.Getitem() if not self._sizes.key(node):
                return self.long(node.node) if self._is_list(node.node) else _PIECE
        if key := self._sizes.key(node):
            return self._named(key)
        size = self._sizes.size(node)
        return size if math.isfinite(size) else CHARACTERS_OF_A_VALUE

    def _widened(self, name: str, inner: float, arguments: list[nodes.Expr]) -> float:
        """What a filter or method makes of so many characters."""
        given = max(map(self.long, arguments), default=0)
        number = max((self._number(argument) for argument in arguments), default=0)
        match name:
            case "replace" | "join" | "wordwrap":
                return inner * (1 + given)
            case "center" | "slice" | "batch":
                return max(inner, number)
            case "indent" | "tojson":
                return inner + min(inner, OF_A_VALUE) * max(number, given)
            case "truncate" | "default" | "d" | "trim":
                return inner + given
        return inner

    def _number(self, node: nodes.Node) -> float:
        most = self._sizes.number(node)[1] if self._bindings.is_number(node) else 0
        return most if math.isfinite(most) else 0

    def _repeated(self, node: nodes.Mul) -> float:
        text, count = (
            (node.right, node.left) if self._bindings.is_number(node.left) else (node.left, node.right)
        )
        times = max(0.0, self._sizes.number(count)[1])
        return self.long(text) * times if math.isfinite(times) else CHARACTERS_OF_A_VALUE

    def _formatted(self, node: nodes.Mod) -> float:
        size = self._sizes.size(node)
        given = (
            [node.left]
            if isinstance(node.left, nodes.Const)
            else [*self._sizes.given(self._sizes.key(node.left))]
        )
        if not given or not all(isinstance(form, nodes.Const) for form in given):
            return _OF_A_FORM
        filled = (self._sizes.formatted(form.value, nodes.Const(0)) for form in given)  # type: ignore[union-attr]
        return size if math.isfinite(size) else max(filled) + self.long(node.right)

    def _named(self, key: str) -> float:
        if key in self._bindings.declared:
            return CHARACTERS_OF_A_VALUE
        if key in self._open:
            self._own.add(key)
            return CHARACTERS_OF_A_VALUE
        if key not in self._known:
            self._open.add(key)
            given, unpacked = self._sizes.given(key), self._sizes.unpacked(key)
            of_pieces = len(unpacked) == given.count(None) and all(
                self._is_pieces(over, 0) for over in unpacked
            )
            unknown = _PIECE if of_pieces else CHARACTERS_OF_A_VALUE
            long = [unknown if value is None else self.long(value) for value in given]
            for over in self._sizes.iterated(key):
                long.append(_PIECE if self._is_pieces(over, 0) else self.long(over))
            self._open.discard(key)
            self._known[key] = max(long, default=CHARACTERS_OF_A_VALUE)
        return self._known[key]

    def _is_list(self, node: nodes.Node) -> bool:
        """Whether this may be a list or dictionary that the template itself makes, of whatever is in it."""
        match node:
            case nodes.Name():
                return any(value is not None and self._is_list(value) for value in self._made(node.name))
            case (
                nodes.Getattr(node=inner)
                | nodes.Getitem(node=inner)
                | nodes.Filter(node=nodes.Node() as inner)
            ):
                return self._is_list(inner)
            case nodes.Add() | nodes.Mul():
                return self._is_list(node.left) or self._is_list(node.right)
            case nodes.CondExpr():
                return self._is_list(node.expr1) or (node.expr2 is not None and self._is_list(node.expr2))
        return isinstance(node, nodes.List | nodes.Tuple | nodes.Dict)

    def _made(self, key: str) -> Iterable[nodes.Node | None]:
        """What a name is given, once in a question: names may be made from each other."""
        if key in self._open:
            return
        self._open.add(key)
        try:
            yield from self._sizes.given(key)
            yield from self._sizes.iterated(key)
        finally:
            self._open.discard(key)

    def _is_pieces(self, node: nodes.Node | None, depth: int) -> bool:
        """Whether the items of this are lines, words, characters or numbers, or the fields of rounds."""
        match node:
            case nodes.Name():
                given = self._sizes.given(node.name)
                over = self._sizes.iterated(node.name)
                known = node.name in self._bindings.declared or bool(over) or bool(given)
                return (
                    known
                    and depth < 10
                    and all(self._is_pieces(value, depth + 1) for value in [*given, *over])
                )
            case nodes.Call(node=nodes.Getattr(attr=attr)):
                return attr in _SPLITS
            case nodes.Call():
                return is_call_of(node, "range")
            case nodes.Filter(node=inner):
                return self._is_pieces(inner, depth)
            case nodes.Getitem(arg=nodes.Slice()):
                return self._is_pieces(node.node, depth)
            case nodes.Getattr(node=inner) | nodes.Getitem(node=inner):
                return not self._is_list(inner)
        return isinstance(node, nodes.Const)


def _arguments(node: nodes.Filter) -> list[nodes.Expr]:
    return [*node.args, *(keyword.value for keyword in node.kwargs)]


def _is_macro(node: nodes.Node) -> bool:
    return isinstance(node, nodes.Call) and isinstance(node.node, nodes.Name) and node.node.name != "range"
