"""Scoring bases: the judges' templates and metrics that scores were measured with. Others do not compare.

Used by the scores of versions and the comparison of two runs.
"""

import hashlib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from django.db.models import QuerySet
from django.utils.translation import gettext as _

from studio.models import PromptSet, RunResult, Workspace
from studio.results.models import Found

Part = Literal["evaluator", "judgment", "metrics"]
TemplatePart = Literal["evaluator", "judgment"]
_TEMPLATES: tuple[TemplatePart, ...] = ("evaluator", "judgment")


@dataclass(frozen=True)
class Judges:
    """The templates of a version that scores depend on, each by its hash."""

    evaluator: str
    judgment: str

    @classmethod
    def of(cls, evaluator: str, judgment: str) -> "Judges":
        return cls(*(hashlib.sha256(text.encode()).hexdigest() for text in (evaluator, judgment)))


@dataclass(frozen=True)
class ScoringBasis:
    """What a run was scored with; two runs compare where all of it is equal."""

    judges: Judges
    metrics: tuple[str, ...]

    def differs_in(self, other: "ScoringBasis") -> tuple[Part, ...]:
        """What is not equal."""
        parts: list[Part] = [
            part for part in _TEMPLATES if getattr(self.judges, part) != getattr(other.judges, part)
        ]
        if self.metrics != other.metrics:
            parts.append("metrics")
        return tuple(parts)


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
    return BasisChange(older, newer, parts, by, (before.metrics, after.metrics))


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


def judged_apart(workspace: Workspace, first: str, second: str) -> list[str]:
    """What to say where two runs of a workspace were made with versions whose judges differ."""
    made = _results(workspace, first, second).filter(found=Found.EXACT).select_related("version__prompt_set")
    versions = {run.execution_id: run.version for run in made}
    one, other = versions.get(first), versions.get(second)
    if one is None or other is None:
        return []
    named = {"first": f"v{one.number}", "second": f"v{other.number}"}
    if one.prompt_set_id != other.prompt_set_id:
        named = {"first": str(one), "second": str(other)}
    cautions = []
    if one.evaluator_user_prompt != other.evaluator_user_prompt:
        cautions.append(
            _(
                "They had different evaluator templates, so their scores are not the same ruler (inferred):"
                " %(first)s in the first, %(second)s in the second."
            )
            % named
        )
    if one.judgment_user_prompt != other.judgment_user_prompt:
        cautions.append(
            _(
                "They had different judgment templates, so their scores are not the same ruler (inferred):"
                " %(first)s in the first, %(second)s in the second."
            )
            % named
        )
    return cautions


def judges_unknown(workspace: Workspace, first: str, second: str) -> list[str]:
    """What to say where it is not known of both runs which version's judges scored them."""
    if not _results(workspace, first, second).exclude(found=Found.EXACT).exists():
        return []
    return [
        _(
            "It is not known of both which evaluator and judgment templates they had: their scores may not be"
            " the same ruler."
        )
    ]


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
