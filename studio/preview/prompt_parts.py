"""Which part of a prompt takes how many tokens: the task, the history, the ranking, and the template itself.

A value is looked for in the prompt as it stands. What a filter changed, or what the template says in the very
words of a value, is not told from the template's own text and counts as that.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, get_args

from builder.cache import tokens
from builder.template.formatters import Values

PartName = Literal["task", "history", "ranking", "submission", "own"]
PARTS: tuple[PartName, ...] = get_args(PartName)

_PART_OF: Mapping[str, PartName] = {
    "user_prompt": "task",
    "submission_history": "history",
    "ranking_table": "ranking",
    "team_position_message": "ranking",
    "submission": "submission",
}
MOST_PLACES = 64
"""Of one value; a template that repeats it more often has its own text to think of."""


@dataclass(frozen=True)
class Part:
    """A part of a prompt, and its share of the tokens."""

    name: PartName
    tokens: int


@dataclass(frozen=True)
class Place:
    """Where a value stands in a prompt."""

    part: PartName
    start: int
    end: int


def parts_of(
    prompt: str, template: str, values: Values, total: int, model: str = "o200k_base"
) -> tuple[Part, ...]:
    """Every part that the prompt has, its own text last; together they are exactly ``total`` tokens."""
    found: dict[PartName, int] = {}
    for place in places(prompt, template, values):
        size = _size(prompt[place.start : place.end], model)
        found[place.part] = found.get(place.part, 0) + size
    # Where two texts meet, one token may hold the end of one and the beginning of the other.
    too_many = sum(found.values()) - total
    while too_many > 0:
        largest = max(found, key=lambda part: found[part])
        taken = min(too_many, found[largest])
        found[largest] -= taken
        too_many -= taken
    found["own"] = total - sum(found.values())
    return tuple(Part(name, found[name]) for name in PARTS if found.get(name))


def places(prompt: str, template: str, values: Values) -> list[Place]:
    """Where the values stand, in the prompt's order; of two that overlap, the longer one."""
    wanted = [
        (str(value).strip(), part)
        for name, part in _PART_OF.items()
        if (value := values.get(name)) and name in template
    ]
    free, found = [(0, len(prompt))], []
    for text, part in sorted(wanted, key=lambda each: len(each[0]), reverse=True):
        if not text or text in template:
            continue
        here = list(_occurrences(prompt, text, part, free))
        free = _without(free, here)
        found += here
    return sorted(found, key=lambda place: place.start)


def _occurrences(prompt: str, text: str, part: PartName, free: list[tuple[int, int]]) -> Iterator[Place]:
    left = MOST_PLACES
    for start, end in free:
        while left and (at := prompt.find(text, start, end)) >= 0:
            start = at + len(text)
            left -= 1
            yield Place(part, at, start)


def _without(free: list[tuple[int, int]], taken: list[Place]) -> list[tuple[int, int]]:
    """The stretches that are left; both lists are in order."""
    left: list[tuple[int, int]] = []
    for start, end in free:
        for place in taken:
            if start <= place.start < end:
                left.append((start, place.start))
                start = place.end
        left.append((start, end))
    return [each for each in left if each[0] < each[1]]


@lru_cache(maxsize=64)
def _size(text: str, model: str) -> int:
    """Cached: while somebody writes, the values stay what they are."""
    return tokens.recount(text, model).tokens
