"""The coverage of a template: the lines that a context reaches, and the variables that it never asks for.

Run in the jail for the editor's preview.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from jinja2 import Template, nodes

from builder.template.dialect import Dialect
from builder.template.render import environment_for
from builder.template.variables import PromptKind, names

_ENTERED = "_entered"
"""Called at the beginning of each branch. No template has such a name: the gate refuses the underscore."""


@dataclass(frozen=True)
class Coverage:
    """Lines that print or decide something: those that were reached, and those in branches not taken."""

    reached: frozenset[int] = frozenset()
    unreached: frozenset[int] = frozenset()

    def __or__(self, other: "Coverage") -> "Coverage":
        """What both together reach."""
        reached = self.reached | other.reached
        return Coverage(reached, (self.unreached | other.unreached) - reached)


def coverage(text: str, values: Mapping[str, str | int], dialect: Dialect) -> Coverage:
    """The lines that one context reaches in a template that passes the check; as far as it gets, if it fails.

    >>> coverage("{% if round_number > 1 %}\\nlater\\n{% endif %}", {"round_number": 1}, MIXSEEK).unreached
    frozenset({2})
    """
    template, lines = _prepared(text, dialect)
    entered = {0}

    def enter(number: int) -> str:
        entered.add(number)
        return ""

    context = template.new_context({**values, _ENTERED: enter})
    try:
        for _ in template.root_render_func(context):
            pass
    except MemoryError:
        raise
    except Exception:
        # The preview says what failed and where; here the lines before it count.
        pass
    union = Coverage()
    for number, numbers in enumerate(lines):
        union |= Coverage(numbers) if number in entered else Coverage(unreached=numbers)
    return union


@lru_cache(maxsize=4)
def _prepared(text: str, dialect: Dialect) -> tuple[Template, tuple[frozenset[int], ...]]:
    """The template that tells which branches it enters, and the lines of each: one for many contexts."""
    environment = environment_for(dialect)
    tree = environment.parse(text)
    lines = [frozenset(lines_of(tree.body))]
    for branch in list(_branches(tree)):
        lines.append(frozenset(lines_of(branch)))
        branch.insert(0, _call(len(lines) - 1))
    tree.set_environment(environment)
    return environment.from_string(tree), tuple(lines)


def unused(kind: PromptKind, text: str, dialect: Dialect) -> frozenset[str]:
    """The variables of this kind that the template never names."""
    tree = environment_for(dialect).parse(text)
    return names(kind) - {name.name for name in tree.find_all(nodes.Name)}


def _call(number: int) -> nodes.Output:
    call = nodes.Call(nodes.Name(_ENTERED, "load"), [nodes.Const(number)], [], None, None)
    return nodes.Output([call])


def _branches(node: nodes.Node) -> Iterator[list[nodes.Node]]:
    """The bodies below a node, which may or may not be run. An elif is a tag of its own."""
    for name, value in node.iter_fields():
        if name in ("body", "else_") and not isinstance(node, nodes.Template) and value:
            yield value
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, nodes.Node):
                yield from _branches(child)


def lines_of(body: Iterable[nodes.Node]) -> Iterator[int]:
    """The lines of a body's own text and tags, those of the branches in it left out."""
    for node in body:
        if isinstance(node, nodes.TemplateData):
            for offset, line in enumerate(node.data.split("\n")):
                if line.strip():
                    yield node.lineno + offset
            continue
        # The parser gives no line to some inner nodes; the tag around them has one.
        if not isinstance(node, nodes.Output) and node.lineno is not None:
            yield node.lineno
        for name, value in node.iter_fields():
            if name not in ("body", "else_"):
                children = value if isinstance(value, list) else [value]
                yield from lines_of(child for child in children if isinstance(child, nodes.Node))
