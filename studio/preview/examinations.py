"""Examinations of a template: its check and its prompt, made in the jail and kept for a while.

Previews, saves, comparisons, the matrix, costs and replays ask here, so that what one of them had rendered
the next one finds.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile

from builder.errors import LimitExceeded
from builder.jail import Examination
from builder.problems import errors_in
from builder.template.dialect import Dialect
from builder.template.formatters import Values
from builder.template.variables import PromptKind
from studio.prompts.findings import Finding, in_order
from studio.shell.jail import pool, remember_stop, stop_of
from studio.shell.sized_cache import SizedCache

MOST_CHARACTERS = 4_000_000
"""Of all examinations with what they were made from. One of a tenth of that is rare, and made anew."""
AT_A_TIME = 8
"""Renderings in one job of a batch: whoever asks for many can stop in between."""

_kept: SizedCache[Examination] = SizedCache(MOST_CHARACTERS)


def examine(
    kind: PromptKind, text: str, values: Values, dialect: Dialect, *, owner: str, topic: str | None = None
) -> Examination:
    """``JailPool.examine``, remembered in this process; of what met a limit only that, for a short while."""
    key = (kind, text, dialect.name, *values.values())
    if kept := _known(key):
        return kept
    return _keep(key, pool().examine(kind, text, values, dialect, owner=owner, topic=topic))


def examine_each(
    kind: PromptKind, text: str, each_values: Sequence[Values], dialect: Dialect
) -> Iterator[Examination]:
    """One text with many values, in their order, in the jail's lane for batches.

    Nothing is rendered before it is asked for: who stops at the first limit spares the rest.
    """
    keys = [(kind, text, dialect.name, *values.values()) for values in each_values]
    done = 0
    while done < len(keys):
        if kept := _known(keys[done]):
            done += 1
            yield kept
            continue
        some = list(takewhile(lambda key: _known(key) is None, keys[done : done + AT_A_TIME]))
        values = each_values[done : done + len(some)]
        for key, examined in zip(some, pool().examine_in_each(kind, text, values, dialect), strict=True):
            done += 1
            yield _keep(key, examined)


def _known(key: tuple[object, ...]) -> Examination | None:
    if kept := _kept.get(key):
        return kept
    stop = stop_of(*key)
    return Examination((), None, stop) if stop else None


def _keep(key: tuple[object, ...], examined: Examination) -> Examination:
    if isinstance(examined.failure, LimitExceeded):
        remember_stop(examined.failure, *key)
    else:
        _kept.put(key, examined, len(examined.text or "") + sum(len(str(part)) for part in key[1:]))
    return examined


def findings_of(kind: PromptKind, examined: Examination, *, errors_only: bool = False) -> tuple[Finding, ...]:
    """What an examination says, in the order of lines: the check's problems and why there is no prompt."""
    problems = examined.errors if errors_only else examined.problems
    findings = [Finding.of(problem, kind) for problem in problems]
    if examined.failure is not None:
        findings.append(Finding.of(examined.failure, kind))
    return tuple(in_order(findings))


def check_errors(texts: Mapping[PromptKind, str], *, owner: str) -> Iterator[Finding]:
    """The errors of templates that are checked only; at one that meets a limit it ends."""
    for kind, text in texts.items():
        try:
            problems = pool().check(kind, text, owner=owner)
        except LimitExceeded as stop:
            yield Finding.of(stop, kind)
            return
        yield from (Finding.of(problem, kind) for problem in errors_in(problems))
