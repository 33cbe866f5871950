"""A database of an earlier version, with its demo, opens, migrates and shows what it held."""

import gzip
import http.cookiejar
import signal
import sqlite3
import urllib.request
from pathlib import Path

import pytest

from tests.studio_process import Studio

BEFORE_THE_FIRST_RELEASE = "database_before_0.1.0.sql.gz"
DUMPS = (
    BEFORE_THE_FIRST_RELEASE,
    "database_0.1.0.sql.gz",
    "database_migration_0004.sql.gz",
    "database_migration_0014.sql.gz",
)
TABLES = ("promptversion", "labelmove", "export", "exportreceipt", "runresult", "roundresult", "historynote")


def restored(dump: str, folder: Path) -> Path:
    """A data folder with the database that was dumped into this file."""
    data = folder / "data"
    data.mkdir()
    with sqlite3.connect(data / "studio.sqlite3") as old:
        old.executescript(gzip.decompress(Path(__file__).with_name(dump).read_bytes()).decode())
    return data


Rows = dict[str, list[dict[str, object]]]


def rows(data: Path) -> Rows:
    with sqlite3.connect(data / "studio.sqlite3") as database:
        database.row_factory = sqlite3.Row
        return {
            table: [dict(row) for row in database.execute(f"SELECT * FROM studio_{table}")]
            for table in TABLES
        }


def without_new_columns(after: Rows, before: Rows) -> Rows:
    """What stands now in the columns that were there before."""
    return {
        table: [{column: row[column] for column in before[table][0]} for row in after[table]]
        for table in TABLES
    }


@pytest.mark.parametrize("dump", DUMPS)
def test_it_shows_the_same_versions_labels_exports_and_scores(dump: str, tmp_path: Path) -> None:
    data = restored(dump, tmp_path)
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
    assert without_new_columns(rows(data), before) == before


def test_one_from_between_is_refused_and_left_alone(tmp_path: Path) -> None:
    data = restored(BEFORE_THE_FIRST_RELEASE, tmp_path)
    with sqlite3.connect(data / "studio.sqlite3") as database:
        database.execute("DELETE FROM django_migrations WHERE app = 'studio' AND name LIKE '0012%'")
    before = rows(data)
    with pytest.raises(AssertionError, match="open it once with the last version"):
        Studio(data, "--port", "0")
    assert rows(data) == before
