"""The save rule: what becomes a version has no errors and stands every sample context of its set."""

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime

from django.contrib.auth.models import User
from django.db import transaction

from builder.errors import JailUnavailable, LimitExceeded
from builder.messages import message
from builder.problems import errors_in
from builder.template.dialect import Dialect
from builder.template.formatters import Values
from builder.template.variables import KINDS, PromptKind
from studio.contexts.at_round import ContextAtRound, contexts_at_rounds, dialect_of
from studio.models import Draft, PromptSet, PromptVersion
from studio.prompts.findings import Finding
from studio.prompts.models import NothingChanged, Origin, VersionConflict
from studio.prompts.system_text import read_text
from studio.prompts.texts import SystemText, Texts
from studio.shell.jail import pool

__all__ = ["NothingChanged", "Refused", "VersionConflict", "keep_as_version", "save", "shortcomings"]

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


def save(draft: Draft, *, message: str, at: datetime) -> PromptVersion:
    """Make the draft the next version of its set, and end the draft.

    Raises ``NothingChanged``, ``VersionConflict``, ``Refused``, or the jail's ``JailUnavailable``;
    in each case the draft stays.
    """
    prompt_set, templates = draft.prompt_set, draft.templates
    # Before the trial, which may take a second: neither is a matter of it.
    base = prompt_set.versions.filter(number=draft.base).first()
    if base is not None and base.templates == templates:
        raise NothingChanged
    if draft.base != prompt_set.revision:
        raise VersionConflict
    if found := shortcomings(prompt_set, templates, owner=draft.person):
        raise Refused(found)
    with transaction.atomic():
        version = prompt_set.save_version(
            templates, base=draft.base, message=message, author=draft.person, at=at
        )
        Draft.objects.settle(draft, version.number, at=at)
    return version


def keep_as_version(
    prompt_set: PromptSet,
    templates: Texts,
    *,
    base: int,
    message: str,
    by: User,
    at: datetime,
    origin: Origin,
    origin_note: str = "",
) -> PromptVersion:
    """Make a text that was not written in the editor the version after ``base``.

    Raises ``NothingChanged``, ``VersionConflict``, ``Refused`` or the jail's errors, as every save.
    """
    # Before the trial, which may take a second: neither is a matter of it.
    if prompt_set.revision != base:
        raise VersionConflict
    newest = prompt_set.latest
    if newest is not None and newest.templates == templates:
        raise NothingChanged
    if found := shortcomings(prompt_set, templates, owner=by):
        raise Refused(found)
    return prompt_set.save_version(
        templates, base=base, message=message, author=by, at=at, origin=origin, origin_note=origin_note
    )


def shortcomings(
    prompt_set: PromptSet, templates: Texts, *, owner: User, dialect: Dialect | None = None
) -> list[Finding]:
    """Every error of the text; where templates have none, the first one under a sample context.

    The contexts are rendered in the set's dialect unless another one is given.
    """
    name = str(owner.pk)
    if isinstance(templates, SystemText):
        return read_text(templates.system_prompt, owner=name).errors
    texts = templates.by_kind
    errors: list[Finding] = []
    for kind, text in texts.items():
        try:
            problems = pool().check(kind, text, owner=name)
        except LimitExceeded as stop:
            return [*errors, Finding.of_error(kind, stop)]
        errors += [Finding.of_problem(kind, problem) for problem in errors_in(problems)]
    spoken = dialect or dialect_of(prompt_set)
    return errors or _failures(texts, list(contexts_at_rounds(prompt_set)), spoken, name)


@dataclass(frozen=True)
class _Trial:
    kind: PromptKind
    at_round: ContextAtRound
    values: Values


def _failures(
    texts: dict[PromptKind, str], at_rounds: list[ContextAtRound], dialect: Dialect, owner: str
) -> list[Finding]:
    """At the first limit the trial ends: the next rendering would only meet it again.

    ``JailUnavailable`` where it took too long without one: a matter of the machine, not of the text.
    """
    trials = list(_trials(at_rounds, dialect))
    seconds = TRIAL_SECONDS + TRIAL_SECONDS_EACH * len(trials)
    deadline = time.monotonic() + seconds
    failed: dict[PromptKind, Finding] = {}
    for trial in trials:
        if trial.kind in failed:
            continue
        if time.monotonic() > deadline:
            if failed:
                break
            raise JailUnavailable(UNFINISHED, count=len(trials), seconds=round(seconds))
        failure = pool().examine(trial.kind, texts[trial.kind], trial.values, dialect, owner=owner).failure
        if failure is not None:
            failed[trial.kind] = Finding.of_error(trial.kind, failure, trial.at_round.title)
        if isinstance(failure, LimitExceeded):
            break
    return [failed[kind] for kind in KINDS if kind in failed]


def _trials(at_rounds: Iterable[ContextAtRound], dialect: Dialect) -> Iterator[_Trial]:
    """Each kind in each context and round; what looks the same in two of them is tried once."""
    seen = set[tuple[object, ...]]()
    for at_round in at_rounds:
        for kind in KINDS:
            values = at_round.values(kind, dialect)
            key = (kind, *values.items())
            if key not in seen:
                seen.add(key)
                yield _Trial(kind, at_round, values)
