"""Batches of rows in the studio: many are merged into few, in the background."""

import multiprocessing
import os
import signal
import threading
from collections import Counter
from contextlib import suppress
from pathlib import Path

import duckdb
import pytest
from django.conf import LazySettings
from django.contrib.auth.models import User
from django.db import connection, connections
from django.test import Client

from builder.leaderboard import DATABASE_NAME, batches
from studio.machines import rewriting
from studio.machines.mirror import refreshed
from studio.machines.models import RemoteBatch, RemoteWorkspace
from studio.machines.rewriting import merge_many
from tests.studio.machines.conftest import Workplace

WITH_FOLDER = pytest.mark.parametrize("shared", [False, True], ids=["database", "folder"])


def remote() -> RemoteWorkspace:
    return RemoteWorkspace.objects.select_related("workspace").get()


def rows(database: Path) -> Counter[tuple[object, ...]]:
    """Every row of a database with its number, so that one that is doubled shows."""
    found: Counter[tuple[object, ...]] = Counter()
    with duckdb.connect(str(database), read_only=True) as opened:
        for table, columns in batches.COLUMNS.items():
            listed = ", ".join(f'CAST("{name}" AS VARCHAR)' for name in columns)
            found.update((table, *row) for row in opened.execute(f"SELECT {listed} FROM {table}").fetchall())
    return found


def require_same(workplace: Workplace) -> None:
    """The studio has what the machine has, neither more nor less."""
    mirror = refreshed(remote().workspace.path) / DATABASE_NAME
    assert rows(mirror) == rows(workplace.folder / DATABASE_NAME)


@pytest.fixture
def many(workplace: Workplace, monkeypatch: pytest.MonkeyPatch) -> Workplace:
    """A workspace with more batches than are left alone, some of which replace others."""
    monkeypatch.setattr(rewriting, "MOST_BATCHES", 12)
    workplace.agent.once()
    for number in range(4):
        workplace.play(f"task {number}")
        workplace.agent.once()
    assert RemoteBatch.objects.count() > 12
    return workplace


@WITH_FOLDER
@pytest.mark.django_db(transaction=True)
def test_many_batches_are_merged_into_few_and_nothing_is_lost_or_doubled(
    shared: bool, settings: LazySettings, many: Workplace, tmp_path: Path
) -> None:
    if shared:
        settings.STUDIO_BATCH_FOLDER = tmp_path / "batches"
        RemoteWorkspace.objects.all().delete()
        many.agent.once()
        for number in range(4):
            many.play(f"more {number}")
            many.agent.once()
    require_same(many)
    assert merge_many() == 1
    assert RemoteBatch.objects.count() == len(batches.COLUMNS)
    require_same(many)
    if shared:
        assert {path.name for path in (tmp_path / "batches").iterdir()} == {
            batch.path.name for batch in RemoteBatch.objects.all()
        }
    # Nothing more to merge, nothing to send again, and what is new comes as before.
    assert merge_many() == 0 and many.agent.once().executions == 0
    many.play("after the merge")
    assert many.agent.once().executions == 1
    require_same(many)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("moment", ["POST batches/", "POST commit"])
def test_batches_that_come_while_others_are_merged_are_sent_again(many: Workplace, moment: str) -> None:
    merged: list[int] = []
    seen: list[str] = []

    def meanwhile(what: str) -> None:
        # The third batch of a report, or its commit.
        seen.extend([what] if what.startswith(moment) else [])
        if len(seen) == (3 if moment.endswith("/") else 1) and not merged:
            merged.append(merge_many())

    many.connection.before = meanwhile
    many.play("sent while others are merged", runs=3)
    assert many.agent.once().executions == 3
    assert merged == [1]
    require_same(many)


@pytest.mark.django_db(transaction=True)
def test_pages_read_while_batches_are_merged(many: Workplace, person: User) -> None:
    """Every answer of a page is whole: never fewer runs than there were."""
    browser = Client()
    browser.force_login(person)
    address = f"/workspaces/{remote().workspace.slug}/runs/"
    stop = threading.Event()
    counts: list[int] = []

    def read() -> None:
        try:
            while not stop.is_set():
                mirror = refreshed(remote().workspace.path) / DATABASE_NAME
                with duckdb.connect(str(mirror), read_only=True) as opened:
                    counts.append(
                        opened.execute("SELECT count(DISTINCT execution_id) FROM leader_board").fetchall()[0][
                            0
                        ]
                    )
        finally:
            connections.close_all()

    reader = threading.Thread(target=read)
    reader.start()
    try:
        for _ in range(3):
            rewriting.rewrite(remote(), texts=True)
    finally:
        stop.set()
        reader.join()
    assert set(counts) == {5}
    assert browser.get(address).status_code == 200
    require_same(many)


def _merge_forever(begun: "multiprocessing.synchronize.Event") -> None:
    connections.close_all()
    begun.set()
    while True:
        with suppress(rewriting.NotRewritten):
            rewriting.rewrite(remote(), texts=True)


@pytest.mark.slow
@WITH_FOLDER
@pytest.mark.django_db(transaction=True)
def test_merging_killed_at_any_moment_leaves_the_old_batches_or_the_new(
    shared: bool, settings: LazySettings, many: Workplace, tmp_path: Path
) -> None:
    if shared:
        settings.STUDIO_BATCH_FOLDER = tmp_path / "batches"
    fork = multiprocessing.get_context("fork")
    for kill in range(30):
        begun = fork.Event()
        connection.close()
        process = fork.Process(target=_merge_forever, args=(begun,))
        process.start()
        begun.wait()
        process.join(timeout=0.02 * kill)
        assert process.pid is not None
        os.kill(process.pid, signal.SIGKILL)
        process.join()
        require_same(many)
    many.play("afterwards")
    assert many.agent.once().executions == 1
    require_same(many)
