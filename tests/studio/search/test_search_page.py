"""The search page: versions of all sets, contexts and tasks of runs, by what they say."""

import re
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from studio.models import Draft, PromptSet, RunResult, Workspace
from studio.prompts.labels import Label
from studio.prompts.texts import Templates
from studio.results.models import Found
from studio.search import folded_texts, versions
from tests.studio.clock import NOW
from tests.studio.editing import make_context, make_set, sent
from tests.studio.markup import tight


def save(prompt_set: PromptSet, author: User, team: str, message: str = "changed") -> None:
    texts = Templates(team, "Judge:\n{{ submission }}\n", "Go on?\n{{ submission_history }}\n")
    prompt_set.save_version(texts, base=prompt_set.revision, message=message, author=author, at=NOW)


def make_run(task: str, execution: str = "run-1", **more: Any) -> RunResult:
    workspace, _ = Workspace.objects.get_or_create(
        slug="lab", defaults={"name": "Lab", "path": "/nowhere/lab", "created_at": NOW}
    )
    columns = {"workspace": workspace, "execution_id": execution, "task": task, "task_key": f"key of {task}"}
    about = {"over": True, "state": "completed", "teams": 1, "rounds": 1, "found": Found.UNKNOWN}
    return RunResult.objects.create(
        **(columns | about | {"examined_up_to": 0, "examined_at": NOW, "started_at": NOW} | more)
    )


def found(client: Client, query: str, **more: str) -> str:
    answer = client.get("/search/", {"q": query, **more})
    assert answer.status_code == 200
    return tight(answer.text.partition("<main")[2].partition("</main>")[0])


def test_two_japanese_characters_are_found_in_a_template_with_their_line(
    signed_in: Client, person: User
) -> None:
    save(make_set(person), person, "# タスク\n\n前回の順位を確認する\n")
    page = found(signed_in, "順位")
    assert "前回の<mark>順位</mark>を確認する" in page
    assert 'href="/prompts/set/versions/2/#team-source-3"' in page
    assert 'id="team-source-3">前回の順位' in signed_in.get("/prompts/set/versions/2/").text


@pytest.mark.parametrize("query", ["ｒａｎｋ", "RANK", '"rank of"', "rank teams"])
def test_case_and_width_do_not_matter_and_all_words_must_be_there(
    signed_in: Client, person: User, query: str
) -> None:
    save(make_set(person), person, "Rank of all teams\n")
    assert "Set</a>" in found(signed_in, query)
    assert "No results for" in found(signed_in, f"{query} nowhere")


def test_newest_and_labelled_versions_come_before_older_ones(signed_in: Client, person: User) -> None:
    old, new = make_set(person, "old"), make_set(person, "new")
    save(old, person, "いつもの順位\n")
    save(old, person, "別の文\n")
    save(new, person, "いつもの順位\n")
    Label.objects.move("production", new.latest, by=person, at=NOW)  # type: ignore[arg-type]
    save(new, person, "別の文\n")
    page = found(signed_in, "順位")
    assert re.findall(r'<h3><a href="/prompts/(\w+)/"', page) == ["new", "old"]
    assert '<span class="label">production</span>' in page
    assert "older version" in page.partition("/prompts/old/")[2]


def test_a_message_and_an_author_are_found_in_versions_of_long_ago(signed_in: Client, person: User) -> None:
    made = make_set(person)
    save(made, person, "one\n", message="出典を求める")
    for number in range(70):
        save(made, person, f"text {number}\n")
    assert "<mark>出典</mark>を求める" in found(signed_in, "出典 yuki")


def test_pages_go_on_until_every_set_was_shown_once(
    signed_in: Client, person: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(versions, "_MOST_HISTORIES", 3)
    for number in range(40):
        made = make_set(person, f"set-{number}")
        save(made, person, "順位\n")
        if number % 4 == 0:
            save(made, person, "gone\n")
    shown: list[str] = []
    address = "/search/?q=順位&part=prompts"
    while address:
        page = signed_in.get(address).text
        shown += re.findall(r'<h3>\s*<a href="/prompts/(set-\d+)/"', page)
        more = re.search(r'href="(\?q=[^"]*part=prompts[^"]*)"', page)
        address = "/search/" + more[1].replace("&amp;", "&") if more else ""
    assert sorted(shown) == sorted(f"set-{number}" for number in range(40))
    assert all(int(name[4:]) % 4 == 0 for name in shown[30:])


def test_a_request_folds_so_much_and_the_next_page_goes_on(
    signed_in: Client, person: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folded_texts, "MOST_FOLDED", 1)
    monkeypatch.setattr(folded_texts, "_AT_ONCE", 2)
    for number in range(3):
        make_set(person, f"set-{number}")
    first = signed_in.get("/search/?q=round_number&part=prompts").text
    assert first.count('class="match"') == 2
    more = re.search(r'href="(\?q=[^"]*start=2)"', first)
    assert more and signed_in.get("/search/" + more[1].replace("&amp;", "&")).text.count('class="match"') == 1


def test_texts_that_were_read_once_are_not_read_again(signed_in: Client, person: User) -> None:
    for number in range(20):
        make_set(person, f"set-{number}")
    found(signed_in, "nowhere")
    with CaptureQueriesContext(
        connection,
    ) as queries:
        found(signed_in, "still nowhere")
    assert not [query for query in queries if "team_user_prompt" in query["sql"]]


def test_contexts_are_found_by_task_submission_and_comments_of_rounds(
    signed_in: Client, person: User
) -> None:
    make_context("start", rounds=3, user_prompt="市場を調査する\n規模も示す")
    assert "<mark>規模</mark>も示す" in found(signed_in, "規模")
    assert '<span class="excerpt-where soft">Round 2</span>' in found(signed_in, '"text 2"')
    assert 'href="/contexts/start/"' in found(signed_in, "handed")


def test_a_changed_context_is_found_by_what_it_says_now(signed_in: Client, person: User) -> None:
    context = make_context("start")
    assert "/contexts/start/" in found(signed_in, "stars", part="contexts")
    context.data["user_prompt"] = "別の課題"
    type(context).objects.filter(pk=context.pk).update(data=context.data, revision=2)
    assert "/contexts/start/" not in found(signed_in, "stars", part="contexts")
    assert "<mark>課題</mark>" in found(signed_in, "課題", part="contexts")


def test_a_task_is_shown_once_with_its_runs(signed_in: Client, person: User) -> None:
    for number in range(7):
        make_run("電池の市場を調べる", f"run-{number}")
    make_run("something else", "other")
    page = found(signed_in, "市場", part="runs")
    assert page.count("電池の<mark>市場</mark>を調べる") == 1
    assert 'href="/workspaces/lab/runs/run-6/"' in page and "7 runs in all" in page
    assert "other" not in page


def test_runs_of_an_archived_workspace_are_not_found(signed_in: Client, person: User) -> None:
    make_run("電池の市場を調べる")
    Workspace.objects.update(archived=True)
    assert "No results for" in found(signed_in, "市場")


def test_nobody_finds_a_draft(signed_in: Client, person: User) -> None:
    made = make_set(person)
    other = User.objects.create_user("ken")
    for who in (person, other):
        Draft.objects.keep(made, who, sent("秘密の下書き\n"), at=NOW)
    assert "No results for" in found(signed_in, "秘密")


@pytest.mark.parametrize(
    "query",
    [
        "%", "_", "'; DROP TABLE studio_promptset; --", "\\", '"', '""', "\u202e", "🏆" * 60, "ﾞ", "<script>",
        "a b c d e f g h", "\ufffd", "ﷺ" * 200, "x" * 200,
    ],
)  # fmt: skip
def test_odd_words_are_words(signed_in: Client, person: User, query: str) -> None:
    make_set(person)
    page = found(signed_in, query)
    assert "<script>" not in page


@pytest.mark.parametrize("query", ["x" * 201, "a b c d e f g h i", "a\0b"])
def test_what_cannot_be_searched_for_is_said_beside_the_box(signed_in: Client, query: str) -> None:
    answer = signed_in.get("/search/", {"q": query})
    assert answer.status_code == 400
    assert 'class="notice error"' in answer.text and 'id="search-box"' in answer.text


def test_the_navigation_has_a_plain_form(signed_in: Client) -> None:
    assert re.search(r'<form class="find" role="search" action="/search/"', signed_in.get("/contexts/").text)
