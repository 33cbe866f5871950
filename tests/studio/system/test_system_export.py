"""`configs/system_prompt.toml` goes to workspaces, and comes back, by the same rules as templates."""

from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.test import Client

from studio.models import Draft, Export, Label, PromptSet, Workspace
from studio.prompts.file_kinds import FileKind
from studio.prompts.models import Origin
from studio.prompts.texts import SystemText
from studio.results.attribution import TeamTemplates
from studio.results.replay.round_rebuilding import known_templates
from studio.workspaces.exports.models import Outcome
from studio.workspaces.state import PromptFileState, state_of
from tests.studio.clock import NOW
from tests.studio.markup import tight
from tests.studio.system.system_sets import make_system_set, text
from tests.studio.workspaces.exports.confirming import make_set, make_workspace, prompt_file
from tests.studio.workspaces.exports.export_form import sent_by
from tests.studio.workspaces.sent_settings import sent_settings

OLD, NEW = text(), text("You are bold.")


@pytest.fixture
def system_set(person: User) -> PromptSet:
    made = make_system_set(person, OLD, NEW)
    Label.objects.move("production", made.versions.get(number=2), by=person, at=NOW)
    return made


@pytest.fixture
def workspace(system_set: PromptSet, tmp_path: Path) -> Workspace:
    made = make_workspace(tmp_path / "lab")
    made.system_label = system_set.labels.get()
    made.save()
    return made


def file_in(workspace: Workspace) -> Path:
    return workspace.folder / "configs" / "system_prompt.toml"


def seen(workspace: Workspace) -> PromptFileState:
    return state_of(Workspace.objects.get(pk=workspace.pk), FileKind.SYSTEM)


def confirm(client: Client, query: str = "", **more: Any) -> Any:
    """Look at the plan, and confirm what it shows."""
    page = client.get(f"/prompts/sys/export/{query}").content.decode()
    return client.post(f"/prompts/sys/export/{query}", sent_by(page) | more, follow=True)


def test_export_writes_the_text_to_the_byte_and_can_be_undone(
    signed_in: Client, workspace: Workspace
) -> None:
    assert seen(workspace).kind == "missing"
    answer = confirm(signed_in)
    assert "The file was created." in answer.content.decode()
    assert file_in(workspace).read_bytes() == NEW.encode()
    assert not prompt_file(workspace.folder).exists()
    export = Export.objects.get()
    assert export.holds == FileKind.SYSTEM and export.path == str(file_in(workspace))
    assert seen(workspace).kind == "in_sync" and state_of(workspace).last_export is None
    page = signed_in.get(f"/exports/{export.pk}/undo/").content.decode()
    assert "the default settings then apply" in page
    batch = page.split('name="batch" value="')[1].split('"')[0]
    signed_in.post(f"/exports/{export.pk}/undo/", {"batch": batch})
    assert not file_in(workspace).exists()
    undone = Export.objects.first()
    assert undone is not None and undone.holds == FileKind.SYSTEM and undone.undoes == export


def test_undo_knows_the_version_that_comes_back(signed_in: Client, workspace: Workspace) -> None:
    file_in(workspace).write_text(OLD)
    confirm(signed_in)
    export = Export.objects.get()
    signed_in.post(f"/exports/{export.pk}/undo/", {"batch": "9f3c2f34-9d0c-4a63-8a4d-0d8a1a4f3c11"})
    undone = Export.objects.first()
    assert file_in(workspace).read_text() == OLD
    assert undone is not None and undone.version is not None and undone.version.number == 1


def test_exports_of_the_two_files_do_not_stand_in_each_others_way(
    signed_in: Client, workspace: Workspace, person: User
) -> None:
    confirm(signed_in)
    prompts = make_set("research", person, "one")
    page = signed_in.get("/prompts/research/export/?workspace=lab").content.decode()
    signed_in.post("/prompts/research/export/", sent_by(page) | {"target": "lab:"})
    assert [each.holds for each in Export.objects.order_by("pk")] == [FileKind.SYSTEM, FileKind.PROMPTS]
    assert prompt_file(workspace.folder).exists() and prompts.revision == 1
    assert seen(workspace).kind == "in_sync"
    # The later export wrote another file, so both can be undone.
    assert signed_in.get("/exports/").content.decode().count("/undo/") == 2


def test_an_edit_is_shown_and_not_overwritten_unless_somebody_says_so(
    signed_in: Client, workspace: Workspace, system_set: PromptSet
) -> None:
    confirm(signed_in)
    edit = NEW + "reply_tags = true\n"
    file_in(workspace).write_text(edit)
    assert seen(workspace).kind == "edited"
    page = signed_in.get("/prompts/sys/export/").content.decode()
    assert "This file was edited by hand" in page and "reply_tags" in page
    refused = confirm(signed_in)
    assert file_in(workspace).read_text() == edit
    assert "Nothing is selected" in refused.content.decode()
    overwrite = tight(page).split('name="overwrite" value="')[1].split('"')[0]
    confirm(signed_in, overwrite=overwrite)
    assert file_in(workspace).read_text() == NEW
    kept = system_set.versions.get(number=3)
    assert kept.templates == SystemText(edit) and kept.origin == Origin.ADOPTED
    assert Export.objects.filter(kept_as=kept).exists()


def test_an_edit_is_adopted_with_one_click(
    signed_in: Client, workspace: Workspace, system_set: PromptSet
) -> None:
    edit = text("You are shy.")
    file_in(workspace).write_bytes(edit.replace("\n", "\r\n").encode())
    page = signed_in.get("/workspaces/lab/").content.decode()
    assert "Adopt as a version of Sys" in page
    sha256 = seen(workspace).sha256
    signed_in.post("/workspaces/lab/adopt/", {"file": "system", "sha256": sha256})
    assert system_set.versions.get(number=3).templates == SystemText(edit)
    assert seen(workspace).kind == "behind"


def test_a_broken_file_is_told_by_line_and_never_adopted(
    signed_in: Client, workspace: Workspace, system_set: PromptSet
) -> None:
    file_in(workspace).write_text("[system_prompt]\nmode = full\n")
    state = seen(workspace)
    assert state.kind == "broken" and state.error is not None and state.error.line == 2
    signed_in.post("/workspaces/lab/adopt/", {"file": "system", "sha256": state.sha256})
    assert system_set.versions.count() == 2
    page = signed_in.get("/workspaces/lab/import/?file=system").content.decode()
    assert "This file cannot be read." in page
    file_in(workspace).write_text('[system_prompt]\nmode = "fuller"\n')
    assert [each.line for each in seen(workspace).errors] == [2]
    assert "fuller" not in signed_in.get("/workspaces/lab/").content.decode()
    assert signed_in.get("/prompts/sys/export/").status_code == 200


def test_a_file_that_changed_since_the_plan_is_left_alone(signed_in: Client, workspace: Workspace) -> None:
    file_in(workspace).write_text(OLD)
    page = signed_in.get("/prompts/sys/export/").content.decode()
    target = page.split('name="target" value="')[1].split('"')[0]
    file_in(workspace).write_text(OLD + "# mine\n")
    confirm(signed_in, target=target)
    assert file_in(workspace).read_text() == OLD + "# mine\n"
    assert Export.objects.get().receipt.outcome == Outcome.FAILED


def test_a_moved_label_offers_the_workspaces_that_follow_it(
    signed_in: Client, workspace: Workspace, system_set: PromptSet
) -> None:
    confirm(signed_in)
    signed_in.post("/prompts/sys/labels/", {"name": "production", "version": "1"})
    page = signed_in.get("/prompts/sys/versions/1/").content.decode()
    assert "1 workspace follows production" in page and "/prompts/sys/export/?label=production" in page
    taken_off = signed_in.post("/prompts/sys/labels/", {"name": "production", "version": ""})
    assert taken_off.status_code == 409 and "Lab" in taken_off.content.decode()


def test_settings_offer_each_file_the_labels_of_its_own_sets(
    signed_in: Client, workspace: Workspace, person: User
) -> None:
    research = make_set("research", person, "one")
    Label.objects.move("production", research.versions.get(), by=person, at=NOW)
    prompts, system = research.labels.get(), workspace.system_label
    assert system is not None
    sent = sent_settings(signed_in, "lab", label=prompts.pk, system_label=system.pk)
    assert signed_in.post("/workspaces/lab/settings/", sent).status_code == 302
    workspace.refresh_from_db()
    assert (workspace.label, workspace.system_label) == (prompts, system)
    swapped = sent_settings(signed_in, "lab", label=system.pk, system_label=prompts.pk)
    assert signed_in.post("/workspaces/lab/settings/", swapped).status_code == 422


def test_drift_tells_of_both_files(workspace: Workspace) -> None:
    out = StringIO()
    with pytest.raises(SystemExit):
        call_command("drift", stdout=out)
    assert "system_prompt.toml" in out.getvalue() and "Out of sync: 1 of 2." in out.getvalue()
    file_in(workspace).write_text(NEW)
    call_command("drift", stdout=StringIO())


def test_command_exports_a_system_prompt(workspace: Workspace) -> None:
    out = StringIO()
    call_command("export", "sys@1", "--workspace", str(workspace.folder), "--user", "yuki", stdout=out)
    assert file_in(workspace).read_text() == OLD and "written" in out.getvalue()


def test_a_workspaces_file_becomes_a_new_set(signed_in: Client, workspace: Workspace) -> None:
    found = text("You are new.", "[elsewhere]\nx = 1\n")
    file_in(workspace).write_text(found)
    page = signed_in.get("/workspaces/lab/import/?file=system&set=").content.decode()
    assert "You are new." in page and "Import as a new set" in page
    sha256 = page.split('name="sha256" value="')[1].split('"')[0]
    sent = {"sha256": sha256, "base": 0, "into": "version", "name": "Fresh", "message": ""}
    signed_in.post("/workspaces/lab/import/?file=system&set=", sent)
    made = PromptSet.objects.get(name="Fresh")
    assert made.file_kind.is_system and made.latest is not None
    assert made.latest.templates == SystemText(found) and made.latest.origin == Origin.IMPORTED


def test_an_uploaded_file_is_known_by_its_table(
    signed_in: Client, system_set: PromptSet, person: User
) -> None:
    typo = text(more="reply_tag = true\n")
    file = SimpleUploadedFile("mine.toml", typo.encode())
    page = signed_in.post("/prompts/import/", {"file": file, "set": "sys"}, follow=True)
    said = page.content.decode()
    assert "reply_tags" in said and "It cannot be saved as a version" in said
    sent = {"sha256": said.split('name="sha256" value="')[1].split('"')[0], "base": 2, "into": "draft"}
    signed_in.post(f"{page.request['PATH_INFO']}?set=sys", sent)
    assert Draft.objects.get(person=person).templates == SystemText(typo)
    make_set("research", person, "one")
    other = signed_in.get(f"{page.request['PATH_INFO']}?set=research").content.decode()
    assert "is a set for another kind of file" in other


def test_runs_are_never_explained_by_a_system_prompt(
    workspace: Workspace, system_set: PromptSet, person: User
) -> None:
    research = make_set("research", person, "one")
    system_set.save_version(SystemText(text("Later.")), base=2, message="later", author=person, at=NOW)
    known = TeamTemplates.read()
    assert known.newest == research.versions.get().pk
    assert [key for keys in known.keys for key in keys] == [research.versions.get().pk]
    assert [each.text for each in known_templates(workspace)] == [research.versions.get().team_user_prompt]
