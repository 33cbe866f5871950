"""Records of three played rounds and a ranking, for tests of round prompts."""

from builder.contract.round_context import RoundContext
from builder.template.models import EvaluationResult, LeaderboardEntry, SubmissionRecord

RECORDS = [
    SubmissionRecord(round_number=1, content="最初の回答", score=60.0, feedback="根拠が足りません"),
    SubmissionRecord(round_number=2, content="い" * 250, score=72.46, feedback="構成は良い\n例を増やすこと"),
    SubmissionRecord(round_number=3, content="う" * 250 + "え" * 100, score=70.0, feedback="冗長です"),
]
RESULTS = [
    EvaluationResult(
        overall_score=record.score,
        feedback_summary=record.feedback,
        metrics={"clarity": record.score + 5, "coverage": record.score - 5},
    )
    for record in RECORDS
]
RANKING = [
    LeaderboardEntry(
        rank=rank, team_id=f"team-{rank:03}", team_name=f"Team {rank}", best_score=90 - rank * 2.5
    )
    for rank in range(1, 13)
]
QUERY = "売上データを分析し、\n    - 傾向\n    - 提案\nをまとめてください。"


def context(round_number: int = 4, team: int = 2, query: str = QUERY) -> RoundContext:
    """Before a round, with the rounds before it."""
    return RoundContext(
        round_number=round_number,
        submission_history=RECORDS[: round_number - 1],
        evaluation_feedback=RESULTS[: round_number - 1],
        leaderboard_ranking=RANKING[:10],
        current_team_rank=team,
        user_query=query,
        team_id=f"team-{team:03}",
    )
