"""What all tests share: which of them run."""

import os
import signal
from functools import cache
from pathlib import Path

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

from tests import fuzzing
from tests.chromium import HOW_TO_GET_IT, find_chromium

BROWSER_TESTS = Path(__file__).parent / "browser"

# A runner in the background ignores Ctrl-C and hands that down; the processes that tests interrupt must not.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("prompt studio")
    group.addoption("--no-browser", action="store_true", help="leave the browser tests out (the inner loop)")
    group.addoption(
        "--require-browser",
        action="store_true",
        default=os.environ.get("STUDIO_REQUIRE_BROWSER") == "1",
        help="without Chromium, fail the browser tests instead of skipping them",
    )
    group.addoption(
        "--thorough",
        action="store_true",
        help="all examples of the long fuzz tests, and other ones each time (with -m slow)",
    )


def pytest_configure(config: pytest.Config) -> None:
    fuzzing.be_thorough(config.getoption("--thorough"))


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    # Not even read: Playwright takes its time to import.
    return True if config.getoption("--no-browser") and collection_path == BROWSER_TESTS else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(BROWSER_TESTS):
            item.add_marker("browser")
    # Last of all: from its first page on Playwright keeps an event loop running, in which neither Django's
    # database nor asyncio.run works. The longest files first, so that no process ends long before the others.
    items.sort(key=lambda item: _browser_order(item.path))


@cache
def _browser_order(path: Path) -> tuple[int, int, str]:
    return (1, -path.stat().st_size, path.name) if path.is_relative_to(BROWSER_TESTS) else (0, 0, "")


class ByFile(LoadScopeScheduling):
    """Gives tests out to several processes by file, in the order in which they were collected.

    Slow tests are given out one by one: a few of them take as long as whole files of others.
    """

    def _split_scope(self, nodeid: str) -> str:
        file = nodeid.partition("::")[0]
        one_by_one = self.config.option.markexpr == "slow" and not file.startswith("tests/browser/")
        return nodeid if one_by_one else file


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> ByFile:
    return ByFile(config, log)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("browser") is None or find_chromium() is not None:
        return
    if item.config.getoption("--require-browser"):
        pytest.fail(f"There is no Chromium: {HOW_TO_GET_IT}.", pytrace=False)
    pytest.skip("there is no Chromium")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    skipped = [report for report in terminalreporter.getreports("skipped") if "browser" in report.keywords]
    if skipped:
        terminalreporter.write_line(f"{len(skipped)} browser tests were skipped: {HOW_TO_GET_IT}.")
