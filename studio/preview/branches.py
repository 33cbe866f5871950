"""The trial of a template's branches before an export: each is taken once, whatever its condition says.

A branch that no sample context comes to is run by MixSeek on the day that a task does; MixSeek has no limits.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from django.utils.translation import gettext as _

from builder.errors import LimitExceeded
from builder.jail import BranchTrial
from builder.template.dialect import Dialect
from builder.template.formatters import Values
from builder.template.variables import PromptKind
from studio.contexts.at_round import context_at, values_at
from studio.models import PromptSet, SampleContext
from studio.preview.coverage import digest_of, reached
from studio.prompts.findings import Finding
from studio.prompts.texts import Templates
from studio.shell.jail import pool, remember_stop, stop_of
from studio.shell.sized_cache import SizedCache

_MOST_LINES = 20
_kept: SizedCache[BranchTrial] = SizedCache(1_000_000)


def branch_findings(prompt_set: PromptSet, texts: Templates, dialect: Dialect) -> Iterator[Finding]:
    """An error for a template of which a branch meets a limit; a hint that names the lines not tried at all.

    Raises ``JailError`` where the jail takes no jobs.
    """
    own = SampleContext.objects.filter(prompt_set=prompt_set).first() if prompt_set.pk else None
    at_round = context_at(own)
    for kind, text in texts.by_kind.items():
        trial = _trial(kind, text, values_at(at_round, kind, dialect, text), dialect)
        if trial.stop is not None:
            where = _("If this branch is taken")
            yield replace(Finding.of(trial.stop, kind, where=where), line=trial.stop.line or trial.line)
        elif untried := sorted(trial.untried & set(reached(prompt_set, kind, text).unreached)):
            yield Finding(
                "hint",
                _("Not checked, because no sample covers them: lines %(lines)s.")
                % {"lines": _shown(untried)},
                _("Add a sample context that covers them."),
                kind=kind,
                line=untried[0],
            )


def _trial(kind: PromptKind, text: str, values: Values, dialect: Dialect) -> BranchTrial:
    key = ("branches", kind, digest_of(text), dialect.name, *values.values())
    if kept := _kept.get(key):
        return kept
    if stop := stop_of(*key):
        return BranchTrial(stop)
    trial = pool().try_branches(kind, text, values, dialect)
    if isinstance(trial.stop, LimitExceeded):
        remember_stop(trial.stop, *key)
    else:
        _kept.put(key, trial, sum(len(str(part)) for part in key) + 20 * len(trial.untried))
    return trial


def _shown(lines: Sequence[int]) -> str:
    some = _(", ").join(map(str, lines[:_MOST_LINES]))
    return f"{some}, …" if len(lines) > _MOST_LINES else some
