"""Sample contexts: valid by the builder's rules, shown in the reader's language."""

import html
import re
from dataclasses import replace
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import translation

from builder.template.models import read_context
from studio.models import PromptSet, SampleContext
from tests.studio.clock import NOW
from tests.studio.editing import TEXTS, make_context, make_set
from tests.studio.markup import tight

DATA = {
    "user_prompt": "task",
    "round_number": 2,
    "round_history": [{"round_number": 1, "submission_content": "s", "evaluation_score": 70}],
    "team_id": "t",
    "team_name": "T",
    "execution_id": "e",
}


def context(**more: object) -> SampleContext:
    values = {"slug": "c", "name": "C", "data": DATA, "submission": "s", "created_at": NOW, "changed_at": NOW}
    return SampleContext(**{**values, **more})


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"round_number": 0}, "round_number"),
        ({"user_prompt": " "}, "user_prompt"),
        ({"round_history": [{"round_number": 1}]}, "round_history.0.submission_content"),
        ({"ranking": "x"}, "ranking"),
    ],
)
def test_a_problem_in_the_data_names_its_field(db: None, change: dict[str, object], field: str) -> None:
    with pytest.raises(ValidationError) as refused:
        context(data={**DATA, **change}).full_clean()
    assert field in str(refused.value)


def test_a_context_serves_all_three_templates(db: None) -> None:
    made = context(submission="handed in")
    assert made.round_context.round_number == 2
    assert (made.round_context.user_prompt, made.submission) == ("task", "handed in")


def test_a_set_uses_its_own_contexts_and_the_shared_ones(db: None) -> None:
    mine, other = (PromptSet.objects.create(slug=s, name=s, created_at=NOW, changed_at=NOW) for s in "ab")
    for slug, owner in (("own", mine), ("other", other), ("shared", None)):
        context(slug=slug, name=slug, prompt_set=owner).save()
    assert {each.slug for each in SampleContext.objects.for_set(mine)} == {"own", "shared"}


def test_shipped_names_are_shown_in_japanese_and_others_as_they_are(demo: object) -> None:
    shipped = SampleContext.objects.get(slug="round-5-last")
    own = context(name="Save", description="")
    with translation.override("ja"):
        assert (shipped.title, own.title, own.about) == ("ラウンド5、最下位", "Save", "")


def test_the_list_is_searched_in_the_language_it_is_shown_in(demo: object, signed_in: Client) -> None:
    english = signed_in.get("/contexts/?q=LAST place").content.decode()
    japanese = signed_in.get("/contexts/?q=最下位", headers={"Accept-Language": "ja"}).content.decode()
    for page in (english, japanese):
        assert "/contexts/round-5-last/" in page and "/contexts/round-1/" not in page
    unseen = signed_in.get("/contexts/?q=last place", headers={"Accept-Language": "ja"}).content.decode()
    assert "/contexts/round-5-last/" not in unseen


def test_a_context_page_shows_text_as_it_is(demo: object, signed_in: Client) -> None:
    page = signed_in.get("/contexts/braces-html-emoji/").content.decode()
    assert "&lt;script&gt;alert(" in page and "{{ not_a_variable }}" in page and "🏆" in page
    assert "<script>alert" not in page


def test_an_unknown_context_is_not_found(signed_in: Client) -> None:
    assert signed_in.get("/contexts/nothing/").status_code == 404


def names(page: str) -> list[str]:
    return re.findall(r'<a class="row-link" href="/contexts/([^/]+)/">', page)


def test_the_list_is_narrowed_to_what_a_set_uses(signed_in: Client) -> None:
    mine, other = (PromptSet.objects.create(slug=s, name=s, created_at=NOW, changed_at=NOW) for s in "ab")
    for slug, owner in (("own", mine), ("others", other), ("for-all", None)):
        context(slug=slug, name=slug, prompt_set=owner).save()
    pages = {
        query: signed_in.get(f"/contexts/{query}").content.decode() for query in ("", "?set=a", "?set=shared")
    }
    assert [names(page) for page in pages.values()] == [
        ["own", "others", "for-all"],
        ["own", "for-all"],
        ["for-all"],
    ]
    assert names(signed_in.get("/contexts/?set=a&q=OWN").content.decode()) == ["own"]
    assert 'href="/contexts/new/?set=a"' in pages["?set=a"]
    assert "No context matches" in signed_in.get("/contexts/?set=b&q=nothing").content.decode()
    assert signed_in.get("/contexts/?set=nothing").status_code == 404
    assert signed_in.get("/contexts/?set=a/b").status_code == 400


def test_the_list_tells_round_history_and_ranking(demo: object, signed_in: Client) -> None:
    page = tight(signed_in.get("/contexts/").content.decode())
    rows = [re.findall(r'<td class="number"[^>]*>([^<]*)</td>', row) for row in page.split("<tr>")[2:]]
    assert rows == [
        ["1", "0", "–"],
        ["2", "1", "4"],
        ["5", "4", "4"],
        ["5", "4", "4"],
        ["3", "2", "0"],
        ["3", "2", "4"],
        ["2", "1", "1"],
    ]


def test_the_list_asks_the_database_as_often_however_many_there_are(signed_in: Client) -> None:
    counts = []
    for number in (1, 20):
        for each in range(number):
            context(slug=f"c{number}-{each}", name=f"C{number}-{each}").save()
        with CaptureQueriesContext(connection) as queries:
            signed_in.get("/contexts/")
        counts.append(len(queries))
    assert counts[0] == counts[1]


@pytest.mark.slow
def test_a_long_list_comes_in_pages(signed_in: Client, django_assert_max_num_queries: Any) -> None:
    mine = PromptSet.objects.create(slug="a", name="a", created_at=NOW, changed_at=NOW)
    made = [
        context(slug=f"c{n}", name=f"Case {n} É", prompt_set=mine if n < 60 else None) for n in range(120)
    ]
    SampleContext.objects.bulk_create(made)
    page = signed_in.get("/contexts/").content.decode()
    seen = names(page)
    for expected in (50, 20):
        assert 'rel="next"' in page
        address = html.unescape(re.findall(r'href="(\?[^"]*)" rel="next"', page)[0])
        with django_assert_max_num_queries(9) as queries:
            page = signed_in.get("/contexts/" + address).content.decode()
        assert any("LIMIT 51" in each["sql"] for each in queries.captured_queries)
        assert len(names(page)) == expected and 'href="?">First page' in page
        seen += names(page)
    assert seen == [f"c{n}" for n in range(120)] and 'rel="next"' not in page
    narrowed = signed_in.get("/contexts/?set=a&q=cASE 5").content.decode()
    assert names(narrowed) == ["c5", *(f"c{n}" for n in range(50, 60))]
    assert "set=a&amp;q=%C3%A9&amp;after=" in signed_in.get("/contexts/?set=a&q=é").content.decode()
    assert "The list ends before this page." in signed_in.get(f"/contexts/?after={10**18}").content.decode()
    assert signed_in.get(f"/contexts/?after={10**18 + 1}").status_code == 400


def test_a_set_leads_to_its_contexts_and_so_does_its_editor(demo: object, signed_in: Client) -> None:
    for page in ("", "edit/"):
        text = signed_in.get(f"/prompts/research-team/{page}").content.decode()
        assert 'href="/prompts/research-team/contexts/"' in text


def test_a_set_is_tried_in_its_own_contexts_and_the_shared_ones(person: User, signed_in: Client) -> None:
    prompt_set = make_set(person)
    late = "{{ user_prompt }}{% if round_number > 1 %}{{ 1 // 0 }}{% endif %}"
    prompt_set.save_version(
        replace(TEXTS, team_user_prompt=late), base=1, message="breaks late", author=person, at=NOW
    )
    make_context("third", rounds=3, prompt_set=prompt_set)
    make_context("start")
    make_context("other", prompt_set=make_set(person, "another"))
    page = signed_in.get("/prompts/set/contexts/").content.decode()
    assert names(page) == ["third", "start"] and 'hx-get="?checked=on"' in page
    checked = tight(signed_in.get("/prompts/set/contexts/?checked=on").content.decode())
    third, start = re.findall(r"<tr>.*?</tr>", checked)[1:]
    assert "Team can't render: rounds 2, 3" in third and "This set" in third and "renders" not in third
    assert 'href="/prompts/set/edit/?kind=team&amp;context=third&amp;round=2"' in third
    assert "renders" in start and "All sets" in start
    assert signed_in.get("/prompts/nothing/contexts/").status_code == 404


def test_a_set_without_a_version_says_nothing_of_its_contexts(db: None, signed_in: Client) -> None:
    PromptSet.objects.create(slug="new", name="New", created_at=NOW, changed_at=NOW)
    make_context("start")
    page = signed_in.get("/prompts/new/contexts/?checked=on").content.decode()
    assert "renders" not in page and "start" in page


def test_a_download_is_read_by_the_builder_and_by_the_studio(demo: object, signed_in: Client) -> None:
    answer = signed_in.get("/contexts/round-5-last.json")
    assert answer.headers["Content-Type"] == "application/json"
    assert answer.headers["Content-Disposition"] == 'attachment; filename="round-5-last.json"'
    stored = SampleContext.objects.get(slug="round-5-last")
    assert read_context("team", answer.content) == stored.round_context
    SampleContext.objects.all().delete()
    signed_in.post("/contexts/new/json/", {"json": answer.content.decode()})
    again = SampleContext.objects.get()
    assert (again.name, again.description, again.data, again.submission) == (
        stored.name,
        stored.description,
        stored.data,
        stored.submission,
    )


def test_a_context_leads_to_the_editor_at_each_round(demo: object, signed_in: Client) -> None:
    page = signed_in.get("/contexts/no-ranking/").content.decode()
    for number in (1, 2, 3):
        address = f"/prompts/research-team/edit/?context=no-ranking&amp;round={number}"
        assert f'href="{address}"' in page
        assert signed_in.get(address.replace("&amp;", "&")).status_code == 200


def test_a_context_of_one_set_leads_to_that_set_alone(demo: object, signed_in: Client) -> None:
    owner = PromptSet.objects.get(slug="research-team")
    SampleContext.objects.filter(slug="round-1").update(prompt_set=owner)
    page = signed_in.get("/contexts/round-1/").content.decode()
    assert set(re.findall(r"/prompts/([-\w]+)/edit/", page)) == {"research-team"}


@pytest.mark.parametrize(
    "path", ["new/", "new/json/", "round-1/edit/", "round-1/edit/json/", "round-1/delete/", "round-1.json"]
)
def test_a_stranger_sees_no_page_of_contexts(demo: object, client: Client, path: str) -> None:
    assert client.get(f"/contexts/{path}").headers["Location"].startswith("/signin/")
