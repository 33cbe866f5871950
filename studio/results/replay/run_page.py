"""The replay of a whole run: each prompt with another version, beside what was sent. Used by its view."""

import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal

from builder.cache import tokens
from builder.errors import BuilderError, JailError, LimitExceeded, TaskUnknown
from builder.leaderboard import DeliveredRun, StoredRound
from builder.leaderboard.rebuild import rebuild, recover_task, team_values
from builder.leaderboard.release import common_formats, likeliest, shown_formats
from builder.leaderboard.sentences import TASK_UNKNOWN
from builder.results.attribution import rebuilt_for
from builder.template.dialect import Dialect
from builder.template.formatters import Values
from studio.preview.rendering import compare_prompts
from studio.results.replay.round_rebuilding import KnownTemplate, renderer
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
class ReplayedPrompt:
    """One prompt of the run, and how what was sent differs from it."""

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
class TeamPrompts:
    """A team, its prompt in each round; None where it was sent nothing."""

    team_id: str
    team_name: str
    cells: tuple[ReplayedPrompt | None, ...]


@dataclass(frozen=True)
class ReplayTable:
    """Teams × rounds."""

    rows: tuple[TeamPrompts, ...]
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

    def table(self, template: str, page: int) -> ReplayTable:
        """One page of teams, as far as there is time."""
        names = {stored.team_id: stored.team_name for stored in self.rounds}
        teams = sorted(names, key=lambda team: (names[team], team))
        paging = Paging(page, len(teams), TEAMS_PER_PAGE)
        shown = teams[paging.offset : paging.offset + paging.size]
        every = sorted({stored.round_number for stored in self.rounds})
        numbers = tuple(every[-MOST_COLUMNS:])
        concerned = [
            stored for stored in self.rounds if stored.team_id in shown and stored.round_number in numbers
        ]
        cells = {
            (stored.team_id, stored.round_number): ReplayedPrompt(stored.round_number, "untried")
            for stored in concerned
        }
        refusal = None
        try:
            for stored, cell in self._prompts(concerned, template, TABLE_SECONDS):
                cells[stored.team_id, stored.round_number] = cell
        except JailError as error:
            refusal = error
        rows = tuple(
            TeamPrompts(team, names[team], tuple(cells.get((team, number)) for number in numbers))
            for team in shown
        )
        return ReplayTable(rows, numbers, paging, len(every) - len(numbers), refusal)

    def file(self, name: str, template: str) -> Table:
        """Every prompt of the run, a row each."""
        rounds = sorted(
            self.rounds, key=lambda stored: (stored.team_name, stored.team_id, stored.round_number)
        )
        prompts = self._prompts(rounds, template, FILE_SECONDS)
        rows = (
            (
                *(stored.team_id, stored.team_name, stored.round_number),
                *(prompt.state, prompt.added, prompt.removed, prompt.tokens_more, prompt.why),
            )
            for stored, prompt in prompts
        )
        columns = "team_id team_name round state lines_added lines_removed tokens_more error"
        return Table(name, columns.split(), rows)

    def _prompts(
        self, rounds: Sequence[StoredRound], template: str, seconds: float
    ) -> Iterator[tuple[StoredRound, ReplayedPrompt]]:
        """In the lane for batches, a few at a time. Raises the jail's ``JailError``."""
        until = time.monotonic() + seconds
        done, size, stopped = 0, 1, 0
        while done < len(rounds):
            # A few at first: a template that never ends shall not be tried eight times.
            some = rounds[done : done + size]
            done, size = done + size, min(2 * size, _AT_A_TIME)
            known = [_kept.get(self._key(stored, template)) for stored in some]
            missing = [stored for stored, prompt in zip(some, known, strict=True) if prompt is None]
            if stopped >= MOST_STOPPED or time.monotonic() > until:
                tried = [ReplayedPrompt(stored.round_number, "untried") for stored in missing]
            else:
                tried = self._rendered(missing, template) if missing else []
            later = iter(tried)
            for stored, kept in zip(some, known, strict=True):
                prompt = kept or next(later)
                stopped += isinstance(prompt.trouble, LimitExceeded)
                yield stored, prompt

    def _key(self, stored: StoredRound, template: str) -> tuple[object, ...]:
        assert stored.delivered is not None
        place = stored.execution_id, stored.team_id, stored.round_number
        texts = template, self.task, self.made_with, stored.delivered.text
        return *place, self.dialect, *(hash(text) for text in texts)

    def _rendered(self, rounds: Sequence[StoredRound], template: str) -> list[ReplayedPrompt]:
        prompts: dict[int, ReplayedPrompt] = {}
        ready: dict[int, Values] = {}
        for at, stored in enumerate(rounds):
            try:
                rebuilt = rebuild(stored, "team", self.task)
                if self.made_with and rebuilt.is_in_doubt:
                    rebuilt = rebuilt_for(stored, self.task, self.made_with, pool())
            except JailError:
                raise
            except BuilderError as error:
                # Rows that no prompt could have been made from.
                prompts[at] = ReplayedPrompt(stored.round_number, "error", trouble=error)
            else:
                ready[at] = team_values(rebuilt, self.dialect, template)
        outcomes = pool().render_in_each("team", template, list(ready.values()), self.dialect)
        for at, outcome in zip(ready, outcomes, strict=True):
            prompts[at] = prompt = _beside_sent(rounds[at], outcome.text, outcome.failure)
            if not isinstance(prompt.trouble, LimitExceeded):
                _kept.put(self._key(rounds[at], template), prompt, 1)
        return [prompts[at] for at in range(len(rounds))]


_kept: SizedCache[ReplayedPrompt] = SizedCache(50_000)
"""What was compared once: a table that ended before its time goes on where it stopped."""


def replays_of(
    run: DeliveredRun,
    usual: Dialect,
    templates: Sequence[KnownTemplate],
    *,
    made_with: str = "",
    task: str = "",
    owner: str,
) -> Replays:
    """The run with its task: as stored, as typed, or read out of a prompt. Raises ``TaskUnknown``.

    ``usual`` is the workspace's format, for prompts that do not show theirs.
    """
    known = run.task or task or _recovered(run.rounds, templates, owner)
    if known is None:
        first = run.rounds[0].execution_id if run.rounds else ""
        raise TaskUnknown(TASK_UNKNOWN, execution_id=first)
    return Replays(run.rounds, known, likeliest(_formats(run.rounds, known), usual), made_with)


def _formats(rounds: Sequence[StoredRound], task: str) -> tuple[Dialect, ...]:
    """The formats that the prompts of a run show together."""
    shown = []
    for stored in rounds:
        with suppress(BuilderError):
            shown.append(shown_formats(rebuild(stored, "team", task)))
    return common_formats(shown)


def _recovered(rounds: Sequence[StoredRound], templates: Sequence[KnownTemplate], owner: str) -> str | None:
    # First rounds have the least around the task.
    asked = sorted(rounds, key=lambda stored: stored.round_number)[:_ASKED_FOR_TASK]
    for template in templates:
        for stored in asked:
            try:
                task = recover_task(stored, renderer(template.text, owner))
            except JailError:
                return None
            except BuilderError:
                # A template that cannot be rendered is not the one that was.
                break
            if task is not None:
                return task
    return None


def _beside_sent(stored: StoredRound, text: str | None, failure: BuilderError | None) -> ReplayedPrompt:
    if text is None:
        return ReplayedPrompt(stored.round_number, "error", trouble=failure)
    assert stored.delivered is not None
    sent = stored.delivered.text
    if text == sent:
        return ReplayedPrompt(stored.round_number, "same", 0, 0, 0)
    more = tokens.recount(text).tokens - tokens.recount(sent).tokens
    diff = compare_prompts(sent, text)
    if diff is None:
        return ReplayedPrompt(stored.round_number, "changed", tokens_more=more)
    return ReplayedPrompt(stored.round_number, "changed", diff.added, diff.removed, more)
