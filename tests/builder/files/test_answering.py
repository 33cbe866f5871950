"""Folders that hang are not waited for again; the rest is answered as if nobody had asked."""

import threading
from pathlib import Path

import pytest

from builder.files import answering
from builder.files.answering import answers, in_time


def test_folders_answer_whether_or_not_they_are_there(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for path in (tmp_path, tmp_path / "none", tmp_path / "file", Path("/proc/self"), "a\0b"):
        assert answers(path) and answers(path)


def test_what_hangs_is_asked_once_until_it_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answering, "SECONDS", 0.05)
    go_on, asked = threading.Event(), threading.Semaphore(0)

    def look() -> str:
        asked.release()
        go_on.wait(60)
        return "there"

    assert [in_time("a share", look) for _ in range(3)] == [None] * 3
    assert asked.acquire(timeout=60) and not asked.acquire(blocking=False)
    assert in_time("another", lambda: 1) == 1
    go_on.set()
    monkeypatch.setattr(answering, "SECONDS", 60)
    while in_time("a share", look) != "there":
        pass


def test_a_look_that_fails_is_no_answer_and_hangs_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threading, "excepthook", lambda args: None)
    assert in_time("broken", lambda: 1 // 0) is None


def test_folders_on_this_machines_disks_are_told_from_others(tmp_path: Path) -> None:
    mounts = answering._mounts
    assert mounts is not None
    assert mounts.are_local(str(tmp_path)) and not mounts.are_local("/proc/self")
