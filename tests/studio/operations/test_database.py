"""A database of the last version before 0.1.0, with its demo, opens, migrates and shows what it held."""

import gzip
import http.cookiejar
import signal
import sqlite3
import urllib.request
from pathlib import Path

import pytest

from tests.studio_process import Studio

DUMP = Path(__file__).with_name("database_before_0.1.0.sql.gz")
TABLES = ("promptversion", "labelmove", "export", "exportreceipt", "runresult", "roundresult", "historynote")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    (tmp_path / "data").mkdir()
    with sqlite3.connect(tmp_path / "data" / "studio.sqlite3") as old:
        old.executescript(gzip.decompress(DUMP.read_bytes()).decode())
    return tmp_path / "data"


def rows(data: Path) -> dict[str, list[tuple[object, ...]]]:
    with sqlite3.connect(data / "studio.sqlite3") as database:
        return {table: database.execute(f"SELECT * FROM studio_{table}").fetchall() for table in TABLES}


def test_it_shows_the_same_versions_labels_exports_and_scores(data: Path) -> None:
    before = rows(data)
    assert all(before.values())
    studio = Studio(data, "--port", "0")
    browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar()))

    def page(address: str) -> str:
        return browser.open(studio.base + address, timeout=30).read().decode()  # type: ignore[no-any-return]

    try:
        browser.open(studio.link, timeout=30)
        history = page("/prompts/briefing-writers/")
        assert "Show the leaderboard from round 2 on" in history and "production" in history
        searched = page("/prompts/briefing-writers/?q=leaderboard")
        assert "from round 2 on" in searched and "One job per round" not in searched
        assert "Evaluator: name the criteria" in page("/prompts/briefing-writers/versions/5/")
        assert page("/prompts/research-team/compare/4...5").count("diff-panel") >= 1
        assert "v4" in page("/prompts/research-team/scores/")
        assert "Briefing writers" in page("/exports/")
    finally:
        assert studio.end(signal.SIGTERM) == 0
    assert rows(data) == before


def test_one_from_between_is_refused_and_left_alone(data: Path) -> None:
    with sqlite3.connect(data / "studio.sqlite3") as database:
        database.execute("DELETE FROM django_migrations WHERE app = 'studio' AND name LIKE '0012%'")
    before = rows(data)
    with pytest.raises(AssertionError, match="open it once with the last version"):
        Studio(data, "--port", "0")
    assert rows(data) == before
