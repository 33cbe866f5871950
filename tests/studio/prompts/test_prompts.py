"""Versions: numbered, complete, saved once, by one of two people at a time."""

from dataclasses import replace
from threading import Barrier, Thread

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client

from studio.models import PromptSet, PromptVersion, Tag
from studio.prompts.models import NothingChanged, Origin, VersionConflict
from studio.prompts.texts import Templates
from tests.studio.clock import NOW

TEXTS = Templates("team {{ user_prompt }}\n", "evaluator", "judgment")


@pytest.fixture
def prompt_set(db: None) -> PromptSet:
    return PromptSet.objects.create(slug="set", name="Set", created_at=NOW, changed_at=NOW)


def save(prompt_set: PromptSet, person: User, base: int, texts: Templates = TEXTS) -> PromptVersion:
    return prompt_set.save_version(texts, base=base, message=f"after {base}", author=person, at=NOW)


def test_versions_count_from_one_and_know_their_parent(prompt_set: PromptSet, person: User) -> None:
    first = save(prompt_set, person, 0)
    second = save(prompt_set, person, 1, replace(TEXTS, team_user_prompt="changed"))
    assert (first.number, first.parent, second.number, second.parent) == (1, None, 2, first)
    assert (first.origin, second.templates.team_user_prompt) == (Origin.EDITED, "changed")
    assert PromptSet.objects.get().latest == second


def test_unchanged_text_makes_no_version(prompt_set: PromptSet, person: User) -> None:
    save(prompt_set, person, 0)
    with pytest.raises(NothingChanged):
        save(prompt_set, person, 1)
    assert PromptSet.objects.get().revision == 1
    assert prompt_set.versions.count() == 1


def test_text_that_starts_from_an_old_version_is_refused(prompt_set: PromptSet, person: User) -> None:
    save(prompt_set, person, 0)
    save(prompt_set, person, 1, replace(TEXTS, judgment_user_prompt="theirs"))
    with pytest.raises(VersionConflict):
        save(prompt_set, person, 1, replace(TEXTS, judgment_user_prompt="mine"))
    assert [version.judgment_user_prompt for version in prompt_set.versions.all()] == ["theirs", "judgment"]


def test_the_same_text_in_another_field_is_another_content() -> None:
    assert Templates("ab", "c", "").content_hash != Templates("a", "bc", "").content_hash
    assert Templates("", "x", "").content_hash != Templates("x", "", "").content_hash


@pytest.mark.django_db(transaction=True)
def test_of_people_who_save_at_once_one_wins_and_the_others_are_told() -> None:
    prompt_set = PromptSet.objects.create(slug="set", name="Set", created_at=NOW, changed_at=NOW)
    people = [User.objects.create_user(name) for name in ("a", "b", "c", "d")]
    save(prompt_set, people[0], 0)
    start, outcomes = Barrier(len(people)), list[str]()

    def work(person: User) -> None:
        mine = PromptSet.objects.get()
        start.wait()
        try:
            save(mine, person, 1, replace(TEXTS, team_user_prompt=f"by {person.username}"))
            outcomes.append("saved")
        except VersionConflict:
            outcomes.append("told")
        finally:
            connection.close()

    threads = [Thread(target=work, args=(person,)) for person in people]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == ["saved", "told", "told", "told"]
    assert PromptVersion.objects.count() == 2


def test_sets_are_found_by_name_address_and_tag_in_japanese_too(prompt_set: PromptSet) -> None:
    other = PromptSet.objects.create(slug="research-team", name="調査チーム", created_at=NOW, changed_at=NOW)
    other.tags.add(Tag.objects.create(name="順位"), Tag.objects.create(name="順位表"))
    for text in ("調査", "RESEARCH", "順位"):
        assert list(PromptSet.objects.search(text)) == [other]
    assert list(PromptSet.objects.search("nothing")) == []


def test_the_list_shows_sets_with_labels_tags_and_last_change(demo: object, signed_in: Client) -> None:
    page = signed_in.get("/prompts/").content.decode()
    assert page.index("調査チーム") < page.index("Briefing writers")
    for text in (
        "誤字を修正",
        "production",
        "/prompts/research-team/versions/4/",
        "?tag=%E8%AA%BF%E6%9F%BB",
        "ken",
    ):
        assert text in page


def test_a_search_by_htmx_gets_the_list_alone_and_the_plain_form_the_page(
    demo: object, signed_in: Client
) -> None:
    part = signed_in.get("/prompts/?q=brief", headers={"HX-Request": "true", "HX-Target": "prompts"})
    page = signed_in.get("/prompts/?q=brief")
    assert "Briefing writers" in part.content.decode() and "<html" not in part.content.decode()
    assert "Briefing writers" in page.content.decode() and "調査チーム" not in page.content.decode()


def test_a_list_without_a_match_says_what_to_do(demo: object, signed_in: Client) -> None:
    page = signed_in.get("/prompts/?q=zzz").content.decode()
    assert "No prompt set matches" in page and "Show all sets" in page


def test_an_archived_set_leaves_the_list_but_keeps_its_page(demo: object, signed_in: Client) -> None:
    PromptSet.objects.filter(slug="research-team").update(archived=True)
    assert "調査チーム" not in signed_in.get("/prompts/").content.decode()
    assert "Archived" in signed_in.get("/prompts/research-team/").content.decode()


def test_a_set_shows_its_history_newest_first(demo: object, signed_in: Client) -> None:
    page = signed_in.get("/prompts/research-team/").content.decode()
    positions = [
        page.index(f'/prompts/research-team/versions/{number}/" title') for number in (5, 4, 3, 2, 1)
    ]
    assert positions == sorted(positions)


@pytest.mark.slow
def test_a_long_history_comes_in_pages(signed_in: Client, prompt_set: PromptSet, person: User) -> None:
    for base in range(53):
        save(prompt_set, person, base, replace(TEXTS, team_user_prompt=str(base)))
    first = signed_in.get("/prompts/set/").content.decode()
    assert "/versions/53/" in first and "/versions/4/" in first and "/versions/3/" not in first
    assert 'href="?before=4"' in first
    rest = signed_in.get("/prompts/set/?before=4").content.decode()
    assert "/versions/3/" in rest and "/versions/4/" not in rest and 'href="?before' not in rest


def test_the_history_costs_the_same_queries_for_few_and_many_versions(
    signed_in: Client, prompt_set: PromptSet, person: User, django_assert_max_num_queries: object
) -> None:
    for base in range(40):
        save(prompt_set, person, base, replace(TEXTS, team_user_prompt=str(base)))
    with django_assert_max_num_queries(12):  # type: ignore[operator]
        signed_in.get("/prompts/set/")


def test_a_version_page_shows_the_three_texts_as_they_are(
    signed_in: Client, prompt_set: PromptSet, person: User
) -> None:
    save(prompt_set, person, 0, Templates("<b>{{ user_prompt }}</b>\n\n順位", "{% if x %}", "& co"))
    page = signed_in.get("/prompts/set/versions/1/").content.decode()
    for text in ("&lt;b&gt;{{ user_prompt }}&lt;/b&gt;", "順位", "{% if x %}", "&amp; co", "after 0", "yuki"):
        assert text in page


def test_a_version_has_one_address(signed_in: Client, prompt_set: PromptSet, person: User) -> None:
    save(prompt_set, person, 0)
    assert signed_in.get("/prompts/set/versions/1/").status_code == 200
    assert signed_in.get("/prompts/set/versions/01/").status_code == 404


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/prompts/nothing/", 404),
        ("/prompts/set/versions/1/", 404),
        ("/prompts/set/versions/0/", 404),
        (f"/prompts/set/versions/{'9' * 30}/", 404),
        (f"/prompts/set/versions/{'9' * 5000}/", 404),
        ("/prompts/%00/", 404),
        ("/prompts/%ff%fe/", 404),
        ("/prompts/set/?before=abc", 400),
        ("/prompts/set/?before=0", 400),
        (f"/prompts/set/?before={'9' * 5000}", 400),
        (f"/prompts/?q={'x' * 60_000}", 400),
        ("/prompts/?q=%00", 400),
        ("/prompts/?q=%ED%A0%80", 200),
        ("/prompts/?q=(", 200),
        (f"/prompts/?tag={'x' * 41}", 400),
    ],
)
def test_bad_addresses_get_an_answer_that_helps(
    signed_in: Client, prompt_set: PromptSet, path: str, status: int
) -> None:
    assert signed_in.get(path).status_code == status
