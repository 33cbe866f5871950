"""The check of a round template's fields: which it reads from which record, as far as its text tells."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, make_dataclass
from typing import Any

from jinja2 import nodes
from pydantic import BaseModel

from builder.messages import message
from builder.problems import Problem
from builder.template.bindings import Bindings, names_in
from builder.template.models import EvaluationResult, LeaderboardEntry, SubmissionRecord
from builder.template.nearest import nearest
from builder.template.syntax import children, error_at, misspelt

FIELD = message(
    "round-field",
    "`{name}` is not a field of `{record}`.",
    "`{name}` は `{record}` の項目ではありません。",
    fix_en="It has: {known}.",
    fix_ja="使える項目：{known}",
)
FIELD_MISSPELT = message(
    "round-field-misspelt",
    "`{name}` is not a field of `{record}`. Did you mean `{meant}`?",
    "`{name}` は `{record}` の項目ではありません。`{meant}` のことですか？",
    fix_en="Write `{meant}`.",
    fix_ja="`{meant}` と書いてください。",
)
LIST_PART = message(
    "round-list-part",
    "`{list}` is a list and has no field `{name}`.",
    "`{list}` はリストなので、`{name}` という項目はありません。",
    fix_en="Loop over it: `{% for item in {list} %}{{ item.{name} }}{% endfor %}`.",
    fix_ja="`{% for item in {list} %}{{ item.{name} }}{% endfor %}` のように順に取り出してください。",
)

_MODELS: tuple[type[BaseModel], ...] = (SubmissionRecord, EvaluationResult, LeaderboardEntry)
_PLAIN: Mapping[type[BaseModel], type[Any]] = {
    model: make_dataclass(model.__name__, [*model.model_fields], frozen=True, slots=True) for model in _MODELS
}
FIELDS: Mapping[str, frozenset[str]] = {
    model.__name__: frozenset(field.name for field in fields(plain)) for model, plain in _PLAIN.items()
}
"""What each record has."""

_SAME = frozenset({"list", "reverse", "sort", "unique", "default", "d"})
_ONE = frozenset({"first", "last", "max", "min"})
_NEIGHBOUR = "loop.previtem"
"""No name of a template: what a loop's neighbours are."""


def plain_record(record: BaseModel) -> object:
    """The record as a template gets it: its fields, and none of a model's methods."""
    return _PLAIN[type(record)](**dict(record))


@dataclass(frozen=True)
class Type:
    """A record, or a list of records."""

    record: str
    is_list: bool


def type_of(declared: str) -> Type | None:
    """What ``list[SubmissionRecord]`` and the like say; plain values have no parts."""
    record = declared.removeprefix("list[").removesuffix("]")
    return Type(record, declared.startswith("list[")) if record in FIELDS else None


def check_fields(tree: nodes.Template, declared: Mapping[str, str], bindings: Bindings) -> list[Problem]:
    """Every field that its record does not have. What a macro is given is not followed.

    The tree must have been measured.
    """
    walk = _Walk(bindings)
    walk.run(tree, {name: type_of(text) for name, text in declared.items()})
    return walk.problems


_Types = dict[str, Type | None]
"""What is known of the names at a point."""


class _Walk:
    def __init__(self, bindings: Bindings) -> None:
        self.bindings = bindings
        self.problems: list[Problem] = []

    def run(self, node: nodes.Node, types: _Types) -> None:
        """Check a node; what a statement binds is in ``types`` afterwards."""
        match node:
            case nodes.If():
                self._if(node, types)
            case nodes.For():
                self.run(node.iter, types)
                element = self._element(node.iter, types)
                inner = self._bound(node.target, element, types)
                self._all([node.test] if node.test else [], inner)
                self._all(node.body, {**inner, _NEIGHBOUR: element})
                self._all(node.else_, {**types})
            case nodes.Assign():
                self.run(node.node, types)
                types.update(self._bound(node.target, self.of(node.node, types), types))
            case nodes.AssignBlock():
                self._all([*([node.filter] if node.filter else []), *node.body], {**types})
                types.update(self._bound(node.target, None, types))
            case nodes.With():
                self._all(node.values, types)
                inner = {**types}
                for target, value in zip(node.targets, node.values, strict=True):
                    inner.update(self._bound(target, self.of(value, types), types))
                self._all(node.body, inner)
            case nodes.Macro() | nodes.CallBlock():
                arguments: _Types = dict.fromkeys((argument.name for argument in node.args), None)
                self._all(children(node), {**types, **arguments})
            case nodes.FilterBlock():
                self._all(children(node), {**types})
            case _:
                self._field(node, types)
                self._all(children(node), types)

    def _all(self, parts: Iterable[nodes.Node], types: _Types) -> None:
        for node in parts:
            self.run(node, types)

    def _if(self, node: nodes.If, types: _Types) -> None:
        ends = []
        for test, body in [(branch.test, branch.body) for branch in (node, *node.elif_)]:
            self.run(test, types)
            ends.append({**types})
            self._all(body, ends[-1])
        ends.append({**types})
        self._all(node.else_, ends[-1])
        for name in set().union(*ends):
            kinds = {end.get(name) for end in ends}
            types[name] = kinds.pop() if len(kinds) == 1 else None

    def _bound(self, target: nodes.Node, given: Type | None, types: _Types) -> _Types:
        names = {name.name: given if name is target else None for name in names_in(target)}
        return {**types, **names}

    def of(self, node: nodes.Node, types: _Types) -> Type | None:
        """What an expression gives, as far as that is a record or a list of them."""
        match node:
            case nodes.Name():
                return types.get(node.name)
            case nodes.Getattr(node=nodes.Name(name="loop"), attr="previtem" | "nextitem"):
                return types.get(_NEIGHBOUR)
            case nodes.Getitem(arg=nodes.Slice()):
                return self.of(node.node, types)
            case nodes.Getitem() if self.bindings.is_number(node.arg):
                return self._element(node.node, types)
            case nodes.Filter() if node.node is not None and node.name in _SAME:
                return self.of(node.node, types)
            case nodes.Filter() if node.node is not None and node.name in _ONE:
                return self._element(node.node, types)
            case nodes.CondExpr(expr2=nodes.Node() as other):
                type_ = self.of(node.expr1, types)
                return type_ if type_ == self.of(other, types) else None
        return None

    def _element(self, node: nodes.Node, types: _Types) -> Type | None:
        type_ = self.of(node, types)
        return Type(type_.record, False) if type_ is not None and type_.is_list else None

    def _field(self, node: nodes.Node, types: _Types) -> None:
        match node:
            case nodes.Getattr():
                name = node.attr
            case nodes.Getitem(arg=nodes.Const(value=str(key))):
                name = key
            case _:
                return
        owner = self.of(node.node, types)
        if owner is None or name.startswith("_"):  # of the latter the gate speaks
            return
        if owner.is_list:
            named = node.node.name if isinstance(node.node, nodes.Name) else f"list[{owner.record}]"
            self.problems.append(error_at(node.lineno, LIST_PART, list=named, name=name))
        elif name not in FIELDS[owner.record]:
            self.problems.append(_unknown(node.lineno, name, owner.record))


def _unknown(lineno: int, name: str, record: str) -> Problem:
    meant = nearest(name, FIELDS[record])
    if meant is None:
        return error_at(lineno, FIELD, name=name, record=record, known=", ".join(sorted(FIELDS[record])))
    return misspelt(lineno, FIELD_MISSPELT, name, meant, record=record)
