"""What comes back from the jail, and how it is read from a worker's JSON."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from builder import errors
from builder.cache.cacheable_prefix import CacheablePrefix, PrefixAnalysis
from builder.diff.three_way import Region, ThreeWay
from builder.errors import BuilderError, JailError, LimitExceeded
from builder.files.prompt_file import Place, PromptFile, UnknownKey
from builder.messages import MESSAGES, message
from builder.problems import Problem, errors_in
from builder.system.table import Mention, SystemTable
from builder.template.coverage import Coverage
from builder.template.landmarks import Landmarks

FAULT = message(
    "jail-fault",
    "The builder failed on this text: {reason}",
    "このテキストの処理中に内部エラーが発生しました: {reason}",
    fix_en="This is a mistake of the software, not of the text. Please report it.",
    fix_ja="テキストではなくソフトウェアの誤りです。管理者に報告してください。",
)


@dataclass(frozen=True)
class Outcome:
    """One text of a batch: the prompt, or why there is none."""

    text: str | None
    failure: BuilderError | None


@dataclass(frozen=True)
class Examination:
    """A check and, where it found no error, the prompt or why there is none.

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


def outcomes_of(found: Iterable[Any]) -> list[Outcome]:
    return [
        Outcome(None, each) if isinstance(each, BuilderError) else Outcome(str(each), None) for each in found
    ]


def coverage_of(found: Iterable[Any]) -> Coverage:
    together = Coverage()
    for each in found:
        if isinstance(each, LimitExceeded):
            # Every further context would take as long, and what they reach cannot be told without this one.
            return Coverage()
        if not isinstance(each, BuilderError):
            together |= Coverage(frozenset(each["reached"]), frozenset(each["unreached"]))
    return together


def landmarks_of(found: Any) -> Landmarks | None:
    if found is None or isinstance(found, BuilderError):
        return None
    return Landmarks(tuple(found["texts"]), found["begins"], found["ends"])


def prefix_analysis_of(found: dict[str, Any] | None) -> PrefixAnalysis | None:
    if found is None:
        return None
    return PrefixAnalysis(
        tuple(CacheablePrefix(**prefix) for prefix in found["prefixes"]),
        found["total_bytes"],
        problems_of(found["lints"]),
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
    places = {key: Place(**place) for key, place in value["places"].items()}
    return PromptFile(**{**value, "unknown": unknown, "places": places})


def system_table_of(value: dict[str, Any]) -> SystemTable:
    return SystemTable(
        value["name"], value["values"], _mentions_of(value["mentions"]), _mentions_of(value["others"])
    )


def _mentions_of(value: Sequence[dict[str, Any]]) -> tuple[Mention, ...]:
    return tuple(Mention(tuple(each["path"]), each["line"], each["entry"]) for each in value)
