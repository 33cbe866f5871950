"""A whole run once more: each team's prompts of each round, with another version, beside what was sent."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from builder.cache import tokens
from builder.errors import BuilderError, JailError, LimitExceeded, TaskUnknown
from builder.leaderboard import DeliveredRun, StoredRound
from builder.leaderboard.rebuild import rebuild, recover_task
from builder.leaderboard.sentences import TASK_UNKNOWN
from builder.results.attribution import rebuilt_for
from builder.template.dialect import Dialect
from builder.template.formatters import Values, variables
from studio.preview.rendering import compare_prompts
from studio.results.replay.rebuilt import Candidate
from studio.shell.downloads import Table
from studio.shell.jail import pool
from studio.shell.language import reader_language
from studio.shell.paging import Paging
from studio.shell.sized_cache import SizedCache

TEAMS_PER_PAGE = 25
MOST_COLUMNS = 24
"""Rounds of one table, the latest; the files have them all."""
TABLE_SECONDS = 8.0
FILE_SECONDS = 60.0
"""What was not tried by then is told so."""
MOST_STOPPED = 2
"""Renderings that meet a limit; the others would too."""
_ASKED_FOR_TASK = 6
"""Rounds that a task is looked for in, with each template."""
_AT_A_TIME = 8

State = Literal["same", "changed", "error", "untried"]


@dataclass(frozen=True)
class Cell:
    """One prompt."""

    round_number: int
    state: State
    added: int | None = None
    removed: int | None = None
    """Lines; None where the prompts are too long to be compared for a table."""
    tokens_more: int | None = None
    trouble: BuilderError | None = None

    @property
    def why(self) -> str:
        """What keeps it from having a prompt."""
        return self.trouble.text(reader_language()) if self.trouble is not None else ""


@dataclass(frozen=True)
class Row:
    """A team, a cell for each round; None where it was sent nothing."""

    team_id: str
    team_name: str
    cells: tuple[Cell | None, ...]


@dataclass(frozen=True)
class ReplayTable:
    """Teams × rounds."""

    rows: tuple[Row, ...]
    numbers: tuple[int, ...]
    paging: Paging
    rounds_left_out: int = 0
    refusal: JailError | None = None
    """Why the jail rendered nothing, or not the rest."""

    def count(self, state: State) -> int:
        return sum(cell.state == state for row in self.rows for cell in row.cells if cell is not None)

    @property
    def same(self) -> int:
        return self.count("same")

    @property
    def changed(self) -> int:
        return self.count("changed")

    @property
    def errors(self) -> int:
        return self.count("error")

    @property
    def untried(self) -> int:
        return self.count("untried")

    @property
    def total(self) -> int:
        return sum(cell is not None for row in self.rows for cell in row.cells)


@dataclass(frozen=True)
class Replays:
    """The delivered rounds of a run with their task, ready to be rendered with a template."""

    rounds: Sequence[StoredRound]
    task: str
    dialect: Dialect
    made_with: str = ""
    """The team template that made the prompts, where that is certain."""

    @property
    def teams(self) -> list[tuple[str, str]]:
        """Ids and names, by name."""
        found = {each.team_id: each.team_name for each in self.rounds}
        return sorted(found.items(), key=lambda team: (team[1], team[0]))

    def table(self, template: str, page: int) -> ReplayTable:
        """One page of teams, as far as there is time."""
        teams = self.teams
        paging = Paging(page, len(teams), TEAMS_PER_PAGE)
        shown = teams[paging.offset : paging.offset + paging.size]
        every = sorted({each.round_number for each in self.rounds})
        numbers = tuple(every[-MOST_COLUMNS:])
        wanted = {team for team, _ in shown}
        concerned = [each for each in self.rounds if each.team_id in wanted and each.round_number in numbers]
        cells: dict[tuple[str, int], Cell] = {}
        refusal = None
        try:
            for stored, cell in self._cells(concerned, template, TABLE_SECONDS):
                cells[stored.team_id, stored.round_number] = cell
        except JailError as error:
            refusal = error
            for each in concerned:
                cells.setdefault((each.team_id, each.round_number), Cell(each.round_number, "untried"))
        rows = tuple(
            Row(team, name, tuple(cells.get((team, number)) for number in numbers)) for team, name in shown
        )
        return ReplayTable(rows, numbers, paging, len(every) - len(numbers), refusal)

    def file(self, name: str, template: str) -> Table:
        """Every prompt of the run, a row each."""
        columns = (
            "team_id",
            "team_name",
            "round",
            "state",
            "lines_added",
            "lines_removed",
            "tokens_more",
            "error",
        )
        in_order = sorted(self.rounds, key=lambda each: (each.team_name, each.team_id, each.round_number))
        rows = (
            (
                stored.team_id,
                stored.team_name,
                stored.round_number,
                cell.state,
                cell.added,
                cell.removed,
                cell.tokens_more,
                cell.why,
            )
            for stored, cell in self._cells(in_order, template, FILE_SECONDS)
        )
        return Table(name, columns, rows)

    def _cells(
        self, rounds: Sequence[StoredRound], template: str, seconds: float
    ) -> Iterator[tuple[StoredRound, Cell]]:
        """In the lane for batches, a few at a time. Raises the jail's ``JailError``."""
        until = time.monotonic() + seconds
        done, size, stopped = 0, 1, 0
        while done < len(rounds):
            # A few at first: a template that never ends shall not be tried eight times.
            some = rounds[done : done + size]
            done, size = done + size, min(2 * size, _AT_A_TIME)
            known = {place: cell for place, each in enumerate(some) if (cell := self._known(each, template))}
            missing = [each for place, each in enumerate(some) if place not in known]
            if stopped >= MOST_STOPPED or time.monotonic() > until:
                tried = [Cell(each.round_number, "untried") for each in missing]
            else:
                tried = self._rendered(missing, template) if missing else []
            later = iter(tried)
            for place, stored in enumerate(some):
                cell = known.get(place) or next(later)
                stopped += isinstance(cell.trouble, LimitExceeded)
                yield stored, cell

    def _known(self, stored: StoredRound, template: str) -> Cell | None:
        return _kept.get(self._key(stored, template))

    def _key(self, stored: StoredRound, template: str) -> tuple[object, ...]:
        assert stored.delivered is not None
        place = stored.execution_id, stored.team_id, stored.round_number
        texts = template, self.task, self.made_with, stored.delivered.text
        return *place, self.dialect, *(hash(text) for text in texts)

    def _rendered(self, rounds: Sequence[StoredRound], template: str) -> list[Cell]:
        found: dict[int, Cell] = {}
        ready: dict[int, Values] = {}
        for place, stored in enumerate(rounds):
            try:
                rebuilt = rebuild(stored, "team", self.task)
                if self.made_with and rebuilt.is_in_doubt:
                    rebuilt = rebuilt_for(stored, self.task, self.made_with, pool())
            except JailError:
                raise
            except BuilderError as error:
                # Rows that no prompt could have been made from.
                found[place] = Cell(stored.round_number, "error", trouble=error)
            else:
                ready[place] = variables("team", rebuilt.context, None, rebuilt.delivered_at, self.dialect)
        outcomes = pool().render_in_each("team", template, list(ready.values()), self.dialect)
        for place, outcome in zip(ready, outcomes, strict=True):
            found[place] = cell = _cell(rounds[place], outcome.text, outcome.failure)
            if not isinstance(cell.trouble, LimitExceeded):
                _kept.put(self._key(rounds[place], template), cell, 1)
        return [found[place] for place in range(len(rounds))]


_kept: SizedCache[Cell] = SizedCache(50_000)
"""What was compared once: a table that ended before its time goes on where it stopped."""


def replays_of(
    run: DeliveredRun,
    dialect: Dialect,
    templates: Sequence[Candidate],
    *,
    made_with: str = "",
    task: str = "",
    owner: str,
) -> Replays:
    """The run with its task: as stored, as typed, or read out of a prompt. Raises ``TaskUnknown``."""
    known = run.task or task or _recovered(run.rounds, dialect, templates, owner)
    if known is None:
        first = run.rounds[0].execution_id if run.rounds else ""
        raise TaskUnknown(TASK_UNKNOWN, execution_id=first)
    return Replays(run.rounds, known, dialect, made_with)


def _recovered(
    rounds: Sequence[StoredRound], dialect: Dialect, templates: Sequence[Candidate], owner: str
) -> str | None:
    # First rounds have the least around the task.
    asked = sorted(rounds, key=lambda each: each.round_number)[:_ASKED_FOR_TASK]
    for template in templates:
        for stored in asked:
            try:
                found = recover_task(
                    stored,
                    lambda values, text=template.text: pool().render(  # type: ignore[misc]
                        "team", text, values, dialect, owner=owner
                    ),
                )
            except JailError:
                return None
            except BuilderError:
                # A template that cannot be rendered is not the one that was.
                break
            if found is not None:
                return found
    return None


def _cell(stored: StoredRound, text: str | None, failure: BuilderError | None) -> Cell:
    if text is None:
        return Cell(stored.round_number, "error", trouble=failure)
    assert stored.delivered is not None
    sent = stored.delivered.text
    if text == sent:
        return Cell(stored.round_number, "same", 0, 0, 0)
    more = tokens.recount(text).tokens - tokens.recount(sent).tokens
    diff = compare_prompts(sent, text)
    if diff is None:
        return Cell(stored.round_number, "changed", tokens_more=more)
    return Cell(stored.round_number, "changed", diff.added, diff.removed, more)
