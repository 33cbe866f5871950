"""The history in a round prompt: a team's submissions, compressed, and the trend of its scores."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from builder.cache.tokens import count
from builder.template.models import EvaluationResult, SubmissionRecord, all_taken
from builder.template.shapes import EvaluationLike, SubmissionLike

NO_SUBMISSIONS = "（過去のSubmissionはありません）"
MOST_ITEMS = 5
MOST_TOKENS = 2000
HEAD, TAIL = 200, 100
_GAP = "...[中略]..."
DEFAULT_MODEL = "o200k_base"

T = TypeVar("T")


@dataclass(frozen=True)
class PlayedRound:
    """A submission and how it was judged; ``score`` is None where nobody has said one."""

    number: int
    content: str
    score: float | None
    feedback: str
    metrics: dict[str, float]

    @property
    def record(self) -> SubmissionRecord:
        return SubmissionRecord(
            round_number=self.number, content=self.content, score=self.score, feedback=self.feedback
        )

    @property
    def result(self) -> EvaluationResult | None:
        if self.score is None:
            return None
        return EvaluationResult(
            overall_score=self.score, feedback_summary=self.feedback, metrics=self.metrics
        )


def played_rounds(records: Sequence[SubmissionLike], results: Sequence[EvaluationLike]) -> list[PlayedRound]:
    """Each submission with its result. Of a history that was cut to its latest rounds, the results may be
    all there are; a submission without a result keeps the score and feedback of its record."""
    matching = all_taken(EvaluationResult, latest(results, len(records)))
    judged: list[EvaluationResult | None] = [*matching, *[None] * (len(records) - len(matching))]
    return [
        PlayedRound(record.round_number, record.content, record.score, record.feedback, {})
        if result is None
        else PlayedRound(
            record.round_number,
            record.content,
            result.overall_score,
            result.feedback_summary,
            result.metrics,
        )
        for record, result in zip(all_taken(SubmissionRecord, records), judged, strict=True)
    ]


def compress_submission_history(
    records: Sequence[SubmissionLike],
    max_tokens: int = MOST_TOKENS,
    *,
    max_items: int = MOST_ITEMS,
    model: str = DEFAULT_MODEL,
) -> str:
    """The latest submissions, a line for each, as many as fit: the newest are taken first and shown last.

    Raises ``ContextError`` for a record that lacks a field.
    """
    taken = all_taken(SubmissionRecord, records)
    if not taken:
        return NO_SUBMISSIONS
    return "\n".join(
        compressed(record.round_number, record.content)
        for record in latest_that_fit(taken, max_tokens, max_items=max_items, model=model)
    )


def latest_that_fit(
    records: Sequence[SubmissionRecord],
    max_tokens: int = MOST_TOKENS,
    *,
    max_items: int = MOST_ITEMS,
    model: str = DEFAULT_MODEL,
) -> list[SubmissionRecord]:
    """Those that ``compress_submission_history`` shows, in the order of their rounds."""
    chosen: list[SubmissionRecord] = []
    lines = ""
    for record in reversed(latest(records, max_items)):
        lines = f"{compressed(record.round_number, record.content)}\n{lines}".removesuffix("\n")
        if count(lines, model).tokens > max_tokens:
            break
        chosen.insert(0, record)
    return chosen


def latest(items: Sequence[T], most: int) -> Sequence[T]:
    """The last ``most``; of none, none (``items[-0:]`` would be all)."""
    return items[max(0, len(items) - max(0, most)) :]


def compressed(number: int, content: str) -> str:
    return f"ラウンド {number}: {shortened(content)}"


def shortened(content: str) -> str:
    """Its beginning and its end; whole where that would spare nothing."""
    return f"{content[:HEAD]}{_GAP}{content[-TAIL:]}" if len(content) > HEAD + TAIL else content


def score_trend(scores: Iterable[float | None]) -> str:
    """One line from two scores on; before that, an empty text. Rounds without a score are left out.

    >>> score_trend([60.0, 72.5])
    'スコア推移: 60.0 → 72.5（前回比 +12.5）'
    """
    shown = [round(score, 1) for score in scores if score is not None]
    if len(shown) < 2:
        return ""
    # The difference of what is shown: 72.46 and 72.54 are both printed 72.5.
    change = f"{shown[-1] - shown[-2]:+.1f}"
    change = "±0.0" if float(change) == 0 else change
    return f"スコア推移: {' → '.join(f'{score:.1f}' for score in shown)}（前回比 {change}）"
