"""The values of a template's variables: history, ranking, position and time in the words of a format.

Used wherever a prompt is rendered: by the contract's classes, the commands and the studio.
"""

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from functools import lru_cache
from zoneinfo import ZoneInfo

from pydantic import JsonValue

from builder.errors import POSITION, TIMEZONE, TOTAL_TEAMS, PositionError, TimezoneError
from builder.template.boundaries import boundary_tags, neutralised, tags_in
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
Template = str | frozenset[str]
"""What values are made for: a template, or its tags (``tags_of``) for whoever keeps values by them."""


@dataclass(frozen=True)
class NeutralisedTag:
    """A tag in the value of a variable that MixSeek spells differently, so that it is no tag any more."""

    variable: str
    tag: str


def tags_of(template: Template, dialect: Dialect) -> frozenset[str]:
    """The tags of a template that values depend on in this format: two with the same get the same values."""
    if not dialect.neutralises_tags:
        return frozenset()
    return boundary_tags(template) if isinstance(template, str) else template


class _Cleaning:
    """What a format does to each text that is put into a template."""

    def __init__(self, dialect: Dialect, template: Template | None) -> None:
        if dialect.neutralises_tags and template is None:
            raise TypeError(f"in {dialect.name} the values depend on the template: give it as well")
        self._names = tags_of(template, dialect) if template is not None else frozenset[str]()
        self.found: dict[NeutralisedTag, None] | None = None
        """What was changed, for whoever asks; in the order of the prompt, each once."""

    def __call__(self, variable: str, text: str) -> str:
        if not self._names or "<" not in text:
            return text
        if self.found is not None:
            self.found.update({NeutralisedTag(variable, tag): None for tag in tags_in(text, self._names)})
        return neutralised(text, self._names)


def format_submission_history(
    round_history: Iterable[RoundStateLike | Row], dialect: Dialect = CONTRACT, template: Template = ""
) -> str:
    """The earlier rounds, one block each, a blank line between. ``template`` is the one that the text is put
    into: the newest MixSeek neutralises its tags, and some in every template.

    Raises ``ContextError`` for what is no round: neither a dict nor an object with its fields.
    """
    return _history_text(all_taken(RoundState, round_history), dialect, _Cleaning(dialect, template))


def _history_text(states: Sequence[RoundState], dialect: Dialect, clean: _Cleaning) -> str:
    if not states:
        return dialect.sentences.no_history
    return "\n\n".join(_round_block(state, dialect, clean) for state in states)


def _round_block(state: RoundState, dialect: Dialect, clean: _Cleaning) -> str:
    words = dialect.sentences
    lines = [
        words.round_heading.format(round_number=state.round_number),
        words.score.format(score=state.evaluation_score),
    ]
    if state.score_details is not None:
        lines += [words.details_heading, clean("submission_history", _indented(state.score_details))]
    if state.evaluation_feedback and words.feedback:
        lines.append(words.feedback.format(feedback=state.evaluation_feedback))
    lines.append(words.submission.format(content=clean("submission_history", state.submission_content)))
    return "\n".join(lines)


_LONGEST_KEPT = 10_000


def _indented(details: dict[str, JsonValue]) -> str:
    """Details as a prompt shows them. Python indents JSON thirty times slower than it writes it, and a round
    stands in the prompts of all later ones, in each format: so the short text finds the long one again."""
    compact = json.dumps(details, ensure_ascii=False)
    return _kept_indented(compact) if len(compact) <= _LONGEST_KEPT else _indented_again(compact)


def _indented_again(compact: str) -> str:
    return json.dumps(json.loads(compact), ensure_ascii=False, indent=2)


_kept_indented = lru_cache(maxsize=256)(_indented_again)


def format_ranking_table(
    ranking: Ranking,
    team_id: str,
    team_name: str = "",
    dialect: Dialect = CONTRACT,
    template: Template = "",
) -> str:
    """The teams in the order given, the own one marked. ``team_name`` is kept for the contract's
    signature: the name shown is the leaderboard's own, for every team alike.

    Raises ``ContextError`` for an entry without its fields or with a score that is no finite number.
    """
    return _ranking_text(all_taken(RankingEntry, ranking), team_id, dialect, _Cleaning(dialect, template))


def _ranking_text(entries: Sequence[RankingEntry], team_id: str, dialect: Dialect, clean: _Cleaning) -> str:
    if not entries:
        return dialect.sentences.no_ranking
    return "\n".join(
        _ranking_line(rank, entry, team_id, dialect, clean) for rank, entry in enumerate(entries, start=1)
    )


def _ranking_line(rank: int, entry: RankingEntry, team_id: str, dialect: Dialect, clean: _Cleaning) -> str:
    words = dialect.sentences
    line = words.ranking_own if entry.team_id == team_id else words.ranking_other
    return line.format(
        rank=rank,
        team_name=clean("ranking_table", entry.team_name),
        max_score=entry.max_score,
        total_rounds=entry.total_rounds,
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
    template: Template | None = None,
) -> Values:
    """Every value that a template of this kind may use. Pure: ``now`` carries its zone, ``ranking`` is what
    a store said (``None`` without a store), and a ranking of the context's own wins over it.

    ``template`` is the text that the values are for: since 0.1.0a19 they depend on it.
    """
    return _variables(kind, context, ranking, now, dialect, _Cleaning(dialect, template))


def neutralised_tags(
    kind: PromptKind, context: PromptContext, ranking: Ranking | None, dialect: Dialect, template: str
) -> list[NeutralisedTag]:
    """The tags that this format neutralises in the values of the template's own variables."""
    if not dialect.neutralises_tags:
        return []
    clean = _Cleaning(dialect, template)
    clean.found = {}
    _variables(kind, context, ranking, datetime.min, dialect, clean)
    return [found for found in clean.found if found.variable in template]


def _variables(
    kind: PromptKind,
    context: PromptContext,
    ranking: Ranking | None,
    now: datetime,
    dialect: Dialect,
    clean: _Cleaning,
) -> Values:
    if isinstance(context, EvaluatorPromptContext):
        return {
            "user_prompt": clean("user_prompt", context.user_query),
            "submission": clean("submission", context.submission),
            "current_datetime": now.isoformat(),
        }
    first_round = context.round_number == 1
    bare = first_round and dialect.round_one_is_bare
    # Only the team's own prompt hides a history in round 1: the judgment looks at the round just played.
    history = [] if bare and kind == "team" else context.round_history
    known: Ranking | None = ranking if context.ranking is None else context.ranking
    entries = None if first_round or known is None else all_taken(RankingEntry, known)
    return {
        "user_prompt": clean("user_prompt", context.user_prompt),
        "round_number": context.round_number,
        "submission_history": _history_text(history, dialect, clean),
        "ranking_table": (
            dialect.sentences.no_store
            if entries is None
            else _ranking_text(entries, context.team_id, dialect, clean)
        ),
        "team_position_message": _position_text(entries, context.team_id, dialect),
        "current_datetime": now.isoformat(),
    }


def _position_text(entries: list[RankingEntry] | None, team_id: str, dialect: Dialect) -> str:
    for position, entry in enumerate(entries or [], start=1):
        if entry.team_id == team_id:
            return generate_position_message(position, len(entries or []), dialect)
    return dialect.sentences.no_position
