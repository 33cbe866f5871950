"""The round prompt: what a team's leader receives at the start of each round."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from textwrap import dedent
from typing import Annotated, Any, Protocol

from pydantic import Field
from pydantic.dataclasses import dataclass as checked_dataclass

from builder.contract.round_context import RoundContext
from builder.contract.round_history import (
    NO_SUBMISSIONS,
    PlayedRound,
    compressed,
    latest,
    played_rounds,
    score_trend,
)
from builder.template.models import EvaluationResult, LeaderboardEntry, SubmissionRecord, all_taken
from builder.template.shapes import EvaluationLike, LeaderboardEntryLike, SubmissionLike

# Dedented here and not with the values in them: a query of several lines has an indentation of its own.
_INITIAL = dedent("""
    ユーザのクエリに対して、最良の回答を提供してください。

    クエリ:
    {user_query}
""")
_CONTINUATION = dedent("""
    ユーザのクエリに対して、継続的に改善した回答を提供してください。

    元のクエリ:
    {user_query}

    これまでのあなたのSubmission履歴と評価結果:
    {history}

    チーム全体のランキング:
    {ranking}

    このラウンドでの改善点:
    - 前回の評価フィードバックに基づいて改善してください
    - {request}
""")
_REQUEST = "自分たちの現在順位（{rank}位）を念頭に、品質向上に注力してください"
_REQUEST_WITHOUT_RANK = "品質向上に注力してください"
_RANKING = "全チーム最高スコアランキング:"
_TEAM = "  {entry.rank}位: {entry.team_name} (スコア: {entry.best_score:.1f}/100)"
_OWN_TEAM = f"{_TEAM} ← あなたのチーム"
_RANK = "あなたのチームの現在順位: {rank}位"
_NO_RANK = "あなたのチームの現在順位: まだありません"


FromZero = Annotated[int, Field(ge=0)]


@checked_dataclass(frozen=True)
class RoundPromptConfig:
    """How much a round prompt shows. Raises ``ValidationError`` for a number below zero."""

    max_submission_history_items: FromZero = 5
    max_leaderboard_display_teams: FromZero = 10
    submission_preview_chars: FromZero = 200
    enable_trend_analysis: bool = True
    estimated_prompt_tokens: FromZero = 3000
    """The budget that ``builder.contract.budget`` fits a prompt into."""
    show_metric_scores: bool = False
    """A line with each metric's score under each round, which the documents' text has not."""


class PromptBuilder(Protocol):
    """Whatever makes round prompts. A change of this protocol is a new major version.

    The types are the document's: an implementation may take more than it is given here.
    """

    def build_initial_prompt(
        self, user_query: str, team_id: str, metadata: dict[str, Any] | None = None
    ) -> str:
        """The prompt of round 1."""

    def build_continuation_prompt(
        self,
        user_query: str,
        round_number: int,
        team_id: str,
        submission_history: list[SubmissionRecord],
        evaluation_feedback: list[EvaluationResult],
        leaderboard_ranking: list[LeaderboardEntry],
        current_team_rank: int | None,
        metadata: dict[str, Any] | None = None,
    ) -> str:
        """The prompt of every later round."""


class ReducibleBuilder(PromptBuilder, Protocol):
    """A builder whose continuation prompt can do with less, for ``builder.contract.budget``."""

    config: "RoundPromptConfig"

    def build_reduced_prompt(
        self, context: RoundContext, kept: "Kept", metadata: Mapping[str, Any] | None = None
    ) -> str:
        """The continuation prompt with less in it. The task, the team's rank and its latest score stay."""


@dataclass(frozen=True)
class Kept:
    """What of a round prompt is shown where not everything fits."""

    submissions: frozenset[int] = frozenset()
    """The rounds whose submission is shown."""
    feedback: bool = False
    """The latest round's."""
    teams: int = 0
    trend: bool = False
    metrics: bool = False
    earlier_results: bool = False
    """Score and feedback of the earlier rounds whose submission is shown."""


class PlainTextPromptBuilder:
    """The documents' texts, filled in. Raises ``ContextError`` for records that lack a field.

    >>> PlainTextPromptBuilder().build_initial_prompt("2と3を足してください", "team-001")
    'ユーザのクエリに対して、最良の回答を提供してください。\\n\\nクエリ:\\n2と3を足してください'
    """

    def __init__(self, config: RoundPromptConfig | None = None) -> None:
        self.config = config or RoundPromptConfig()

    def build_initial_prompt(
        self, user_query: str, team_id: str, metadata: Mapping[str, Any] | None = None
    ) -> str:
        return _INITIAL.format(user_query=user_query).strip()

    def build_continuation_prompt(
        self,
        user_query: str,
        round_number: int,
        team_id: str,
        submission_history: Sequence[SubmissionLike],
        evaluation_feedback: Sequence[EvaluationLike],
        leaderboard_ranking: Sequence[LeaderboardEntryLike],
        current_team_rank: int | None,
        metadata: Mapping[str, Any] | None = None,
    ) -> str:
        played = played_rounds(submission_history, evaluation_feedback)
        blocks = [self._block(round_) for round_ in latest(played, self.config.max_submission_history_items)]
        teams = all_taken(LeaderboardEntry, leaderboard_ranking[: self.config.max_leaderboard_display_teams])
        return _continuation(
            user_query,
            "\n\n".join(blocks) or NO_SUBMISSIONS,
            [_RANKING, *_team_lines(teams, team_id), ""],
            current_team_rank,
            score_trend([round_.score for round_ in played]) if self.config.enable_trend_analysis else "",
        )

    def build_reduced_prompt(
        self, context: RoundContext, kept: Kept, metadata: Mapping[str, Any] | None = None
    ) -> str:
        played = played_rounds(context.submission_history, context.evaluation_feedback)
        lines: list[str] = []
        for round_ in played[:-1]:
            if round_.number in kept.submissions:
                lines += _reduced(round_, kept, score=kept.earlier_results, feedback=kept.earlier_results)
        lines += (
            _reduced(played[-1], kept, score=True, feedback=kept.feedback) if played else [NO_SUBMISSIONS]
        )
        teams = context.leaderboard_ranking[: kept.teams]
        return _continuation(
            context.user_query,
            "\n".join(lines),
            [_RANKING, *_team_lines(teams, context.team_id), ""] if teams else [],
            context.current_team_rank,
            score_trend([round_.score for round_ in played]) if kept.trend else "",
        )

    def _block(self, played: PlayedRound) -> str:
        preview = played.content[: self.config.submission_preview_chars]
        lines = [
            f"ラウンド {played.number}:",
            f"- Submission: {preview}...",
            *_score(played),
            *(_metrics(played) if self.config.show_metric_scores else []),
            _feedback(played),
        ]
        return "\n".join(lines).strip()


def build_round_prompt(
    user_query: str,
    round_number: int,
    team_id: str,
    submission_history: Sequence[SubmissionLike],
    evaluation_feedback: Sequence[EvaluationLike],
    leaderboard_ranking: Sequence[LeaderboardEntryLike],
    current_team_rank: int | None,
    *,
    config: RoundPromptConfig | None = None,
) -> str:
    """The prompt of any round as plain text.

    Records of other libraries are taken by their attributes; raises ``ContextError`` where one lacks a field.
    """
    context = RoundContext(
        round_number=round_number,
        submission_history=all_taken(SubmissionRecord, submission_history),
        evaluation_feedback=all_taken(EvaluationResult, evaluation_feedback),
        leaderboard_ranking=all_taken(LeaderboardEntry, leaderboard_ranking),
        current_team_rank=current_team_rank,
        user_query=user_query,
        team_id=team_id,
    )
    return build_prompt(context, PlainTextPromptBuilder(config))


def build_prompt(
    context: RoundContext, builder: PromptBuilder, metadata: dict[str, Any] | None = None
) -> str:
    """The prompt of a context's round by any builder."""
    if context.round_number == 1:
        return builder.build_initial_prompt(context.user_query, context.team_id, metadata)
    return builder.build_continuation_prompt(
        user_query=context.user_query,
        round_number=context.round_number,
        team_id=context.team_id,
        submission_history=context.submission_history,
        evaluation_feedback=context.evaluation_feedback,
        leaderboard_ranking=context.leaderboard_ranking,
        current_team_rank=context.current_team_rank,
        metadata=metadata,
    )


def _continuation(user_query: str, history: str, ranking: list[str], rank: int | None, trend: str) -> str:
    rank_line = _NO_RANK if rank is None else _RANK.format(rank=rank)
    request = _REQUEST_WITHOUT_RANK if rank is None else _REQUEST.format(rank=rank)
    return _CONTINUATION.format(
        user_query=user_query,
        history=history,
        ranking="\n".join([*ranking, rank_line, *([trend] if trend else [])]),
        request=request,
    ).strip()


def _team_lines(entries: Sequence[LeaderboardEntry], team_id: str) -> list[str]:
    return [(_OWN_TEAM if entry.team_id == team_id else _TEAM).format(entry=entry) for entry in entries]


def _reduced(played: PlayedRound, kept: Kept, *, score: bool, feedback: bool) -> list[str]:
    shown = played.number in kept.submissions
    return [
        compressed(played.number, played.content) if shown else f"ラウンド {played.number}:",
        *(_score(played) if score else []),
        *(_metrics(played) if score and kept.metrics else []),
        *([_feedback(played).rstrip()] if feedback and played.feedback else []),
    ]


def _score(played: PlayedRound) -> list[str]:
    return [] if played.score is None else [f"- スコア: {played.score:.1f}/100"]


def _feedback(played: PlayedRound) -> str:
    return f"- フィードバック: {played.feedback}"


def _metrics(played: PlayedRound) -> list[str]:
    scores = ", ".join(f"{name}: {score:.1f}" for name, score in played.metrics.items())
    return [f"- メトリクス: {scores}"] if scores else []
