"""The tables about versions and their runs as files."""

from collections.abc import Collection, Iterable, Iterator

from builder.results.statistics import Difference, Estimate
from studio.models import RunResult
from studio.results.round_scores import RoundScore
from studio.results.version_scores import VersionScore
from studio.shell.downloads import Cell, Table

VERSIONS = (
    "version", "message", "runs", "rounds", "teams", "scored_runs", "mean_best_score", "low", "high",
    "compared_with", "verdict", "different_ruler", "difference", "difference_low", "difference_high", "p",
    "method", "metrics", "unfinished", "edited_by_hand", "several_versions",
)  # fmt: skip
ROUNDS = (
    "version", "round_number", "runs", "rounds", "mean_score", "low", "high", "gain", "gain_low", "gain_high",
    "gain_p", "gain_method",
)  # fmt: skip
RUNS = (
    "execution_id", "workspace", "state", "counted", "found", "judges_inferred_from", "task", "teams",
    "rounds", "best_score", "metrics", "started_at",
)  # fmt: skip

_Cells = tuple[Cell, ...]


def versions_table(name: str, versions: Iterable[tuple[VersionScore, str]], *, is_cut: bool) -> Table:
    """Of versions with their messages."""
    return Table(name, VERSIONS, (_version(*each) for each in versions), is_cut)


def rounds_table(name: str, by_version: Iterable[tuple[int, Iterable[RoundScore]]]) -> Table:
    """Of versions with their rounds."""
    return Table(name, ROUNDS, (_round(number, each) for number, rounds in by_version for each in rounds))


def runs_table(name: str, runs: Iterator[RunResult], copies: Collection[int], *, is_cut: bool) -> Table:
    return Table(name, RUNS, (_run(run, counted=run.pk not in copies) for run in runs), is_cut)


def _version(version: VersionScore, message: str) -> _Cells:
    change = version.change
    return (
        version.number,
        message,
        version.runs,
        version.rounds,
        version.teams,
        version.main.runs if version.main else 0,
        *_estimated(version.estimate),
        *((change.old, change.verdict, change.ruler is not None) if change else (None, None, None)),
        *_differing(change.difference if change else None),
        "; ".join(version.main.ruler.metrics) if version.main else None,
        version.unfinished,
        version.edited,
        version.several,
    )


def _round(version: int, each: RoundScore) -> _Cells:
    return (
        version,
        each.number,
        each.runs,
        each.rounds,
        *_estimated(each.estimate),
        *_differing(each.gain),
    )


def _run(run: RunResult, *, counted: bool) -> _Cells:
    return (
        run.execution_id,
        run.workspace.slug,
        run.state,
        counted and run.over and run.state != "failed",
        run.found,
        run.basis or "nothing",
        run.task,
        run.teams,
        run.rounds,
        run.best_score,
        "; ".join(run.metrics),
        run.started_at,
    )


def _estimated(found: Estimate | None) -> _Cells:
    return (None, None, None) if found is None else (found.mean, found.low, found.high)


def _differing(found: Difference | None) -> _Cells:
    return (None,) * 5 if found is None else (found.mean, found.low, found.high, found.p, found.method)
