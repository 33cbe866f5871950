"""Which version made the prompts of a run, as its pages tell it."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from django.db.models import Count, Q

from builder.template.variables import KINDS, PromptKind, field_name
from studio.models import Export, PromptVersion, RoundResult, RunResult, Workspace
from studio.prompts.file_kinds import FileKind
from studio.results.models import Basis, Found, is_id
from studio.workspaces.exports.models import Outcome

MOST_LISTED = 12
"""Versions that a page names; of more it says how many."""

State = Literal["exact", "several", "edited", "unknown", "unexamined"]
Why = Literal["under-way", "no-prompts", "mixed", "judges", "no-version"]

_RECOGNISED = (Found.EXACT, Found.SEVERAL)


@dataclass(frozen=True)
class RunAttribution:
    """What is known about the version behind a run."""

    result: RunResult | None = None
    versions: tuple[PromptVersion, ...] = ()
    """The one; the nearest, where it was edited by hand; or some of those that cannot be told apart."""
    count: int = 0
    """How many of them there are."""
    rounds: int = 0
    """Prompts that were examined."""
    recognised: int = 0
    """Those that a version gives to the byte."""
    receipt: Export | None = None
    """The export that says what the file held when the run began."""

    @property
    def state(self) -> State:
        if self.result is None:
            return "unexamined"
        found: dict[str, State] = {
            Found.EXACT: "exact",
            Found.SEVERAL: "several",
            Found.EDITED: "edited",
            Found.UNKNOWN: "unknown",
        }
        return found[self.result.found]

    @property
    def version(self) -> PromptVersion | None:
        """The one that is named: where it is certain, or the nearest."""
        return self.versions[0] if self.state in ("exact", "edited") and self.versions else None

    @property
    def is_certain(self) -> bool:
        """Whether those named give its prompts to the byte."""
        return self.state in ("exact", "several") and bool(self.versions)

    @property
    def left_out(self) -> int:
        """Versions that are not listed."""
        return self.count - len(self.versions)

    @property
    def unlike(self) -> int:
        """Prompts that no version gives although others of the run are recognised."""
        return self.rounds - self.recognised if self.recognised else 0

    @property
    def basis(self) -> str:
        """``receipt``, ``file`` or nothing: what the evaluator and judgment templates are inferred from."""
        return self.result.basis if self.result is not None else ""

    @property
    def likeness(self) -> int:
        """Percent; what is not the same is never 100."""
        return min(99, math.floor(100 * (self.result.likeness or 0))) if self.result is not None else 0

    @property
    def why(self) -> Why:
        """Why no version is named for certain."""
        if self.result is not None and self.recognised:
            # Its prompts are the version's; the file that it ran with has other judges.
            return "judges" if self.state == "edited" and self.result.likeness == 1 else "mixed"
        if self.result is not None and not self.result.over:
            return "under-way"
        return "no-version" if self.rounds else "no-prompts"

    @cached_property
    def apart(self) -> "Apart":
        return Apart.of(self.versions)


@dataclass(frozen=True)
class Apart:
    """In what versions differ that give the same prompts."""

    same_team: bool
    """They have one team template; a team's prompt cannot show more."""
    kinds: tuple[PromptKind, ...] = ()
    """Those templates in which they do differ."""

    @classmethod
    def of(cls, versions: Sequence[PromptVersion]) -> "Apart":
        texts = {kind: {getattr(each, field_name(kind)) for each in versions} for kind in KINDS}
        return cls(len(texts["team"]) < 2, tuple(kind for kind in KINDS if len(texts[kind]) > 1))


@dataclass(frozen=True)
class RoundAttribution:
    """The same of one team's round, which the run's other rounds may say more about."""

    run: RunAttribution
    result: RoundResult | None = None
    versions: tuple[PromptVersion, ...] = ()
    """Some of those that give its prompt to the byte; that of the run comes first."""
    count: int = 0

    @property
    def state(self) -> Literal["exact", "several", "edited", "unlike", "unknown", "unexamined"]:
        """``unlike``: the run is traced to a version, but this prompt is another one than that gives."""
        if self.result is None:
            return "unexamined"
        if self.versions:
            return "exact" if self.count == 1 or self.is_decided else "several"
        if self.run.state == "exact":
            return "unlike"
        return "edited" if self.run.state == "edited" else "unknown"

    @property
    def is_decided(self) -> bool:
        """Whether the whole run tells which of several it was."""
        return self.run.state == "exact" and bool(self.versions) and self.run.version == self.versions[0]

    @property
    def version(self) -> PromptVersion | None:
        """The one to name first, also where it is only the nearest."""
        return self.versions[0] if self.versions else self.run.version

    @property
    def others(self) -> tuple[PromptVersion, ...]:
        return self.versions[1:]

    @property
    def left_out(self) -> int:
        return self.count - len(self.versions)

    @cached_property
    def apart(self) -> Apart:
        return Apart.of(self.versions)


def attribution_of(workspace: Workspace, execution_id: str) -> RunAttribution:
    """What is known about a run; nothing is examined for it."""
    if not is_id(execution_id):
        return RunAttribution()
    results = RunResult.objects.select_related("version__prompt_set")
    result = results.filter(workspace=workspace, execution_id=execution_id).first()
    if result is None:
        return RunAttribution()
    figures = result.round_results.aggregate(
        rounds=Count("pk"), recognised=Count("pk", filter=Q(found__in=_RECOGNISED))
    )
    versions, count = _versions_of(result)
    return RunAttribution(result, versions, count, **figures, receipt=_receipt(result))


def round_attribution_of(
    workspace: Workspace, execution_id: str, team_id: str, number: int
) -> RoundAttribution:
    """What is known about one team's round."""
    run = attribution_of(workspace, execution_id)
    if run.result is None or not is_id(team_id):
        return RoundAttribution(run)
    own = run.result.round_results.filter(team_id=team_id, round_number=number).first()
    if own is None:
        return RoundAttribution(run)
    keys = [key for key in own.versions if isinstance(key, int)]
    first = run.result.version_id if run.state == "exact" else None
    # That of the run first, then the newest.
    ordered = sorted(keys, key=lambda key: (key != first, -key))
    found = _by_key(ordered[:MOST_LISTED])
    return RoundAttribution(run, own, tuple(found[key] for key in ordered if key in found), len(keys))


@dataclass(frozen=True)
class Brief:
    """A run's attribution in a word, for a list."""

    state: State
    version: PromptVersion | None = None
    inferred: bool = False
    """Whether the judges' templates rest on nothing but the team's."""


def briefs_of(workspace: Workspace, execution_ids: Iterable[str]) -> Mapping[str, Brief]:
    """What is known about some runs; those that were not examined are left out."""
    results = (
        RunResult.objects.filter(workspace=workspace, execution_id__in=list(filter(is_id, execution_ids)))
        .select_related("version__prompt_set")
        .defer("task", "version__team_user_prompt", "version__evaluator_user_prompt")
        .defer("version__judgment_user_prompt")
    )
    return {
        each.execution_id: Brief(RunAttribution(each).state, each.version, each.basis == Basis.NONE)
        for each in results
    }


def _versions_of(result: RunResult) -> tuple[tuple[PromptVersion, ...], int]:
    if result.found == Found.SEVERAL:
        several = result.candidates.select_related("prompt_set").order_by("-pk")
        return tuple(several[:MOST_LISTED]), several.count()
    return ((result.version,), 1) if result.version is not None else ((), 0)


def _by_key(keys: Sequence[int]) -> dict[int, PromptVersion]:
    return PromptVersion.objects.select_related("prompt_set").in_bulk(keys)


def _receipt(result: RunResult) -> Export | None:
    if result.basis != Basis.RECEIPT or result.started_at is None:
        return None
    reached = Export.objects.filter(
        holds=FileKind.PROMPTS, receipt__outcome__in=(Outcome.WRITTEN, Outcome.UNCHANGED)
    )
    before = reached.filter(workspace=result.workspace, at__lte=result.started_at)
    return before.defer("before", "after").first()
