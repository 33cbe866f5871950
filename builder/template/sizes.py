"""The sizes of what a template computes: bounds on numbers, lengths and loops, whatever its variables hold.

Used by the gate and the count of repetitions. From above: every branch counts as taken.
"""

import math
import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import cached_property

from jinja2 import nodes

from builder.template.allowed import FUNCTIONS, LOOP_NUMBERS
from builder.template.bindings import Bindings, is_call_of
from builder.template.intervals import ANY, Interval, as_float, ordered, union

OF_A_VALUE = 1_000
"""What a loop over a value's lines or words counts: nobody knows here how many MixSeek hands in."""
CHARACTERS_OF_A_VALUE = 10_000
MOST_ROUNDS = 100
"""What a whole-number variable is taken to reach: `range(round_number)` counts as so many."""

_LONG = 1_000
_SAME_SIZE = frozenset(
    {"batch", "capitalize", "dictsort", "items", "list", "lower", "reverse"}
    | {"sort", "string", "title", "trim", "unique", "upper"}
)
_SAME_SIZE_METHODS = frozenset({"capitalize", "lower", "split", "splitlines", "strip", "title", "upper"})

_WIDTHS = re.compile("[0-9]+")
_DIGITS = 25
_DEEPEST = 20
"""Names that are made from names: beyond this nothing is known of them."""


class Sizes:
    """Bounds on numbers and lengths, from what a template gives its names; infinite where there is none."""

    def __init__(self, bindings: Bindings, parts: Sequence[nodes.Node]) -> None:
        self._bindings = bindings
        self._given: dict[str, list[nodes.Node | None]] = defaultdict(list)
        """The expressions that a name, or a namespace's attribute as ``ns.attr``, is given."""
        self._items: dict[str, list[nodes.Node]] = defaultdict(list)
        """What a name goes through as the target of a loop."""
        self._unpacked: dict[str, list[nodes.Node]] = defaultdict(list)
        """What a name gets a part of each item of, as in `for name, score in metrics|items`."""
        self._loops: list[nodes.For] = []
        self._open: set[tuple[str, str]] = set()
        """Names being looked at: what is made from itself has no bound."""
        self._known: dict[tuple[str, str], Interval] = {}
        self._parts = parts
        self._collect(self._parts)

    # --- names ---------------------------------------------------------------------------

    def _collect(self, parts: Sequence[nodes.Node]) -> None:
        passed: list[nodes.Node | None] = []
        parameters: set[str] = set()
        for node in parts:
            match node:
                case nodes.Assign():
                    self._bind(node.target, node.node)
                case nodes.AssignBlock():
                    self._bind(node.target, None)
                case nodes.With():
                    for target, value in zip(node.targets, node.values, strict=True):
                        self._bind(target, value)
                case nodes.For():
                    self._loops.append(node)
                    if isinstance(node.target, nodes.Name):
                        self._items[node.target.name].append(node.iter)
                    else:
                        self._bind(node.target, None)
                        for item in node.target.find_all(nodes.Name):
                            self._unpacked[item.name].append(node.iter)
                case nodes.Macro() | nodes.CallBlock():
                    parameters |= {argument.name for argument in node.args}
                    passed += node.defaults
                case nodes.Call(node=nodes.Name(name=name)) if name not in FUNCTIONS:
                    passed += [*node.args, *(keyword.value for keyword in node.kwargs)]
        # Which call a parameter belongs to is not asked: it may be given whatever any call passes.
        for name in parameters:
            self._given[name] += passed

    def _bind(self, target: nodes.Node, value: nodes.Node | None) -> None:
        match target:
            case nodes.Name() if is_call_of(value, "namespace"):
                assert isinstance(value, nodes.Call)
                for keyword in value.kwargs:
                    self._given[f"{target.name}.{keyword.key}"].append(keyword.value)
            case nodes.Name():
                self._given[target.name].append(value)
            case nodes.NSRef():
                self._given[f"{target.name}.{target.attr}"].append(value)
            case nodes.Tuple() | nodes.List():
                for item in target.items:
                    self._bind(item, None)

    def given(self, key: str) -> Sequence[nodes.Node | None]:
        """The expressions that a name is given, ``None`` for a block."""
        return self._given.get(key, [])

    def iterated(self, key: str) -> Sequence[nodes.Node]:
        """What a name goes through as the target of a loop."""
        return self._items.get(key, [])

    def unpacked(self, key: str) -> Sequence[nodes.Node]:
        """What a name gets a part of each item of; each is a ``None`` in ``given``, too."""
        return self._unpacked.get(key, [])

    def key(self, node: nodes.Node) -> str:
        """The name that something is looked up by, as in ``given``; empty where it has none."""
        match node:
            case nodes.Name():
                return str(node.name)
            case nodes.Getattr(node=nodes.Name() as owner) if owner.name in self._bindings.namespaces:
                return f"{owner.name}.{node.attr}"
        return ""

    # --- numbers -------------------------------------------------------------------------

    def number(self, node: nodes.Node) -> Interval:
        """The least and the greatest that an expression can give."""
        match node:
            case nodes.Const(value=int() | float() as value):
                return (as_float(value), as_float(value))
            case nodes.Compare() | nodes.Not() | nodes.Test():
                return (0, 1)
            case nodes.Neg():
                low, high = self.number(node.node)
                return (-high, -low)
            case nodes.Pos():
                return self.number(node.node)
            case nodes.CondExpr():
                other = (0.0, 0.0) if node.expr2 is None else self.number(node.expr2)
                return union([self.number(node.expr1), other])
            case nodes.And() | nodes.Or():
                return union([self.number(node.left), self.number(node.right)])
            case nodes.BinExpr():
                return self._arithmetic(node)
            case nodes.Filter(node=nodes.Node() as inner):
                return self._filtered_number(node, inner)
            case nodes.Getitem(node=nodes.List(items=items) | nodes.Tuple(items=items)):
                return union([self.number(item) for item in items])
            case nodes.Getattr(node=nodes.Name(name="loop")) if node.attr in LOOP_NUMBERS:
                return self._once("loop", "", self._longest_loop)
        if key := self.key(node):
            return self._once("number", key, lambda: self._number_of(key))
        return ANY

    def _longest_loop(self) -> Interval:
        return (0, max((self.times(loop) for loop in self._loops), default=0))

    def _number_of(self, key: str) -> Interval:
        if key in self._bindings.whole:
            return (0, MOST_ROUNDS)
        counted = [self._counted(iterated) for iterated in self._items.get(key, [])]
        return union(
            [*(ANY if value is None else self.number(value) for value in self._given[key]), *counted]
        )

    def _counted(self, iterated: nodes.Node) -> Interval:
        if isinstance(iterated, nodes.List | nodes.Tuple):
            return union([self.number(item) for item in iterated.items])
        if not isinstance(iterated, nodes.Call) or not is_call_of(iterated, "range") or not iterated.args:
            return ANY
        ends = [self.number(argument) for argument in iterated.args[:2]]
        return union([(0, 0), *ends])

    def _arithmetic(self, node: nodes.BinExpr) -> Interval:
        (low, high), (least, most) = self.number(node.left), self.number(node.right)
        match node:
            case nodes.Add():
                return ordered([low + least, high + most])
            case nodes.Sub():
                return ordered([low - most, high - least])
            case nodes.Mul():
                return ordered([one * other for one in (low, high) for other in (least, most)])
            case nodes.FloorDiv() | nodes.Div() if least >= 1:
                return ordered([low, high, 0])
            case nodes.Mod() if least >= 1:
                return (0, most)
        return ANY

    def _filtered_number(self, node: nodes.Filter, inner: nodes.Node) -> Interval:
        match node.name:
            case "length" | "count":
                return (0, self.size(inner))
            case "abs":
                low, high = self.number(inner)
                return (0, max(abs(low), abs(high)))
            case "int" | "round" | "float":
                return self.number(inner)
            case "min" | "max" if isinstance(inner, nodes.List | nodes.Tuple) and inner.items:
                choose = min if node.name == "min" else max
                ends = [self.number(item) for item in inner.items]
                return (choose(low for low, _ in ends), choose(high for _, high in ends))
        return ANY

    def _once(self, what: str, key: str, bound: Callable[[], Interval]) -> Interval:
        if (what, key) not in self._known:
            if (what, key) in self._open or len(self._open) > _DEEPEST:
                return ANY
            self._open.add((what, key))
            self._known[what, key] = bound()
            self._open.discard((what, key))
        return self._known[what, key]

    # --- lengths -------------------------------------------------------------------------

    def size(self, node: nodes.Node) -> float:
        """How many items or characters an expression has at most."""
        match node:
            case nodes.Const(value=str() as text):
                return float(len(text))
            case nodes.List() | nodes.Tuple() | nodes.Dict():
                return float(len(node.items))
            case nodes.Add() | nodes.Concat():
                parts = [node.left, node.right] if isinstance(node, nodes.Add) else node.nodes
                return sum(self.size(part) for part in parts)
            case nodes.Mul():
                return self.repeated(node)
            case nodes.Mod(left=nodes.Const(value=str() as form)):
                return self.formatted(form, node.right)
            case nodes.CondExpr():
                return max(self.size(node.expr1), 0 if node.expr2 is None else self.size(node.expr2))
            case nodes.And() | nodes.Or():
                return max(self.size(node.left), self.size(node.right))
            case nodes.Call(node=nodes.Name(name="range")):
                return self.range_size(node)
            case nodes.Call(node=nodes.Getattr(node=inner, attr=attr)) if attr in _SAME_SIZE_METHODS:
                return self.size(inner) + 1
            case nodes.Filter(node=nodes.Node() as inner) if node.name in _SAME_SIZE:
                return self.size(inner)
            case nodes.Filter(name="slice") | nodes.Filter(name="center") if node.args:
                return max(1, self.number(node.args[0])[1])
            case nodes.Getitem(arg=nodes.Slice() as part):
                return min(self.size(node.node), self.slice_size(part))
        if key := self.key(node):
            return self._once("size", key, lambda: (0, self._size_of(key)))[1]
        return math.inf

    def formatted(self, form: str, given: nodes.Node) -> float:
        """Of `'%9d %s' % (number, text)`: all its widths and values."""
        values = given.items if isinstance(given, nodes.Tuple) else [given]
        shown = sum(_DIGITS if self._bindings.is_number(value) else self.size(value) for value in values)
        return len(form) + sum(map(float, _WIDTHS.findall(form))) + shown

    def _size_of(self, key: str) -> float:
        if key in self._bindings.declared or key in self._items:
            return math.inf
        return max(
            (math.inf if value is None else self.size(value) for value in self._given[key]), default=math.inf
        )

    def slice_size(self, part: nodes.Slice) -> float:
        start = (0.0, 0.0) if part.start is None else self.number(part.start)
        stop = ANY if part.stop is None else self.number(part.stop)
        return max(0, stop[1]) if start[0] >= 0 and stop[0] >= 0 else math.inf

    def range_size(self, call: nodes.Call) -> float:
        """How many numbers a range gives at most."""
        ends = [self.number(argument) for argument in call.args]
        if not 1 <= len(ends) <= 3:
            return 0  # an error where it is run
        start, stop = (ends[0], ends[1]) if len(ends) > 1 else ((0.0, 0.0), ends[0])
        least, most = ends[2] if len(ends) == 3 else (1.0, 1.0)
        upwards, downwards = stop[1] - start[0], start[1] - stop[0]
        span = upwards if least > 0 else downwards if most < 0 else max(upwards, downwards)
        smallest = max(1, min(abs(least), abs(most))) if least > 0 or most < 0 else 1
        if not math.isfinite(span):
            return 0.0 if span < 0 else math.inf
        return max(0.0, -(-span // smallest))

    def repeated(self, node: nodes.Mul, of_a_value: float = math.inf) -> float:
        """The length of a text or list that is multiplied; 0 for two numbers."""
        sides = (node.left, node.right)
        texts = [side for side in sides if not self._bindings.is_number(side)]
        if not texts:
            return 0
        if len(texts) == 2:
            return of_a_value
        count = next(side for side in sides if side is not texts[0])
        found = min(self.size(texts[0]), of_a_value) * max(0.0, self.number(count)[1])
        return math.inf if math.isnan(found) else found

    def times(self, loop: nodes.For, around: Sequence[nodes.For] = ()) -> float:
        """How often a loop runs at most; the loops around it are given where they matter."""
        size = self.size(loop.iter)
        if not math.isinf(size):
            return size
        # The lines of a text have no more words than the text: they count with the loop around.
        if self._is_part(loop.iter, around):
            return self._longest
        if isinstance(loop.iter, nodes.Name) and loop.iter.name in self._bindings.lists:
            return MOST_ROUNDS
        value = CHARACTERS_OF_A_VALUE if self._by_character(loop.iter, set()) else OF_A_VALUE
        return max(value, self._longest)

    def _by_character(self, node: nodes.Node | None, seen: set[str]) -> bool:
        """Whether a loop over this goes through the characters of a value."""
        match node:
            case nodes.Name() if node.name not in seen:
                seen.add(node.name)
                return node.name in self._bindings.declared or any(
                    self._by_character(value, seen) for value in self._given.get(node.name, [])
                )
            case nodes.Call(node=nodes.Getattr(node=inner, attr=attr)):
                return attr not in ("split", "splitlines") and self._by_character(inner, seen)
            case nodes.Filter(node=inner):
                return self._by_character(inner, seen)
            case nodes.Add():
                return self._by_character(node.left, seen) or self._by_character(node.right, seen)
            case nodes.Concat():
                return any(self._by_character(part, seen) for part in node.nodes)
            case nodes.Mod():
                return True
        return False

    @cached_property
    def _longest(self) -> float:
        """The longest list or text of the template that has a bound: what has none may be made from it."""
        sizes = (self.size(part) for part in self._parts if isinstance(part, nodes.Expr))
        return max((size for size in sizes if _LONG < size < math.inf), default=1)

    def _is_part(self, node: nodes.Node, around: Sequence[nodes.For]) -> bool:
        """Whether this is a piece of what a loop around goes through, and that is a value."""
        while not isinstance(node, nodes.Name):
            match node:
                case nodes.Call(node=nodes.Getattr(node=inner, attr=attr)) if attr in _SAME_SIZE_METHODS:
                    node = inner
                case nodes.Filter(node=nodes.Node() as inner) if node.name in _SAME_SIZE:
                    node = inner
                case _:
                    return False
        return not self._given.get(node.name) and any(
            isinstance(loop.target, nodes.Name)
            and loop.target.name == node.name
            and math.isinf(self.size(loop.iter))
            for loop in around
        )
