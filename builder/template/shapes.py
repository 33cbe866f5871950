"""What the builder's records may be replaced by: any library's objects that have these attributes.

For type checkers; ``taken`` of ``builder.template.models`` checks the values.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias


class RoundStateLike(Protocol):
    """What a history is written from; score details, feedback and times are read where they are there."""

    @property
    def round_number(self) -> int: ...
    @property
    def submission_content(self) -> str: ...
    @property
    def evaluation_score(self) -> float: ...


class RankingEntryLike(Protocol):
    """A team's place."""

    @property
    def team_id(self) -> str: ...
    @property
    def team_name(self) -> str: ...
    @property
    def max_score(self) -> float: ...
    @property
    def total_rounds(self) -> int: ...


class RoundContextLike(Protocol):
    """What a team or judgment prompt is made from; ``store`` and ``ranking`` are read where they exist."""

    @property
    def user_prompt(self) -> str: ...
    @property
    def round_number(self) -> int: ...
    @property
    def round_history(self) -> Sequence[RoundStateLike]: ...
    @property
    def team_id(self) -> str: ...
    @property
    def team_name(self) -> str: ...
    @property
    def execution_id(self) -> str: ...


class EvaluatorContextLike(Protocol):
    """What an evaluator prompt is made from."""

    @property
    def user_query(self) -> str: ...
    @property
    def submission(self) -> str: ...


class SubmissionLike(Protocol):
    """An earlier submission, for round prompts; score and feedback are read where they are there."""

    @property
    def round_number(self) -> int: ...
    @property
    def content(self) -> str: ...


class EvaluationLike(Protocol):
    """How it was judged; metrics are read where they are there."""

    @property
    def overall_score(self) -> float: ...
    @property
    def feedback_summary(self) -> str: ...


class LeaderboardEntryLike(Protocol):
    """A team's rank, for round prompts."""

    @property
    def rank(self) -> int: ...
    @property
    def team_id(self) -> str: ...
    @property
    def team_name(self) -> str: ...
    @property
    def best_score(self) -> float: ...


Row: TypeAlias = Mapping[str, Any]
"""The same fields as the keys of a dict."""

Ranking: TypeAlias = Iterable[RankingEntryLike | Row]
"""Teams in the order of their places, the best first."""
