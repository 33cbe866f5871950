"""Landmarks of a template: what it prints whatever its variables hold. Used to attribute runs."""

from collections.abc import Iterator
from dataclasses import dataclass

from jinja2 import nodes

from builder.template.dialect import Dialect
from builder.template.render import environment_for


@dataclass(frozen=True)
class Landmarks:
    """The fixed texts of a template in their order; the ends of the prompt where they are fixed as well."""

    texts: tuple[str, ...]
    begins: bool = False
    ends: bool = False

    def stand_in(self, prompt: str) -> bool:
        """Whether the prompt has them all, in order: if not, it was made by another template."""
        if not self.texts:
            return True
        if self.begins and not prompt.startswith(self.texts[0]):
            return False
        at = 0
        for text in self.texts[:-1] if self.ends else self.texts:
            place = prompt.find(text, at)
            if place < 0:
                return False
            at = place + len(text)
        if not self.ends:
            return True
        last = self.texts[-1]
        alone = self.begins and len(self.texts) == 1
        return prompt == last if alone else prompt.endswith(last) and len(prompt) - len(last) >= at


def landmarks(text: str, dialect: Dialect) -> Landmarks:
    """The landmarks of a template that passes the check. Only parsed, never compiled."""
    parts = list(_parts(environment_for(dialect).parse(text)))
    return Landmarks(
        tuple(part for part in parts if part),
        begins=bool(parts and parts[0]),
        ends=bool(parts and parts[-1]),
    )


def _parts(tree: nodes.Template) -> Iterator[str]:
    """Fixed texts, and an empty one for whatever prints something else; a tag may print nothing at all."""
    joined = ""
    for node in tree.body:
        for piece in node.nodes if isinstance(node, nodes.Output) else [node]:
            if isinstance(piece, nodes.TemplateData):
                joined += piece.data
            elif not isinstance(piece, _SILENT):
                if joined:
                    yield joined
                yield ""
                joined = ""
    if joined:
        yield joined


# Prints nothing where it stands.
_SILENT = (nodes.Assign, nodes.AssignBlock, nodes.Macro)
