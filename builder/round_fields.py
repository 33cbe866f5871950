"""Which fields a round template reads from which record, as far as the text alone tells."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, make_dataclass, replace
from typing import Any

from jinja2 import nodes
from pydantic import BaseModel

from builder.bindings import Bindings
from builder.messages import message
from builder.models import EvaluationResult, LeaderboardEntry, SubmissionRecord
from builder.nearest import nearest
from builder.problems import Problem
from builder.syntax import error_at

FIELD = message(
    "round-field",
    "`{name}` is not a field of `{record}`.",
    "`{name}` は `{record}` の項目ではありません。",
    fix_en="It has: {known}.",
    fix_ja="使える項目: {known}",
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
    "`{list}` is a list and has no part `{name}`.",
    "`{list}` はリストなので、`{name}` という部分はありません。",
    fix_en="Go through it: `{% for item in {list} %}{{ item.{name} }}{% endfor %}`.",
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


def check_fields(
    parts: Sequence[nodes.Node], declared: Mapping[str, str], bindings: Bindings
) -> Iterator[Problem]:
    """Every field that its record does not have. What a macro is given is not followed."""
    known = _Types(parts, declared, bindings)
    for node in parts:
        match node:
            case nodes.Getattr():
                name = node.attr
            case nodes.Getitem(arg=nodes.Const(value=str(key))):
                name = key
            case _:
                continue
        owner = known.of(node.node)
        if owner is not None and not name.startswith("_"):
            yield from _problem(owner, node, name)


def _problem(owner: Type, node: nodes.Getattr | nodes.Getitem, name: str) -> Iterator[Problem]:
    if owner.is_list:
        named = node.node.name if isinstance(node.node, nodes.Name) else f"list[{owner.record}]"
        yield error_at(node.lineno, LIST_PART, list=named, name=name)
        return
    has = FIELDS[owner.record]
    if name in has:
        return
    meant = nearest(name, has)
    if meant is None:
        known = ", ".join(sorted(has))
        yield error_at(node.lineno, FIELD, name=name, record=owner.record, known=known)
    else:
        found = error_at(node.lineno, FIELD_MISSPELT, name=name, record=owner.record, meant=meant)
        yield replace(found, replaces=name, replacement=meant)


class _Types:
    """The types of names and expressions. A name that is given two kinds of things has no known type."""

    def __init__(self, parts: Iterable[nodes.Node], declared: Mapping[str, str], bindings: Bindings) -> None:
        self.bindings = bindings
        self.names: dict[str, Type | None] = {name: type_of(text) for name, text in declared.items()}
        given: list[tuple[nodes.Node, nodes.Node, bool]] = []
        for node in parts:
            match node:
                case nodes.For():
                    given.append((node.target, node.iter, True))
                case nodes.Assign():
                    given.append((node.target, node.node, False))
                case nodes.With():
                    given += [
                        (target, value, False)
                        for target, value in zip(node.targets, node.values, strict=True)
                    ]
        counts = {name: len(places) for name, places in bindings.values.items()}
        # In the order of the text: a name has its type before it is used, and a chain is followed whole.
        for target, value, inside in given:
            if isinstance(target, nodes.Name) and target.name not in declared:
                found = self._element(value) if inside else self.of(value)
                same = target.name not in self.names or self.names[target.name] == found
                self.names[target.name] = found if same else None
                counts[target.name] -= 1
        for name, others in counts.items():
            if others and name not in declared:
                self.names[name] = None  # also an argument of a macro, or one of a pair

    def _element(self, node: nodes.Node) -> Type | None:
        found = self.of(node)
        return Type(found.record, False) if found is not None and found.is_list else None

    def of(self, node: nodes.Node) -> Type | None:
        match node:
            case nodes.Name():
                return self.names.get(node.name)
            case nodes.Getitem(arg=nodes.Slice()):
                return self.of(node.node)
            case nodes.Getitem() if self.bindings.is_number(node.arg):
                return self._element(node.node)
            case nodes.Filter() if node.node is not None and node.name in _SAME:
                return self.of(node.node)
            case nodes.Filter() if node.node is not None and node.name in _ONE:
                return self._element(node.node)
            case nodes.CondExpr(expr2=nodes.Node() as other):
                found = self.of(node.expr1)
                return found if found == self.of(other) else None
        return None
