"""The list of skills in a system prompt: references that fit a limit, and what did not fit by name."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from xml.sax.saxutils import escape

from builder.system.built_prompt import COUNTED_AS, SkillUse
from builder.system.input import Skill

INSTRUCTION = "When you need to use a skill, use the `read` tool to load the SKILL.md at the listed location."

_OPEN, _CLOSE = "<available_skills>\n", "</available_skills>"
# Controls that XML knows no way to write, and halves of surrogate pairs, which UTF-8 cannot carry.
_UNWRITABLE = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_UNKNOWN = "\ufffd"


@dataclass(frozen=True)
class SkillList:
    """The section's text, and how each skill came out of it."""

    text: str
    uses: tuple[SkillUse, ...]


def one_line(text: str) -> str:
    """A name or a description as a prompt can hold it: in one line, without what cannot be written."""
    return " ".join(_UNWRITABLE.sub(_UNKNOWN, text).split())


def is_writable(name: str) -> bool:
    """Whether a folder's name can stand in a prompt as it is, in one line."""
    return not _UNWRITABLE.search(name) and name.splitlines() == [name]


def list_skills(skills: Sequence[Skill], max_chars: int, model: str = COUNTED_AS) -> SkillList:
    """All skills by name; over the limit the last ones lose their description, then their place.

    From the end, so that one skill more leaves the text before it as it was: caches live on that.
    """
    ordered = sorted(skills, key=lambda skill: (skill.name, skill.location))
    full = [_reference(skill, with_description=True) for skill in ordered]
    bare = [_reference(skill, with_description=False) for skill in ordered]
    room = max_chars - len(_OPEN) - len(_CLOSE)
    described = _described(full, bare, room)
    kept = len(ordered) if described else _fitting(bare, room)
    references = full[:described] + bare[described:kept]
    uses = tuple(
        SkillUse(
            skill.name,
            skill.description,
            skill.location,
            "listed" if at < described else "without_description" if at < kept else "left_out",
            references[at] if at < kept else "",
            model,
        )
        for at, skill in enumerate(ordered)
    )
    parts = [_OPEN + "".join(references) + _CLOSE]
    if kept < len(ordered):
        parts.append(_left_out([skill.name for skill in ordered[kept:]]))
    return SkillList("\n\n".join([*parts, INSTRUCTION]), uses)


def _described(full: Sequence[str], bare: Sequence[str], room: int) -> int:
    """How many may keep their description while all are listed; none where not even the names fit."""
    used = sum(map(len, bare))
    if used > room:
        return 0
    for at, (long, short) in enumerate(zip(full, bare, strict=True)):
        used += len(long) - len(short)
        if used > room:
            return at
    return len(full)


def _fitting(bare: Sequence[str], room: int) -> int:
    return sum(1 for used in accumulate(map(len, bare)) if used <= room)


def _reference(skill: Skill, *, with_description: bool) -> str:
    described = f"    <description>{_escaped(skill.description)}</description>\n" if with_description else ""
    return (
        f"  <skill>\n    <name>{_escaped(skill.name)}</name>\n{described}"
        f"    <location>{escape(_UNWRITABLE.sub(_UNKNOWN, skill.location))}</location>\n  </skill>\n"
    )


def _escaped(text: str) -> str:
    return escape(one_line(text))


def _left_out(names: Sequence[str]) -> str:
    return f"Skills left out of this list for lack of room ({len(names)}): {', '.join(map(_escaped, names))}"
