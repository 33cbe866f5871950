"""Saving a version: its texts have no errors and render in every sample context of the set.

Used by the editor, by new, restored and imported sets, and before exports.
"""

import time
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

from django.contrib.auth.models import User
from django.db import transaction

from builder.errors import JailUnavailable, LimitExceeded
from builder.messages import message
from builder.template.dialect import Dialect
from builder.template.formatters import Values
from builder.template.variables import PromptKind
from studio.contexts.at_round import ContextAtRound, contexts_at_rounds, dialect_of, values_at
from studio.models import Draft, PromptSet, PromptVersion
from studio.preview.examinations import examine, examine_each
from studio.prompts.findings import Finding, errors_of
from studio.prompts.models import NothingChanged, Origin, VersionConflict
from studio.prompts.system_text import read_text
from studio.prompts.texts import SystemText, Templates, Texts

__all__ = ["NothingChanged", "Refused", "VersionConflict", "require_sound", "save_as_version", "shortcomings"]

TRIAL_SECONDS = 20.0
TRIAL_SECONDS_EACH = 0.1
"""All renderings of a trial together may take so long. Far more than they need on a busy machine: what a
template may use is limited rendering by rendering, this only lets go of a thread in the end."""

UNFINISHED = message(
    "trial-unfinished",
    "The studio was too busy to try this text in all of its {count} situations within {seconds} s",
    "混み合っているため、{seconds}秒以内に{count}通りの状況をすべて試せませんでした",
    fix_en="Try again in a moment. Where it happens again and again, use fewer loops or fewer contexts.",
    fix_ja="しばらくしてからもう一度お試しください。何度も起きる場合は、ループやコンテキストを減らしてください。",
)


class Refused(Exception):
    """The text cannot become a version; ``findings`` say where and why."""

    def __init__(self, findings: list[Finding]) -> None:
        super().__init__(findings)
        self.findings = findings


def save_as_version(
    prompt_set: PromptSet,
    texts: Texts,
    *,
    base: int,
    message: str,
    by: User,
    at: datetime,
    origin: Origin = Origin.EDITED,
    origin_note: str = "",
    draft: Draft | None = None,
    warn: Callable[[Finding], object] = lambda finding: None,
    within: Callable[[PromptVersion], object] = lambda version: None,
) -> PromptVersion:
    """Make the texts the version after ``base``, and end the draft that they were written in. ``warn`` is
    told what of it fails in contexts that all sets share; ``within`` is called in the transaction.

    Raises ``NothingChanged``, ``VersionConflict``, ``Refused``, or the jail's errors; nothing is stored then,
    and the draft stays.
    """
    # Before the trial, which may take a second: neither is a matter of it.
    parent = prompt_set.versions.filter(number=base).first()
    is_newest = prompt_set.revision == base
    # A draft without a change is none, also where somebody saved a version meanwhile.
    if parent is not None and parent.templates == texts and (is_newest or draft is not None):
        raise NothingChanged
    if not is_newest:
        raise VersionConflict
    warnings = require_sound(prompt_set, texts, owner=by)
    with transaction.atomic():
        version = prompt_set.save_version(
            texts, base=base, message=message, author=by, at=at, origin=origin, origin_note=origin_note
        )
        if draft is not None:
            Draft.objects.settle(draft, version.number, at=at)
        for warning in warnings:
            warn(warning)
        within(version)
    return version


def require_sound(prompt_set: PromptSet, texts: Texts, *, owner: User) -> list[Finding]:
    """Raise ``Refused`` where the texts have errors; what else there is to know is given back.

    Called by itself for the first version of a new set: the set is made after the trial, with its version.
    """
    findings = shortcomings(prompt_set, texts, owner=owner)
    if errors := errors_of(findings):
        raise Refused(errors)
    return findings


def shortcomings(
    prompt_set: PromptSet, texts: Texts, *, owner: User, dialect: Dialect | None = None
) -> list[Finding]:
    """Every error of the texts, errors first; where templates have none, the first failure of each under a
    sample context. In one that all sets share it is a warning: nobody keeps others from saving with it.

    The contexts are rendered in the set's dialect unless another one is given. At the first limit the trial
    ends: the next rendering would only meet it again. ``JailUnavailable`` where it took too long without one:
    a matter of the machine, not of the text.
    """
    name = str(owner.pk)
    if isinstance(texts, SystemText):
        return read_text(texts.system_prompt, owner=name).errors
    dialect = dialect or dialect_of(prompt_set)
    trials = _trials(prompt_set, texts, dialect)
    count = sum(map(len, trials.values()))
    seconds = TRIAL_SECONDS + TRIAL_SECONDS_EACH * count
    deadline = time.monotonic() + seconds
    findings: list[Finding] = []
    # The first of each is a job of the owner's: a text without end makes its owner wait and nobody else.
    for kind, text in texts.by_kind.items():
        at_round, values = trials[kind][0]
        first = examine(kind, text, values, dialect, owner=name)
        if first.text is None:
            findings += [Finding.of(problem, kind) for problem in first.errors]
        if isinstance(first.failure, LimitExceeded):
            return [*findings, Finding.of(first.failure, kind, where=at_round.title)]
    if findings:
        return findings
    for kind, text in texts.by_kind.items():
        examinations = examine_each(kind, text, [values for _, values in trials[kind]], dialect)
        for at_round, _ in trials[kind]:
            if time.monotonic() > deadline:
                if findings:
                    return findings
                raise JailUnavailable(UNFINISHED, count=count, seconds=round(seconds))
            failure = next(examinations).failure
            if failure is None:
                continue
            finding = Finding.of(failure, kind, where=at_round.title)
            if at_round.is_shared:
                findings.append(replace(finding, severity="warning"))
                break
            findings.append(finding)
            if isinstance(failure, LimitExceeded):
                return findings
            break
    return sorted(findings, key=lambda finding: finding.severity != "error")


def _trials(
    prompt_set: PromptSet, texts: Templates, dialect: Dialect
) -> dict[PromptKind, list[tuple[ContextAtRound, Values]]]:
    """The values of each context at a round, the set's own first; what two of them have alike is tried once.
    A set without any is tried with the sample values of the variables.
    """
    trials: dict[PromptKind, dict[tuple[object, ...], tuple[ContextAtRound, Values]]]
    trials = {kind: {} for kind in texts.by_kind}
    at_rounds = sorted(contexts_at_rounds(prompt_set), key=lambda at_round: at_round.is_shared)
    if at_rounds[0].is_shared:
        at_rounds.insert(0, ContextAtRound())
    for at_round in at_rounds:
        for kind, text in texts.by_kind.items():
            # Past the cache: so many values would only drive out those that previews use.
            values = values_at(at_round, kind, dialect, text)
            trials[kind].setdefault(tuple(values.values()), (at_round, values))
    return {kind: list(different.values()) for kind, different in trials.items()}
