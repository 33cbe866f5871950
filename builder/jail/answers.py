"""The answers of the jail's workers: read from their JSON, as ``jobs`` writes it. Used by the pool."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from builder import errors
from builder.cache.cacheable_prefix import CacheablePrefix, PrefixAnalysis
from builder.diff.three_way import Region, ThreeWay
from builder.errors import BuilderError, JailError, LimitExceeded
from builder.files.prompt_file import PromptFile, TemplatePlace, UnknownKey
from builder.messages import MESSAGES, message
from builder.problems import Problem, errors_in
from builder.system.table import Mention, SystemTable
from builder.template.coverage import Coverage
from builder.template.landmarks import Landmarks

FAULT = message(
    "jail-fault",
    "Internal error while processing this text: {reason}",
    "このテキストの処理中に内部エラーが発生しました：{reason}",
    fix_en="This is a bug in Prompt Studio, not in your text. Please report it.",
    fix_ja="テキストの問題ではなく、Prompt Studioの不具合です。管理者に報告してください。",
)


@dataclass(frozen=True)
class Examination:
    """A check and, where it found no error, the prompt or why there is none; no problems without a check.

    ``failure`` is a ``TemplateFailure``, or a ``LimitExceeded`` that says which limit was met.
    """

    problems: tuple[Problem, ...]
    text: str | None
    failure: BuilderError | None

    @property
    def errors(self) -> list[Problem]:
        return errors_in(self.problems)


@dataclass(frozen=True)
class Match:
    """A text of a batch whose prompt has one of the digests asked for."""

    index: int
    digest: str


def value_of(answer: dict[str, Any]) -> Any:
    """The value of an answer; the error that was raised inside is raised again."""
    if "error" in answer:
        raise error_of(answer["error"])
    if "fault" in answer:
        raise JailError(FAULT, reason=str(answer["fault"]))
    return answer["value"]


def error_of(data: dict[str, Any]) -> BuilderError:
    """The builder's error that was raised inside, of the same type."""
    kind = getattr(errors, str(data["type"]), None)
    if not (isinstance(kind, type) and issubclass(kind, BuilderError)) or data["code"] not in MESSAGES:
        return JailError(FAULT, reason=str(data)[:500])
    return kind(data["code"], line=data["line"], **data["params"])


def rendered_of(answer: str | BuilderError) -> Examination:
    """One prompt of a batch that was rendered without a check."""
    if isinstance(answer, BuilderError):
        return Examination((), None, answer)
    return Examination((), str(answer), None)


def coverage_of(answers: Iterable[Any]) -> Coverage:
    together = Coverage()
    for lines in answers:
        if isinstance(lines, LimitExceeded):
            # Every further context would take as long, and what they reach cannot be told without this one.
            return Coverage()
        if not isinstance(lines, BuilderError):
            together |= Coverage(frozenset(lines["reached"]), frozenset(lines["unreached"]))
    return together


@dataclass(frozen=True)
class BranchTrial:
    """What came of taking every branch of a template, whatever its condition says."""

    stop: LimitExceeded | None = None
    """The limit that one of them met; those after it were not tried."""
    line: int | None = None
    """Where that one begins."""
    untried: frozenset[int] = frozenset()
    """Lines of branches that were not run all the same: nothing to go through, or a failure before."""


def branch_trial_of(lines: Sequence[Sequence[int]], answers: Iterable[Any]) -> BranchTrial:
    untried: set[int] = set()
    for branch, answer in zip(lines, answers, strict=False):
        if isinstance(answer, LimitExceeded):
            return BranchTrial(answer, min(branch, default=None), frozenset(untried))
        if answer is not True:
            untried.update(branch)
    return BranchTrial(untried=frozenset(untried))


def landmarks_of(answer: Any) -> Landmarks | None:
    if answer is None or isinstance(answer, BuilderError):
        return None
    return Landmarks(tuple(answer["texts"]), answer["begins"], answer["ends"])


def prefix_analysis_of(answer: dict[str, Any] | None) -> PrefixAnalysis | None:
    if answer is None:
        return None
    return PrefixAnalysis(
        tuple(CacheablePrefix(**prefix) for prefix in answer["prefixes"]),
        answer["total_bytes"],
        problems_of(answer["lints"]),
    )


def problems_of(value: Sequence[dict[str, Any]]) -> tuple[Problem, ...]:
    return tuple(Problem.from_json(problem) for problem in value)


def examination_of(value: dict[str, Any] | BuilderError) -> Examination:
    if isinstance(value, BuilderError):
        return Examination((), None, value)
    failure = error_of(value["failure"]) if "failure" in value else None
    return Examination(problems_of(value["problems"]), value.get("text"), failure)


def three_way_of(value: Sequence[dict[str, Any]]) -> ThreeWay:
    return ThreeWay(tuple(Region(**region) for region in value))


def prompt_file_of(value: dict[str, Any]) -> PromptFile:
    unknown = tuple(UnknownKey(**key) for key in value["unknown"])
    places = {key: TemplatePlace(**place) for key, place in value["places"].items()}
    return PromptFile(**{**value, "unknown": unknown, "places": places})


def system_table_of(value: dict[str, Any]) -> SystemTable:
    return SystemTable(
        value["name"], value["values"], _mentions_of(value["mentions"]), _mentions_of(value["others"])
    )


def _mentions_of(value: Sequence[dict[str, Any]]) -> tuple[Mention, ...]:
    return tuple(Mention(tuple(mention["path"]), mention["line"], mention["entry"]) for mention in value)
