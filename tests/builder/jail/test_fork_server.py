"""The bare process that workers are forked from: what it holds, what a fork holds of it, and its end."""

import os
import resource
import select
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from builder.jail import JailPool, Limits
from tests.process_memory import children

Values = dict[str, str | int]


@pytest.fixture
def own() -> Iterator[JailPool]:
    with JailPool(size=2, spares=0, limits=Limits(time=30, cpu=30)) as pool:
        yield pool


def server_of(pool: JailPool) -> int:
    process = pool._jobs._forks._process
    assert process
    return process._popen.pid


def workers(pool: JailPool) -> list[int]:
    return [worker.pid for lane in pool._jobs._lanes.values() for worker in lane.all()]


def descriptors(pid: int) -> dict[str, str]:
    folder = Path(f"/proc/{pid}/fd")
    return {entry.name: os.readlink(entry).partition(":")[0] for entry in folder.iterdir()}


def test_it_holds_one_channel_and_nothing_of_its_parent(
    own: JailPool, values: Values, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STUDIO_SECRET_KEY", "secret")
    own.render("team", "a", values)
    server = server_of(own)
    assert Path(f"/proc/{server}/environ").read_bytes() == b""
    assert descriptors(server) == {"0": "socket", "1": "socket", "2": "/dev/null"}
    mapped = Path(f"/proc/{server}/maps").read_text()
    assert "python" in mapped
    assert not [name for name in ("duckdb", "_ssl", "sqlite", "bpe_openai", "psycopg") if name in mapped]


def test_a_worker_holds_its_two_pipes_and_no_others(own: JailPool, values: Values) -> None:
    own.start()
    while own.stats().lanes["preview"].idle < 2:
        pass
    pipes = [os.readlink(f"/proc/{pid}/fd/{number}") for pid in workers(own) for number in (0, 1)]
    assert len(set(pipes)) == 4
    for pid in workers(own):
        assert descriptors(pid) == {"0": "pipe", "1": "pipe", "2": "/dev/null"}
        assert pid in children(server_of(own))


def test_workers_outlive_it_and_the_next_ones_have_a_new_one(own: JailPool, values: Values) -> None:
    own.render("team", "a", values)
    first, before = server_of(own), workers(own)
    os.kill(first, signal.SIGKILL)
    assert own.render("team", "b", values) == "b"
    assert set(workers(own)) & set(before)
    for pid in before:
        handle = os.pidfd_open(pid)
        signal.pidfd_send_signal(handle, signal.SIGKILL)
        # Until its pipes are closed: a job that meets one which is ending is done again only once.
        select.select([handle], [], [])
        os.close(handle)
    assert own.render("team", "c", values) == "c"
    assert server_of(own) != first
    assert own.stats().stops == 0


def test_it_starts_in_a_process_with_many_open_files(values: Values) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 4096), hard))
    held = [os.open(os.devnull, os.O_RDONLY) for _ in range(1100)]
    try:
        with JailPool(size=1, spares=0) as pool:
            assert pool.render("team", "a", values) == "a"
    finally:
        for descriptor in held:
            os.close(descriptor)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_an_interrupt_leaves_no_answer_for_the_next_question(
    own: JailPool, values: Values, monkeypatch: pytest.MonkeyPatch
) -> None:
    own.render("team", "a", values)
    process = own._jobs._forks._process
    assert process
    with monkeypatch.context() as interrupted:
        interrupted.setattr(process, "_answer", _interrupt)
        with pytest.raises(KeyboardInterrupt):
            process.ask({"reap": workers(own)[0]})
    assert not process.is_running()
    assert own.render("team", "b", values) == "b"


def _interrupt() -> None:
    raise KeyboardInterrupt
