"""Scoring bases: templates, metrics and settings that scores were measured with. Others do not compare.

Used by the scores of versions and the comparison of two runs. Templates are the version's, metrics the run's;
settings (models, weights, instructions, the release) are known where the studio kept them with the run.
"""

import hashlib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from django.db.models import QuerySet
from django.utils.translation import gettext as _

from builder.orchestrators.scoring_settings import ScoringSettings
from studio.models import PromptSet, RunResult, Workspace
from studio.results.models import Found

Part = Literal["evaluator", "judgment", "metrics", "evaluator_settings", "judgment_settings", "release"]
TemplatePart = Literal["evaluator", "judgment"]
_TEMPLATES: tuple[TemplatePart, ...] = ("evaluator", "judgment")
MOST_LINES = 40
"""Changed lines that are shown."""


@dataclass(frozen=True)
class Judges:
    """The templates of a version that scores depend on, each by its hash."""

    evaluator: str
    judgment: str

    @classmethod
    def of(cls, evaluator: str, judgment: str) -> "Judges":
        return cls(*(hashlib.sha256(text.encode()).hexdigest() for text in (evaluator, judgment)))


@dataclass(frozen=True)
class ChangedLine:
    """A line of settings that stands on one side only."""

    sign: Literal["−", "+"]
    text: str


def changed_lines(before: Collection[str], after: Collection[str]) -> tuple[ChangedLine, ...]:
    """What is gone, then what is new."""
    gone = [ChangedLine("−", line) for line in before if line not in set(after)]
    return (*gone, *(ChangedLine("+", line) for line in after if line not in set(before)))[:MOST_LINES]


@dataclass(frozen=True)
class ScoringBasis:
    """What a run was scored with; two runs compare where nothing that is known of both differs."""

    judges: Judges
    metrics: tuple[str, ...]
    settings: ScoringSettings | None = None
    """None where they were not recorded."""
    formats: tuple[str, ...] = ()
    """Of the releases that its prompts can be of; none where they do not tell."""

    def differs_in(self, other: "ScoringBasis") -> tuple[Part, ...]:
        """What is not equal."""
        recorded = [one.settings for one in (self, other) if one.settings is not None]
        parts: list[Part] = [
            part for part in _TEMPLATES if getattr(self.judges, part) != getattr(other.judges, part)
        ]
        if "evaluator" in parts and not all(settings.uses_evaluator_template for settings in recorded):
            parts.remove("evaluator")  # custom metrics, which never saw it
        if self.metrics != other.metrics:
            parts.append("metrics")
        if self.settings is not None and other.settings is not None:
            parts += [
                part
                for part, mine, theirs in _settings_pairs(self.settings, other.settings)
                if mine != theirs
            ]
        if _of_different_releases(self.formats, other.formats):
            parts.append("release")
        return tuple(parts)

    def compares_with(self, other: "ScoringBasis") -> bool:
        """Whether a difference of scores can come from the prompt."""
        return not self.differs_in(other)

    def changed_lines(self, other: "ScoringBasis") -> tuple[ChangedLine, ...]:
        """The lines of the judges' settings that are not in both; ``other`` is the earlier one."""
        if self.settings is None or other.settings is None:
            return ()
        judges = [
            changed_lines(theirs, mine)
            for _part, mine, theirs in _settings_pairs(self.settings, other.settings)
        ]
        return tuple(line for lines in judges for line in lines)[:MOST_LINES]


def _settings_pairs(
    mine: ScoringSettings, theirs: ScoringSettings
) -> Iterator[tuple[Part, tuple[str, ...], tuple[str, ...]]]:
    yield "evaluator_settings", mine.evaluator, theirs.evaluator
    yield "judgment_settings", mine.judgment, theirs.judgment


def _of_different_releases(mine: Collection[str], theirs: Collection[str]) -> bool:
    """Releases ask judges differently: 0.1.0a19 adds a guard to each evaluator's instruction."""
    return bool(mine and theirs) and not set(mine) & set(theirs)


@dataclass(frozen=True)
class TeamChange:
    """Other teams, models or limits than before: scores compare, but the prompt is not all that changed."""

    teams: tuple[ChangedLine, ...] = ()
    rounds: tuple[ChangedLine, ...] = ()

    @property
    def lines(self) -> tuple[ChangedLine, ...]:
        return (*self.teams, *self.rounds)[:MOST_LINES]

    @property
    def sentence(self) -> str:
        if not self.teams:
            return _("The orchestrator’s rounds or timeouts changed.")
        if any(".model = " in line.text for line in self.teams):
            return _("Team models changed: the difference may come from that.")
        return _("Teams changed: the difference may come from that.")


def team_change(before: ScoringSettings | None, after: ScoringSettings | None) -> TeamChange | None:
    """What changed in the teams; None where nothing did or it is not known of both."""
    if before is None or after is None:
        return None
    change = TeamChange(changed_lines(before.teams, after.teams), changed_lines(before.rounds, after.rounds))
    return change if change.lines else None


@dataclass(frozen=True)
class BasisChange:
    """Why the scores of two versions are not compared."""

    old: int
    new: int
    parts: tuple[Part, ...]
    changed_by: Mapping[TemplatePart, int] = field(default_factory=dict)
    """The version that changed a template, where it is known."""
    metrics: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    """The names before and after."""
    releases: tuple[str, str] = ("", "")
    lines: tuple[ChangedLine, ...] = ()
    """The lines of the judges' settings that changed."""

    @property
    def sentences(self) -> list[str]:
        """What changed, and where."""
        return [self._sentence(part) for part in self.parts]

    @property
    def why(self) -> str:
        return " ".join(self.sentences)

    def _sentence(self, part: Part) -> str:
        if part == "metrics":
            before, after = self.metrics
            return _("The runs of v%(new)d were scored by %(after)s, those of v%(old)d by %(before)s.") % {
                "old": self.old,
                "new": self.new,
                "before": _named(before),
                "after": _named(after),
            }
        if part != "evaluator" and part != "judgment":
            return self._of_settings(part)
        number = self.changed_by.get(part)
        if number is not None:
            return (
                _("v%(number)d changed the evaluator template.")
                if part == "evaluator"
                else _("v%(number)d changed the judgment template.")
            ) % {"number": number}
        return (
            _("The evaluator template changed between v%(old)d and v%(new)d.")
            if part == "evaluator"
            else _("The judgment template changed between v%(old)d and v%(new)d.")
        ) % {"old": self.old, "new": self.new}

    def _of_settings(self, part: Part) -> str:
        names = {"old": self.old, "new": self.new, "before": self.releases[0], "after": self.releases[1]}
        if part == "release":
            said = _("The prompts of v%(new)d were formatted by %(after)s, those of v%(old)d by %(before)s.")
            return said % names
        if part == "evaluator_settings":
            return _("Evaluator settings differ between the runs of v%(new)d and v%(old)d.") % names
        return _("Judgment settings differ between the runs of v%(new)d and v%(old)d.") % names


def basis_change_between(
    old: tuple[int, ScoringBasis], new: tuple[int, ScoringBasis], judges: Mapping[int, Judges]
) -> BasisChange | None:
    """What changed from one version's scoring basis to another's; None where they are equal.

    ``judges`` are those of the versions between; where some are missing, it is not said which one did it.
    """
    (older, before), (newer, after) = old, new
    parts = after.differs_in(before)
    if not parts:
        return None
    by = {
        part: number
        for part in _TEMPLATES
        if part in parts and (number := _changed_by(part, older, newer, judges)) is not None
    }
    releases = [" / ".join(basis.formats) for basis in (before, after)]
    return BasisChange(
        older,
        newer,
        parts,
        by,
        (before.metrics, after.metrics),
        (releases[0], releases[1]),
        after.changed_lines(before),
    )


def _changed_by(part: TemplatePart, old: int, new: int, judges: Mapping[int, Judges]) -> int | None:
    """The latest version that has another text than the one before it."""
    for number in range(new, old, -1):
        if number not in judges or number - 1 not in judges:
            return None
        if getattr(judges[number], part) != getattr(judges[number - 1], part):
            return number
    return None


def judges_of(prompt_set: PromptSet, numbers: Collection[int]) -> dict[int, Judges]:
    """Of the versions with these numbers, in one query."""
    if not numbers:
        return {}
    rows = prompt_set.versions.filter(number__in=numbers).order_by()
    return dict(_judged(rows.values_list("number", "evaluator_user_prompt", "judgment_user_prompt")))


@dataclass(frozen=True)
class Caution:
    """What to know before two runs are compared; ``lines`` are those of the settings that differ."""

    text: str
    lines: tuple[ChangedLine, ...] = ()
    apart: bool = False
    """Their scores are not comparable."""


def cautions_of(workspace: Workspace, first: str, second: str) -> list[Caution]:
    """What two runs of a workspace were scored with, where it differs or is not known."""
    results = _results(workspace, first, second).select_related("version__prompt_set", "scoring")
    runs = {run.execution_id: run for run in results}
    one, other = runs.get(first), runs.get(second)
    if one is None or other is None:
        return []
    return [*_templates_apart(one, other), *_settings_apart(one, other)]


def _templates_apart(one: RunResult, other: RunResult) -> Iterator[Caution]:
    if one.found != Found.EXACT or other.found != Found.EXACT or not one.version or not other.version:
        said = _(
            "Evaluator and judgment templates are not known for both runs: their scores may not "
            "be comparable."
        )
        yield Caution(said)
        return
    mine, theirs = one.version, other.version
    named = {"first": f"v{mine.number}", "second": f"v{theirs.number}"}
    if mine.prompt_set_id != theirs.prompt_set_id:
        named = {"first": str(mine), "second": str(theirs)}
    if mine.evaluator_user_prompt != theirs.evaluator_user_prompt and all(
        run.scoring is None or run.scoring.settings.uses_evaluator_template for run in (one, other)
    ):
        said = _(
            "Evaluator template changed: not comparable (inferred). First run: %(first)s, second "
            "run: %(second)s."
        )
        yield Caution(said % named, apart=True)
    if mine.judgment_user_prompt != theirs.judgment_user_prompt:
        said = _(
            "Judgment template changed: not comparable (inferred). First run: %(first)s, second "
            "run: %(second)s."
        )
        yield Caution(said % named, apart=True)


def _settings_apart(one: RunResult, other: RunResult) -> Iterator[Caution]:
    if _of_different_releases(one.formats or (), other.formats or ()):
        said = _("MixSeek releases differ. First run: %(first)s, second run: %(second)s.")
        names = {"first": " / ".join(one.formats or ()), "second": " / ".join(other.formats or ())}
        yield Caution(said % names, apart=True)
    if one.scoring is None or other.scoring is None:
        yield Caution(_("Evaluator, judgment and team settings are not recorded for both runs."))
        return
    before, after = one.scoring.settings, other.scoring.settings
    for said, lines in (
        (
            _("Evaluator settings differ: not comparable."),
            changed_lines(before.evaluator, after.evaluator),
        ),
        (
            _("Judgment settings differ: not comparable."),
            changed_lines(before.judgment, after.judgment),
        ),
    ):
        if lines:
            yield Caution(said, lines, apart=True)
    if teams := team_change(before, after):
        yield Caution(teams.sentence, teams.lines)


def _results(workspace: Workspace, *executions: str) -> QuerySet[RunResult]:
    # DuckDB stores ids with a NUL; no result has one, and PostgreSQL refuses the question.
    known = [execution for execution in executions if "\0" not in execution]
    return RunResult.objects.filter(workspace=workspace, execution_id__in=known)


def _judged(rows: Collection[tuple[int, str, str]]) -> Iterator[tuple[int, Judges]]:
    # Most versions leave these templates alone: each text is hashed once.
    known: dict[tuple[str, str], Judges] = {}
    for number, evaluator, judgment in rows:
        if (evaluator, judgment) not in known:
            known[evaluator, judgment] = Judges.of(evaluator, judgment)
        yield number, known[evaluator, judgment]


def _named(metrics: tuple[str, ...]) -> str:
    return _(", ").join(metrics) if metrics else _("no metric")
