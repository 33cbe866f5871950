"""The rebuilding of a stored round: what its prompt was made from, out of what a run left behind. Pure: rows
in, context out. Used by the store and by attribution."""

import math
import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Literal

from pydantic import ValidationError

from builder.errors import MissingColumn
from builder.invalid_input import CONTEXT_INVALID, ContextError
from builder.leaderboard.records import ClockSource, Cutoff, DeliveredPrompt, RebuiltRound
from builder.leaderboard.release import shown_formats, without_entities
from builder.leaderboard.rows import BoardRow, StatusRow
from builder.leaderboard.sentences import MISSING_COLUMN
from builder.template.dialect import CONTRACT, MIXSEEK, MIXSEEK_A15, Dialect, RankingOrder
from builder.template.formatters import (
    Template,
    Values,
    format_ranking_table,
    generate_position_message,
    variables,
)
from builder.template.models import RankingEntry, RoundPromptContext, RoundState

For = Literal["team", "judgment"]
Renderer = Callable[[RebuiltRound, Dialect], str]
"""Renders the team template that an execution is known to have run with."""

_CLOCK = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{6})?[+-]\d\d:\d\d")
_CLOCK_BEFORE_MESSAGE = timedelta(minutes=30)
_NEIGHBOURS = 40


@dataclass(frozen=True)
class StoredRound:
    """What the database says about one round, gathered for rebuilding it."""

    execution_id: str
    team_id: str
    team_name: str
    round_number: int
    board: Sequence[BoardRow]
    """The whole execution's, in the order of ``created_at``."""
    states: Sequence[RoundState]
    """The team's own finished rounds."""
    ahead: timedelta
    """What the writer's local time was ahead of UTC."""
    delivered: DeliveredPrompt | None = None
    statuses: Mapping[int, StatusRow] = field(default_factory=dict)
    stored_at: datetime | None = None
    """When the conversation was stored, in the writer's zone."""


@dataclass(frozen=True)
class DeliveredRun:
    """The rounds of an execution whose prompts are stored; the task, where the run is over."""

    task: str | None
    rounds: tuple[StoredRound, ...]


def rebuild(stored: StoredRound, for_: For, task: str) -> RebuiltRound:
    """The context of a stored round with the ranking as of its delivery."""
    last_own = stored.round_number - (1 if for_ == "team" else 0)
    moment, source = _moment(stored, for_)
    # The judgment prompt is not stored: there is nothing to compare a ranking with.
    text = stored.delivered.text if stored.delivered is not None and for_ == "team" else None
    ranking, cutoff = _ranking(stored, last_own, moment, text)
    try:
        context = RoundPromptContext(
            user_prompt=task,
            round_number=stored.round_number,
            round_history=[state for state in stored.states if state.round_number <= last_own],
            team_id=stored.team_id,
            team_name=stored.team_name,
            execution_id=stored.execution_id,
            ranking=ranking,
        )
    except ValidationError as error:
        # Rows that no prompt could have been made from, such as a task of blanks.
        raise ContextError.wrap(error, CONTEXT_INVALID) from error
    return RebuiltRound(context, moment, source, cutoff, stored.delivered, stored.ahead)


def team_values(rebuilt: RebuiltRound, dialect: Dialect, template: Template) -> Values:
    """What each variable of a team template stood for in the round."""
    return variables("team", rebuilt.context, None, rebuilt.delivered_at, dialect, template)


# --- when ----------------------------------------------------------------------------------


def _moment(stored: StoredRound, for_: For) -> tuple[datetime, ClockSource]:
    status = stored.statuses.get(stored.round_number)
    if for_ == "judgment":
        # The judgment is asked as soon as the round's times are noted.
        if status is not None and status.created_at is not None:
            return _utc(status.created_at, stored.ahead), "status"
        return _board_moment(stored, stored.round_number), "board"
    if stored.delivered is not None:
        printed = _printed_clock(stored)
        if printed is not None:
            return printed, "text"
        if stored.delivered.timestamp is not None:
            return stored.delivered.timestamp, "message"
    if status is not None and status.started_at is not None:
        return status.started_at.replace(tzinfo=UTC), "status"
    return _board_moment(stored, stored.round_number), "board"


def _printed_clock(stored: StoredRound) -> datetime | None:
    """The prompt's own clock: of all times in the text, the last before the message was sent."""
    assert stored.delivered is not None
    sent = stored.delivered.timestamp
    if sent is None and stored.stored_at is not None:
        sent = _utc(stored.stored_at, stored.ahead)
    best: datetime | None = None
    for match in _CLOCK.finditer(stored.delivered.text):
        try:
            moment = datetime.fromisoformat(match.group())
        except ValueError:
            continue
        near = sent is None or timedelta(0) <= sent - moment <= _CLOCK_BEFORE_MESSAGE
        if near and (best is None or moment > best):
            best = moment
    return best


def _board_moment(stored: StoredRound, round_number: int) -> datetime:
    for row in stored.board:
        if row.team_id == stored.team_id and row.round_number == round_number and row.created_at is not None:
            return _utc(row.created_at, stored.ahead)
    if stored.stored_at is not None:
        return _utc(stored.stored_at, stored.ahead)
    raise MissingColumn(MISSING_COLUMN, table="leader_board", column="created_at")


def _utc(local: datetime, ahead: timedelta) -> datetime:
    return (local - ahead).replace(tzinfo=UTC)


# --- the ranking as it was seen ------------------------------------------------------------


def _ranking(
    stored: StoredRound, last_own: int, moment: datetime, text: str | None
) -> tuple[list[RankingEntry], Cutoff]:
    if stored.round_number == 1:
        return [], "first-round"
    candidates = list(_candidates(stored, last_own, moment))
    first = rank(candidates[0], MIXSEEK.ranking_order)
    if text is None:
        return first, "unconfirmed"
    if any("<" in row.team_name for row in stored.board):
        # Which tags of a name were neutralised depends on the template, which is not known here.
        text = without_entities(text)
    for order, dialect in ((MIXSEEK.ranking_order, MIXSEEK_A15), (CONTRACT.ranking_order, CONTRACT)):
        for stands in (_table_stands, _position_stands):
            for number, rows in enumerate(candidates):
                ranking = rank(rows, order)
                if stands(text, ranking, stored.team_id, dialect):
                    return ranking, "confirmed" if number == 0 else "neighbour"
    return first, "unconfirmed"


def other_rankings(stored: StoredRound, moment: datetime) -> Iterator[list[RankingEntry]]:
    """What the team's prompt may have shown instead, for a text that does not say: the likeliest first."""
    seen: list[list[RankingEntry]] = []
    for rows in _candidates(stored, stored.round_number - 1, moment):
        for order in (MIXSEEK.ranking_order, CONTRACT.ranking_order):
            ranking = rank(rows, order)
            if ranking not in seen:
                seen.append(ranking)
                yield ranking


def _candidates(stored: StoredRound, last_own: int, moment: datetime) -> Iterator[list[BoardRow]]:
    """What the team may have seen: the rows up to the moment, then ever further from it.

    Its own rows are certain. A row of another team may be seen although it is dated after the clock was
    read, or not seen although dated before: it is dated when its transaction begins, not when it ends.
    """
    own = [row for row in stored.board if row.team_id == stored.team_id and row.round_number <= last_own]
    others = [row for row in stored.board if row.team_id != stored.team_id and row.created_at is not None]
    times = [_utc(row.created_at, stored.ahead) for row in others if row.created_at is not None]
    here = bisect_right(times, moment)
    cuts = [here]
    for distance in range(1, min(len(others), _NEIGHBOURS) + 1):
        cuts += [cut for cut in (here + distance, here - distance) if 0 <= cut <= len(others)]
    for cut in cuts:
        yield own + others[:cut]
    for cut in cuts[:7]:
        for left_out in range(cut - 2, max(cut - 6, -1), -1):
            yield own + others[:left_out] + others[left_out + 1 : cut]


def rank(rows: Sequence[BoardRow], order: RankingOrder) -> list[RankingEntry]:
    """The store's ranking query, over rows in memory."""
    best: dict[tuple[str, str], tuple[float, int, int]] = {}
    for row in rows:
        if not math.isfinite(row.score):
            # An evaluator that failed leaves no score that a place could follow.
            continue
        key = (row.team_id, row.team_name)
        score, rounds, latest = best.get(key, (row.score, 0, row.round_number))
        best[key] = (max(score, row.score), rounds + 1, max(latest, row.round_number))

    def place(item: tuple[tuple[str, str], tuple[float, int, int]]) -> tuple[float, int, bytes]:
        (team_id, _), (score, _, latest) = item
        return -score, -latest if order == "latest_round" else 0, team_id.encode("utf-8", "surrogatepass")

    return [
        RankingEntry(team_id=team_id, team_name=name, max_score=score, total_rounds=rounds)
        for (team_id, name), (score, rounds, _) in sorted(best.items(), key=place)
    ]


def _table_stands(text: str, ranking: list[RankingEntry], team_id: str, dialect: Dialect) -> bool:
    if not ranking:
        return False
    table = format_ranking_table(ranking, team_id, dialect=dialect)
    table = without_entities(table) if "<" in table else table
    following = len(ranking) + 1
    at = text.find(table)
    while at >= 0:
        after = text[at + len(table) :]
        # A shorter ranking is the beginning of a longer one: that it stops here matters too.
        if not after.startswith((f"\n#{following} ", f"\n**#{following} ")):
            return True
        at = text.find(table, at + 1)
    return False


def _position_stands(text: str, ranking: list[RankingEntry], team_id: str, dialect: Dialect) -> bool:
    places = [entry.team_id for entry in ranking]
    if team_id not in places:
        return False
    return generate_position_message(places.index(team_id) + 1, len(places), dialect) in text


# --- the task of a run that is not over ----------------------------------------------------


def recover_task(stored: StoredRound, render: Renderer) -> str | None:
    """Read the task out of a delivered prompt, given the template it was made with.

    The prompt is rendered around a mark; what stands in the mark's place in the stored text is the
    task. It is believed only if rendering it again gives the stored text.
    """
    if stored.delivered is None:
        return None
    mark = "\ue000task\ue001"
    rebuilt = rebuild(stored, "team", mark)
    text = stored.delivered.text
    for dialect in shown_formats(rebuilt):
        pieces = render(rebuilt, dialect).split(mark)
        if len(pieces) == 1:
            return None
        length, rest = divmod(len(text) - sum(map(len, pieces)), len(pieces) - 1)
        if rest or length <= 0 or not text.startswith(pieces[0]):
            continue
        task = text[len(pieces[0]) : len(pieces[0]) + length]
        # Tags of the task may have been neutralised; that people type them so is rarer.
        for tried in dict.fromkeys([without_entities(task), task]):
            context = rebuilt.context.model_copy(update={"user_prompt": tried})
            if render(replace(rebuilt, context=context), dialect) == text:
                return tried
    return None
