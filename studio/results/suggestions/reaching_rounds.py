"""Reaching rounds: real ones that reach lines of a template which no sample context reaches.

Used by the page of suggestions.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from builder.errors import BuilderError, LeaderboardError
from builder.template.formatters import Values, variables
from studio.contexts.at_round import SAMPLE_TIME, dialect_of
from studio.models import PromptSet, RoundResult
from studio.preview.coverage import digest_of
from studio.preview.situations import stamp_of
from studio.results.suggestions.rounds_of_runs import RealRound, context_of, mark_of, runs_of
from studio.shell.jail import pool
from studio.shell.sized_cache import SizedCache

MOST_TRIED = 24
"""Real rounds, of the newest runs: each is made anew out of its database."""
MOST_NAMED = 3
_MOST_ROWS = 2_000

_kept: "SizedCache[tuple[Reaching, ...]]" = SizedCache(1_000)


@dataclass(frozen=True)
class Reaching:
    """A real round, and the lines that it would add."""

    round: RealRound
    lines: tuple[int, ...]


def reaching_rounds(prompt_set: PromptSet, text: str, unreached: Sequence[int]) -> tuple[Reaching, ...]:
    """The few real rounds that reach most of these lines of a team template, in the jail's batch lane.

    Raises ``JailError`` where the jail takes no jobs.
    """
    if not unreached:
        return ()
    runs = runs_of(prompt_set)
    key = (prompt_set.pk, prompt_set.dialect, digest_of(text), stamp_of(prompt_set), mark_of(runs))
    if (kept := _kept.get(key)) is not None:
        return kept
    dialect = dialect_of(prompt_set)
    tried = _seen(prompt_set, text)
    left = frozenset(unreached)
    reached = {}
    # One question for all of them first: most often none reaches anything new.
    if pool().coverage("team", text, [values for _, values in tried], dialect).reached & left:
        for played, values in tried:
            reached[played] = pool().coverage("team", text, [values], dialect).reached & left
    best_first: list[Reaching] = []
    while left and reached and len(best_first) < MOST_NAMED:
        best = max(reached, key=lambda played: len(reached[played] & left))
        lines = reached.pop(best) & left
        if not lines:
            break
        best_first.append(Reaching(best, tuple(sorted(lines))))
        left -= lines
    _kept.put(key, tuple(best_first), 1)
    return tuple(best_first)


def _seen(prompt_set: PromptSet, text: str) -> list[tuple[RealRound, Values]]:
    """Real rounds with what they saw: of each run every round once, each time with another team."""
    runs = {run.pk: run for run in runs_of(prompt_set).select_related("workspace")[:MOST_TRIED]}
    rows = RoundResult.objects.filter(run__in=runs).order_by("-run_id", "-round_number", "team_id")
    columns = ("run_id", "round_number", "team_id", "team_name")
    teams: dict[tuple[int, int], list[tuple[str, str]]] = {}
    for run_key, number, team, name in rows.values_list(*columns)[:_MOST_ROWS]:
        teams.setdefault((run_key, number), []).append((team, name))
    newest_first = {run_key: at for at, run_key in enumerate(runs)}
    # Runs that are over, for their task is known; of a run the last round first, which has most to tell.
    order = sorted(teams, key=lambda key: (not runs[key[0]].over, newest_first[key[0]], -key[1]))
    seen: list[tuple[RealRound, Values]] = []
    unread = set[int]()
    for at, (run_key, number) in enumerate(islice(order, MOST_TRIED)):
        run = runs[run_key]
        team, name = teams[run_key, number][at % len(teams[run_key, number])]
        if run.workspace_id in unread:
            continue
        try:
            context = context_of(run, team, number)
        except LeaderboardError:
            unread.add(run.workspace_id)
        except BuilderError:
            continue
        else:
            values = variables("team", context, None, SAMPLE_TIME, dialect_of(prompt_set), text)
            seen.append((RealRound(run, team, name or team, number), values))
    return seen
