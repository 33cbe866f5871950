"""The kinds of a template's values: what is a text for sure, what may be one, what may be a list.

Used by the bounds on growth, after the names that an expression reads.
"""

from jinja2 import nodes

from builder.template.bindings import Bindings
from builder.template.flow import Flow, Item, Printed

LISTS = frozenset({"batch", "dictsort", "items", "list", "reverse", "slice", "sort", "unique"})
COUNTS = frozenset({"count", "length", "wordcount"})
NUMBERS = frozenset({"abs", "float", "int", "round"}) | COUNTS
_ONE_OF = frozenset({"first", "last", "max", "min", "sum"})


class ValueKinds:
    def __init__(self, bindings: Bindings, flow: Flow) -> None:
        self._bindings = bindings
        self._flow = flow

    def _values(self, node: nodes.Node, seen: set[str]) -> list[nodes.Node | Item | Printed | None]:
        """What a name is given, each key once."""
        keys = [key for key in self._flow.keys(node) if key not in seen]
        seen.update(keys)
        return [site.value for key in keys for site in self._flow.sites[key]]

    def is_text(self, node: nodes.Node) -> bool:
        """Whether it is a text for sure: of a list `[:9]` leaves nine items, of whatever length."""
        match node:
            case nodes.Concat() | nodes.Const(value=str()):
                return True
            case nodes.Name():
                return node.name in self._bindings.declared
            case nodes.Filter():
                return node.name not in LISTS | NUMBERS | {
                    "default",
                    "d",
                    "first",
                    "last",
                    "max",
                    "min",
                    "sum",
                }
            case nodes.Call(node=nodes.Getattr(attr=attr)):
                return attr in ("capitalize", "join", "lower", "replace", "strip", "title", "upper")
            case nodes.Call(node=nodes.Name(name=name)):
                return name != "range"
        return False

    def is_list(self, node: nodes.Node | Item | Printed | None, seen: set[str], deep: bool = False) -> bool:
        """Whether it may be a list; ``deep``: one of lists."""
        match node:
            case nodes.List() | nodes.Tuple():
                return not deep or any(self.is_list(item, seen) for item in node.items)
            case nodes.Dict():
                return True
            case nodes.Add() | nodes.Mul() | nodes.And() | nodes.Or():
                return self.is_list(node.left, seen, deep) or self.is_list(node.right, seen, deep)
            case nodes.CondExpr():
                return self.is_list(node.expr1, seen, deep) or self.is_list(node.expr2, seen, deep)
            case nodes.Filter(node=inner):
                if node.name in ("batch", "slice", "items", "dictsort"):
                    return True
                if node.name in LISTS:
                    return not deep or self.is_list(inner, seen, deep)
                if node.name in ("first", "last", "max", "min", "sum"):
                    return self.is_list(inner, seen, True)
                return node.name in ("default", "d") and any(
                    self.is_list(part, seen, deep) for part in [inner, *node.args]
                )
            case nodes.Getitem(node=inner):
                return self.is_list(inner, seen, deep or not isinstance(node.arg, nodes.Slice))
            case nodes.Call(node=nodes.Getattr(attr=attr)):
                return attr in ("split", "splitlines") and not deep
            case nodes.Call(node=nodes.Name(name=name)):
                return name == "range" and not deep
            case nodes.Name() | nodes.Getattr():
                return any(self.is_list(value, seen, deep) for value in self._values(node, seen))
            case Item(loop):
                return self.is_list(loop.iter, seen, True)
        return False

    def may_be_text(self, node: nodes.Node | Item | Printed | None, seen: set[str]) -> bool:
        match node:
            case nodes.Node() if self._bindings.is_number(node):
                return False
            case nodes.Name() | nodes.Getattr() if values := self._values(node, seen):
                return any(self.may_be_text(value, seen) for value in values)
            case nodes.Name():
                return node.name in self._bindings.declared or not self._flow.keys(node)
            case nodes.Getattr() if self._flow.keys(node):
                return False
            case Item(loop) if isinstance(loop.iter, nodes.List | nodes.Tuple):
                return any(self.may_be_text(item, seen) for item in loop.iter.items)
            case nodes.CondExpr():
                return self.may_be_text(node.expr1, seen) or self.may_be_text(node.expr2, seen)
            case nodes.Sub() | nodes.Div() | nodes.FloorDiv():
                return False
            case nodes.Add() | nodes.Mul() | nodes.Mod():
                return self.may_be_text(node.left, seen) or self.may_be_text(node.right, seen)
        return True
