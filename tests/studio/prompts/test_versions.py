"""Versions: looked at, restored as new ones, picked in pairs."""

from dataclasses import replace

import pytest
from django.contrib.auth.models import User
from django.test import Client

from builder.jail import JailPool
from studio.models import Draft, PromptSet, PromptVersion
from studio.prompts.models import Origin
from studio.prompts.texts import Templates
from tests.studio.clock import NOW
from tests.studio.editing import TEXTS, make_set, sent
from tests.studio.jail import UseJail
from tests.studio.markup import tight

RESTORE = "/prompts/set/versions/1/restore/"


def save(prompt_set: PromptSet, person: User, texts: Templates) -> PromptVersion:
    return prompt_set.save_version(texts, base=prompt_set.revision, message="next", author=person, at=NOW)


@pytest.fixture
def prompt_set(person: User) -> PromptSet:
    made = make_set(person)
    save(made, person, replace(TEXTS, team_user_prompt="Other {{ user_prompt }}"))
    return made


def test_restoring_makes_a_new_version_with_the_old_text(prompt_set: PromptSet, signed_in: Client) -> None:
    page = signed_in.post(RESTORE, {"base": 2, "message": "順位表を戻す"}, follow=True).content.decode()
    assert "v1 restored as v3." in page
    made = PromptVersion.objects.latest("number")
    assert (made.number, made.templates, made.parent and made.parent.number) == (3, TEXTS, 2)
    assert (made.origin, made.origin_note, made.message) == (Origin.RESTORED, "v1", "順位表を戻す")
    assert [version.number for version in prompt_set.versions.all()] == [3, 2, 1]
    assert "Restored · v1" in tight(page)


def test_a_restore_without_a_message_has_one(prompt_set: PromptSet, signed_in: Client) -> None:
    signed_in.post(RESTORE, {"base": 2})
    assert PromptVersion.objects.latest("number").message == "Restore v1"


def test_what_is_the_newest_text_already_makes_no_version(
    prompt_set: PromptSet, person: User, signed_in: Client
) -> None:
    save(prompt_set, person, TEXTS)
    page = signed_in.post(RESTORE, {"base": 3}, follow=True).content.decode()
    assert "so no version was saved" in page
    assert PromptVersion.objects.count() == 3


def test_a_restore_on_top_of_a_version_not_seen_is_a_conflict(
    prompt_set: PromptSet, signed_in: Client
) -> None:
    answer = signed_in.post(RESTORE, {"base": 1})
    assert answer.status_code == 409 and "Someone else saved a version" in answer.content.decode()
    assert PromptVersion.objects.count() == 2


def test_an_old_text_with_errors_is_not_restored_and_the_page_says_which(
    prompt_set: PromptSet, person: User, signed_in: Client
) -> None:
    # As if an earlier check had let it through.
    save(prompt_set, person, replace(TEXTS, team_user_prompt="one\n{{ submision_history }}"))
    save(prompt_set, person, TEXTS)
    answer = signed_in.post("/prompts/set/versions/3/restore/", {"base": 4})
    page = answer.content.decode()
    assert answer.status_code == 422
    assert "Not restored" in page and "Line 2" in page and "submission_history" in page
    assert PromptVersion.objects.count() == 4


def test_without_the_jail_nothing_is_restored(
    prompt_set: PromptSet, signed_in: Client, use_jail: UseJail
) -> None:
    closed = JailPool()
    closed.close()
    use_jail(closed)
    assert signed_in.post(RESTORE, {"base": 2}).status_code == 503
    assert PromptVersion.objects.count() == 2


@pytest.mark.parametrize(
    ("path", "data", "status"),
    [
        (RESTORE, {}, 400),
        (RESTORE, {"base": "x"}, 400),
        (RESTORE, {"base": "9" * 400}, 400),
        (RESTORE, {"base": 2, "message": "x" * 501}, 400),
        (RESTORE, {"base": 2, "message": "a\x00b"}, 400),
        ("/prompts/set/versions/9/restore/", {"base": 2}, 404),
        ("/prompts/none/versions/1/restore/", {"base": 2}, 404),
    ],
)
def test_restores_that_no_page_asks_for(
    prompt_set: PromptSet, signed_in: Client, path: str, data: dict[str, str], status: int
) -> None:
    assert signed_in.post(path, data).status_code == status
    assert PromptVersion.objects.count() == 2


def test_the_newest_version_offers_no_restore(prompt_set: PromptSet, signed_in: Client) -> None:
    assert RESTORE in signed_in.get("/prompts/set/versions/1/").content.decode()
    assert "restore" not in signed_in.get("/prompts/set/versions/2/").content.decode()


def test_a_version_leads_to_its_comparisons(prompt_set: PromptSet, person: User, signed_in: Client) -> None:
    old = signed_in.get("/prompts/set/versions/1/").content.decode()
    assert "compare/?old=1&amp;new=2" in old and "new=draft" not in old
    Draft.objects.keep(prompt_set, person, sent("mine", base=2), at=NOW)
    new = signed_in.get("/prompts/set/versions/2/").content.decode()
    assert "compare/?old=1&amp;new=2" in new and "compare/?old=2&amp;new=draft" in new


@pytest.mark.parametrize(
    ("query", "address"),
    [
        ("old=1&new=2", "/prompts/set/compare/1...2"),
        ("old=2&new=1", "/prompts/set/compare/1...2"),
        ("old=v1&new=2", "/prompts/set/compare/1...2"),
        ("old=2&new=draft", "/prompts/set/compare/2...draft"),
        ("old=2&new=2", "/prompts/set/"),
    ],
)
def test_two_picked_versions_become_an_address(
    prompt_set: PromptSet, signed_in: Client, query: str, address: str
) -> None:
    answer = signed_in.get(f"/prompts/set/compare/?{query}")
    assert (answer.status_code, answer["Location"]) == (302, address)


def test_the_last_change_is_compared_where_nothing_is_picked(
    prompt_set: PromptSet, person: User, signed_in: Client
) -> None:
    assert signed_in.get("/prompts/set/compare/")["Location"] == "/prompts/set/compare/1...2"
    Draft.objects.keep(prompt_set, person, sent("mine", base=2), at=NOW)
    assert signed_in.get("/prompts/set/compare/")["Location"] == "/prompts/set/compare/2...draft"
    make_set(person, "one")
    answer = signed_in.get("/prompts/one/compare/", follow=True)
    assert "Nothing to compare yet" in answer.content.decode()


@pytest.mark.parametrize("query", ["old=1", "old=x&new=2", "old=0&new=1", "old=1&new=drafts", "old=1&new=-2"])
def test_picks_that_are_no_versions_are_refused(prompt_set: PromptSet, signed_in: Client, query: str) -> None:
    assert signed_in.get(f"/prompts/set/compare/?{query}").status_code == 400


def test_a_draft_with_changes_stands_above_the_history(
    prompt_set: PromptSet, person: User, signed_in: Client
) -> None:
    assert 'value="draft"' not in signed_in.get("/prompts/set/").content.decode()
    Draft.objects.keep(prompt_set, person, sent("mine", base=2), at=NOW)
    page = signed_in.get("/prompts/set/").content.decode()
    assert 'value="draft"' in page and "Your draft, not saved yet" in page


def test_nobody_sees_another_persons_draft(prompt_set: PromptSet, signed_in: Client) -> None:
    Draft.objects.keep(prompt_set, User.objects.create_user("ken"), sent("secret", base=2), at=NOW)
    page = signed_in.get("/prompts/set/").content.decode()
    assert 'value="draft"' not in page and "unsaved draft" not in page
