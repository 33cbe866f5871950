"""A workspace that the project played itself, and stores that keep their copies to themselves."""

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from builder.leaderboard import AggregationStore, copy_job
from builder.simulation import TASKS, Run, simulate
from builder.template.variables import PromptKind

CLOCKLESS: dict[PromptKind, str] = {
    "team": "# 競合タスク\n{{ user_prompt }}\n\n{{ team_position_message }}\n\n{{ ranking_table }}\n\n"
    "{% if round_number > 1 %}\n{{ submission_history }}\n{% endif %}\n",
    "evaluator": "{{ user_prompt }}\n{{ submission }}\n",
    "judgment": "{{ ranking_table }}\n{{ submission_history }}\n",
}
"""Prints a ranking, and no time."""

RUNS = (
    Run(TASKS["ja"][0], datetime(2026, 4, 1, 9, tzinfo=UTC)),
    Run(
        TASKS["en"][0],
        datetime(2026, 4, 2, 9, tzinfo=UTC),
        templates=CLOCKLESS,
        rounds=4,
        zone="Asia/Tokyo",
        ties=True,
        races=0.6,
        system_prompt=True,
    ),
    Run(
        TASKS["ja"][1], datetime(2026, 4, 3, 9, tzinfo=UTC), state="partial_failure", zone="America/New_York"
    ),
    Run(TASKS["ja"][2], datetime(2026, 4, 4, 9, tzinfo=UTC), state="failed"),
    Run(TASKS["ja"][3], datetime(2026, 4, 5, 9, tzinfo=UTC), state="running", zone="Asia/Kathmandu"),
)


@dataclass(frozen=True)
class Played:
    """A simulated workspace and the ids of its executions, in the order of ``RUNS``."""

    path: Path
    ids: tuple[str, ...]


@pytest.fixture(autouse=True)
def _no_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    """Between copies of a file that keeps changing; the tests' files are small."""
    monkeypatch.setattr(copy_job, "REST_PER_WORK", 0.0)


@pytest.fixture(scope="session")
def original(tmp_path_factory: pytest.TempPathFactory) -> Played:
    path = tmp_path_factory.mktemp("played")
    return Played(path, simulate(path, RUNS, seed=11))


@pytest.fixture(scope="session")
def kept(original: Played, tmp_path_factory: pytest.TempPathFactory) -> Iterator[AggregationStore]:
    """A store of the workspace that nobody writes to, open for all tests that only ask."""
    with AggregationStore(original.path, cache_folder=tmp_path_factory.mktemp("kept") / "cache") as store:
        yield store


@pytest.fixture
def played(original: Played, tmp_path: Path) -> Played:
    """One's own copy of the workspace."""
    path = tmp_path / "workspace"
    shutil.copytree(original.path, path)
    return Played(path, original.ids)


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


@pytest.fixture
def open_store(cache: Path) -> Iterator[Callable[..., AggregationStore]]:
    """Opens stores whose copies live in the test's own folder, and closes them."""
    stores: list[AggregationStore] = []

    def open_one(path: Path, **options: Any) -> AggregationStore:
        stores.append(AggregationStore(path, **{"cache_folder": cache, **options}))
        return stores[-1]

    yield open_one
    for store in stores:
        store.close()
