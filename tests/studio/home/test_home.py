"""The home page: what it says of an empty studio, of the demo and of one where things go wrong."""

import re
import shutil
from pathlib import Path

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from builder.template.models import RoundPromptContext
from studio.access.accounts import Account, Role
from studio.contexts.models import ContextValues
from studio.contexts.samples import add_samples
from studio.home.activity import newest_events
from studio.models import Export, Label, PromptSet, SampleContext, Workspace
from studio.operations.watching import Watch
from studio.prompts.texts import Templates
from studio.results.version_scores import scores_before
from studio.workspaces.state import state_of
from tests.studio.clock import NOW
from tests.studio.markup import words_of
from tests.studio.workspaces.prompt_files import note_export

MOST_QUERIES = 50


def home(client: Client, language: str = "en") -> str:
    client.cookies[settings.LANGUAGE_COOKIE_NAME] = language
    return words_of(client, "/")


@pytest.fixture
def examined(demo: Path) -> Path:
    """The demo, once the watching thread has looked at it."""
    Watch().look()
    return demo


def test_an_empty_studio_shows_the_first_steps_and_ticks_what_is_done(
    signed_in: Client, person: User, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = home(signed_in)
    assert "First steps" in page and "Done" not in page
    for missing in ("demo data", "Needs attention", "Activity", "Running now"):
        assert missing not in page
    monkeypatch.setattr(settings, "STUDIO_WORKSPACE_ROOTS", [tmp_path])
    workspace = Workspace.objects.create(slug="w", name="W", path=str(tmp_path), created_at=NOW)
    assert 'href="/workspaces/w/import/"' in signed_in.get("/").content.decode()
    assert home(signed_in).count("Done") == 1
    add_samples(NOW)
    prompt_set = PromptSet.objects.create(slug="s", name="S", created_at=NOW, changed_at=NOW)
    version = prompt_set.save_version(Templates("a", "b", "c"), base=0, message="m", author=person, at=NOW)
    assert home(signed_in).count("Done") == 3
    note_export(workspace, version, person)
    page = home(signed_in)
    assert "First steps" not in page and "Exported S v1 to W yuki" in page


def test_the_demo_says_that_it_is_one_and_leads_to_its_story_in_both_languages(
    signed_in: Client, examined: Path
) -> None:
    page = home(signed_in)
    assert "This is demo data" in page and "First steps" not in page
    for step in (
        "Start here: change a word of Briefing writers and watch the prompt",
        "Briefing writers v4 helped: significantly higher scores",
        "v3 did not help: no significant difference",
        "v5 changed the evaluator: its scores are not comparable",
        "Briefing · lab: its prompt file was edited by hand",
    ):
        assert step in page
    page = home(signed_in, "ja")
    assert "デモデータです" in page and "調査チームのv4は効果あり" in page and "調査 · labの" in page
    assert len(story_links(signed_in)) == 5


def story_links(client: Client) -> list[str]:
    """Where the demo's story leads; each page opens."""
    story = re.search(r'class="panel demo".*?<ul>(.*?)</ul>', client.get("/").content.decode(), re.DOTALL)
    assert story is not None
    links = re.findall(r'href="([^"]+)"', story[1])
    assert [client.get(link).status_code for link in links] == [200] * len(links)
    return links


def test_the_story_leaves_out_what_the_reader_may_not_do(signed_in: Client, examined: Path) -> None:
    counts = {}
    for role in (Role.VIEWER, Role.EDITOR, Role.RELEASER):
        Account.objects.filter(user__username="yuki").update(role=role)
        counts[role] = len(story_links(signed_in))
    assert counts == {Role.VIEWER: 3, Role.EDITOR: 4, Role.RELEASER: 5}


@pytest.mark.parametrize("slug", ["research-team", "briefing-writers"])
def test_the_story_is_what_the_scores_say(examined: Path, slug: str) -> None:
    from studio.home.demo.story import STORIES

    story = next(story for story in STORIES if story.slug == slug)
    scores = scores_before(PromptSet.objects.get(slug=slug), range(1, 6))
    helped, in_vain, other = (
        scores[number].change for number in (story.helped, story.did_not_help, story.not_comparable)
    )
    assert helped and helped.verdict == "more" and helped.difference and helped.difference.mean > 4
    assert in_vain and in_vain.verdict == "within" and in_vain.difference
    assert abs(in_vain.difference.mean) < 2
    assert other and other.basis_change and "evaluator" in other.basis_change.why
    assert helped.basis_change is None and in_vain.basis_change is None


def test_what_needs_attention_runs_and_changed_is_there_with_a_way_on(
    signed_in: Client, examined: Path
) -> None:
    page, source = home(signed_in), signed_in.get("/").content.decode()
    assert "File older than the label Briefing The file is v4; production is v5. Export v5" in page
    assert 'href="/prompts/briefing-writers/export/?label=production&amp;workspace=briefing"' in source
    assert "Edited by hand 調査 · lab" in page and "Edited by hand Briefing · lab" in page
    assert "調査 · research" not in page.partition("Running now")[0].partition("Needs attention")[2]
    assert re.search(r"Running now .*調査 · research \w{8} round \d of 5 · 4 teams", page)
    changes = page.partition("Last score change of each set")[2].partition("Activity")[0]
    assert "調査チーム v4" in changes and "Briefing writers v5" in changes
    assert "Label moved production to Briefing writers v5 was v4 alex" in page
    assert "Saved 調査チーム v5" in page and "Exported Briefing writers v5 to Briefing · lab alex" in page


def test_the_score_changes_of_all_sets_are_a_page_away(
    signed_in: Client, examined: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert 'href="/score-changes/"' not in signed_in.get("/").content.decode()
    monkeypatch.setattr("studio.home.page.MOST_SETS", 1)
    assert 'href="/score-changes/"' in signed_in.get("/").content.decode()
    page = words_of(signed_in, "/score-changes/")
    assert "調査チーム v4" in page and "Briefing writers v5" in page
    monkeypatch.setattr("studio.home.page._SETS_AT_ONCE", 1)
    first, second = (words_of(signed_in, f"/score-changes/?page={number}") for number in (1, 2))
    assert ("調査チーム v4" in first) != ("調査チーム v4" in second)


def test_a_file_that_is_put_right_or_edited_shows_with_the_next_page(
    signed_in: Client, person: User, demo: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(demo / "demo" / "briefing", folder)
    Workspace.objects.exclude(slug="briefing").update(archived=True)
    Workspace.objects.filter(slug="briefing").update(path=str(folder))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(settings, "STUDIO_WORKSPACE_ROOTS", [tmp_path])
        assert "File older than the label Briefing" in home(signed_in)
        label = Label.objects.get(prompt_set__slug="briefing-writers", name="production")
        Label.objects.move("production", label.prompt_set.versions.get(number=4), by=person, at=NOW)
        assert "Needs attention" not in home(signed_in)
        file = state_of(Workspace.objects.get(slug="briefing")).path
        file.write_text(file.read_text("utf-8").replace("Verify or drop", "Verify"), "utf-8")
        assert "Unknown Briefing The file matches no version" in home(signed_in)


def test_a_context_in_which_the_newest_version_fails_is_told_until_it_is_mended(
    signed_in: Client, person: User
) -> None:
    prompt_set = PromptSet.objects.create(slug="s", name="S", created_at=NOW, changed_at=NOW)
    failing = "{{ user_prompt }}{% if round_number > 2 %}{{ 1 // (round_number - 3) }}{% endif %}"
    texts = Templates(failing, "{{ submission }}", "j")
    prompt_set.save_version(texts, base=0, message="m", author=person, at=NOW)
    told = RoundPromptContext(
        user_prompt="Do", round_number=3, team_id="t", team_name="T", execution_id="e", round_history=[]
    )
    context = SampleContext.objects.make(ContextValues("Third", "", None, told, "done"), by=person, at=NOW)
    assert "Can’t render" not in home(signed_in), "nothing is rendered for the page"
    Watch().look()
    assert "Can’t render S v1 Team in Third, round 3 Edit" in home(signed_in)
    assert "kind=team&amp;context=third&amp;round=3" in signed_in.get("/").content.decode()
    SampleContext.objects.change(
        context, ContextValues("Third", "", None, told.model_copy(update={"round_number": 2}), "done"),
        revision=1, at=NOW,
    )  # fmt: skip
    assert "Can’t render" not in home(signed_in)


def test_runs_that_cannot_be_examined_are_told_with_the_reason(
    signed_in: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings, "STUDIO_WORKSPACE_ROOTS", [tmp_path])
    (tmp_path / "mixseek.db").write_bytes(b"no database at all")
    Workspace.objects.create(slug="w", name="W", path=str(tmp_path), created_at=NOW)
    watch = Watch()
    for _ in range(3):
        watch.look()
    assert re.search(r"Not analyzed W .*mixseek\.db.* Open the workspace", home(signed_in))


def test_exports_of_one_confirmation_are_one_event_and_failures_are_told(demo: Path) -> None:
    events = newest_events(50)
    assert len([event for event in events if event.kind == "exported"]) < Export.objects.count()
    assert "to 調査 · lab, 調査 · research" in [event.more for event in events]
    assert [event.at for event in events] == sorted((event.at for event in events), reverse=True)


def test_the_number_of_queries_has_a_bound(
    signed_in: Client, examined: Path, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    home(signed_in)
    with django_assert_max_num_queries(MOST_QUERIES):
        home(signed_in)
    for number in range(30):
        Workspace.objects.create(
            slug=f"w{number}", name=f"W {number}", path=f"/nowhere/{number}", created_at=NOW
        )
        PromptSet.objects.create(slug=f"s{number}", name="S", created_at=NOW, changed_at=NOW)
    with django_assert_max_num_queries(MOST_QUERIES):
        home(signed_in)
