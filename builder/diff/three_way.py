"""The three-way comparison: two people's changes of one text, merged where they do not disagree.

Run in the jail for the editor's page on a draft that somebody else has changed meanwhile.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, NamedTuple

from builder.diff import alignment
from builder.diff.sliding import KeyedLines, slid

RegionKind = Literal["unchanged", "mine", "theirs", "both", "conflict"]
"""Who changed it: nobody, one side, both in the same way, or both differently."""

Choice = Literal["mine", "theirs", "mine then theirs", "theirs then mine", "base"]


@dataclass(frozen=True)
class Region:
    """Consecutive lines, as each of the three texts has them; line ends included."""

    kind: RegionKind
    base: str
    mine: str
    theirs: str

    @property
    def merged(self) -> str | None:
        """What stands here when both changes are kept; ``None`` for a conflict."""
        if self.kind == "conflict":
            return None
        return self.theirs if self.kind == "theirs" else self.mine

    def taking(self, choice: Choice) -> str:
        """This region with a person's choice."""
        texts = {"mine": self.mine, "theirs": self.theirs, "base": self.base}
        return _joined([texts[name] for name in choice.split(" then ")])


@dataclass(frozen=True)
class ThreeWay:
    """Two changed texts against the one they started from. Nothing is lost: the regions' ``base``, ``mine``
    and ``theirs`` joined are the three texts."""

    regions: tuple[Region, ...]

    @property
    def conflicts(self) -> tuple[Region, ...]:
        return tuple(region for region in self.regions if region.kind == "conflict")

    @property
    def merged(self) -> str | None:
        """Both changes in one text; ``None`` where a person has to choose."""
        return None if self.conflicts else self.resolved(())

    def resolved(self, choices: Sequence[Choice]) -> str:
        """The merged text with one choice for each conflict, in order."""
        if len(choices) != len(self.conflicts):
            raise ValueError(f"{len(self.conflicts)} conflicts need as many choices, not {len(choices)}")
        remaining = iter(choices)
        parts = [
            region.taking(next(remaining)) if region.merged is None else region.merged
            for region in self.regions
        ]
        return _joined(parts)


class _Edge(NamedTuple):
    """A line of the base that both sides still have, and where."""

    base: int
    mine: int
    theirs: int


def _ended(text: str) -> str:
    return text if not text or text.endswith("\n") else text + "\n"


def _joined(parts: Iterable[str]) -> str:
    """One text; a last line without its end gets it where something follows."""
    filled = [part for part in parts if part]
    return "".join([*map(_ended, filled[:-1]), *filled[-1:]])


def compare_three(base: str, mine: str, theirs: str) -> ThreeWay:
    """Line by line; changes that touch are a conflict unless they are the same, since neither
    side saw the other's. Raises ``DiffTooLarge`` as ``compare`` does."""
    texts = [_lines(text) for text in (base, mine, theirs)]
    base_lines, mine_lines, theirs_lines = texts
    kept_mine, kept_theirs = _kept(base_lines, mine_lines), _kept(base_lines, theirs_lines)
    edges = [_Edge(-1, -1, -1)]
    edges += [
        _Edge(at, kept_mine[at], kept_theirs[at]) for at in sorted(kept_mine.keys() & kept_theirs.keys())
    ]
    edges.append(_Edge(len(base_lines), len(mine_lines), len(theirs_lines)))
    regions: list[Region] = []
    unchanged: list[str] = []
    for before, after in pairwise(edges):
        if any(start + 1 < stop for start, stop in zip(before, after, strict=True)):
            _close(unchanged, regions)
            regions += _changed(
                *(lines[start + 1 : stop] for lines, start, stop in zip(texts, before, after, strict=True))
            )
        unchanged += base_lines[after.base : after.base + 1]
    _close(unchanged, regions)
    return ThreeWay(tuple(regions))


def _lines(text: str) -> list[str]:
    lines = [line + "\n" for line in alignment.lines_of(text)]
    if lines and not text.endswith("\n"):
        lines[-1] = lines[-1][:-1]
    return lines


def _kept(base: list[str], changed: list[str]) -> dict[int, int]:
    """Where each line of the base that is still there stands now."""
    equal = slid(alignment.matches(base, changed), KeyedLines(base, base), KeyedLines(changed, changed))
    return {match.left + step: match.right + step for match in equal for step in range(match.size)}


def _close(unchanged: list[str], regions: list[Region]) -> None:
    if unchanged:
        text = "".join(unchanged)
        regions.append(Region("unchanged", text, text, text))
        unchanged.clear()


def _changed(base: list[str], mine: list[str], theirs: list[str]) -> list[Region]:
    if base in (mine, theirs) or mine == theirs:
        kind: RegionKind = "theirs" if mine == base else "mine" if theirs == base else "both"
        return [_region(kind, base, mine, theirs)]
    # What both sides begin or end with is no matter of dispute: only the rest is.
    start = _common(mine, theirs)
    end = _common(mine[start:][::-1], theirs[start:][::-1])
    head, tail = _region("both", [], mine[:start], theirs[:start]), mine[len(mine) - end :]
    core = _region("conflict", base, mine[start : len(mine) - end], theirs[start : len(theirs) - end])
    return [
        part for part in (head, core, _region("both", [], tail, tail)) if part.mine or part.kind == "conflict"
    ]


def _common(left: list[str], right: list[str]) -> int:
    for place, (one, other) in enumerate(zip(left, right, strict=False)):
        if one != other:
            return place
    return min(len(left), len(right))


def _region(kind: RegionKind, base: list[str], mine: list[str], theirs: list[str]) -> Region:
    return Region(kind, "".join(base), "".join(mine), "".join(theirs))
