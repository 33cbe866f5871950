"""The branches of a template, each of them taken whatever its condition says.

Run in the jail before an export: a branch that no sample context comes to may be one that never ends.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache

from jinja2 import Template, nodes

from builder.errors import TemplateFailure
from builder.template.coverage import lines_of
from builder.template.dialect import Dialect
from builder.template.render import environment_for, render_prepared

# No template has such names: the gate refuses the underscore.
_ENTERED, _IS_STEERED, _STEERED = "_entered", "_is_steered", "_steered"


@dataclass(frozen=True)
class Branch:
    """The body of a tag, which may or may not be run."""

    lines: tuple[int, ...]
    """Its own lines, without those of the branches in it."""
    way: Mapping[int, bool]
    """What the conditions on the way to it have to say, by their numbers."""


def branches(text: str, dialect: Dialect) -> Sequence[Branch]:
    """Every branch of a template that passes the check, inner ones before those around them."""
    return _prepared(text, dialect)[1]


def take(
    text: str, number: int, values: Mapping[str, str | int], dialect: Dialect, max_chars: int = 1_000_000
) -> bool:
    """Whether a branch is run once the conditions on the way to it are set aside.

    Not where a loop around it has nothing to go through, a macro is never called, or the template fails
    before: without its condition, what stands in the branch may make no sense. ``LimitExceeded`` where the
    output passes ``max_chars``.
    """
    template, found = _prepared(text, dialect)
    way, entered = found[number].way, set[int]()

    def enter(branch: int) -> str:
        entered.add(branch)
        return ""

    steering = {_ENTERED: enter, _IS_STEERED: way.__contains__, _STEERED: way.__getitem__}
    with suppress(TemplateFailure):
        render_prepared(template, {**values, **steering}, max_chars)
    return number in entered


@lru_cache(maxsize=4)
def _prepared(text: str, dialect: Dialect) -> tuple[Template, Sequence[Branch]]:
    """The template whose conditions can be set aside, and its branches: one for all of them."""
    environment = environment_for(dialect)
    tree = environment.parse(text)
    walk = _Walk()
    walk.statements(tree.body, {})
    tree.set_environment(environment)
    return environment.from_string(tree), walk.found


class _Walk:
    def __init__(self) -> None:
        self.found: list[Branch] = []
        self._conditions = 0

    def statements(self, some: Sequence[nodes.Node], way: Mapping[int, bool]) -> None:
        for node in some:
            if isinstance(node, nodes.If):
                self._if(node, way)
                continue
            for name in ("body", "else_"):
                body = getattr(node, name, None)
                if isinstance(body, list) and body:
                    self._branch(body, way)

    def _if(self, node: nodes.If, way: Mapping[int, bool]) -> None:
        refused: dict[int, bool] = {}
        for tag in (node, *node.elif_):
            number, self._conditions = self._conditions, self._conditions + 1
            tag.test = nodes.CondExpr(_call(_IS_STEERED, number), _call(_STEERED, number), tag.test)
            self._branch(tag.body, {**way, **refused, number: True})
            refused[number] = False
        if node.else_:
            self._branch(node.else_, {**way, **refused})

    def _branch(self, body: list[nodes.Node], way: Mapping[int, bool]) -> None:
        lines = tuple(sorted(set(lines_of(body))))
        self.statements(body, way)
        body.insert(0, nodes.Output([_call(_ENTERED, len(self.found))]))
        self.found.append(Branch(lines, way))


def _call(function: str, number: int) -> nodes.Call:
    return nodes.Call(nodes.Name(function, "load"), [nodes.Const(number)], [], None, None)
