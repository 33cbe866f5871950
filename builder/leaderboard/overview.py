"""Rows of the list of executions → executions with a state and times in UTC."""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any, cast, get_args

from builder.leaderboard.progress import Progress
from builder.leaderboard.records import Execution, ExecutionState
from builder.leaderboard.rows import as_utc, offset_from_seconds


def executions_of(
    rows: Sequence[tuple[Any, ...]],
    progress: Callable[[Sequence[str]], list[Progress]],
    now: datetime,
    running_within: timedelta,
) -> list[Execution]:
    """``progress`` is asked only about executions that have no summary."""
    offsets = _offsets([row[8] for row in rows])
    open_ones = [row[0] for row in rows if row[2] is None]
    signs = _signs_of_life(progress(open_ones)) if open_ones else {}
    found = []
    for row, ahead in zip(rows, offsets, strict=True):
        execution_id, task, status, teams, rounds, best, first_at, last_at, _, seconds = row
        last = as_utc(last_at, ahead)
        start = as_utc(first_at, ahead)
        if status is not None and last is not None and seconds is not None:
            # The summary knows how long the whole run took; the first row came some way into it.
            start = last - timedelta(seconds=seconds)
        state = _state(status, [last, signs.get(execution_id)], now, running_within)
        found.append(
            Execution(
                execution_id=execution_id,
                user_prompt=task,
                state=state,
                teams=int(teams),
                rounds=int(rounds),
                best_score=None if best is None else float(best),
                started_at=start,
                last_at=last,
            )
        )
    return found


def _state(
    status: str | None, signs: Iterable[datetime | None], now: datetime, within: timedelta
) -> ExecutionState:
    if status is not None:
        known = status in get_args(ExecutionState)
        return cast(ExecutionState, status) if known else "unknown"
    latest = max((sign for sign in signs if sign is not None), default=None)
    return "running" if latest is not None and now - latest <= within else "unknown"


def _signs_of_life(progress: Iterable[Progress]) -> dict[str, datetime]:
    latest: dict[str, datetime] = {}
    for team in progress:
        if team.updated_at is not None:
            known = latest.get(team.execution_id, team.updated_at)
            latest[team.execution_id] = max(known, team.updated_at)
    return latest


def _offsets(ahead: Sequence[float | None]) -> list[timedelta]:
    """An execution without a score tells no offset; that of its neighbour in time is the best guess."""
    known = [offset_from_seconds(seconds) for seconds in ahead]
    previous: timedelta | None = None
    for at, offset in enumerate(known):
        known[at] = previous = previous if offset is None else offset
    following = timedelta(0)
    found: list[timedelta] = []
    for offset in reversed(known):
        following = following if offset is None else offset
        found.append(following)
    return found[::-1]
