"""The tables of a run's pages as files."""

from collections.abc import Sequence

from builder.leaderboard import Execution, Progress, RoundRecord, ScorePoint
from studio.runs.run_page import Place, RunPage
from studio.shell.downloads import Cell, Table

EXECUTIONS = (
    "execution_id", "state", "task", "teams", "finished_teams", "rounds", "best_score", "best_team_id",
    "best_team_name", "started_at", "last_at", "seconds",
)  # fmt: skip
RANKING = (
    "rank", "team_id", "team_name", "best_score", "best_round", "latest_score", "latest_round", "rounds",
    "exit_reason",
)  # fmt: skip
SCORES = ("team_id", "team_name", "round_number", "score", "final_submission")
PROGRESS = (
    "team_id", "team_name", "status", "current_round", "total_rounds", "current_agent", "updated_at", "error",
)  # fmt: skip
ROUNDS = (
    "team_id", "team_name", "round_number", "score", "final_submission", "exit_reason", "started_at",
    "ended_at", "submitted_at", "should_continue", "confidence", "reasoning", "submission_format",
    "submission",
)  # fmt: skip
METRICS = ("team_id", "team_name", "round_number", "metric", "score", "comment")


def executions_table(name: str, executions: Sequence[Execution], total: int) -> Table:
    rows = (
        (
            each.execution_id,
            each.state,
            each.user_prompt,
            each.teams,
            each.finished_teams,
            each.rounds,
            each.best_score,
            each.best_team_id,
            each.best_team_name,
            each.started_at,
            each.last_at,
            each.seconds,
        )
        for each in executions
    )
    return Table(name, EXECUTIONS, rows, is_cut=total > len(executions))


def ranking_table(run: RunPage) -> Table:
    return Table(_name(run, "ranking"), RANKING, (_ranked(place) for place in run.places))


def scores_table(run: RunPage) -> Table:
    return Table(_name(run, "scores"), SCORES, (_scored(point) for point in run.points))


def progress_table(run: RunPage) -> Table:
    return Table(_name(run, "progress"), PROGRESS, (_progressed(each) for each in run.progress))


def rounds_table(name: str, rounds: Sequence[RoundRecord]) -> Table:
    """A row for each round with everything stored about it, the conversation aside."""
    rows = (
        (
            each.team_id,
            each.team_name,
            each.round_number,
            each.score,
            each.final_submission,
            each.exit_reason,
            each.started_at,
            each.ended_at,
            each.submitted_at,
            each.should_continue,
            each.confidence,
            each.reasoning,
            each.submission_format,
            each.submission,
        )
        for each in rounds
    )
    return Table(name, ROUNDS, rows)


def metrics_table(name: str, rounds: Sequence[RoundRecord]) -> Table:
    rows = (
        (each.team_id, each.team_name, each.round_number, metric.name, metric.score, metric.comment)
        for each in rounds
        for metric in each.metrics
    )
    return Table(name, METRICS, rows)


def _name(run: RunPage, what: str) -> str:
    return f"run-{run.execution.execution_id[:8]}-{what}"


def _ranked(place: Place) -> tuple[Cell, ...]:
    each = place.standing
    return (
        each.rank,
        each.team_id,
        each.team_name,
        each.best_score,
        each.best_round,
        each.latest_score,
        each.latest_round,
        each.rounds,
        each.exit_reason,
    )


def _scored(point: ScorePoint) -> tuple[Cell, ...]:
    return point.team_id, point.team_name, point.round_number, point.score, point.final


def _progressed(each: Progress) -> tuple[Cell, ...]:
    return (
        each.team_id,
        each.team_name,
        each.status,
        each.current_round,
        each.total_rounds,
        each.current_agent,
        each.updated_at,
        each.error,
    )
