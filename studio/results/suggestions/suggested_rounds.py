"""Suggested rounds: those of real runs that no sample context is like, and what each would add.

Used by the page of suggestions.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice

from builder.errors import BuilderError, LeaderboardError
from studio.models import PromptSet, RoundResult, RunResult, SampleContext, Workspace
from studio.preview.situations import stamp_of
from studio.results.suggestions.rounds_of_runs import RealRound, context_of, mark_of, runs_of
from studio.results.suggestions.sample_gaps import (
    TRAITS,
    Gap,
    Measure,
    Samples,
    Trait,
    What,
    in_order,
    standing_traits,
    traits_of,
)
from studio.shell.sized_cache import SizedCache
from studio.workspaces.stores import store_of

MOST_RUNS = 200
"""Of a set, the newest, that are looked at."""
MOST_ROUNDS = 20_000
MOST_SUGGESTED = 6
MOST_REBUILT = 12
"""Rounds that are made anew to see how they really stood: each reads its conversation."""

_Key = tuple[int, str, int]
"""Run, team and number of a round."""

_kept: "SizedCache[FromRuns]" = SizedCache(1_000)


@dataclass(frozen=True)
class Suggestion:
    """A real round with what it would add to the sample contexts."""

    round: RealRound
    gaps: tuple[Gap, ...]


@dataclass(frozen=True)
class FromRuns:
    """What the runs of a set suggest."""

    runs: int = 0
    """How many were looked at."""
    suggestions: tuple[Suggestion, ...] = ()
    unread: tuple[Workspace, ...] = ()
    """Those whose database could not be asked: their runs are known by their figures alone."""


def from_runs(prompt_set: PromptSet) -> FromRuns:
    """The real rounds to keep as sample contexts: few, so that together they add all that is missing."""
    runs = runs_of(prompt_set)
    key = (prompt_set.pk, stamp_of(prompt_set), mark_of(runs))
    if (kept := _kept.get(key)) is not None:
        return kept
    samples = Samples.of(SampleContext.objects.for_set(prompt_set))
    suggested = _Search(list(runs.select_related("workspace")[:MOST_RUNS]), samples).result()
    if not suggested.unread:
        _kept.put(key, suggested, 1)
    return suggested


class _Search:
    """Looks for the fewest real rounds that add what the samples lack."""

    def __init__(self, runs: Sequence[RunResult], samples: Samples) -> None:
        self._runs = {run.pk: run for run in runs}
        self._samples = samples
        self._names: dict[_Key, str] = {}
        self._unread: dict[int, Workspace] = {}
        self._offers: dict[_Key, set[What]] = {}
        self._values: dict[tuple[_Key, Measure], int] = {}
        self._rebuilt = 0

    def result(self) -> FromRuns:
        scores = self._read_rounds()
        self._offer_places(scores)
        self._offer_measures()
        return FromRuns(len(self._runs), tuple(self._chosen()), tuple(self._unread.values()))

    # --- what there is -------------------------------------------------------------------

    def _read_rounds(self) -> dict[int, dict[int, dict[str, float | None]]]:
        """Scores by run, round and team."""
        rows = RoundResult.objects.filter(run__in=self._runs).order_by("-run_id", "team_id", "round_number")
        scores: dict[int, dict[int, dict[str, float | None]]] = {}
        columns = ("run_id", "team_id", "team_name", "round_number", "score")
        for run, team, name, number, score in rows.values_list(*columns)[:MOST_ROUNDS]:
            self._names[run, team, number] = name or team
            scores.setdefault(run, {}).setdefault(number, {})[team] = score
        return scores

    def _offer_places(self, scores: dict[int, dict[int, dict[str, float | None]]]) -> None:
        """Who stood where, if all were at the same round: how it really was, is seen when it matters."""
        for run, by_round in scores.items():
            best: dict[str, float] = {}
            for number in sorted(by_round):
                if number > 1:
                    places = sorted(best, key=lambda team: (-best[team], team))
                    for team in by_round[number]:
                        self._offer((run, team, number), self._traits(places, team))
                for team, score in by_round[number].items():
                    if score is not None:
                        best[team] = max(score, best.get(team, score))

    def _traits(self, places: list[str], team: str) -> set[Trait]:
        if team in places:
            return {*standing_traits(places.index(team) + 1, len(places))}
        return {"absent" if places else "no-ranking", "no-history"}

    def _offer_measures(self) -> None:
        for key in self._names:
            run, _team, number = key
            self._values[key, "round"] = number
            self._values[key, "task"] = len(self._runs[run].task)
            if number > 1:
                self._values[key, "teams"] = self._runs[run].teams
        self._read_lengths()
        most: dict[Measure, int] = {}
        for (_key, name), value in self._values.items():
            most[name] = max(value, most.get(name, 0))
        for (key, name), value in self._values.items():
            # One that is nearly the longest will do, if it shows something else besides.
            enough = value == most[name] if name == "round" else value >= 0.9 * most[name]
            if enough and self._samples.lacks(name, value):
                self._offers.setdefault(key, set()).add(name)

    def _read_lengths(self) -> None:
        by_workspace: dict[int, list[RunResult]] = {}
        for run in self._runs.values():
            by_workspace.setdefault(run.workspace_id, []).append(run)
        for runs in by_workspace.values():
            keys = {run.execution_id: run.pk for run in runs}
            try:
                lengths = store_of(runs[0].workspace).lengths(list(keys))
            except LeaderboardError:
                self._unread[runs[0].workspace_id] = runs[0].workspace
                continue
            before: dict[tuple[int, str], int] = {}
            for length in lengths:
                key = (keys[length.execution_id], length.team_id, length.round_number)
                earlier = before.get(key[:2], 0)
                if key in self._names:
                    self._values[key, "submission"] = length.characters
                    self._values[key, "history"] = earlier
                before[key[:2]] = earlier + length.characters

    def _offer(self, key: _Key, traits: set[Trait]) -> None:
        if missing := traits - self._samples.traits:
            self._offers.setdefault(key, set()).update(missing)

    # --- which to take -------------------------------------------------------------------

    def _chosen(self) -> Iterable[Suggestion]:
        """The rounds that add the most; then those that may be odd in a way that no figure tells."""
        taken = set[What]()
        for suggestion in islice(chain(self._best(taken), self._second_looks(taken)), MOST_SUGGESTED):
            taken |= {gap.what for gap in suggestion.gaps}
            yield suggestion

    def _best(self, taken: set[What]) -> Iterator[Suggestion]:
        while offers := self._open_offers(taken):
            key = max(offers, key=lambda key: self._rank(key, offers[key]))
            del self._offers[key]
            adds = offers[key] - set(TRAITS)
            if adds != offers[key]:
                adds |= self._really(key) - self._samples.traits - taken
            if adds:
                yield self._suggestion(key, adds)

    def _open_offers(self, taken: set[What]) -> dict[_Key, set[What]]:
        """What is left to add. A place that cannot be looked at any more is no offer."""
        asked = self._rebuilt < MOST_REBUILT
        left: dict[_Key, set[What]] = {}
        for key, what in self._offers.items():
            told = asked and self._runs[key[0]].workspace_id not in self._unread
            if adds := what - taken - (set() if told else set(TRAITS)):
                left[key] = adds
        return left

    def _second_looks(self, taken: set[What]) -> Iterator[Suggestion]:
        """Who comes to round 2 first may find nobody there yet; the database alone knows."""
        second = [key for key in self._names if key[2] == 2]
        for key in sorted(second, key=lambda key: self._rank(key, ()), reverse=True):
            if self._rebuilt >= MOST_REBUILT:
                return
            if adds := self._really(key) - self._samples.traits - taken:
                yield self._suggestion(key, adds)

    def _rank(self, key: _Key, adds: Collection[What]) -> tuple[object, ...]:
        """The most at once; then a run that is over, the latest, the first team."""
        run = self._runs[key[0]]
        started = run.started_at.timestamp() if run.started_at else 0.0
        return len(adds), run.over, bool(run.task), started, key[2], [-ord(letter) for letter in key[1]]

    def _really(self, key: _Key) -> frozenset[Trait]:
        """What the round really was like, out of its database; nothing once enough were looked at."""
        run = self._runs[key[0]]
        if self._rebuilt >= MOST_REBUILT or run.workspace_id in self._unread:
            return frozenset()
        self._rebuilt += 1
        try:
            seen = context_of(run, key[1], key[2])
        except LeaderboardError:
            self._unread[run.workspace_id] = run.workspace
            return frozenset()
        except BuilderError:
            return frozenset()
        return traits_of(seen)

    def _suggestion(self, key: _Key, adds: Iterable[What]) -> Suggestion:
        played = RealRound(self._runs[key[0]], key[1], self._names[key], key[2])
        return Suggestion(played, tuple(self._gap(key, what) for what in in_order(adds)))

    def _gap(self, key: _Key, what: What) -> Gap:
        measure: Measure = what  # type: ignore[assignment]
        return Gap(what, self._values.get((key, measure), 0), self._samples.measures.get(measure, 0))
