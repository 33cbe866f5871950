"""The values of a template's variables: history, ranking, position and time in the words of a dialect.

Used wherever a prompt is rendered: by the contract's classes, the commands and the studio.
"""

import json
import os
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, tzinfo
from zoneinfo import ZoneInfo

from builder.errors import POSITION, TIMEZONE, TOTAL_TEAMS, PositionError, TimezoneError
from builder.template.dialect import CONTRACT, Dialect
from builder.template.models import (
    EvaluatorPromptContext,
    PromptContext,
    RankingEntry,
    RoundState,
    all_taken,
)
from builder.template.shapes import Ranking, RoundStateLike, Row
from builder.template.variables import PromptKind

Values = dict[str, str | int]


def format_submission_history(
    round_history: Iterable[RoundStateLike | Row], dialect: Dialect = CONTRACT
) -> str:
    """The earlier rounds, one block each, a blank line between.

    Raises ``ContextError`` for what is no round: neither a dict nor an object with its fields.
    """
    states = all_taken(RoundState, round_history)
    if not states:
        return dialect.sentences.no_history
    return "\n\n".join(_round_block(state, dialect) for state in states)


def _round_block(state: RoundState, dialect: Dialect) -> str:
    words = dialect.sentences
    lines = [
        words.round_heading.format(round_number=state.round_number),
        words.score.format(score=state.evaluation_score),
    ]
    if state.score_details is not None:
        lines += [words.details_heading, json.dumps(state.score_details, ensure_ascii=False, indent=2)]
    if state.evaluation_feedback and words.feedback:
        lines.append(words.feedback.format(feedback=state.evaluation_feedback))
    lines.append(words.submission.format(content=state.submission_content))
    return "\n".join(lines)


def format_ranking_table(
    ranking: Ranking, team_id: str, team_name: str = "", dialect: Dialect = CONTRACT
) -> str:
    """The teams in the order given, the own one marked. ``team_name`` is kept for the contract's
    signature: the name shown is the leaderboard's own, for every team alike.

    Raises ``ContextError`` for an entry without its fields or with a score that is no finite number.
    """
    entries = all_taken(RankingEntry, ranking)
    if not entries:
        return dialect.sentences.no_ranking
    return "\n".join(
        _ranking_line(rank, entry, team_id, dialect) for rank, entry in enumerate(entries, start=1)
    )


def _ranking_line(rank: int, entry: RankingEntry, team_id: str, dialect: Dialect) -> str:
    words = dialect.sentences
    line = words.ranking_own if entry.team_id == team_id else words.ranking_other
    return line.format(
        rank=rank, team_name=entry.team_name, max_score=entry.max_score, total_rounds=entry.total_rounds
    )


def generate_position_message(position: int, total_teams: int, dialect: Dialect = CONTRACT) -> str:
    """The sentence for a place: first, up to third, or further down.

    Raises ``PositionError``, a ``ValueError``, for a place that cannot be.
    """
    if total_teams < 1:
        raise PositionError(TOTAL_TEAMS)
    if not 1 <= position <= total_teams:
        raise PositionError(POSITION)
    words = dialect.sentences
    if position == 1:
        return words.first_place
    sentence = words.top_three if position <= 3 else words.other_place
    return sentence.format(position=position, total_teams=total_teams)


def timezone(name: str | None) -> tzinfo:
    """The zone that a ``TZ`` value names; ``None`` (not set) means UTC."""
    if name is None:
        return UTC
    try:
        return ZoneInfo(name)
    except (ValueError, OSError, KeyError) as error:
        # zoneinfo raises as many types as there are ways to be wrong: an empty name, an absolute
        # path, a folder such as `Asia`. A person sees one message.
        raise TimezoneError(TIMEZONE, value=name) from error


def current_time(environ: Mapping[str, str] | None = None) -> datetime:
    """Now, in the zone of ``TZ``: the edge at which clock and environment are read."""
    zone = timezone((os.environ if environ is None else environ).get("TZ"))
    return datetime.now(zone)


def get_current_datetime_with_timezone(now: datetime | None = None, tz: str | None = None) -> str:
    """ISO 8601 with offset. Clock and zone are read where they are not given.

    Raises ``TimezoneError``, a ``ValueError``, for a zone that nobody knows.

    >>> get_current_datetime_with_timezone(datetime(2025, 11, 19, 12, 34, 56, 789012, UTC), "Asia/Tokyo")
    '2025-11-19T21:34:56.789012+09:00'
    """
    zone = timezone(os.environ.get("TZ") if tz is None else tz)
    if now is None:
        return datetime.now(zone).isoformat()
    # A clock without a zone shows the time of `tz`; astimezone would take the machine's instead.
    return (now.replace(tzinfo=zone) if now.tzinfo is None else now.astimezone(zone)).isoformat()


def variables(
    kind: PromptKind,
    context: PromptContext,
    ranking: Ranking | None,
    now: datetime,
    dialect: Dialect = CONTRACT,
) -> Values:
    """Every value that a template of this kind may use. Pure: ``now`` carries its zone, ``ranking`` is what
    a store said (``None`` without a store), and a ranking of the context's own wins over it."""
    if isinstance(context, EvaluatorPromptContext):
        return {
            "user_prompt": context.user_query,
            "submission": context.submission,
            "current_datetime": now.isoformat(),
        }
    first_round = context.round_number == 1
    bare = first_round and dialect.round_one_is_bare
    # Only the team's own prompt hides a history in round 1: the judgment looks at the round just played.
    history = [] if bare and kind == "team" else context.round_history
    known: Ranking | None = ranking if context.ranking is None else context.ranking
    entries = None if first_round or known is None else all_taken(RankingEntry, known)
    return {
        "user_prompt": context.user_prompt,
        "round_number": context.round_number,
        "submission_history": format_submission_history(history, dialect),
        "ranking_table": _ranking_text(entries, context.team_id, dialect),
        "team_position_message": _position_text(entries, context.team_id, dialect),
        "current_datetime": now.isoformat(),
    }


def _ranking_text(entries: list[RankingEntry] | None, team_id: str, dialect: Dialect) -> str:
    if entries is None:
        return dialect.sentences.no_store
    return format_ranking_table(entries, team_id, dialect=dialect)


def _position_text(entries: list[RankingEntry] | None, team_id: str, dialect: Dialect) -> str:
    for position, entry in enumerate(entries or [], start=1):
        if entry.team_id == team_id:
            return generate_position_message(position, len(entries or []), dialect)
    return dialect.sentences.no_position
