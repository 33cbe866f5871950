"""Sets: made, renamed, tagged, duplicated, archived; nothing of them is ever lost."""

from dataclasses import replace

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from builder.jail import JailPool
from builder.template.defaults import default_templates
from builder.template.dialect import MIXSEEK
from studio.models import Draft, Label, PromptSet, PromptVersion, SampleContext, Tag
from studio.prompts import views as prompts
from studio.prompts.models import Origin
from studio.shell.addresses import free_slug
from tests.studio.clock import NOW
from tests.studio.editing import TEXTS, make_context, make_set
from tests.studio.jail import UseJail

NEW = "/prompts/new/"


def form(**more: str) -> dict[str, str]:
    return {"name": "調査チーム", "tags": "", "dialect": "mixseek", "start": "defaults"} | more


def test_a_set_made_from_the_defaults_has_them_as_its_first_version(signed_in: Client) -> None:
    answer = signed_in.post(NEW, form(tags="調査、 日本語 ,調査"))
    made = PromptSet.objects.get()
    assert (made.slug, made.name, made.dialect, made.revision) == (
        "調査チーム",
        "調査チーム",
        "mixseek-0.1.0a19",
        1,
    )
    assert answer["Location"] == "/prompts/%E8%AA%BF%E6%9F%BB%E3%83%81%E3%83%BC%E3%83%A0/edit/"
    assert {tag.name for tag in made.tags.all()} == {"調査", "日本語"}
    version = PromptVersion.objects.get()
    assert version.templates.by_kind == dict(default_templates(MIXSEEK))
    assert (version.message, version.author.username) == ("Default templates of MixSeek 0.1.0a19", "yuki")


def test_an_empty_set_has_no_version_and_opens_in_the_editor_empty(signed_in: Client) -> None:
    answer = signed_in.post(NEW, form(name="Blank", start="empty"), follow=True)
    assert PromptSet.objects.get().revision == 0
    assert Draft.objects.get().templates.by_kind == {"team": "", "evaluator": "", "judgment": ""}
    assert "ユーザから指定されたタスク" not in answer.content.decode()


def test_two_sets_of_one_name_have_two_addresses(signed_in: Client) -> None:
    for _ in range(3):
        signed_in.post(NEW, form(name="Research Team", start="empty"))
    slugs = PromptSet.objects.order_by("pk").values_list("slug", flat=True)
    assert list(slugs) == ["research-team", "research-team-2", "research-team-3"]


@pytest.mark.parametrize(
    ("name", "slug"),
    [
        ("New", "new-2"),
        ("  ＡＢＣ　ｄｅｆ  ", "abc-def"),
        ("!?", "set"),
        ("x" * 120, "x" * 72),
        ("a/b?c#d", "abcd"),
        ("が" * 3, "ががが"),
    ],
)
def test_an_address_is_made_of_the_names_words(db: None, name: str, slug: str) -> None:
    assert free_slug(PromptSet.objects.all(), name, "set") == slug


@pytest.mark.parametrize(
    ("field", "value", "says"),
    [
        ("name", "", "This field is required."),
        ("name", "   ", "This field is required."),
        ("name", "x" * 121, "at most 120 characters"),
        ("name", "a\x00b", "Null characters are not allowed"),
        ("tags", ",".join(map(str, range(11))), "At most 10 tags."),
        ("tags", "t" * 41, "A tag has at most 40 characters"),
        ("tags", "a\x00", "Null characters are not allowed"),
        ("dialect", "klingon", "Select a valid choice"),
        ("start", "", "This field is required."),
    ],
)
def test_what_does_not_do_is_said_beside_the_field(
    signed_in: Client, field: str, value: str, says: str
) -> None:
    answer = signed_in.post(NEW, form(**{field: value}))
    assert answer.status_code == 422 and says in answer.content.decode()
    assert not PromptSet.objects.exists() and not Tag.objects.exists()


def test_without_the_jail_a_new_set_says_why_it_has_no_version(signed_in: Client, use_jail: UseJail) -> None:
    closed = JailPool()
    closed.close()
    use_jail(closed)
    page = signed_in.post(NEW, form(), follow=True).content.decode()
    assert PromptSet.objects.get().revision == 0
    assert "The set was created, but without a version" in page


def test_settings_change_name_tags_and_dialect_and_keep_the_address(signed_in: Client, person: User) -> None:
    made = make_set(person)
    page = signed_in.get("/prompts/set/settings/").content.decode()
    assert 'value="Set"' in page and "/prompts/set/" in page
    answer = signed_in.post(
        "/prompts/set/settings/", {"name": "要約チーム", "tags": "要約, b", "dialect": "contract"}
    )
    assert answer["Location"] == "/prompts/set/"
    made.refresh_from_db()
    assert (made.name, made.slug, made.dialect, made.revision) == ("要約チーム", "set", "contract", 1)
    assert [tag.name for tag in made.tags.all()] == ["b", "要約"]
    signed_in.post("/prompts/set/settings/", {"name": "要約チーム", "tags": "", "dialect": "contract"})
    assert not made.tags.exists()


def test_settings_that_do_not_do_change_nothing(signed_in: Client, person: User) -> None:
    make_set(person)
    answer = signed_in.post("/prompts/set/settings/", {"name": "", "tags": "a", "dialect": "mixseek"})
    assert answer.status_code == 422
    assert PromptSet.objects.get().name == "Set" and not Tag.objects.exists()


def test_a_copy_begins_with_the_newest_text_tags_dialect_and_contexts(
    signed_in: Client, person: User
) -> None:
    source = make_set(person)
    source.tags.add(Tag.objects.create(name="調査"))
    PromptSet.objects.update(dialect="english")
    make_context("own", prompt_set=source)
    make_context("shared")
    answer = signed_in.post("/prompts/set/duplicate/", {"name": "Second"})
    copy = PromptSet.objects.get(slug="second")
    assert answer["Location"] == "/prompts/second/"
    assert (copy.name, copy.dialect, copy.revision) == ("Second", "english", 1)
    assert [tag.name for tag in copy.tags.all()] == ["調査"]
    version = copy.versions.get()
    assert (version.templates, version.parent) == (TEXTS, None)
    assert (version.origin, version.origin_note) == (Origin.COPIED, "set v1")
    assert version.message == "Copy of Set v1"
    assert [(each.slug, each.name) for each in copy.contexts.all()] == [("own-2", "Own")]
    assert SampleContext.objects.count() == 3


def test_a_set_without_versions_can_be_copied_too(signed_in: Client) -> None:
    PromptSet.objects.create(slug="bare", name="Bare", created_at=NOW, changed_at=NOW)
    signed_in.post("/prompts/bare/duplicate/", {"name": "Bare 2"})
    assert PromptSet.objects.get(slug="bare-2").revision == 0


def test_a_copy_of_a_text_that_no_longer_passes_is_refused_with_the_reason(
    signed_in: Client, person: User
) -> None:
    bad = make_set(person)
    texts = replace(TEXTS, team_user_prompt="{{ submision_history }}")
    bad.save_version(
        texts, base=1, message="as if an earlier check had let it through", author=person, at=NOW
    )
    answer = signed_in.post("/prompts/set/duplicate/", {"name": "Copy"})
    page = answer.content.decode()
    assert answer.status_code == 422 and "did you mean" in page.lower() and "Team, line 1" in page
    assert PromptSet.objects.count() == 1


@pytest.mark.parametrize("name", ["", "x" * 121])
def test_a_copy_needs_a_name(signed_in: Client, person: User, name: str) -> None:
    make_set(person)
    answer = signed_in.post("/prompts/set/duplicate/", {"name": name})
    assert answer.status_code == 422 and 'aria-describedby="duplicate-error"' in answer.content.decode()
    assert PromptSet.objects.count() == 1


def test_an_archived_set_is_listed_apart_and_can_come_back(signed_in: Client, person: User) -> None:
    made = make_set(person)
    row = f'href="{made.get_absolute_url()}"'
    assert "archived=1" not in signed_in.get("/prompts/").content.decode()
    signed_in.post("/prompts/set/archive/", {"archived": "yes"})
    page = signed_in.get("/prompts/").content.decode()
    assert row not in page and "archived=1" in page
    assert row in signed_in.get("/prompts/?archived=1").content.decode()
    assert signed_in.get("/prompts/set/versions/1/").status_code == 200
    signed_in.post("/prompts/set/archive/", {"archived": "no"})
    assert row in signed_in.get("/prompts/").content.decode()
    assert row not in signed_in.get("/prompts/?archived=1").content.decode()


@pytest.mark.parametrize("value", ["", "maybe", "1"])
def test_archiving_asks_for_yes_or_no(signed_in: Client, person: User, value: str) -> None:
    make_set(person)
    assert signed_in.post("/prompts/set/archive/", {"archived": value}).status_code == 400


def test_an_empty_list_leads_to_the_first_set(signed_in: Client) -> None:
    page = signed_in.get("/prompts/").content.decode()
    assert "No prompt sets yet" in page and f'href="{NEW}"' in page
    assert "No set is archived" in signed_in.get("/prompts/?archived=1").content.decode()


def test_the_list_costs_the_same_queries_for_few_and_many_sets(signed_in: Client, person: User) -> None:
    def queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            signed_in.get("/prompts/")
        return len(captured)

    def add(slug: str) -> None:
        made = make_set(person, slug)
        made.tags.add(Tag.objects.get_or_create(name=slug)[0])
        Label.objects.move("production", made.versions.get(), by=person, at=NOW)

    add("one")
    few = queries()
    for number in range(5):
        add(f"more-{number}")
    assert queries() == few


@pytest.mark.parametrize("path", ["archive/", "duplicate/", "labels/", "versions/1/restore/"])
def test_what_changes_something_is_no_link(signed_in: Client, person: User, path: str) -> None:
    make_set(person)
    assert signed_in.get(f"/prompts/set/{path}").status_code == 405


def test_no_page_of_a_set_offers_to_delete(signed_in: Client, person: User) -> None:
    make_set(person)
    for path in ("", "settings/", "versions/1/"):
        page = signed_in.get(f"/prompts/set/{path}").content.decode().lower()
        assert "/delete" not in page and ">delete" not in page


def test_a_long_list_comes_in_pages(signed_in: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prompts, "SETS_PER_PAGE", 2)
    tag = Tag.objects.create(name="調査")
    for number in range(5):
        made = PromptSet.objects.create(slug=f"s{number}", name=f"S{number}", created_at=NOW, changed_at=NOW)
        made.tags.add(tag)

    def listed(query: str) -> list[str]:
        page = signed_in.get(f"/prompts/{query}").content.decode()
        return [f"s{number}" for number in range(5) if f'href="/prompts/s{number}/"' in page]

    assert [listed(query) for query in ("", "?page=2", "?page=3")] == [["s0", "s1"], ["s2", "s3"], ["s4"]]
    first = signed_in.get("/prompts/?tag=調査&q=s").content.decode()
    assert 'href="?q=s&amp;tag=%E8%AA%BF%E6%9F%BB&amp;page=2"' in first
    assert signed_in.get("/prompts/?page=0").status_code == 400
    assert signed_in.get(f"/prompts/?page={'9' * 400}").status_code == 400
