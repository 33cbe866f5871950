"""The amounts of a template's expressions: characters of a text, items of a list, the size of a number,
each by the names that the expression is made from. Used by the bounds on growth."""

import math
import re
from collections.abc import Sequence
from functools import cached_property

from jinja2 import nodes

from builder.template.allowed import LOOP_NUMBERS
from builder.template.amount import ENDLESS, Amount
from builder.template.bindings import Bindings
from builder.template.flow import Flow, Item, Printed, Site
from builder.template.sizes import CHARACTERS_OF_A_VALUE, MOST_ROUNDS, Sizes
from builder.template.value_kinds import COUNTS, NUMBERS, ValueKinds

_OF_AN_ITEM = 100
_OF_A_NUMBER = 20
_ANY_NUMBER = 10**18
"""What a number is taken to be that was read from a text."""
_LINES = 1_000
_REPR = 6
"""Characters that one of a list's may become when the list is printed; of `tojson` and `escape` too."""

_FACTORS = {"e": _REPR, "escape": _REPR, "forceescape": _REPR, "tojson": _REPR, "urlencode": 12}
_SHORT_METHODS = frozenset({"endswith", "startswith"})


_NOTHING = Amount()


class Amounts:
    """Read from the expressions of one template."""

    def __init__(self, bindings: Bindings, sizes: Sizes, flow: Flow) -> None:
        self._bindings = bindings
        self._sizes = sizes
        self._flow = flow
        self._kinds = ValueKinds(bindings, flow)
        self._macros: dict[int, Amount] = {}
        """What each macro prints."""

    def of_site(self, site: Site) -> Amount:
        match site.value:
            case Item(loop):
                return self._item(loop)
            case Printed(body, filter_):
                printed = self._printed(body, site.loops)
                return self._filtered(filter_, printed) if filter_ else printed
            case nodes.Node() as value:
                return self.of(value)
        return Amount(CHARACTERS_OF_A_VALUE)

    def _item(self, loop: nodes.For) -> Amount:
        whole = self.of(loop.iter)
        if not whole.is_fixed:
            return Amount(_OF_AN_ITEM) | whole
        turns = max(1.0, self._sizes.times(loop))
        return Amount(max(_OF_AN_ITEM, int(whole.const // turns)))

    @cached_property
    def _any_item(self) -> Amount:
        """The one before or after in a loop, whichever loop it is."""
        most = _NOTHING
        for loop in self._flow.loops:
            most |= self._item(loop)
        return most

    # --- what is printed -----------------------------------------------------------------

    def _printed(self, body: Sequence[nodes.Node], loops: tuple[nodes.For, ...]) -> Amount:
        total = _NOTHING
        for node in body:
            match node:
                case nodes.Output():
                    for part in node.nodes:
                        total += self._text(part)
                case nodes.If():
                    branches = [self._printed(elif_.body, loops) for elif_ in node.elif_]
                    most = self._printed(node.body, loops) | self._printed(node.else_, loops)
                    for branch in branches:
                        most |= branch
                    total += most
                case nodes.For():
                    turns = self._sizes.times(node, loops)
                    inside = self._printed(node.body, (*loops, node))
                    total += inside.times(_whole(turns)) | self._printed(node.else_, loops)
                case nodes.With():
                    total += self._printed(node.body, loops)
                case nodes.FilterBlock():
                    total += self._filtered(node.filter, self._printed(node.body, loops))
                case nodes.CallBlock():
                    total += self.of(node.call)
        return total

    def _inside(self, node: nodes.Node) -> Amount:
        """As part of a list or text: a number has few digits."""
        return Amount(_OF_A_NUMBER) if self._bindings.is_number(node) else self.of(node)

    def _text(self, node: nodes.Node) -> Amount:
        """As part of a text, where a list is printed with quotes."""
        amount = self._inside(node)
        return amount.times(_REPR) if self._kinds.is_list(node, set()) else amount

    # --- expressions ---------------------------------------------------------------------

    def of(self, node: nodes.Node) -> Amount:
        match node:
            case nodes.Const(value=str() as text):
                return Amount(len(text))
            case nodes.Const(value=int() | float() as number):
                return Amount(_whole(abs(number)))
            case nodes.TemplateData(data=text):
                return Amount(len(text))
            case nodes.Name():
                return self._name(node)
            case nodes.Getattr():
                return self._attribute(node)
            case nodes.Getitem():
                return self._subscript(node)
            case nodes.List() | nodes.Tuple():
                return self._sum([self._inside(item) + Amount(2) for item in node.items])
            case nodes.Dict():
                return self._sum([self._inside(pair.key) + self._inside(pair.value) for pair in node.items])
            case nodes.Concat():
                return self._sum([self._text(part) for part in node.nodes])
            case nodes.Compare() | nodes.Not() | nodes.Test():
                return Amount(1)
            case nodes.Neg() | nodes.Pos():
                return self.of(node.node)
            case nodes.CondExpr():
                return self.of(node.expr1) | (_NOTHING if node.expr2 is None else self.of(node.expr2))
            case nodes.And() | nodes.Or():
                return self.of(node.left) | self.of(node.right)
            case nodes.BinExpr():
                return self._binary(node)
            case nodes.Filter():
                return self._filtered(node, _NOTHING if node.node is None else self.of(node.node))
            case nodes.Call():
                return self._called(node)
        return Amount(CHARACTERS_OF_A_VALUE)

    def _sum(self, amounts: Sequence[Amount]) -> Amount:
        total = _NOTHING
        for amount in amounts:
            total += amount
        return total

    def _name(self, node: nodes.Name) -> Amount:
        if node.name in self._bindings.declared:
            return Amount(MOST_ROUNDS if node.name in self._bindings.whole else CHARACTERS_OF_A_VALUE)
        keys = self._flow.keys(node)
        return Amount(0, dict.fromkeys(keys, 1))

    def _attribute(self, node: nodes.Getattr) -> Amount:
        if isinstance(node.node, nodes.Name) and node.node.name == "loop":
            if node.attr in LOOP_NUMBERS:
                return Amount(_whole(self._sizes.number(node)[1]))
            return self._any_item
        if keys := self._flow.keys(node):
            return Amount(0, dict.fromkeys(keys, 1))
        return self.of(node.node)

    def _subscript(self, node: nodes.Getitem) -> Amount:
        if isinstance(node.arg, nodes.Slice) and self._kinds.is_text(node.node):
            longest = self._sizes.slice_size(node.arg)
            if not math.isinf(longest):
                return Amount(_whole(longest))
        return self.of(node.node)

    def _binary(self, node: nodes.BinExpr) -> Amount:
        left, right = self.of(node.left), self.of(node.right)
        match node:
            case nodes.Add() | nodes.Sub():
                return left + right
            case nodes.Mul():
                return left * right
            case nodes.Mod():
                return right if not self._kinds.may_be_text(node.left, set()) else self._format(node, right)
        # Divided by less than 1 it becomes more.
        return left if self._sizes.number(node.right)[0] >= 1 else left.times(_ANY_NUMBER)

    def _format(self, node: nodes.BinExpr, given: Amount) -> Amount:
        """`'%5d' % n`: as wide as the text says, which must be a fixed one."""
        text: nodes.Node = node.left
        if isinstance(text, nodes.Name):
            sites = [site for key in self._flow.keys(text) for site in self._flow.sites[key]]
            text = sites[0].value if len(sites) == 1 and isinstance(sites[0].value, nodes.Node) else text
        if not isinstance(text, nodes.Const) or not isinstance(text.value, str) or "*" in text.value:
            return Amount(ENDLESS)
        widths = [int(digits[:20]) for digits in re.findall("[0-9]+", text.value)]
        printed = self._text(node.right) | given
        return Amount(len(text.value) + sum(widths)) + printed.times(max(1, text.value.count("%")))

    # --- filters and methods -------------------------------------------------------------

    def _filtered(self, node: nodes.Filter, inner: Amount) -> Amount:
        arguments = _Arguments(node)
        name = node.name
        if name in NUMBERS:
            return self._number(node, inner)
        if factor := _FACTORS.get(name):
            return inner * (Amount(factor) + self._of(arguments.get(0, "indent")))
        match name:
            case "join":
                return self._joined(node.node, inner, arguments.get(0, "d"))
            case "replace":
                old, new, count = (arguments.get(n, key) for n, key in enumerate(("old", "new", "count")))
                return self._replaced(inner, old, new, count)
            case "center":
                return inner + self._of(arguments.get(0, "width"), 80)
            case "indent":
                lines = max(_LINES, inner.const // 10)
                return inner + self._of(arguments.get(0, "width"), 4).times(lines)
            case "batch" | "slice" if node.args:
                filled = self._of(arguments.get(1, "fill_with")) + Amount(1)
                wide = name == "slice" or arguments.get(1, "fill_with") is not None
                return inner + self._of(node.args[0]) * filled if wide else inner
            case "wordwrap":
                between = arguments.get(2, "wrapstring")
                return inner * (self._of(between) + Amount(1)) if between else inner
            case "truncate":
                return self._truncated(inner, arguments)
            case "default" | "d":
                return inner | self._of(arguments.get(0, "default_value"))
            case "sum":
                return inner + self._of(arguments.get(0, "start"))
            case "filesizeformat":
                return Amount(_OF_A_NUMBER)
            case "string":
                return _NOTHING if node.node is None else self._text(node.node)
            case "min" | "max" | "first" | "last" if isinstance(node.node, nodes.List | nodes.Tuple):
                most = self._sizes.number(node)[1]
                if not math.isinf(most):
                    return Amount(_whole(most))
                return self._sum([self.of(item) for item in node.node.items])
        return inner

    def _number(self, node: nodes.Filter, inner: Amount) -> Amount:
        if node.name in COUNTS:
            return inner
        if node.node is None or not self._bindings.is_number(node.node):
            return Amount(_ANY_NUMBER)
        return inner

    def _truncated(self, inner: Amount, arguments: "_Arguments") -> Amount:
        length = arguments.get(0, "length")
        longest = 255.0 if length is None else self._sizes.number(length)[1]
        end = self._of(arguments.get(2, "end"), 3) + self._of(arguments.get(3, "leeway"), 5)
        return (inner if math.isinf(longest) else Amount(_whole(longest))) + end

    def _joined(self, parts: nodes.Node | None, inner: Amount, between: nodes.Node | None) -> Amount:
        if parts is not None and self._kinds.is_list(parts, set(), True):
            inner = inner.times(_REPR)
        if isinstance(parts, nodes.Call) and isinstance(parts.node, nodes.Getattr):
            # What was split at a space has one fewer where it is joined again.
            method, removed = parts.node.attr, 1
            if method == "split" and parts.args and isinstance(parts.args[0], nodes.Const):
                removed = len(str(parts.args[0].value))
            fixed = isinstance(between, nodes.Const) and len(str(between.value)) <= removed
            if method in ("split", "splitlines") and (between is None or fixed):
                return inner
        return inner * (Amount(1) + (_NOTHING if between is None else self._text(between)))

    def _replaced(
        self, inner: Amount, old: nodes.Node | None, new: nodes.Node | None, count: nodes.Node | None
    ) -> Amount:
        if old is None or new is None:
            return inner
        written = self._text(new)
        if count is not None and not math.isinf(most := self._sizes.number(count)[1]) and most >= 0:
            return inner + written.times(_whole(most))
        removed = len(old.value) if isinstance(old, nodes.Const) and isinstance(old.value, str) else 1
        if written.is_fixed and written.const <= removed:
            return inner
        return inner * (written + Amount(0 if removed else 1))

    def _called(self, node: nodes.Call) -> Amount:
        method = node.node
        if isinstance(method, nodes.Getattr):
            return self._method(node, method)
        if not isinstance(method, nodes.Name) or method.name == "namespace":
            return _NOTHING
        if method.name == "range":
            return Amount(_whole(self._sizes.range_size(node)) * 6)
        if method.name in self._flow.parameters:
            return self._macro(node, method.name)
        key = self._flow.printed(node)
        return Amount(0, {key: 1}) if key in self._flow.sites else _NOTHING

    def _macro(self, call: nodes.Call, name: str) -> Amount:
        """What a macro prints, with the arguments of this call for its parameters."""
        most = _NOTHING
        for macro, scope in self._flow.parameters[name]:
            printed = self._macros.get(id(macro))
            if printed is None:
                printed = self._macros[id(macro)] = self._printed(macro.body, ())
            given = dict(zip((argument.name for argument in macro.args), call.args, strict=False))
            given |= {keyword.key: keyword.value for keyword in call.kwargs}
            arguments = {f"{key}@{scope.number}": value for key, value in given.items()}
            rest = {key: times for key, times in printed.of.items() if key not in arguments}
            total = Amount(printed.const, rest, printed.products)
            for key in arguments.keys() & printed.of.keys():
                total += self._text(arguments[key]).times(printed.of[key])
            most |= total
        return most

    def _method(self, node: nodes.Call, method: nodes.Getattr) -> Amount:
        inner = self.of(method.node)
        given: list[nodes.Node | None] = [*node.args, None, None, None]
        match method.attr:
            case "join":
                parts = given[0]
                return _NOTHING if parts is None else self._joined(parts, self.of(parts), method.node)
            case "replace":
                return self._replaced(inner, given[0], given[1], given[2])
            case "cycle":
                most = _NOTHING
                for argument in node.args:
                    most |= self.of(argument)
                return most
            case "changed":
                return Amount(1)
        return Amount(1) if method.attr in _SHORT_METHODS else inner

    def _of(self, node: nodes.Node | None, default: int = 0) -> Amount:
        return Amount(default) if node is None else self.of(node)


class _Arguments:
    def __init__(self, node: nodes.Filter) -> None:
        self._args = node.args
        # A filter's keywords are typed as pairs, but the parser makes keywords of them.
        pairs: list[nodes.Node] = list(node.kwargs)
        self._kwargs = {pair.key: pair.value for pair in pairs if isinstance(pair, nodes.Keyword)}

    def get(self, number: int, name: str) -> nodes.Node | None:
        return self._args[number] if number < len(self._args) else self._kwargs.get(name)


def _whole(number: float) -> int:
    if isinstance(number, int):
        return min(ENDLESS, number)
    return ENDLESS if math.isinf(number) or math.isnan(number) else math.ceil(max(0.0, number))
