"""The names that a template itself gives a value: macros, namespaces, numbers, other values.

Used by the gate, the check of names and the analysis of the cacheable prefix.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from jinja2 import nodes

from builder.template.allowed import LOOP_NUMBERS

_BINDING = (nodes.Assign, nodes.AssignBlock, nodes.For, nodes.With, nodes.Macro, nodes.CallBlock)
_NUMBER_FILTERS = frozenset({"count", "length", "round", "wordcount"})
_NUMBER_METHODS = frozenset({"count", "find"})


@dataclass
class Bindings:
    """All bindings of a template, wherever they stand."""

    declared: frozenset[str]
    whole: frozenset[str] = frozenset()
    """Those of the declared that are whole numbers."""
    lists: frozenset[str] = frozenset()
    """Those that are lists, of rounds or teams; only round templates have some."""
    macros: dict[str, list[nodes.Macro]] = field(default_factory=lambda: defaultdict(list))
    namespaces: dict[str, list[nodes.Node]] = field(default_factory=lambda: defaultdict(list))
    values: dict[str, list[nodes.Name]] = field(default_factory=lambda: defaultdict(list))
    numbers: set[str] = field(default_factory=set)
    """Names that never hold anything but a number; attributes of namespaces as ``ns.attr``."""

    def __contains__(self, name: str) -> bool:
        return name in self.macros or name in self.namespaces or name in self.values

    def __iter__(self) -> Iterator[str]:
        return iter({*self.macros, *self.namespaces, *self.values})

    def is_number(self, node: nodes.Node | None) -> bool:
        """Whether an expression can give nothing but a number, or fail."""
        match node:
            case nodes.Const():
                return not isinstance(node.value, str)
            case nodes.Name():
                return node.name in self.numbers
            case nodes.Compare() | nodes.Not() | nodes.Test():
                return True
            case nodes.Neg() | nodes.Pos():
                return self.is_number(node.node)
            case nodes.Add() | nodes.Sub() | nodes.Mul() | nodes.Div() | nodes.FloorDiv() | nodes.Mod():
                return self.is_number(node.left) and self.is_number(node.right)
            case nodes.And() | nodes.Or():
                return self.is_number(node.left) and self.is_number(node.right)
            case nodes.CondExpr():
                return self.is_number(node.expr1) and (node.expr2 is None or self.is_number(node.expr2))
            case nodes.Getattr(node=nodes.Name(name="loop")):
                return node.attr in LOOP_NUMBERS
            case nodes.Getattr(node=nodes.Name(name=name)) if name in self.namespaces:
                return f"{name}.{node.attr}" in self.numbers
            case nodes.Call(node=nodes.Getattr() as method):
                return method.attr in _NUMBER_METHODS
            case nodes.Filter():
                return self._filter_gives_number(node)
            case _:
                return False

    def _filter_gives_number(self, node: nodes.Filter) -> bool:
        if node.name in _NUMBER_FILTERS:
            return True
        if node.name == "abs":
            return self.is_number(node.node)
        if node.name in ("int", "float"):
            # Their default is given back as it is.
            given = [*node.args, *(keyword.value for keyword in node.kwargs)]
            return all(self.is_number(argument) for argument in given)
        return False


def is_call_of(node: nodes.Node | None, function: str) -> bool:
    return isinstance(node, nodes.Call) and isinstance(node.node, nodes.Name) and node.node.name == function


def names_in(target: nodes.Node) -> Iterable[nodes.Name]:
    """The names that an assignment target binds."""
    if isinstance(target, nodes.Name):
        return [target]
    return [name for name in target.find_all(nodes.Name) if name.ctx in ("store", "param")]


def collect(parts: Iterable[nodes.Node], declared: Mapping[str, str]) -> Bindings:
    """Read all bindings of a template from its parts. Its depth must have been bounded before.

    ``declared`` has the type of every variable that the template is given; ``int`` is a number.
    """
    whole = frozenset(name for name, type_ in declared.items() if type_ == "int")
    lists = frozenset(name for name, type_ in declared.items() if type_.startswith("list"))
    bindings = Bindings(frozenset(declared), whole, lists)
    given: dict[str, list[nodes.Node | None]] = defaultdict(list)

    def bind(target: nodes.Node, value: nodes.Node | None) -> None:
        if (
            isinstance(target, nodes.Name)
            and isinstance(value, nodes.Call)
            and is_call_of(value, "namespace")
        ):
            bindings.namespaces[target.name].append(target)
            for keyword in value.kwargs:
                given[f"{target.name}.{keyword.key}"].append(keyword.value)
            return
        if isinstance(target, nodes.NSRef):
            given[f"{target.name}.{target.attr}"].append(value)
        for name in names_in(target):
            bindings.values[name.name].append(name)
            given[name.name].append(value if target is name else None)

    for node in parts:
        if not isinstance(node, _BINDING):
            continue
        match node:
            case nodes.Assign():
                bind(node.target, node.node)
            case nodes.AssignBlock():
                bind(node.target, None)
            case nodes.For():
                # Counting through a range gives numbers, whatever the range.
                bind(node.target, nodes.Const(0) if is_call_of(node.iter, "range") else None)
            case nodes.With():
                for target, value in zip(node.targets, node.values, strict=True):
                    bind(target, value)
            case nodes.Macro() | nodes.CallBlock():
                if isinstance(node, nodes.Macro):
                    bindings.macros[node.name].append(node)
                for argument in node.args:
                    bind(argument, None)

    bindings.numbers = _numbers(bindings, given)
    return bindings


def _numbers(bindings: Bindings, given: dict[str, list[nodes.Node | None]]) -> set[str]:
    # Take all for numbers, then drop every name that is somewhere given something else, and look
    # again at those that are made from it.
    bindings.numbers = set(bindings.whole) | (set(given) - set(bindings.macros) - set(bindings.namespaces))
    made_from: dict[str, set[str]] = defaultdict(set)
    for name, values in given.items():
        for value in values:
            for used in [] if value is None else [value, *value.find_all((nodes.Name, nodes.Getattr))]:
                if isinstance(used, nodes.Name):
                    made_from[used.name].add(name)
                elif isinstance(used, nodes.Getattr) and isinstance(used.node, nodes.Name):
                    made_from[f"{used.node.name}.{used.attr}"].add(name)
    waiting = set(bindings.numbers)
    while waiting:
        name = waiting.pop()
        if name in bindings.numbers and not all(
            value is not None and bindings.is_number(value) for value in given.get(name, [])
        ):
            bindings.numbers.remove(name)
            waiting |= made_from[name]
    return bindings.numbers


def constant_number(node: nodes.Node) -> int | None:
    """The value of whole-number arithmetic on constants; numbers are small, so this is cheap."""
    match node:
        case nodes.Const(value=int(value)):
            return value
        case nodes.Neg():
            positive = constant_number(node.node)
            return None if positive is None else -positive
        case nodes.Add() | nodes.Sub() | nodes.Mul():
            left, right = constant_number(node.left), constant_number(node.right)
            if left is None or right is None:
                return None
            if isinstance(node, nodes.Mul):
                return left * right
            return left + right if isinstance(node, nodes.Add) else left - right
    return None
