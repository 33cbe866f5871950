"""Tests of the documents' statements, through ``import builder`` alone: none of them can import Django."""

import sys
from collections.abc import Callable, Generator
from pathlib import Path

import pytest

from tests.contract.command_line import Outcome, run

FORBIDDEN = ("django", "studio")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call() -> Generator[None, object, object]:
    """While a test runs, Django and the studio are not to be had; the runner has them again afterwards."""
    there = {name: module for name, module in sys.modules.items() if name.split(".")[0] in FORBIDDEN}
    sys.modules.update(dict.fromkeys([*there, *FORBIDDEN]))  # type: ignore[arg-type]
    try:
        return (yield)
    finally:
        for name in FORBIDDEN:
            del sys.modules[name]
        sys.modules.update(there)


@pytest.fixture(autouse=True)
def bare_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the machine of the tests says must not decide."""
    for name in ("TZ", "MIXSEEK_WORKSPACE", "MIXSEEK_TEAM_USER_PROMPT"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "ws"
    (folder / "configs").mkdir(parents=True)
    return folder


@pytest.fixture
def command(
    capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Outcome]:
    """``python -m builder`` in this process."""
    return lambda *arguments, stdin="": run(capsysbinary, monkeypatch, arguments, stdin)
