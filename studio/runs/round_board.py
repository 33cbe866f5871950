"""All rounds of an execution at a glance: a row for each team, a column for each round."""

from dataclasses import dataclass
from datetime import datetime

from builder.leaderboard import AggregationStore, Execution

MOST_ROUNDS = 30
MOST_TEAMS = 200


@dataclass(frozen=True)
class BoardRow:
    """A team's rounds, a cell for each column of the board."""

    team_id: str
    team_name: str
    cells: tuple["BoardCell | None", ...]


@dataclass(frozen=True)
class BoardCell:
    """A round that was played."""

    number: int
    score: float | None


@dataclass(frozen=True)
class Board:
    """An execution's rounds; very long ones are cut to the latest rounds and the first teams."""

    execution: Execution
    numbers: tuple[int, ...]
    rows: tuple[BoardRow, ...]
    teams_left_out: int
    rounds_left_out: int


def read_board(store: AggregationStore, execution_id: str, now: datetime) -> Board | None:
    """``None`` where there is no such execution."""
    execution = store.execution(execution_id, now=now)
    if execution is None:
        return None
    names: dict[str, str] = {}
    played: dict[str, dict[int, BoardCell]] = {}
    for point in store.scores(execution_id):
        names[point.team_id] = point.team_name
        # A round of number 0 or less has no address: MixSeek counts from 1.
        if point.round_number >= 1:
            cell = BoardCell(point.round_number, point.score)
            played.setdefault(point.team_id, {})[point.round_number] = cell
    numbers = sorted({number for cells in played.values() for number in cells})
    shown = tuple(numbers[-MOST_ROUNDS:])
    rows = [
        BoardRow(team_id, names[team_id], tuple(cells.get(number) for number in shown))
        for team_id, cells in list(played.items())[:MOST_TEAMS]
    ]
    return Board(execution, shown, tuple(rows), max(0, len(played) - MOST_TEAMS), len(numbers) - len(shown))
