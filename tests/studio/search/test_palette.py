"""The palette's answers: names of everything, in both languages, the closest first."""

import re

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import translation

from studio.models import Workspace
from studio.prompts.labels import Label
from studio.search.fuzzy import closeness
from studio.search.names import MOST
from tests.studio.clock import NOW
from tests.studio.editing import make_context, make_set
from tests.studio.search.test_search_page import make_run, save


def options(client: Client, query: str, *actions: str) -> list[tuple[str, str]]:
    """Titles and where they lead; of an action, its place."""
    answer = client.get("/search/palette/", {"q": query, "action": actions})
    assert answer.status_code == 200
    found = re.findall(
        r'<a role="option"[^>]*?(?:href|data-action)="([^"]*)".*?palette-title">\s*(.*?)\s*</span>',
        answer.text,
        re.DOTALL,
    )
    return [(title, where) for where, title in found]


@pytest.fixture
def stocked(person: User) -> None:
    made = make_set(person, "research-team")
    save(made, person, "two\n", message="shorter")
    Label.objects.move("production", made.versions.get(number=1), by=person, at=NOW)
    make_set(person, "調査チーム")
    make_context("round-5")
    make_run("電池の市場を調べる", "7b1d6c52-4c1e")


@pytest.mark.parametrize(
    ("query", "where"),
    [
        ("research", "/prompts/research-team/"),
        ("ＲＥＳＥＡＲＣＨ", "/prompts/research-team/"),
        ("rsrch", "/prompts/research-team/"),
        ("調査", "/prompts/%E8%AA%BF%E6%9F%BB%E3%83%81%E3%83%BC%E3%83%A0/"),
        ("research v2", "/prompts/research-team/versions/2/"),
        ("research production", "/prompts/research-team/versions/1/"),
        ("round-5", "/contexts/round-5/"),
        ("lab", "/workspaces/lab/"),
        ("電池", "/workspaces/lab/runs/7b1d6c52-4c1e/"),
        ("7b1d6c52", "/workspaces/lab/runs/7b1d6c52-4c1e/"),
        ("contexts", "/contexts/"),
        ("コンテキスト", "/contexts/"),
        ("nothing of that name", "/search/?q=nothing+of+that+name"),
    ],
)
def test_the_first_option_is_what_was_meant(signed_in: Client, stocked: None, query: str, where: str) -> None:
    assert options(signed_in, query)[0][1] == where


@pytest.mark.parametrize(("language", "title"), [("en", "Workspaces"), ("ja", "ワークスペース")])
def test_either_language_finds_a_page_and_the_title_is_the_readers(
    signed_in: Client, language: str, title: str
) -> None:
    signed_in.cookies["studio-language"] = language
    for query in ("workspaces", "ワークスペース", "ﾜｰｸｽﾍﾟｰｽ"):
        assert options(signed_in, query)[0] == (title, "/workspaces/")


def test_actions_of_the_page_are_found_in_both_languages(signed_in: Client) -> None:
    assert options(signed_in, "編集", "Export", "Edit")[0] == ("Edit", "1")
    signed_in.cookies["studio-language"] = "ja"
    with translation.override("ja"):
        edit = translation.gettext("Edit")
    assert options(signed_in, "edit", edit)[0] == (edit, "0")
    assert options(signed_in, "", edit)[0] == (edit, "0")


def test_an_answer_is_bounded_and_reads_no_text(signed_in: Client, person: User) -> None:
    for number in range(30):
        make_set(person, f"set-{number}")
        make_context(f"set-{number}")
    with CaptureQueriesContext(connection) as queries:
        found = options(signed_in, "set", *["set"] * 100)
    assert len(found) <= MOST + 1 and len(queries) < 15
    texts = ("_user_prompt", '"studio_samplecontext"."data"')
    assert not [query["sql"] for query in queries if any(text in query["sql"] for text in texts)]


def test_archived_workspaces_are_left_out(signed_in: Client, stocked: None) -> None:
    Workspace.objects.update(archived=True)
    assert not [where for _title, where in options(signed_in, "lab") if where.startswith("/workspaces/lab")]


@pytest.mark.parametrize("query", ["%", "\\", "v999999999", "v0", "🏆", "<b>", '"', "ﾞ", "x" * 200, "v" * 99])
def test_odd_names_are_names(signed_in: Client, stocked: None, query: str) -> None:
    assert len(options(signed_in, query)) >= 1


def test_a_name_that_is_too_long_is_refused(signed_in: Client) -> None:
    assert signed_in.get("/search/palette/", {"q": "x" * 201}).status_code == 400


def test_a_stranger_gets_nothing(client: Client) -> None:
    assert client.get("/search/palette/?q=a").status_code == 302


def test_closer_names_count_more() -> None:
    names = ["team", "teams of two", "my team", "steam", "t-e-a-m", "other"]
    points = [closeness(["team"], [name]) for name in names]
    assert points == sorted(points, reverse=True) and points[-1] == 0 and len(set(points)) == 6
