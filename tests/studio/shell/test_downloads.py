"""Tables as files: what a spreadsheet opens safely and what a program reads exactly."""

import csv
import io
import json
from datetime import UTC, datetime, timedelta, timezone

import pytest
from django.http import StreamingHttpResponse
from django.test import RequestFactory

from studio.shell import downloads
from studio.shell.downloads import Table, as_csv, as_json, attachment, download
from studio.shell.refusal import RequestRefused

COLUMNS = ("team_name", "score", "best", "at", "took", "note")
TOKYO = timezone(timedelta(hours=9))
ROWS = [
    ('深掘り, "班"\n2', 81.25, True, datetime(2026, 4, 1, 9, tzinfo=TOKYO), timedelta(seconds=90), None),
    ("=HYPERLINK(1)", -3.5, False, None, None, "＝1+1"),
    ("plain", float("nan"), None, None, None, "- a list"),
]


def asked(query: str) -> StreamingHttpResponse | None:
    tables = {name: lambda name=name: Table(name, COLUMNS, iter(ROWS)) for name in ("teams", "rounds")}
    return download(RequestFactory().get(f"/runs/{query}"), tables)


def body(answer: StreamingHttpResponse | None) -> str:
    assert answer is not None
    return b"".join(answer).decode()


def test_a_page_without_a_format_is_the_page() -> None:
    assert asked("") is None and asked("?table=teams") is None


def test_csv_opens_in_excel_with_its_japanese() -> None:
    answer = asked("?format=csv&table=rounds")
    text = body(answer)
    assert answer is not None and answer.headers["Content-Type"] == "text/csv; charset=utf-8"
    assert 'filename="rounds.csv"' in answer.headers["Content-Disposition"]
    assert text.startswith("\ufeffteam_name,score") and text.count("\r\n") == 4
    rows = list(csv.DictReader(io.StringIO(text.removeprefix("\ufeff"), newline="")))
    assert rows[0] == {
        "team_name": '深掘り, "班"\n2',
        "score": "81.25",
        "best": "true",
        "at": "2026-04-01T00:00:00+00:00",
        "took": "90.0",
        "note": "",
    }


def test_what_a_spreadsheet_would_run_stays_text_and_numbers_stay_numbers() -> None:
    rows = list(csv.reader(io.StringIO(body(asked("?format=csv")).removeprefix("\ufeff"), newline="")))
    assert rows[2] == ["'=HYPERLINK(1)", "-3.5", "false", "", "", "'＝1+1"]
    assert rows[3] == ["plain", "", "", "", "", "'- a list"]


def test_json_is_exact() -> None:
    rows = json.loads(body(asked("?format=json")))
    assert rows[1] == {
        "team_name": "=HYPERLINK(1)",
        "score": -3.5,
        "best": False,
        "at": None,
        "took": None,
        "note": "＝1+1",
    }
    assert rows[2]["score"] is None
    assert json.loads("".join(as_json(COLUMNS, []))) == []
    assert "".join(as_csv(("a",), [])) == "\ufeffa\r\n"


@pytest.mark.parametrize(
    ("query", "status"),
    [("?format=xls", 400), ("?format=csv&table=other", 404), ("?format=csv&table=" + "x" * 99, 400)],
)
def test_what_no_link_asks_for_is_refused(query: str, status: int) -> None:
    with pytest.raises(RequestRefused) as refused:
        asked(query)
    assert refused.value.status == status


def test_a_file_that_does_not_hold_everything_says_so_in_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(downloads, "MOST_ROWS", 2)
    answer = downloads.file_of(Table("runs", ("n",), ((n,) for n in range(9)), is_cut=True), "csv")
    assert 'filename="runs-first-2.csv"' in answer.headers["Content-Disposition"]
    assert body(answer) == "\ufeffn\r\n0\r\n1\r\n"


def test_times_are_utc_in_both_forms() -> None:
    row = [(datetime(2026, 4, 1, 9, tzinfo=UTC),)]
    assert "2026-04-01T09:00:00+00:00" in "".join(as_csv(("at",), row))
    assert "2026-04-01T09:00:00+00:00" in "".join(as_json(("at",), row))


@pytest.mark.parametrize(
    ("name", "safe"),
    [
        ("../../etc/passwd.csv", "etc-passwd.csv"),
        ("C:\\Windows\\a.txt", "C-Windows-a.txt"),
        ("team\u202etxt.exe.csv", "teamtxt.exe.csv"),
        ("a\x00\r\nb\u2028\u200f\u2066.md", "ab.md"),
        ("...", "download"),
        (f"{'a' * 500}.json", f"{'a' * 120}.json"),
    ],
)
def test_a_file_name_has_no_path_and_nothing_invisible(name: str, safe: str) -> None:
    assert attachment(name) == f'attachment; filename="{safe}"'


def test_a_japanese_file_name_stays() -> None:
    assert "%E9%A0%86%E4%BD%8D-2.txt" in attachment("順位-2.txt")
