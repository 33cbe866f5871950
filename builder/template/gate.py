"""The gate: what a template may contain, found by a walk over its syntax tree; nothing is run or compiled.

What passes is harmless even in an environment without a sandbox, as MixSeek's is. What merely
takes long is not the gate's business but the jail's.
"""

import math
import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping

from jinja2 import nodes

from builder.problems import Problem
from builder.template import refusals as refuse
from builder.template.allowed import (
    CONSUMERS,
    ELSEWHERE,
    FILTERS,
    FUNCTIONS,
    LARGEST_NUMBER,
    LONGEST_RANGE,
    LOOP_CALLS,
    LOOP_VALUES,
    METHODS,
    MOST_LOOPS,
    NODES,
    PYTHON_ATTRIBUTES,
    RESERVED,
    TAGS,
    TESTS,
    Signature,
)
from builder.template.bindings import Bindings, constant_number
from builder.template.growth import growth
from builder.template.macros import RING, rings
from builder.template.nearest import nearest
from builder.template.repetitions import RANGE_OPEN, repetitions, work
from builder.template.sizes import Sizes
from builder.template.syntax import children, descendants, error_at, misspelt


def inspect(
    tree: nodes.Template, bindings: Bindings, filters: Mapping[str, Signature] = FILTERS
) -> list[Problem]:
    """Every construct that is refused, with its place. The tree must have been measured."""
    return _Inspection(tree, bindings, filters).problems


class _Inspection:
    def __init__(self, tree: nodes.Template, bindings: Bindings, filters: Mapping[str, Signature]) -> None:
        self.bindings = bindings
        self.filters = filters
        self.problems: list[Problem] = []
        self._lineno = 1
        self._path: list[nodes.Node] = []
        self._rules: dict[type[nodes.Node], Callable[[nodes.Node], None]] = {
            nodes.Name: self._name, nodes.NSRef: self._namespace_target, nodes.Const: self._constant,
            nodes.Getattr: self._attribute, nodes.Getitem: self._subscript, nodes.Call: self._call,
            nodes.Filter: self._filter, nodes.Test: self._test, nodes.For: self._for,
            nodes.Macro: self._macro, nodes.CallBlock: self._call_block, nodes.Keyword: self._keyword,
            nodes.AssignBlock: self._assign_block,
        }  # fmt: skip
        self._sizes = Sizes(bindings, descendants(tree))
        self._walk(tree)
        endless = list(rings(bindings.macros))
        for macro in endless:
            self.refuse(RING, macro.lineno, name=macro.name)
        if not endless:
            self.problems += repetitions(tree, bindings, self._sizes)
        if not self.problems:
            self.problems += growth(tree, bindings, self._sizes) or work(tree, bindings, self._sizes)

    def refuse(self, code: str, lineno: int | None = None, **params: str | int) -> None:
        self.problems.append(error_at(lineno or self._lineno, code, **params))

    def _walk(self, node: nodes.Node) -> None:
        outer = self._lineno
        self._lineno = node.lineno or outer
        kind = type(node)
        if kind in NODES:
            if rule := self._rules.get(kind):
                rule(node)
            self._path.append(node)
            for child in children(node):
                self._walk(child)
            self._path.pop()
        elif kind is nodes.Pow:
            self.refuse(refuse.POWER)
        else:
            self.refuse(refuse.TAG, tag=TAGS.get(kind, kind.__name__))
        self._lineno = outer

    @property
    def _parent(self) -> nodes.Node:
        return self._path[-1]

    def _called(self, node: nodes.Node) -> bool:
        return isinstance(self._parent, nodes.Call) and self._parent.node is node

    # --- names ---------------------------------------------------------------------------

    def _plain(self, name: str) -> bool:
        if name.startswith("_"):
            self.refuse(refuse.UNDERSCORE, name=name)
            return False
        # Python reads ﬁ as fi: two names that look different would be one.
        if unicodedata.normalize("NFKC", name) != name:
            self.refuse(refuse.NAME_FORM, name=name, plain=unicodedata.normalize("NFKC", name))
            return False
        return True

    def _name(self, node: nodes.Node) -> None:
        assert isinstance(node, nodes.Name)
        name = node.name
        if not self._plain(name):
            return
        if node.ctx != "load":
            self._bound(name)
        elif name in ELSEWHERE:
            self.refuse(refuse.ELSEWHERE, name=name)
        elif name in FUNCTIONS:
            if not self._called(node):
                self.refuse(refuse.FUNCTION_UNCALLED, name=name)
        elif name == "loop":
            if not (isinstance(self._parent, nodes.Getattr)):
                self.refuse(refuse.LOOP_BARE)
        elif name == "caller":
            if not self._called(node) and not self._only_tested(node):
                self.refuse(refuse.MACRO_UNCALLED, name=name)
        elif name in self.bindings.macros:
            if not self._called(node):
                self.refuse(refuse.MACRO_UNCALLED, name=name)
        elif name in self.bindings.namespaces and not isinstance(self._parent, nodes.Getattr):
            self.refuse(refuse.NAMESPACE_BARE, name=name)

    def _only_tested(self, node: nodes.Node) -> bool:
        parent = self._parent
        if not isinstance(parent, nodes.Test) or parent.name not in ("defined", "undefined"):
            return False
        return parent.node is node

    def _bound(self, name: str) -> None:
        if name in self.bindings.declared:
            self.refuse(refuse.READ_ONLY, name=name)
        elif name in RESERVED:
            self.refuse(refuse.RESERVED, name=name)
        elif (name in self.bindings.macros) + (name in self.bindings.namespaces) + (
            name in self.bindings.values
        ) > 1:
            self.refuse(refuse.TWO_MEANINGS, name=name)

    def _namespace_target(self, node: nodes.Node) -> None:
        assert isinstance(node, nodes.NSRef)
        if self._plain(node.name) and self._plain(node.attr) and node.name not in self.bindings.namespaces:
            self.refuse(refuse.NOT_A_NAMESPACE, name=node.name)

    def _keyword(self, node: nodes.Node) -> None:
        assert isinstance(node, nodes.Keyword)
        if self._plain(node.key) and node.key == "caller":
            self.refuse(refuse.RESERVED, name=node.key)

    # --- values --------------------------------------------------------------------------

    def _constant(self, node: nodes.Node) -> None:
        assert isinstance(node, nodes.Const)
        value = node.value
        if isinstance(value, str):
            for character in value:
                if character == "\0" or "\ud800" <= character <= "\udfff":
                    self.refuse(refuse.ESCAPED_CHARACTER, character=f"U+{ord(character):04X}")
                    break
        elif isinstance(value, int | float) and not abs(value) <= LARGEST_NUMBER:
            self.refuse(refuse.NUMBER, most=LARGEST_NUMBER)

    def _attribute(self, node: nodes.Node) -> None:
        assert isinstance(node, nodes.Getattr)
        if not self._plain(node.attr):
            return
        called = self._called(node)
        if isinstance(node.node, nodes.Name) and node.node.name == "loop":
            if node.attr in LOOP_CALLS:
                if not called:
                    self.refuse(refuse.METHOD_UNCALLED, name=f"loop.{node.attr}")
            elif called or node.attr not in LOOP_VALUES:
                known = " ".join(sorted(LOOP_VALUES | LOOP_CALLS))
                self.refuse(refuse.LOOP_ATTRIBUTE, name=node.attr, known=known)
        elif called:
            if node.attr not in METHODS:
                code = refuse.METHODS.get(node.attr, refuse.METHOD)
                self.refuse(code, name=node.attr, known=" ".join(sorted(METHODS)))
        elif not (isinstance(node.node, nodes.Name) and node.node.name in self.bindings.namespaces):
            self._key(node.node, node.attr)

    def _subscript(self, node: nodes.Node) -> None:
        assert isinstance(node, nodes.Getitem)
        argument = node.arg
        if self._called(node):
            self.refuse(refuse.CALL)
        elif isinstance(argument, nodes.Const) and isinstance(argument.value, str):
            if argument.value.startswith("_"):
                self.refuse(refuse.UNDERSCORE, name=argument.value)
            else:
                self._key(node.node, argument.value)
        elif not isinstance(argument, nodes.Slice) and not self.bindings.is_number(argument):
            self.refuse(refuse.SUBSCRIPT)

    def _key(self, owner: nodes.Node, key: str) -> None:
        if isinstance(owner, nodes.Name) and owner.name in self.bindings.declared:
            code = refuse.NO_PARTS_A_FILTER if key in FILTERS else refuse.NO_PARTS
            self.refuse(code, name=owner.name, key=key)
        elif key in PYTHON_ATTRIBUTES:
            code = refuse.METHOD_UNCALLED if key in METHODS else refuse.KEY
            self.refuse(code, name=key)

    # --- calls ---------------------------------------------------------------------------

    def _call(self, node: nodes.Node) -> None:
        assert isinstance(node, nodes.Call)
        self._arguments(node)
        callee = node.node
        if isinstance(callee, nodes.Getattr | nodes.Getitem):
            return  # the rule for attributes and subscripts decides
        if not isinstance(callee, nodes.Name):
            self.refuse(refuse.CALL)
        elif callee.name in self.bindings.declared or callee.name in self.bindings.values:
            if callee.name not in self.bindings.macros:
                self.refuse(refuse.NOT_CALLABLE, name=callee.name)
        elif callee.name in self.bindings.namespaces:
            self.refuse(refuse.NOT_CALLABLE, name=callee.name)
        elif callee.name == "range":
            self._range(node)
        elif callee.name == "namespace" and (node.args or not self._given_to_a_name(node)):
            self.refuse(refuse.NAMESPACE)

    def _given_to_a_name(self, node: nodes.Call) -> bool:
        parent = self._parent
        if isinstance(parent, nodes.Assign):
            return isinstance(parent.target, nodes.Name) and parent.node is node
        if isinstance(parent, nodes.With):
            pairs = zip(parent.targets, parent.values, strict=True)
            return any(value is node and isinstance(target, nodes.Name) for target, value in pairs)
        return False

    def _arguments(self, node: nodes.Call | nodes.Filter | nodes.Test) -> None:
        if node.dyn_args is not None or node.dyn_kwargs is not None:
            self.refuse(refuse.STAR_ARGUMENTS)
        # A filter's keywords are typed as pairs, but the parser makes keywords of them.
        keys = [keyword.key for keyword in node.kwargs if isinstance(keyword, nodes.Keyword)]
        self._once(keys)

    def _range(self, node: nodes.Call) -> None:
        if node.kwargs:
            self.refuse(refuse.RANGE, most=LONGEST_RANGE)
            return
        numbers = [constant_number(argument) for argument in node.args]
        fixed = [number for number in numbers if number is not None]
        if len(fixed) == len(numbers):
            try:
                if len(range(*fixed)) > LONGEST_RANGE:
                    self.refuse(refuse.RANGE, most=LONGEST_RANGE)
            except (TypeError, ValueError, OverflowError):
                self.refuse(refuse.RANGE, most=LONGEST_RANGE)
            return
        size = self._sizes.range_size(node)
        if math.isinf(size):
            self.refuse(RANGE_OPEN)
        elif size > LONGEST_RANGE:
            self.refuse(refuse.RANGE, most=LONGEST_RANGE)

    def _filter(self, node: nodes.Node) -> None:
        assert isinstance(node, nodes.Filter)
        self._arguments(node)
        signature = self.filters.get(node.name)
        if signature is None:
            self._unknown_filter(node.name)
            return
        unknown = [keyword.key for keyword in node.kwargs if keyword.key not in signature.keywords]
        if unknown or len(node.args) > signature.positional:
            known = ", ".join(sorted(signature.keywords)) or "–"
            self.refuse(refuse.FILTER_ARGUMENTS, name=node.name, known=known)
        if signature.lazy and not self._used_up(node):
            self.refuse(refuse.LAZY, name=node.name)

    def _unknown_filter(self, name: str) -> None:
        meant = nearest(name, self.filters)
        if name in refuse.FILTERS:
            self.refuse(refuse.FILTERS[name], name=name)
        elif meant is None:
            self.refuse(refuse.FILTER, name=name, known=" ".join(self.filters))
        else:
            self.problems.append(misspelt(self._lineno, refuse.FILTER_MISSPELT, name, meant))

    def _used_up(self, node: nodes.Filter) -> bool:
        parent = self._parent
        if isinstance(parent, nodes.For):
            return parent.iter is node
        return isinstance(parent, nodes.Filter) and parent.node is node and parent.name in CONSUMERS

    def _test(self, node: nodes.Node) -> None:
        assert isinstance(node, nodes.Test)
        self._arguments(node)
        if node.name not in TESTS:
            self.refuse(refuse.TEST, name=node.name, known=" ".join(sorted(TESTS)))

    # --- statements ----------------------------------------------------------------------

    def _for(self, node: nodes.Node) -> None:
        assert isinstance(node, nodes.For)
        if node.recursive:
            self.refuse(refuse.RECURSIVE_LOOP)
        if sum(isinstance(outer, nodes.For) for outer in self._path) >= MOST_LOOPS:
            self.refuse(refuse.NESTED_LOOPS, most=MOST_LOOPS)

    def _macro(self, node: nodes.Node) -> None:
        assert isinstance(node, nodes.Macro)
        if self._plain(node.name):
            self._bound(node.name)
        self._once([argument.name for argument in node.args])

    def _call_block(self, node: nodes.Node) -> None:
        assert isinstance(node, nodes.CallBlock)
        callee = node.call.node
        if not isinstance(callee, nodes.Name) or callee.name in RESERVED:
            self.refuse(refuse.CALL_BLOCK)
        self._once([argument.name for argument in node.args])

    def _once(self, names: list[str]) -> None:
        for name, times in Counter(names).items():
            if times > 1:
                self.refuse(refuse.TWICE, name=name)

    def _assign_block(self, node: nodes.Node) -> None:
        assert isinstance(node, nodes.AssignBlock)
        # jinja2 3.1 cannot compile a name there: it looks it up in a scope that never read it.
        if node.filter is not None and node.filter.find(nodes.Name):
            self.refuse(refuse.SET_BLOCK_FILTER)
