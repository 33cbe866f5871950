"""The unified diff: a comparison as ``diff -u`` prints it and ``patch`` applies it.

Used by ``python -m builder diff -u`` and the studio's downloads.
"""

from collections.abc import Iterable, Iterator
from itertools import chain, groupby

from builder.diff.lines import Diff, Line, Section


def unified(diff: Diff, left_name: str, right_name: str, context: int = 3) -> str:
    """Hunks with ``context`` unchanged lines around each change; an empty text where nothing changed.

    Under ``ignore_whitespace`` unchanged lines are the left text's, as with ``diff -w``.
    """
    if diff.is_same:
        return ""
    parts = [f"--- {_label(left_name)}\n+++ {_label(right_name)}\n"]
    for section in diff.sections(context, least=1):
        if not section.folded:
            parts += _hunk(diff, section)
    return "".join(parts)


def _label(name: str) -> str:
    return " ".join(name.splitlines())


def _hunk(diff: Diff, section: Section) -> Iterator[str]:
    runs = list(diff.runs_between(section.start, section.stop))
    old, new = sum(run.left_size for run in runs), sum(run.right_size for run in runs)
    yield f"@@ -{_extent(section.left_start, old)} +{_extent(section.right_start, new)} @@\n"
    for is_equal, block in groupby(runs, key=lambda run: run.kind == "equal"):
        sides = [diff.lines_of(run) for run in block]
        if is_equal:
            yield from _printed(" ", (left for left, _ in sides))
        else:
            yield from _printed("-", (left for left, _ in sides))
            yield from _printed("+", (right for _, right in sides))


def _extent(start: int, size: int) -> str:
    # Of nothing, the line before is named; of one line, only the line.
    if size == 1:
        return str(start)
    return f"{start if size else start - 1},{size}"


def _printed(sign: str, runs: Iterable[list[Line]]) -> Iterator[str]:
    for line in chain.from_iterable(runs):
        yield f"{sign}{line.text}\n"
        if not line.newline:
            yield "\\ No newline at end of file\n"
