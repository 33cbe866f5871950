"""Removing the demo: all of it, in one transaction; what a person added or changed stays and is named."""

import shutil
from pathlib import Path

import pytest
from django.apps import apps
from django.conf import settings
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client

from studio.home.demo import load_demo
from studio.home.demo.removal import planned_removal, remove_demo
from studio.models import PromptSet, RunResult, SampleContext, Workspace
from studio.operations.watching import Watch
from studio.prompts.texts import Templates
from studio.shell.immutable import ImmutableRow
from tests.studio.clock import NOW
from tests.studio.markup import words_of
from tests.studio.workspaces.prompt_files import note_export


@pytest.fixture
def data(db: None, demo_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data folder of its own with the demo, examined."""
    load_demo(demo_folder)
    for workspace in Workspace.objects.all():
        own = tmp_path / "demo" / workspace.slug
        shutil.copytree(workspace.path, own)
        Workspace.objects.filter(pk=workspace.pk).update(path=str(own))
    monkeypatch.setattr(settings, "STUDIO_DATA", tmp_path)
    monkeypatch.setattr(settings, "STUDIO_WORKSPACE_ROOTS", [tmp_path])
    Watch().look()
    return tmp_path


def rows() -> dict[str, int]:
    return {
        model.__name__: model._default_manager.count() for model in apps.get_app_config("studio").get_models()
    }


def test_everything_goes_that_the_demo_brought(signed_in: Client, person: User, data: Path) -> None:
    assert RunResult.objects.count() == 35
    assert any(path.is_dir() for path in (data / "copies").iterdir())
    page = words_of(signed_in, "/demo/")
    for words in ("調査チーム 5 versions", "Workspace Briefing · lab", "9 export records", "35 runs"):
        assert words in page
    assert "Will be kept" not in page
    answer = signed_in.post("/demo/", {"mark": planned_removal().mark}, follow=True)
    assert "Demo data removed." in answer.content.decode()
    assert "First steps" in answer.content.decode() and "This is demo data" not in answer.content.decode()
    left = {name: number for name, number in rows().items() if number}
    assert set(left) - {"LanguageModel"} == {"Account", "AuditEntry", "StudioSession"}
    assert [user.username for user in User.objects.all()] == [person.username]
    assert not (data / "demo").exists()
    assert not any(path.is_dir() for path in (data / "copies").iterdir())


def test_immutable_rows_are_as_safe_as_before(person: User, data: Path) -> None:
    assert remove_demo(planned_removal().mark, data)
    prompt_set = PromptSet.objects.create(slug="s", name="S", created_at=NOW, changed_at=NOW)
    version = prompt_set.save_version(Templates("a", "b", "c"), base=0, message="m", author=person, at=NOW)
    with pytest.raises(ImmutableRow):
        version.delete()
    with pytest.raises(Exception, match="immutable"), connection.cursor() as cursor:
        cursor.execute("DELETE FROM studio_promptversion")


def test_what_a_person_added_stays_and_is_named(signed_in: Client, person: User, data: Path) -> None:
    research = PromptSet.objects.get(slug="research-team")
    latest = research.latest
    assert latest is not None
    version = research.save_version(
        Templates("mine", latest.evaluator_user_prompt, latest.judgment_user_prompt),
        base=5, message="Mine", author=person, at=NOW,
    )  # fmt: skip
    note_export(Workspace.objects.get(slug="research"), version, person)
    SampleContext.objects.filter(slug="no-ranking").update(revision=2)
    file = data / "demo" / "briefing" / "configs" / "prompt_builder.toml"
    file.write_text(file.read_text("utf-8") + "# mine\n", "utf-8")
    stays = words_of(signed_in, "/demo/").partition("Will be kept")[2]
    assert "調査チーム You saved a version." in stays and "調査 · research You exported to it." in stays
    assert "Briefing You changed its prompt file." in stays
    assert "Briefing writers A workspace that stays uses it." in stays and "You changed it." in stays
    assert signed_in.post("/demo/", {"mark": planned_removal().mark}).status_code == 302
    assert set(Workspace.objects.values_list("slug", flat=True)) == {"research", "briefing"}
    assert (data / "demo" / "research" / "mixseek.db").is_file() and file.is_file()
    assert not (data / "demo" / "research-lab").exists()
    assert research.versions.count() == 6 and SampleContext.objects.get().slug == "no-ranking"
    assert User.objects.filter(username="ken").exists()
    assert signed_in.get("/prompts/research-team/").status_code == 200


def test_what_changed_since_the_page_is_shown_again_and_nothing_goes(
    signed_in: Client, person: User, data: Path
) -> None:
    seen = planned_removal().mark
    Workspace.objects.filter(slug="briefing").update(name="Mine")
    before = rows()
    answer = signed_in.post("/demo/", {"mark": seen})
    assert answer.status_code == 409 and "nothing was removed" in answer.content.decode()
    assert rows() == before and (data / "demo" / "research").is_dir()
    assert signed_in.post("/demo/", {}).status_code == 409


def test_runs_elsewhere_that_a_demo_version_explained_are_examined_again(person: User, data: Path) -> None:
    shutil.copytree(data / "demo" / "research-lab", data / "mine")
    mine = Workspace.objects.create(slug="mine", name="Mine", path=str(data / "mine"), created_at=NOW)
    Watch().look()
    assert set(mine.results.values_list("found", flat=True)) == {"exact"}
    assert remove_demo(planned_removal().mark, data)
    assert not mine.results.exists()
    Watch().look()
    assert set(mine.results.values_list("found", flat=True)) == {"unknown"}
