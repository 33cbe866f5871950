"""The preview of a system prompt's settings: what they would build for a workspace, and what that changes."""

import re
from html import unescape
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.test import Client

from studio.models import Draft, Label, PromptSet, SystemBuild, Workspace
from studio.system.building import build_now
from studio.system.preview_page import workspace_choice
from tests.studio.clock import NOW
from tests.studio.system.system_sets import fields, make_system_set, text

SETTINGS = "configs/system_prompt.toml"
TOOL = '[[system_prompt.tools]]\nname = "read"\nsummary = "Reads files"\n'


@pytest.fixture
def system_set(person: User) -> PromptSet:
    return make_system_set(person)


@pytest.fixture
def workspace(db: None, tmp_path: Path) -> Workspace:
    made = register("mine", tmp_path / "mine")
    (made.folder / "SOUL.md").write_text("Calm as 栞.\n")
    write_settings(made, text())
    return made


def register(slug: str, folder: Path) -> Workspace:
    folder.mkdir()
    return Workspace.objects.create(slug=slug, name=slug.title(), path=str(folder), created_at=NOW)


def write_settings(workspace: Workspace, written: str) -> None:
    (workspace.folder / "configs").mkdir(exist_ok=True)
    (workspace.folder / SETTINGS).write_text(written)


def shown(client: Client, written: str, *, part: bool = True, **more: str) -> str:
    headers = {"HX-Request": "true"} if part else {}
    answer = client.post("/prompts/sys/preview/", fields(written, **more), headers=headers)
    assert answer.status_code == 200
    return unescape(answer.content.decode())


def text_in(page: str) -> str:
    """The built text as the page shows it."""
    found = re.search(r'<pre class="system-text".*?>(.*?)</pre>', page, re.DOTALL)
    assert found
    return re.sub(r"</?(?:code|span)\b[^>]*>", "", found[1])


def test_text_is_built_for_the_workspace_and_held_against_its_file(
    signed_in: Client, system_set: PromptSet, workspace: Workspace
) -> None:
    said = shown(signed_in, text(more=TOOL))
    before = build_now(workspace).builds["full"].text
    same = next(at for at, pair in enumerate(zip(before, text_in(said), strict=False)) if pair[0] != pair[1])
    same_bytes = len(before[:same].encode())
    assert "Calm as 栞." in text_in(said) and "Reads files" in text_in(said)
    assert f"first {same_bytes} bytes are the same; first difference in Tooling." in said
    assert 'data-state="text"' in said and 'id="full-tooling"' in said and "<svg" in said
    assert "Sections in the mode “full”" in said and "o200k_base" in said
    assert "Compared with the file on disk:" in said and "Notes" in said
    assert "the text is identical." in shown(signed_in, text())
    assert not SystemBuild.objects.exists() and not Draft.objects.exists()


def test_mode_is_the_texts_own_and_a_workspace_without_a_file_has_the_defaults(
    signed_in: Client, system_set: PromptSet, workspace: Workspace
) -> None:
    (workspace.folder / SETTINGS).unlink()
    said = shown(signed_in, '[system_prompt]\nmode = "none"\nidentity_line = "Hm."\n')
    assert "Sections in the mode “none”" in said and text_in(said) == "Hm."
    assert "Compared with the default settings" in said
    assert "different from the start; first difference in Identity." in said


def test_whoever_follows_the_set_comes_first_and_the_address_has_the_last_word(
    signed_in: Client, system_set: PromptSet, workspace: Workspace, tmp_path: Path
) -> None:
    follower = register("other", tmp_path / "other")
    assert workspace_choice(system_set, "").chosen == workspace
    version = system_set.versions.get()
    follower.system_label = Label.objects.create(
        prompt_set=system_set, name="production", version=version, moved_at=NOW
    )
    follower.save()
    assert workspace_choice(system_set, "").chosen == follower
    page = signed_in.get("/prompts/sys/edit/?workspace=mine").content.decode()
    assert '<option value="mine" selected>' in page and "Built for Mine" in page
    plain = shown(signed_in, text("Plain."), part=False, workspace="mine")
    assert "<html" in plain and '<option value="mine" selected>' in plain and "Plain." in text_in(plain)
    Workspace.objects.filter(slug="mine").update(archived=True)
    gone = shown(signed_in, text(), workspace="mine")
    assert "The chosen workspace is no longer available; built for Other." in gone
    assert signed_in.post("/prompts/sys/preview/", fields(text(), workspace="../x")).status_code == 400


def test_folders_and_files_that_cannot_be_used_are_told(
    signed_in: Client, system_set: PromptSet, workspace: Workspace, tmp_path: Path
) -> None:
    write_settings(workspace, "[system_prompt\n")
    said = shown(signed_in, text())
    assert "Calm as 栞." in said and "file cannot be built" in said
    workspace.folder.rename(tmp_path / "away")
    said = shown(signed_in, text())
    assert "Can't build for Mine" in said and "does not exist" in said
    assert "identity_line" in said and 'data-state="text"' in said
    workspace.folder.symlink_to(tmp_path / "away")
    assert "is a symbolic link" in shown(signed_in, text(), part=False)


def test_errors_are_told_and_nothing_is_built(
    signed_in: Client, system_set: PromptSet, workspace: Workspace
) -> None:
    said = shown(signed_in, text(more='dosc_path = "x"\n'))
    assert 'data-state="problems"' in said and "dosc_path" in said and "system-preview" not in said


def test_workspace_outside_the_roots_is_not_offered(system_set: PromptSet) -> None:
    Workspace.objects.create(slug="far", name="Far", path="/somewhere/far", created_at=NOW)
    assert workspace_choice(system_set, "far").chosen is None


def test_no_draft_looks_into_files_that_the_workspace_tells_no_agent(
    signed_in: Client, system_set: PromptSet, workspace: Workspace
) -> None:
    (workspace.folder / ".env").write_text("KEY=hush\n")
    wanted = text(more='[system_prompt.bootstrap]\nfiles = ["SOUL.md", ".env"]\n')
    said = shown(signed_in, wanted)
    assert "hush" not in said and "Calm as 栞." in said and "Not included: .env." in said
    write_settings(workspace, wanted)
    assert "hush" in text_in(shown(signed_in, wanted))
