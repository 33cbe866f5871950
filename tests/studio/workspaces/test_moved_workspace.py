"""A workspace whose folder was moved or is missing: what its pages say, and how its path is corrected."""

from html import unescape
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from studio.models import Export, RunResult, Workspace
from studio.workspaces.exports.undoing import require_as_left
from studio.workspaces.state import state_of
from tests.studio.clock import NOW
from tests.studio.markup import words_of
from tests.studio.workspaces.exports.confirming import make_set, templates
from tests.studio.workspaces.prompt_files import note_export, write
from tests.studio.workspaces.sent_settings import sent_settings


@pytest.fixture
def workspace(person: User, tmp_path: Path) -> Workspace:
    """A workspace that was exported to, whose folder has been moved since."""
    (tmp_path / "old").mkdir()
    made = Workspace.objects.create(slug="mine", name="Mine", path=str(tmp_path / "old"), created_at=NOW)
    version = make_set("research", person, "one").versions.get()
    write(made, templates("one"))
    note_export(made, version, person)
    (tmp_path / "old").rename(tmp_path / "new")
    return made


def change(client: Client, **changes: object) -> tuple[int, str]:
    answer = client.post("/workspaces/mine/settings/", sent_settings(client, "mine", **changes))
    return answer.status_code, unescape(answer.content.decode())


def test_the_new_path_brings_everything_back(signed_in: Client, workspace: Workspace, tmp_path: Path) -> None:
    assert state_of(workspace).title == "Folder missing"
    assert change(signed_in, path=str(tmp_path / "new"))[0] == 302
    workspace.refresh_from_db()
    assert workspace.path == str(tmp_path / "new")
    state, export = state_of(workspace), Export.objects.get()
    assert state.kind == "in_sync" and state.last_export == export
    assert export.file == "configs/prompt_builder.toml"
    assert require_as_left(export) == tmp_path / "new"
    write(workspace, templates("by hand"))
    assert state_of(workspace).kind == "edited"


def test_a_name_can_be_changed_while_the_folder_is_missing(signed_in: Client, workspace: Workspace) -> None:
    assert change(signed_in, name="Ours")[0] == 302
    workspace.refresh_from_db()
    assert workspace.name == "Ours"


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        ("{tmp}/gone", "does not exist"),
        ("{tmp}/link", "is a symbolic link"),
        ("/etc", "is not in an allowed folder"),
        ("{tmp}/theirs", "This folder is already registered: Theirs."),
    ],
)
def test_another_path_is_checked_like_one_that_is_registered(
    path: str, sentence: str, signed_in: Client, workspace: Workspace, tmp_path: Path
) -> None:
    (tmp_path / "theirs").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "new")
    Workspace.objects.create(
        slug="theirs", name="Theirs", path=str(tmp_path / "theirs"), archived=True, created_at=NOW
    )
    status, page = change(signed_in, path=path.replace("{tmp}", str(tmp_path)))
    assert status == 422 and sentence in page
    workspace.refresh_from_db()
    assert workspace.path == str(tmp_path / "old")


def test_two_who_change_the_settings_at_once(signed_in: Client, workspace: Workspace, tmp_path: Path) -> None:
    mine = sent_settings(signed_in, "mine", name="Mine too")
    assert change(signed_in, path=str(tmp_path / "new"))[0] == 302
    answer = signed_in.post("/workspaces/mine/settings/", mine)
    page = unescape(answer.content.decode())
    assert answer.status_code == 409 and "Changed meanwhile" in page
    assert f"<code>{tmp_path / 'new'}</code>" in page and 'value="Mine too"' in page
    workspace.refresh_from_db()
    assert (workspace.name, workspace.path) == ("Mine", str(tmp_path / "new"))
    # What is stored now was seen: the same form, sent again, is meant.
    again = {field.html_name: field.value() or "" for field in answer.context["form"]}
    again["path"] = str(tmp_path / "new")
    assert signed_in.post("/workspaces/mine/settings/", again).status_code == 302
    workspace.refresh_from_db()
    assert (workspace.name, workspace.path) == ("Mine too", str(tmp_path / "new"))


def test_every_page_begins_with_the_missing_folder_and_keeps_what_was_stored(
    signed_in: Client, workspace: Workspace
) -> None:
    version = Export.objects.get().version
    run = RunResult.objects.create(
        workspace=workspace, execution_id="run-1", over=True, state="completed", task="Write a report",
        started_at=NOW, teams=2, rounds=2, best_score=81.25, found="exact", version=version,
        examined_up_to=1, examined_at=NOW,
    )  # fmt: skip
    for number, score in ((1, 70.5), (2, 81.25)):
        run.round_results.create(
            team_id="a", team_name="Team A", round_number=number, score=score, found="exact"
        )
    for name, *arguments in (
        ("workspace-detail",),
        ("workspace-settings",),
        ("workspace-preview",),
        ("workspace-runs",),
        ("team-list",),
        ("run-detail", "run-1"),
        ("system-detail",),
    ):
        answer = signed_in.get(reverse(name, args=["mine", *arguments]))
        page = unescape(answer.content.decode()).partition("<main")[2]
        assert answer.status_code in (200, 409), name
        assert page.index("does not exist") < page.index("<h1"), name
        assert 'href="/workspaces/mine/settings/#id_path"' in page, name
    for address in ("/workspaces/mine/", "/workspaces/mine/runs/"):
        page = signed_in.get(address).content.decode()
        assert "Write a report" in page and "81.25" in page and "Research" in page, address
    page = signed_in.get("/workspaces/mine/runs/run-1/").content.decode()
    assert "Team A" in page and "70.50" in page
    # Nobody can tell how a run went on whose folder is gone.
    RunResult.objects.update(state="running", over=False)
    for address in ("/workspaces/mine/runs/", "/workspaces/mine/runs/run-1/"):
        page = words_of(signed_in, address)
        assert "Was running when last read" in page and "Running" not in page, address
    # What is not stored leads to the settings.
    answer = signed_in.get("/workspaces/mine/runs/run-1/teams/a/")
    assert answer.status_code == 404 and "does not exist" in answer.content.decode()
    assert "/workspaces/mine/settings/" in answer.content.decode()
