"""Stores are kept for the next request, not too many of them, and read only what may be read."""

import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from builder.errors import CopyUnderWay, DatabaseMissing, LeaderboardError
from builder.leaderboard import AggregationStore
from studio.models import Workspace
from studio.workspaces import stores
from studio.workspaces.stores import NotAllowed, close_all, store_of
from tests.builder.workspaces import play_small_workspace


@pytest.fixture(autouse=True)
def _none_kept(settings: Any, tmp_path: Path) -> Iterator[None]:
    settings.STUDIO_DATA = tmp_path
    close_all()
    yield
    close_all()


@pytest.fixture(scope="session")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return play_small_workspace(tmp_path_factory.mktemp("workspace"))


def _workspace(path: Path, dialect: str = "mixseek") -> Workspace:
    return Workspace(name=path.name, path=str(path), dialect=dialect)


def test_a_workspace_has_one_store_for_all_requests(played: Path, tmp_path: Path) -> None:
    store = store_of(_workspace(played))
    assert store_of(_workspace(played)) is store
    assert store_of(_workspace(tmp_path)) is not store
    assert store_of(_workspace(played, "contract")) is not store
    assert (store.dialect.name, store_of(_workspace(played, "contract")).dialect.name) == (
        "mixseek-0.1.0a19",
        "contract",
    )
    assert store.executions()
    assert [*(tmp_path / "copies").glob("*/*/mixseek.db")] != []


def test_only_so_many_are_kept_and_those_let_go_are_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stores, "_MOST", 2)
    closed: list[AggregationStore] = []
    monkeypatch.setattr(AggregationStore, "close", lambda store: closed.append(store))
    first, second = (store_of(_workspace(tmp_path / name)) for name in "ab")
    assert store_of(_workspace(tmp_path / "a")) is first
    third = store_of(_workspace(tmp_path / "c"))
    assert closed == [second], "the one used longest ago"
    assert store_of(_workspace(tmp_path / "a")) is first
    close_all()
    assert closed == [second, third, first]


@pytest.mark.slow
def test_a_store_let_go_still_answers_who_holds_it(played: Path) -> None:
    store = store_of(_workspace(played))
    expected = store.executions()
    close_all()
    assert store.executions() == expected


def test_requests_at_once_get_the_same_store(played: Path) -> None:
    found: list[AggregationStore] = []
    start = threading.Barrier(8)

    def ask() -> None:
        start.wait()
        found.append(store_of(_workspace(played)))

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({id(store) for store in found}) == 1


def test_a_page_waits_for_a_first_copy_only_a_moment(settings: Any, played: Path) -> None:
    settings.STUDIO_COPY_PATIENCE = 0.0
    store = store_of(_workspace(played))
    with pytest.raises(CopyUnderWay):
        store.executions()
    assert store.refresh(wait=60).state == "idle"
    assert store.executions()


def test_a_database_that_leads_out_of_the_roots_is_not_read(
    settings: Any, played: Path, tmp_path: Path
) -> None:
    root = tmp_path / "root"
    (root / "workspace").mkdir(parents=True)
    (root / "workspace" / "mixseek.db").symlink_to(played / "mixseek.db")
    settings.STUDIO_WORKSPACE_ROOTS = (root,)
    with pytest.raises(LeaderboardError, match="is outside the allowed folders"):
        store_of(_workspace(root / "workspace")).executions()
    # When the operator allows that folder too, the next request finds it.
    settings.STUDIO_WORKSPACE_ROOTS = (root, played)
    assert store_of(_workspace(root / "workspace")).executions()


@pytest.mark.slow
def test_a_workspace_that_has_left_the_roots_is_not_read(settings: Any, played: Path, tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    shutil.copytree(played, root / "workspace")
    settings.STUDIO_WORKSPACE_ROOTS = (root,)
    workspace = _workspace(root / "workspace")
    assert store_of(workspace).executions()
    # Somebody turns it round to a folder elsewhere, or the operator takes the root away.
    (root / "workspace").rename(tmp_path / "gone")
    (root / "workspace").symlink_to(tmp_path / "gone")
    with pytest.raises(NotAllowed, match="symbolic link"):
        store_of(workspace)
    settings.STUDIO_WORKSPACE_ROOTS = (played,)
    with pytest.raises(NotAllowed, match="is not in an allowed folder"):
        store_of(workspace)


def test_a_folder_that_is_gone_has_no_runs(tmp_path: Path) -> None:
    with pytest.raises(DatabaseMissing):
        store_of(_workspace(tmp_path / "gone")).executions()
