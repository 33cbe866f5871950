"""Origins of runs: which version made the prompts of a run or a round, as `attribution` stored it.

Used by the pages of runs, rounds and replays, and by the tags of lists. Nothing is examined here.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, cast

from django.db.models import Count, Q, QuerySet

from builder.template.dialect import RELEASES
from builder.template.variables import KINDS, PromptKind, field_name
from studio.models import Export, PromptVersion, RoundResult, RunResult, Workspace
from studio.prompts.file_kinds import FileKind
from studio.results.models import LONGEST_ID, Basis, Found
from studio.workspaces.exports.models import Outcome

MOST_LISTED = 12
"""Versions that a page names; of more it says how many."""

State = Literal["exact", "several", "edited", "unknown", "unexamined"]
Why = Literal["under-way", "texts-not-sent", "no-prompts", "mixed", "judges", "no-version"]
_NO_PROMPTS: tuple[Why, ...] = ("under-way", "texts-not-sent", "no-prompts")

_RECOGNISED = (Found.EXACT, Found.SEVERAL)


def storable(text: str) -> str:
    """Without what PostgreSQL refuses to store."""
    return text.replace("\0", "\N{SYMBOL FOR NULL}").encode("utf-8", "replace").decode()


def is_id(text: str) -> bool:
    """MixSeek's are short. What a column cannot hold has no result, and is shown by the run's own pages."""
    return len(text) <= LONGEST_ID and text == storable(text)


@dataclass(frozen=True)
class Differing:
    """In what versions differ that give the same prompts."""

    same_team: bool
    """They have one team template; a team's prompt cannot show more."""
    kinds: tuple[PromptKind, ...] = ()
    """Those templates in which they do differ."""

    @classmethod
    def of(cls, versions: Iterable[PromptVersion]) -> "Differing":
        texts = {kind: {getattr(version, field_name(kind)) for version in versions} for kind in KINDS}
        return cls(len(texts["team"]) < 2, tuple(kind for kind in KINDS if len(texts[kind]) > 1))


@dataclass(frozen=True)
class _Origin:
    """The versions that are named, some of ``count``."""

    versions: tuple[PromptVersion, ...] = ()
    count: int = 0

    @property
    def left_out(self) -> int:
        """Versions that are not listed."""
        return self.count - len(self.versions)

    @cached_property
    def apart(self) -> Differing:
        return Differing.of(self.versions)


@dataclass(frozen=True)
class RunOrigin(_Origin):
    """What is known about the version behind a run. ``versions``: the one; the nearest, where it was edited
    by hand; or some of those that cannot be told apart."""

    result: RunResult | None = None
    rounds: int = 0
    """Prompts that were examined."""
    recognised: int = 0
    """Those that a version gives to the byte."""
    receipt: Export | None = None
    """The export that says what the file held when the run began."""

    @property
    def state(self) -> State:
        return "unexamined" if self.result is None else cast(State, self.result.found)

    @property
    def version(self) -> PromptVersion | None:
        """The one that is named: where it is certain, or the nearest."""
        return self.versions[0] if self.state in ("exact", "edited") and self.versions else None

    @property
    def is_certain(self) -> bool:
        """Whether those named give its prompts to the byte."""
        return self.state in ("exact", "several") and bool(self.versions)

    @property
    def unlike(self) -> int:
        """Prompts that no version gives although others of the run are recognised."""
        return self.rounds - self.recognised if self.recognised else 0

    @property
    def formats(self) -> list[str]:
        """The formats that its prompts show, where they tell anything."""
        shown = (self.result.formats if self.result is not None else None) or []
        return shown if len(shown) < len(RELEASES) else []

    @property
    def basis(self) -> str:
        """``manifest``, ``receipt``, ``file`` or nothing: what tells the evaluator and judgment templates."""
        return self.result.basis if self.result is not None else ""

    @property
    def contradicted(self) -> bool:
        """Whether a manifest names another version than the prompts show."""
        return self._claimed and self.why not in _NO_PROMPTS

    @property
    def unverified(self) -> bool:
        """Whether a manifest names a version, and no prompt is there that could confirm it."""
        return self._claimed and self.why in _NO_PROMPTS

    @property
    def _claimed(self) -> bool:
        return self.result is not None and bool(self.result.pinned) and self.basis != Basis.MANIFEST

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
        if self.rounds:
            return "no-version"
        workspace = self.result.workspace if self.result is not None else None
        remote = getattr(workspace, "remote", None)
        return "no-prompts" if remote is None or remote.texts else "texts-not-sent"


@dataclass(frozen=True)
class RoundOrigin(_Origin):
    """The same of one team's round, which the run's other rounds may say more about. ``versions``: some of
    those that give its prompt to the byte; that of the run comes first."""

    run: RunOrigin = RunOrigin()
    result: RoundResult | None = None

    @property
    def state(self) -> Literal[State, "unlike"]:
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


def run_origin(workspace: Workspace, execution_id: str) -> RunOrigin:
    """What is known about a run."""
    if not is_id(execution_id):
        return RunOrigin()
    results = RunResult.objects.select_related("version__prompt_set", "scoring")
    result = results.filter(workspace=workspace, execution_id=execution_id).first()
    if result is None:
        return RunOrigin()
    figures = result.round_results.aggregate(
        rounds=Count("pk"), recognised=Count("pk", filter=Q(found__in=_RECOGNISED))
    )
    versions: tuple[PromptVersion, ...] = () if result.version is None else (result.version,)
    count = len(versions)
    if result.found == Found.SEVERAL:
        several = result.candidates.select_related("prompt_set").order_by("-pk")
        versions, count = tuple(several[:MOST_LISTED]), several.count()
    receipt = None
    if result.basis == Basis.RECEIPT:
        receipt = last_export_before(result, version=result.version_id)
    return RunOrigin(versions, count, result, **figures, receipt=receipt)


def round_origin(workspace: Workspace, execution_id: str, team_id: str, number: int) -> RoundOrigin:
    """What is known about one team's round."""
    run = run_origin(workspace, execution_id)
    own = None
    if run.result is not None and is_id(team_id):
        own = run.result.round_results.filter(team_id=team_id, round_number=number).first()
    if run.result is None or own is None:
        return RoundOrigin(run=run)
    first = run.result.version_id if run.state == "exact" else None
    # That of the run first, then the newest.
    keys = sorted((key for key in own.versions if isinstance(key, int)), key=lambda key: (key != first, -key))
    known = PromptVersion.objects.select_related("prompt_set").in_bulk(keys[:MOST_LISTED])
    return RoundOrigin(tuple(known[key] for key in keys if key in known), len(keys), run, own)


def brief_origins(workspace: Workspace, execution_ids: Iterable[str]) -> Mapping[str, RunOrigin]:
    """State and version of some runs, for a list; those that were not examined are left out."""
    results = (
        RunResult.objects.filter(workspace=workspace, execution_id__in=list(filter(is_id, execution_ids)))
        .select_related("version__prompt_set")
        .defer("task", "version__team_user_prompt", "version__evaluator_user_prompt")
        .defer("version__judgment_user_prompt")
    )
    return {
        result.execution_id: RunOrigin(() if result.version is None else (result.version,), result=result)
        for result in results
    }


def last_export_before(result: RunResult, **of: object) -> Export | None:
    """What the studio had written there last when the run began; ``of`` narrows it to a version."""
    if result.started_at is None:
        return None
    return exports_into(result.workspace).filter(at__lte=result.started_at, **of).first()


def exports_into(workspace: Workspace) -> QuerySet[Export]:
    """What the studio has written into a workspace's prompt files, the last first; without the bytes."""
    return Export.objects.filter(
        workspace=workspace,
        holds=FileKind.PROMPTS,
        receipt__outcome__in=(Outcome.WRITTEN, Outcome.UNCHANGED),
    ).defer("before", "after")
